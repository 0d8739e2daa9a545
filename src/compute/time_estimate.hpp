// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/communicator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "compute/cost_model.hpp"
#include "compute/partition.hpp"
#include "compute/plan.hpp"

namespace prismfield {

/// Cost of these prisms at these points by the cost model, ns: exact where there are few of both, else of a sample of
/// about 2e7 pairs.
[[nodiscard]] double cost_of_share(const CostSettings& settings, const PrismSource& ensemble, IndexRange prisms,
                                   const PointColumns& points, IndexRange at);

/// What `partition: auto` knows of a run. `plan`: make_plan() without shares, on any rank.
[[nodiscard]] PartitionFacts partition_facts(const Request& request, bool uniform_shape, const Plan& plan, int ranks);

/// The grid that `partition: auto` chooses from rank 0's view (see choose_partition), and this rank's share of it.
/// Collective; throws AgreedFailure.
[[nodiscard]] Shares direct_shares(const Plan& plan, const Request& request, const PrismSource& ensemble,
                                   const Communicator& communicator);

/// Nanoseconds of a pair by form on this rank's threads or device, as this plan computes it: measured by runs of
/// milliseconds in which all pairs take one form, once for all plans that compute pairs alike. Where it cannot be
/// measured, form_weights(). Kokkos must run; throws what a run throws.
[[nodiscard]] FormWeights measured_weights(const Plan& plan);

/// Seconds of one rank's share of a plan: its pairs, counted by form (see cost_of_share), at these costs, its prisms
/// staged, its points and grids. `weights`: ns of a pair on all threads of the rank.
[[nodiscard]] double share_seconds(const FormWeights& weights, const PrismSource& ensemble, const PointColumns& points,
                                   const Plan& plan);

}  // namespace prismfield
