// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "compute/cost_model.hpp"
#include "compute/partition.hpp"
#include "compute/plan.hpp"

namespace prismfield {

/// Which prisms each rank estimates: its balanced part where every rank can read its own, else held[r], what rank r can
/// read, of a list that is spread over ranks.
[[nodiscard]] std::vector<IndexRange> estimation_ranges(const std::vector<IndexRange>& held, std::int64_t n_prisms);

/// This rank's share of prisms and points on the grid of ranks, so that all ranks' shares cost the same by the cost
/// model (cost_model.hpp). Points are cut first, then the prisms of each part of points by their cost at those points,
/// so that prisms next to one part of the points do not burden one rank of it. Each rank estimates some of the prisms
/// at a sample of the points, about 2e7 pairs; rank 0 adds up and all ranks cut alike. `plan`: any plan of the run.
/// Collective; throws AgreedFailure.
[[nodiscard]] RankShare cost_balanced_share(const PrismSource& ensemble, const PointColumns& points, const Plan& plan,
                                            RankGrid grid, PrismCuts cuts, const Communicator& communicator);

/// Cost of these prisms at these points by the cost model, ns: exact where there are few of both, else of a sample of
/// about 2e7 pairs. The prisms must be readable.
[[nodiscard]] double cost_of_share(const CostSettings& settings, const PrismSource& ensemble, IndexRange prisms,
                                   const PointColumns& points, IndexRange at);

/// What `partition: auto` knows of a run. `plan`: make_plan() without shares, on any rank.
[[nodiscard]] PartitionFacts partition_facts(const Request& request, bool uniform_shape, const Plan& plan, int ranks);

/// The grid that `partition: auto` chooses from rank 0's view (see choose_partition), or the plan's own, and this
/// rank's share of it, by cost where `balance` asks for that. Collective; throws AgreedFailure.
[[nodiscard]] Shares direct_shares(const Plan& plan, const Request& request, const PrismSource& ensemble,
                                   const PointColumns& points, PrismCuts cuts, const Communicator& communicator);

/// Nanoseconds of a pair by form on this rank's threads or device, as this plan computes it: measured by runs of
/// milliseconds in which all pairs take one form, once for all plans that compute pairs alike. Where it cannot be
/// measured, form_weights(). Kokkos must run; throws what a run throws.
[[nodiscard]] FormWeights measured_weights(const Plan& plan);

/// Seconds of one rank's share of a plan: its pairs, counted by form (see cost_of_share), at these costs, its prisms
/// staged, its points and grids. Of prisms that this rank cannot read yet, those that it can stand for all. `weights`:
/// ns of a pair on all threads of the rank.
[[nodiscard]] double share_seconds(const FormWeights& weights, const PrismSource& ensemble, const PointColumns& points,
                                   const Plan& plan);

}  // namespace prismfield
