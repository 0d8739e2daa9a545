// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

#include <prismfield/communicator.hpp>
#include <prismfield/operator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

namespace prismfield::fast {

/// The operator of make_direct_operator(), whose products are sums over trees of prisms and points. Of densities that
/// are nowhere larger than 1 kg/m3 in magnitude a product is exact to request.execution.tolerance times the largest
/// sum, over the prisms, of a component's magnitudes at one point: an estimate, 5 to 20 times too careful, by bounds
/// that are proved for each exchange of two cells. Transposed products are the transpose to rounding; the diagonal and
/// entries are those of direct sums. In double precision, whatever the request asks for.
///
/// Throws and is collective as make_direct_operator() is; `prisms` are read once.
template <class ExecutionSpace>
[[nodiscard]] std::unique_ptr<Operator<ExecutionSpace>> make_tree_operator(const ExecutionSpace& space,
                                                                           const PrismSource& prisms,
                                                                           const PointColumns& points,
                                                                           const Request& request,
                                                                           const Communicator& communicator = {});

}  // namespace prismfield::fast
