// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "sensitivity/compressed_operator_on_space.hpp"

namespace prismfield {

using Instance = Kokkos::Serial;
template std::unique_ptr<Operator<Instance>> make_compressed_operator(const Instance&, const PrismSource&,
                                                                      const Points&, const Request&, double,
                                                                      const Communicator&, CompressionReport&);
template CompressionSample sample_compression(const Instance&, const PrismSource&, const Points&, Request, double);

}  // namespace prismfield
