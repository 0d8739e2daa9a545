// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "sensitivity/host_operator_on_space.hpp"
#include "sensitivity/make_operator_on_space.hpp"

namespace prismfield {

template class FileOperator<Kokkos::HIP>;
template class StoredOperator<Kokkos::HIP>;
template std::unique_ptr<Operator<Kokkos::HIP>> make_operator<Kokkos::HIP>(const Kokkos::HIP&, const PrismSource&,
                                                                           const Points&, const Request&,
                                                                           const StorageSettings&, const Communicator&,
                                                                           StorageChoice*);
template std::unique_ptr<HostOperator::Implementation> make_host_operator_on<Kokkos::HIP>(
    const Kokkos::HIP&, const PrismSource&, const Points&, const Request&, const StorageSettings*, const Communicator&,
    StorageChoice*);

}  // namespace prismfield
