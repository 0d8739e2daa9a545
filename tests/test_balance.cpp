// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/balance.hpp"
#include "compute/cost_model.hpp"
#include "compute/method.hpp"
#include "compute/plan.hpp"
#include "engine/engine.hpp"
#include "forward_helpers.hpp"
#include "list_ensemble.hpp"
#include "model/points.hpp"
#include "parallel/collectives.hpp"
#include "ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace prismfield::test_balance {
namespace {

using testing::ListEnsemble;
using testing::Point;
using testing::Prism;
using testing::ranks;

TEST(Balance, EveryRankEstimatesItsBalancedPartOfAnImplicitEnsemble) {
  const auto ranges = estimation_ranges({{0, 100}, {0, 100}, {0, 100}}, 100);
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges[1].begin, 34);
  EXPECT_EQ(ranges[1].end, 67);
}

TEST(Balance, PrismsAreEstimatedWhereTheyAreHeld) {
  // a list that rank 0 alone holds
  auto ranges = estimation_ranges({{0, 100}, {0, 0}, {0, 0}}, 100);
  EXPECT_EQ(ranges[0].size(), 100);
  EXPECT_EQ(ranges[1].size() + ranges[2].size(), 0);
  // nobody holds the middle
  ranges = estimation_ranges({{0, 10}, {60, 100}}, 100);
  EXPECT_EQ(ranges[0].size() + ranges[1].size(), 50);
}

/// Cells of 100 m down to 4 km under 2 x 2 km, numbered easting fastest, then northing, then upward.
std::vector<Prism> deep_model() {
  std::vector<Prism> prisms;
  for (int k = 0; k < 40; ++k) {
    for (int j = 0; j < 20; ++j) {
      for (int i = 0; i < 20; ++i) {
        const double x = 100.0 * i;
        const double y = 100.0 * j;
        const double z = -4000 + 100.0 * k;
        prisms.push_back({x, x + 100, y, y + 100, z, z + 100, 300.0 + i + j});
      }
    }
  }
  return prisms;
}

/// Stations 10 m above the western side, and some far away.
std::vector<Point> stations(double step) {
  std::vector<Point> points;
  for (double y = 0; y < 1000; y += step) {
    for (double x = 0; x < 300; x += step) points.push_back({x, y, 10});
  }
  const std::size_t n = points.size();
  for (std::size_t i = 0; i < n; ++i) points.push_back({25000, 30.0 * static_cast<double>(i), 10});
  return points;
}

/// Largest distance of a load from their mean, relative.
double unevenness(const std::vector<double>& loads) {
  const double mean = std::accumulate(loads.begin(), loads.end(), 0.0) / static_cast<double>(loads.size());
  double worst = 0;
  for (const double load : loads) worst = std::max(worst, std::abs(load / mean - 1));
  return worst;
}

Fields run_on_ranks(const Execution& execution, const std::vector<Prism>& prisms, const std::vector<Point>& at) {
  const Request run = testing::make_request(execution, FieldList{Field::gz});
  const ListEnsemble ensemble(prisms, true);
  const Points points = testing::make_station_points(at);
  const Plan plan = plan_on_ranks(run, ensemble, points, problem_size(ensemble, points), ranks());
  return forward(ensemble, points, run, *make_work(plan, ranks()), ranks(), nullptr);
}

struct Trial {
  const char* name;
  Partition partition;
  std::array<int, 2> grid;
  Precision precision;
  /// the points of a group of lanes at one place
  bool whole_groups;
};

/// The loads of all ranks, from the pairs that the kernels counted by form, are within 2 %; by count they are not.
TEST(Balance, LoadsByCostAreWithinTwoPercent) {
  if (ranks().size() == 1) GTEST_SKIP() << "one rank has nothing to share";
  const auto prisms = deep_model();
  const auto many = stations(10), in_groups = testing::in_whole_groups(stations(50));
  const int n = ranks().size();
  std::vector<Trial> trials = {{"prisms", Partition::prisms, {n, 1}, Precision::double_, false},
                               {"prisms, whole groups", Partition::prisms, {n, 1}, Precision::double_, true},
                               {"prisms, single, whole groups", Partition::prisms, {n, 1}, Precision::single, true},
                               {"points", Partition::points, {1, n}, Precision::double_, false}};
  if (n == 4) trials.push_back({"2 x 2", Partition::rank_grid, {2, 2}, Precision::double_, false});
  for (const Trial& trial : trials) {
    const auto& points = trial.whole_groups ? in_groups : many;
    Execution execution;
    execution.partition = trial.partition;
    execution.rank_grid = trial.grid;
    execution.precision = trial.precision;
    const Fields by_count = run_on_ranks(execution, prisms, points);
    execution.balance = Balance::cost;
    const Fields by_cost = run_on_ranks(execution, prisms, points);
    if (ranks().rank() != 0) continue;
    ASSERT_EQ(by_cost.rank_cost.size(), static_cast<std::size_t>(n));
    // float's multipoles begin nearer, so that less depends on distance
    EXPECT_GT(unevenness(by_count.rank_cost), trial.precision == Precision::single ? 0.03 : 0.10) << trial.name;
    EXPECT_LT(unevenness(by_cost.rank_cost), 0.02) << trial.name;
    RecordProperty(trial.name, std::to_string(unevenness(by_cost.rank_cost)));
    EXPECT_EQ(std::accumulate(by_cost.rank_pairs.begin(), by_cost.rank_pairs.end(), std::int64_t{0}),
              static_cast<std::int64_t>(prisms.size() * points.size()));
    // the same fields, only summed in another order
    double scale = 0;
    for (const double value : by_count.values) scale = std::max(scale, std::abs(value));
    const double tolerance = trial.precision == Precision::single ? 1e-4 : 1e-13;
    double worst = 0;
    for (std::size_t i = 0; i < by_cost.values.size(); ++i) {
      worst = std::max(worst, std::abs(by_cost.values[i] - by_count.values[i]) / scale);
    }
    EXPECT_LT(worst, tolerance) << trial.name;
  }
}

