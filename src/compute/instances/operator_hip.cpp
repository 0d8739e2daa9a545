// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/host_operator_on_space.hpp"

namespace prismfield {

template class DirectOperator<Kokkos::HIP>;
template std::unique_ptr<HostOperator::Implementation> make_host_operator<Kokkos::HIP>(const PrismSource&,
                                                                                       const Points&, const Request&,
                                                                                       const Communicator&);

}  // namespace prismfield
