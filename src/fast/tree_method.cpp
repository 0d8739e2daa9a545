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

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "compute/balance.hpp"
#include "compute/method.hpp"
#include "fast/essential_work.hpp"
#include "fast/expansion_numbers.hpp"
#include "fast/leaf_sizes.hpp"
#include "fast/make_tree_share.hpp"
#include "fast/product_work.hpp"
#include "kernel/contact.hpp"
#include "model/choices.hpp"

namespace prismfield {
namespace {

/// Below, the degree of expansions would pass max_degree where cells are neighbours.
constexpr double least_tolerance = 1e-11;

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
  problem.points_per_prism = fast::points_per_prism(ensemble, points);
}

/// The points that a rank computes, about.
std::int64_t points_of_rank(const Plan& plan) {
  const std::int64_t parts = plan.tree.in_parts_of_space ? plan.prism_parts : 1;
  return (plan.points().size() + parts - 1) / parts;
}

/// Cells of a tree, and numbers of one, about: cells are half full.
std::int64_t cells_of(std::int64_t items, std::int64_t leaf_items) { return 4 * items / leaf_items + 2; }
std::int64_t expansion_numbers(const Plan& plan) { return 2 * fast::n_terms(plan.tree.degree); }

/// Bytes of the trees of a product of these fields in the space that computes, about: a cell of points exchanges with
/// some ten others where there are enough of them. Of other ranks' trees it takes as much as of its own.
std::int64_t tree_bytes(FieldSet set, const Plan& plan, const ProblemSize& problem, const EngineMemory& m) {
  const std::int64_t points = points_of_rank(plan);
  const std::int64_t prisms = (plan.tree.in_parts_of_space ? 2 : 1) * plan.prisms().size();
  const std::int64_t n_fields = fields_of(set).size();
  // in the order of the tree, once more while it is made: places, sizes, numbers
  const std::int64_t of_magnetisation = has_magnetic(set) ? 3 * 3 : 0;
  const std::int64_t a_prism = m.per_prism + (6 + 5 + 2 * 5 + 7 + of_magnetisation) * 8,
                     a_point = (n_fields + n_contact_columns + 3 + 13) * 8;
  const std::int64_t shapes = problem.uniform_shape ? 1 : prisms;
  const std::int64_t cells = cells_of(prisms, plan.tree.leaf_prisms) + cells_of(points, plan.tree.leaf_points);
  const std::int64_t a_cell = expansion_numbers(plan) * 8 + 16 * 8;
  // of a source: how its moments fall off; of a target: its exchanges, listed twice
  constexpr std::int64_t beside = 1200, exchanges = 500;
  return prisms * a_prism + shapes * m.per_shape + points * a_point + cells * (a_cell + beside + exchanges);
}

/// Of the columns of a rank's prisms.
std::int64_t bytes_of_prisms(const Plan& plan) {
  return plan.prisms().size() * (has_magnetic(plan.computed) ? 10 : 7) * 8;
}

/// Adds what ranks need to have parts of space, on the host: cells and prisms that go and that come, and rank 0's order
/// of the points.
void add_exchange(const Plan& plan, int rank, MethodMemory& memory) {
  constexpr std::int64_t a_bound = 1200;
  const std::int64_t cells = cells_of(plan.prisms().size(), plan.tree.leaf_prisms);
  memory.while_computing += 2 * (cells * (expansion_numbers(plan) * 8 + a_bound) + bytes_of_prisms(plan));
  memory.points = points_of_rank(plan);
  if (rank == 0) memory.always += plan.n_points * 8;
}

void plan_tree(Plan& plan, const Request& request, const ProblemSize& problem, const Machine& machine) {
  // also where points are so few that the direct sums that check them are as many
  plan.tolerance = request.execution.tolerance;
  plan.tree.degree = fast::degree_for(plan.tolerance);
  const int ranks = plan.prism_parts * plan.point_parts;
  // of a rank: with fewer, trees are leaves
  constexpr std::int64_t least_items = 32;
  const bool has_trees = std::min(plan.n_prisms, plan.n_points) >= least_items * ranks;
  plan.tree.in_parts_of_space = plan.partition_is_auto && ranks > 1 && has_trees;
  const EngineTraits& traits = machine.engine;
  const fast::LeafSizes leaves = fast::leaf_sizes(traits.is_device, problem.points_per_prism, plan.prisms().size());
  plan.tree.leaf_prisms = leaves.prisms;
  plan.tree.leaf_points = leaves.points;
  // all trees are made before the first product
  plan.tree.bytes = 0;
  for (const FieldSet set : sets_of(plan.computed)) {
    plan.tree.bytes += tree_bytes(set, plan, problem, traits.memory);
  }
  // a device's prisms are on the host until they are copied; a host's are freed before trees take more
  MethodMemory memory;
  memory.on_device = traits.is_device ? plan.tree.bytes : 0;
  memory.while_computing = traits.is_device ? bytes_of_prisms(plan) : plan.tree.bytes;
  if (plan.tree.in_parts_of_space) add_exchange(plan, machine.rank, memory);
  count_memory(plan, problem, memory, request.fields.size(), machine.rank);
}

/// The grid of ranks that reads and sorts least: trees take time by prisms and points, not by pairs. Where parts of
/// space are shared out, that of the prisms that each rank reads.
Shares tree_shares(const Plan& plan, const Request& /*request*/, const PrismSource& /*ensemble*/,
                   const PointColumns& /*points*/, PrismCuts /*cuts*/, const Communicator& communicator) {
  RankGrid grid{plan.prism_parts, plan.point_parts};
  const int ranks = communicator.size();
  const auto largest_share = [&](const RankGrid& of) {
    return (plan.n_prisms + of.prism_parts - 1) / of.prism_parts +
           (plan.n_points + of.point_parts - 1) / of.point_parts;
  };
  const bool is_chosen = plan.partition_is_auto && !plan.tree.in_parts_of_space;
  for (int parts = 1; is_chosen && parts <= ranks; ++parts) {
    const RankGrid other{parts, ranks / parts};
    if (ranks % parts == 0 && largest_share(other) < largest_share(grid)) grid = other;
  }
  return {grid, rank_share(plan.n_prisms, plan.n_points, communicator.rank(), grid.prism_parts, grid.point_parts)};
}

/// Part of the points that lie between the prisms, by some of them.
double part_inside(const PrismSource& ensemble, const PointColumns& points, IndexRange range) {
  constexpr std::int64_t most_looked_at = 1000;
  const Bounds b = ensemble.bounds();
  const std::int64_t stride = std::max<std::int64_t>(range.size() / most_looked_at, 1);
  std::int64_t inside = 0, all = 0;
  for (std::int64_t i = range.begin; i < range.end; i += stride, ++all) {
    const auto p = static_cast<std::size_t>(i);
    const double x = points.easting[p], y = points.northing[p], z = points.upward[p];
    if (b.west < x && x < b.east && b.south < y && y < b.north && b.bottom < z && z < b.top) ++inside;
  }
  return all > 0 ? static_cast<double>(inside) / static_cast<double>(all) : 0;
}

/// Direct pairs in the time of which a tree does a prism and a point, above the prisms, at 1e-4, 1e-6, 1e-8 and 1e-10:
/// measured with voxels of 50 m, random points 80 to 300 m above and nine fields, on two cores and on an H100, which
/// has less to do with a prism, and computes pairs much faster.
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

double tree_seconds(const Plan& plan, const Request& request, const PrismSource& ensemble, const PointColumns& points) {
  // of points between the prisms more pairs are near
  constexpr double times_inside = 8;
  const bool on_device = is_device(plan.space);
  const PairsOfItem& of_item = on_device ? pairs_on_device : pairs_on_host;
  const double pair_seconds = 1e-9 * measured_weights(plan)[static_cast<std::size_t>(Form::multipole_4)];
  const auto m = static_cast<double>(plan.prisms().size()), n = static_cast<double>(points_of_rank(plan));
  const double inside = part_inside(ensemble, points, plan.points());
  const double pairs =
      (m * at_tolerance(of_item.of_prism, plan.tolerance) + n * at_tolerance(of_item.of_point, plan.tolerance)) *
      (1 + (times_inside - 1) * inside);
  // with few of one kind every pair is near; the check's pairs come to both
  const auto checked = static_cast<double>(std::min(request.execution.check_points, plan.n_points));
  const double beside = on_device ? device_launch_seconds + m * device_prism_seconds : 0;
  return pair_seconds * (std::min(pairs, 2 * m * n) + m * checked / plan.point_parts) + beside;
}

PlanText tree_text(const Plan& plan) {
  const TreePlan& tree = plan.tree;
  PlanText text{
      {{"trees", fmt::format("leaves of {} and {} or less, expansions up to degree {}",
                             counted(tree.leaf_prisms, "prism"), counted(tree.leaf_points, "point"), tree.degree)},
       {"scratch", fmt::format("about {}", size_text(tree.bytes))}},
      {{"tree_leaf_prisms", tree.leaf_prisms},
       {"tree_leaf_points", tree.leaf_points},
       {"tree_degree", tree.degree},
       {"scratch_bytes", tree.bytes},
       // results of all methods have them
       {"slots", 0},
       {"batch", 0}}};
  if (tree.in_parts_of_space) {
    text.rows.emplace_back("shared out",
                           fmt::format("in space: each rank computes about {}, with what it needs of others' trees",
                                       counted(points_of_rank(plan), "point")));
  }
  return text;
}

std::unique_ptr<RankWork> tree_work(const Plan& plan, int rank) {
  if (plan.tree.in_parts_of_space) return std::make_unique<fast::EssentialWork>(plan, rank);
  return std::make_unique<fast::ProductWork>(plan, rank, fast::make_tree_share);
}

}  // namespace

constexpr ForwardMethod tree_method = {Method::tree, check_tree, plan_tree, tree_shares,
                                       tree_seconds, tree_text,  tree_work};

}  // namespace prismfield
