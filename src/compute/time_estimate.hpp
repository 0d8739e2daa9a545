// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/communicator.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "compute/cost_model.hpp"

namespace prismfield {

/// Nanoseconds of a pair by form on this rank's threads or device, as this request computes it: measured by runs of
/// milliseconds in which all pairs take one form. Where it cannot be measured, form_weights(). Kokkos must
/// run; throws what a run throws.
[[nodiscard]] FormWeights measured_weights(const Request& request, const Plan& plan);

/// Seconds of one rank's share of a plan: its pairs, counted by form (see cost_of_share), at these costs, its prisms
/// staged, its points and grids. Of prisms that this rank cannot read yet, those that it can stand for all. `weights`:
/// ns of a pair on all threads of the rank.
[[nodiscard]] double share_seconds(const FormWeights& weights, const PrismSource& ensemble, const Points& points,
                                   const Plan& plan);

/// Seconds that a plan's fields take about, on the slowest rank, by measured costs. The same on every rank. Collective;
/// throws AgreedFailure.
[[nodiscard]] double estimated_seconds(const Request& request, const PrismSource& ensemble, const Points& points,
                                       const Plan& plan, const Communicator& communicator);

}  // namespace prismfield
