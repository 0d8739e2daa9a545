// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "sensitivity/host_operator_on_space.hpp"
#include "sensitivity/make_operator_on_space.hpp"

namespace prismfield {

template class FileOperator<Kokkos::Cuda>;
template class StoredOperator<Kokkos::Cuda>;
template std::unique_ptr<Operator<Kokkos::Cuda>> make_operator<Kokkos::Cuda>(const Kokkos::Cuda&, const PrismSource&,
                                                                             const Points&, const Request&,
                                                                             const StorageSettings&,
                                                                             const Communicator&, StorageChoice*);
template std::unique_ptr<HostOperator::Implementation> make_host_operator_on<Kokkos::Cuda>(
    const Kokkos::Cuda&, const PrismSource&, const Points&, const Request&, const StorageSettings*, const Communicator&,
    StorageChoice*);

}  // namespace prismfield
