// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "sensitivity/host_operator_on_space.hpp"
#include "sensitivity/make_operator_on_space.hpp"

namespace prismfield {

template class FileOperator<Kokkos::OpenMP>;
template class StoredOperator<Kokkos::OpenMP>;
template std::unique_ptr<Operator<Kokkos::OpenMP>> make_operator<Kokkos::OpenMP>(const Kokkos::OpenMP&,
                                                                                 const PrismSource&, const Points&,
                                                                                 const Request&, const StorageSettings&,
                                                                                 const Communicator&, StorageChoice*);
template std::unique_ptr<HostOperator::Implementation> make_host_operator_on<Kokkos::OpenMP>(
    const Kokkos::OpenMP&, const PrismSource&, const Points&, const Request&, const StorageSettings*,
    const Communicator&, StorageChoice*);

}  // namespace prismfield