/// Where stations are far apart, the points of a vector take different forms and all of them cost: counted pairs do not
/// tell that, but the cost of every pair of each rank's share by the model does.
TEST(Balance, SparseStationsAreBalancedByWhatVectorsPay) {
  if (ranks().size() == 1) GTEST_SKIP() << "one rank has nothing to share";
  const auto prisms = deep_model();
  const auto points = stations(60);
  Execution execution;
  execution.partition = Partition::prisms;
  execution.balance = Balance::cost;
  const Request run = testing::make_request(execution);
  const ListEnsemble ensemble(prisms, true);
  const Points at = testing::make_station_points(points);
  const Plan plan = plan_on_ranks(run, ensemble, at, problem_size(ensemble, at), ranks());
  const bool on_device = is_device(plan.space);
  const CostSettings settings{
      plan.precision,     plan.kernel, plan.lanes, form_weights(on_device), prism_weight(on_device, true),
      default_truncation, on_device};
  PrismBlock block;
  ensemble.read({plan.prism_begin, plan.prism_end}, block);
  CostPoints grouped;
  std::vector<std::int64_t> order = spatial_order(at, {0, at.size()});
  while (order.size() % static_cast<std::size_t>(plan.lanes) != 0) order.push_back(order.back());
  grouped.groups = static_cast<std::int64_t>(order.size()) / plan.lanes;
  for (const std::int64_t point : order) {
    const auto p = static_cast<std::size_t>(point);
    grouped.easting.push_back(at.easting[p]);
    grouped.northing.push_back(at.northing[p]);
    grouped.upward.push_back(at.upward[p]);
  }
  std::vector<double> prism_cost(static_cast<std::size_t>(block.size()), 0.0);
  std::vector<double> group_cost(static_cast<std::size_t>(grouped.groups), 0.0);
  add_costs(settings, block, plan.prism_begin, grouped, 1, 1, prism_cost.data(), group_cost.data());
  const auto loads = gather(ranks(), std::accumulate(prism_cost.begin(), prism_cost.end(), 0.0));
  if (ranks().rank() == 0) {
    EXPECT_LT(unevenness(loads), 0.02);
  }
}

TEST(Balance, AutoIsTheSameOnAllRanksAndChoosesPointsForFewPrisms) {
  const auto prisms = deep_model();
  for (const Balance balance : {Balance::count, Balance::cost}) {
    Execution execution;
    // on a device these few prisms are done before they are shared out
    execution.space = built_spaces().back();
    execution.balance = balance;
    const Fields many = run_on_ranks(execution, prisms, stations(50));
    EXPECT_EQ(many.plan.partition, Partition::prisms);
    EXPECT_TRUE(many.plan.partition_is_auto);
    EXPECT_EQ(many.plan.prism_parts, ranks().size());
    const Fields few = run_on_ranks(execution, {prisms.back()}, stations(4));
    if (ranks().size() > 1) {
      EXPECT_EQ(few.plan.partition, Partition::points);
      EXPECT_EQ(few.plan.point_parts, ranks().size());
      EXPECT_EQ(few.plan.prism_end - few.plan.prism_begin, 1);
    }
    const auto sum = gather(ranks(), few.plan.point_end - few.plan.point_begin);
    if (ranks().rank() == 0) {
      EXPECT_EQ(std::accumulate(sum.begin(), sum.end(), std::int64_t{0}), few.plan.n_points);
    }
  }
}

TEST(Balance, FewerPrismsThanRanksAndNoneAtAll) {
  const auto all = deep_model();
  Execution execution;
  execution.partition = Partition::prisms;
  execution.balance = Balance::cost;
  for (const std::size_t n : {0U, 1U, 3U}) {
    const std::vector<Prism> prisms(all.end() - static_cast<std::ptrdiff_t>(n), all.end());
    const Fields result = run_on_ranks(execution, prisms, stations(100));
    if (ranks().rank() != 0) continue;
    EXPECT_EQ(result.pairs, static_cast<std::int64_t>(n * stations(100).size()));
    EXPECT_EQ(std::accumulate(result.rank_pairs.begin(), result.rank_pairs.end(), std::int64_t{0}), result.pairs);
  }
}

}  // namespace
}  // namespace prismfield::test_balance
