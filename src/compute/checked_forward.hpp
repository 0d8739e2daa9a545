// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <span>

#include <prismfield/communicator.hpp>
#include <prismfield/observer.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>
#include <prismfield/result.hpp>

#include "compute/method.hpp"

/// Keeps the tolerance of a request, whichever method computes.
namespace prismfield {

/// Like forward() of method.hpp, for work with a plan that may save by the request's tolerance x. First each rank makes
/// direct sums in double at some points for its share of the plan, with a smaller truncation error where prisms cancel
/// so far that the usual one may exceed x/50. Where the fields differ from the sums by more than x/5 (see
/// ToleranceCheck), it computes them again for x/4, x/16, ..., and at last directly in double with the truncation of
/// the sums. The error of the sums counts too. Each rank must be able to read the prisms of its work and of its share
/// of the plan. `guard`: keeps the state of a repetition as that of the first computation, which is valid because it is
/// more accurate. Collective.
[[nodiscard]] Fields checked_forward(const PrismSource& prisms, const PointColumns& points, const Request& request,
                                     RankWork& work, const Communicator& communicator, Observer* observer,
                                     RunGuard* guard = nullptr, std::span<double> values = {});

}  // namespace prismfield
