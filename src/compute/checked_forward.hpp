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

/// The promise of a tolerance, whatever the method that computes.
namespace prismfield {

/// As forward() of method.hpp, of work whose plan may save by the request's tolerance x. Direct sums in double at some
/// points come first, each rank's of its share of the plan, with smaller truncation where prisms cancel so far that the
/// usual one may exceed x/50. If the fields are further than x/5 from them, relative as ToleranceCheck says, they are
/// computed again, for x/4, x/16, ..., at last by the direct method in double with the truncation of the sums. What the
/// sums may be wrong by themselves counts as error. Each rank must be able to read the prisms of its work and
/// of its share of the plan. `guard`: keeps the state of what is computed again as that of the first computation, which
/// it may be, since it is the more accurate. Collective.
[[nodiscard]] Fields checked_forward(const PrismSource& prisms, const PointColumns& points, const Request& request,
                                     RankWork& work, const Communicator& communicator, Observer* observer,
                                     RunGuard* guard = nullptr, std::span<double> values = {});

}  // namespace prismfield
