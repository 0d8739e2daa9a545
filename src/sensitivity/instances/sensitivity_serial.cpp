// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "sensitivity/host_operator_on_space.hpp"
#include "sensitivity/make_operator_on_space.hpp"

namespace prismfield {

template class FileOperator<Kokkos::Serial>;
template class StoredOperator<Kokkos::Serial>;
template std::unique_ptr<Operator<Kokkos::Serial>> make_operator<Kokkos::Serial>(const Kokkos::Serial&,
                                                                                 const PrismSource&, const Points&,
                                                                                 const Request&, const StorageSettings&,
                                                                                 const Communicator&, StorageChoice*);
template std::unique_ptr<HostOperator::Implementation> make_host_operator_on<Kokkos::Serial>(
    const Kokkos::Serial&, const PrismSource&, const Points&, const Request&, const StorageSettings*,
    const Communicator&, StorageChoice*);

}  // namespace prismfield
