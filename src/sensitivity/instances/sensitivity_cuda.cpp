// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "sensitivity/host_operator_on_space.hpp"
#include "sensitivity/make_operator_on_space.hpp"

namespace prismfield {

using Instance = Kokkos::Cuda;
template std::unique_ptr<Operator<Instance>> make_direct_operator(const Instance&, const PrismSource&, const Points&,
                                                                  const Request&, const Communicator&);
template std::unique_ptr<Operator<Instance>> make_operator(const Instance&, const PrismSource&, const Points&,
                                                           const Request&, const StorageSettings&, const Communicator&,
                                                           StorageChoice*);
template std::unique_ptr<HostOperator::Implementation> make_host_operator_on(const Instance&, const PrismSource&,
                                                                             const Points&, const Request&,
                                                                             const StorageSettings*,
                                                                             const Communicator&);

}  // namespace prismfield
