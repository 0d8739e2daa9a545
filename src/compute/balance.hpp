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

/// Which prisms each rank estimates, disjoint and all that any rank holds: its balanced part where every rank holds its
/// own, else, from the first prism on, all that the lowest rank holds which holds the next one. held[r]: the prisms
/// that rank r can read.
[[nodiscard]] std::vector<IndexRange> estimation_ranges(const std::vector<IndexRange>& held, std::int64_t n_prisms);

/// Whether each part of the points has prisms cut by their cost there, or all have the same parts of prisms, cut by
/// their cost at all points: what an operator needs, which adds up over ranks both ways.
enum class PrismCuts { of_each_part, of_all_parts };

/// This rank's share of prisms and points on the grid of ranks, so that all ranks' shares cost the same by the cost
/// model (cost_model.hpp). Points are cut first, then the prisms of each part of points by their cost at those points,
/// so that prisms next to one part of the points do not burden one rank of it. Each rank estimates some of the prisms
/// at a sample of the points, about 2e7 pairs; rank 0 adds up and all ranks cut alike. `plan`: any plan of the run.
/// Collective; throws AgreedFailure.
[[nodiscard]] RankShare cost_balanced_share(const PrismSource& ensemble, const Points& points, const Plan& plan,
                                            RankGrid grid, PrismCuts cuts, const Communicator& communicator);

/// Cost of these prisms at these points by the cost model, ns: exact where there are few of both, else of a sample of
/// about 2e7 pairs. The prisms must be readable.
[[nodiscard]] double cost_of_share(const CostSettings& settings, const PrismSource& ensemble, IndexRange prisms,
                                   const Points& points, IndexRange at);

/// What `partition: auto` knows of a run. `plan`: make_plan() without shares, on any rank.
[[nodiscard]] PartitionFacts partition_facts(const Request& request, bool uniform_shape, const Plan& plan, int ranks);

/// The plan of a run on all ranks: make_plan() for the machine of each, with the partition that `partition: auto`
/// chooses from rank 0's view (see choose_partition) and the shares that `balance` asks for. Throws InputError, by key,
/// the same on every rank, and AgreedFailure for failures. Collective.
[[nodiscard]] Plan plan_on_ranks(const Request& request, const PrismSource& ensemble, const Points& points,
                                 const ProblemSize& problem, const Communicator& communicator,
                                 PrismCuts cuts = PrismCuts::of_each_part);

}  // namespace prismfield
