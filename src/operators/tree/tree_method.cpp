// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "compute/method.hpp"
#include "compute/operator_work.hpp"
#include "compute/time_estimate.hpp"
#include "kernel/contact.hpp"
#include "model/choices.hpp"
#include "operators/tree/evaluate_trees.hpp"
#include "operators/tree/expansion_numbers.hpp"
#include "operators/tree/leaf_sizes.hpp"

namespace prismfield {
namespace {

/// Below, the degree of expansions would pass max_degree where cells are neighbours.
constexpr double least_tolerance = 1e-11;

/// The most items; their trees exceed the memory of any machine, yet their bytes still fit into std::int64_t.
constexpr std::int64_t most_items = std::int64_t{1} << 40;

[[noreturn]] void refuse_tree(const std::string& why) {
  throw InputError("", "execution.method", fmt::format("is {}, which {}", name(Method::tree), why));
}

void check_tree(const Request& request, const PrismSource& ensemble, const PointColumns& points, ProblemSize& problem) {
  const Execution& wanted = request.execution;
  if (wanted.tolerance < least_tolerance) {
    refuse_tree(fmt::format("needs an execution.tolerance of {:g} or more; direct keeps to {:g}", least_tolerance,
                            default_tolerance));
  }
  if (wanted.kernel == KernelKind::corners) refuse_tree("has no kernel corners; use execution.kernel: auto");
  if (wanted.precision != Precision::double_) {
    refuse_tree(fmt::format("computes in double precision, not in {}; use execution.precision: double",
                            name(wanted.precision)));
  }
  if (std::max(ensemble.size(), points.size()) > most_items) {
    refuse_tree(fmt::format("takes at most {} prisms and points; direct takes any number", most_items));
  }
  problem.points_per_prism = fast::points_per_prism(ensemble, points);
  if (ensemble.size() > 0 && points.size() > 0) {
    problem.trees = std::make_shared<const fast::TreeSample>(ensemble, points);
  }
}

std::int64_t expansion_bytes(const Plan& plan) { return std::int64_t{2} * fast::n_terms(plan.tree.degree) * 8; }
/// Of a cell of prisms: how its moments fall off, until the lists of exchanges are made.
constexpr std::int64_t fall_off_bytes = 1200;

/// Of a rank's trees, about.
struct RankCells {
  std::int64_t of_prisms = 0, of_points = 0;
};

RankCells cells_of_rank(const Plan& plan, const ProblemSize& problem, bool on_device) {
  if (!problem.trees) return {};
  const fast::TreeCells all = problem.trees->cells({plan.tree.leaf_prisms, plan.tree.leaf_points}, on_device);
  const auto part = [&](std::int64_t cells, std::int64_t mine, std::int64_t n) {
    // ranks' trees differ
    constexpr double of_largest = 1.15;
    const double even = static_cast<double>(cells) * static_cast<double>(mine) / static_cast<double>(n);
    return mine == n ? cells : 1 + static_cast<std::int64_t>(of_largest * even);
  };
  return {part(all.of_prisms, plan.prisms().size(), plan.n_prisms),
          part(all.of_points, plan.points().size(), plan.n_points)};
}

/// Of the columns of so many prisms.
std::int64_t column_bytes(const Plan& plan, std::int64_t prisms) {
  return prisms * (has_magnetic(plan.computed) ? 10 : 7) * 8;
}

/// Bytes of the trees of a product of these fields in the space that computes, about: the most of what they take while
/// the points' tree is made, while the lists are made, and while the product is computed.
std::int64_t tree_bytes(FieldSet set, const Plan& plan, const RankCells& cells, bool uniform_shape,
                        const EngineMemory& m) {
  constexpr std::int64_t number = sizeof(double);
  const std::int64_t prisms = plan.prisms().size(), points = plan.points().size();
  // in the order of their tree: of prisms centre, half edges, mass, sum, volume, density, the order; of magnetised ones
  // the direction and an amount; of points places, fields, the order both ways, and the columns
  const std::int64_t a_prism = (2 * 3 + 5 + (has_magnetic(set) ? 4 : 0)) * number;
  const std::int64_t a_point = (3 + fields_of(set).size() + 2 + 3) * number;
  // of a cell centre, radius, scale, items, relatives; of points its pairs with others, more between prisms, and what
  // they are made of
  constexpr std::int64_t a_cell = 10 * number;
  const std::int64_t pairs = plan.tree.part_inside > 0 ? 250 : 50, rows = 8 * pairs, before_rows = 44 * pairs;
  // while points are put in order: sides twice, the order twice more
  constexpr std::int64_t ordering = 2 * fast::n_sides * sizeof(float) + 2 * number;
  const std::int64_t expansion = expansion_bytes(plan), contacts = n_contact_columns * number;
  const std::int64_t trees = prisms * a_prism + points * a_point + (cells.of_prisms + cells.of_points) * a_cell;
  const std::int64_t staged = prisms * m.per_prism + (uniform_shape ? 1 : prisms) * m.per_shape;
  const std::int64_t making = staged + points * ordering;
  const std::int64_t listing = staged + cells.of_prisms * (expansion + fall_off_bytes) + cells.of_points * before_rows;
  const std::int64_t computing =
      staged + cells.of_prisms * expansion + cells.of_points * (expansion + rows) + points * contacts;
  return trees + std::max({making, listing, computing});
}

void plan_tree(Plan& plan, const Request& request, const ProblemSize& problem, const Machine& machine) {
  // also where points are so few that the direct sums that check them are as many
  plan.tolerance = request.execution.tolerance;
  plan.tree.degree = fast::degree_for(plan.tolerance);
  plan.tree.part_inside = problem.trees ? problem.trees->part_inside() : 0;
  const EngineTraits& traits = machine.engine;
  const fast::LeafSizes leaves = fast::leaf_sizes(traits.is_device, problem.points_per_prism, plan.prisms().size());
  plan.tree.leaf_prisms = leaves.prisms;
  plan.tree.leaf_points = leaves.points;
  const RankCells cells = cells_of_rank(plan, problem, traits.is_device);
  // all trees are made before the first product
  plan.tree.bytes = 0;
  for (const FieldSet set : sets_of(plan.computed)) {
    plan.tree.bytes += tree_bytes(set, plan, cells, problem.uniform_shape, traits.memory);
  }
  // a device's prisms are on the host until they are copied; a host's are freed before trees take more
  MethodMemory memory;
  memory.on_device = traits.is_device ? plan.tree.bytes : 0;
  memory.while_computing = traits.is_device ? column_bytes(plan, plan.prisms().size()) : plan.tree.bytes;
  count_memory(plan, problem, memory, request.fields.size(), machine.rank);
}

/// The grid of ranks that reads and sorts least: trees take time by prisms and points, not by pairs.
Shares tree_shares(const Plan& plan, const Request& /*request*/, const PrismSource& /*ensemble*/,
                   const Communicator& communicator) {
  RankGrid grid{plan.prism_parts, plan.point_parts};
  const int ranks = communicator.size();
  const auto largest_share = [&](const RankGrid& of) {
    return (plan.n_prisms + of.prism_parts - 1) / of.prism_parts +
           (plan.n_points + of.point_parts - 1) / of.point_parts;
  };
  for (int parts = 1; parts <= ranks; ++parts) {
    const RankGrid other{parts, ranks / parts};
    if (ranks % parts == 0 && largest_share(other) < largest_share(grid)) grid = other;
  }
  return {grid, rank_share(plan.n_prisms, plan.n_points, communicator.rank(), grid.prism_parts, grid.point_parts)};
}

/// The number of direct pairs that cost as much as the tree's work on a prism and on a point above the prisms, at the
/// tolerances 1e-4, 1e-6, 1e-8 and 1e-10. Measured with voxels of 50 m, random points 80 to 300 m above and nine
/// fields, on two cores and on an H100, which has less work per prism and computes pairs much faster.
struct PairsOfItem {
  std::array<double, 4> of_prism, of_point;
};
constexpr PairsOfItem pairs_on_host = {{400, 500, 600, 1000}, {500, 650, 1000, 2000}};
constexpr PairsOfItem pairs_on_device = {{2500, 2500, 2500, 2500}, {18000, 20000, 28000, 60000}};
/// Of a prism, on a device: to read it on the host and to copy it. Of a run: its launches.
constexpr double device_prism_seconds = 7e-8, device_launch_seconds = 5e-3;

double at_tolerance(const std::array<double, 4>& pairs, double tolerance) {
  const double place = std::clamp((-std::log10(tolerance) - 4) / 2, 0.0, 2.999);
  const auto i = static_cast<std::size_t>(place);
  return pairs[i] * std::pow(pairs[i + 1] / pairs[i], place - static_cast<double>(i));
}

double tree_seconds(const Plan& plan, const Request& request, const PrismSource& /*ensemble*/,
                    const PointColumns& /*points*/) {
  // of points between the prisms more pairs are near
  constexpr double times_inside = 8;
  const bool on_device = is_device(plan.space);
  const PairsOfItem& of_item = on_device ? pairs_on_device : pairs_on_host;
  const double pair_seconds = 1e-9 * measured_weights(plan)[static_cast<std::size_t>(Form::multipole_4)];
  const auto m = static_cast<double>(plan.prisms().size()), n = static_cast<double>(plan.points().size());
  const double pairs =
      (m * at_tolerance(of_item.of_prism, plan.tolerance) + n * at_tolerance(of_item.of_point, plan.tolerance)) *
      (1 + (times_inside - 1) * plan.tree.part_inside);
  // with few prisms or points every pair is near; the pairs of the check add to that
  const auto checked = static_cast<double>(std::min(request.execution.check_points, plan.n_points));
  const double beside = on_device ? device_launch_seconds + m * device_prism_seconds : 0;
  return pair_seconds * (std::min(pairs, 2 * m * n) + m * checked / plan.point_parts) + beside;
}

PlanText tree_text(const Plan& plan) {
  const TreePlan& tree = plan.tree;
  return {{{"trees", fmt::format("leaves of {} and {} or less, expansions up to degree {}",
                                 counted(tree.leaf_prisms, "prism"), counted(tree.leaf_points, "point"), tree.degree)},
           {"scratch", fmt::format("about {}", size_text(tree.bytes))}},
          {{"tree_leaf_prisms", tree.leaf_prisms},
           {"tree_leaf_points", tree.leaf_points},
           {"tree_degree", tree.degree},
           {"scratch_bytes", tree.bytes},
           // results of all methods have them
           {"slots", 0},
           {"batch", 0}}};
}

std::unique_ptr<RankWork> tree_work(const Plan& plan, int rank) {
  return std::make_unique<OperatorWork>(plan, rank, fast::evaluate_trees);
}

}  // namespace

constexpr ForwardMethod tree_method = {Method::tree, check_tree, plan_tree, tree_shares,
                                       tree_seconds, tree_text,  tree_work};

}  // namespace prismfield
