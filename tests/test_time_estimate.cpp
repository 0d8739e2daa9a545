// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "compute/method.hpp"
#include "compute/plan.hpp"
#include "compute/time_estimate.hpp"
#include "forward_helpers.hpp"
#include "list_ensemble.hpp"
#include "parallel/collectives.hpp"
#include "ranks.hpp"

namespace prismfield::test_time_estimate {
namespace {

using testing::lanes_at_most;
using testing::ListEnsemble;
using testing::Point;
using testing::Prism;

/// Slabs and cells side by side.
std::vector<Prism> some_prisms() {
  std::vector<Prism> prisms;
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 10; ++j) prisms.push_back({50.0 * i, 50.0 * i + 50, 70.0 * j, 70.0 * j + 70, -100.0 - i, 0, 1});
  }
  return prisms;
}

/// Points from within the prisms to far away.
std::vector<Point> some_points() {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> place(-200, 1200), power(-1, 5);
  std::vector<Point> points;
  for (int i = 0; i < 150; ++i) points.push_back({place(random), place(random), -50 + std::pow(10, power(random))});
  return testing::in_whole_groups(points);
}

FormWeights only(Form form, double nanoseconds) {
  FormWeights weights{};
  weights[static_cast<std::size_t>(form)] = nanoseconds;
  return weights;
}

TEST(TimeEstimate, CountsThePairsOfEachFormThatTheKernelTakes) {
  const ListEnsemble ensemble(some_prisms());
  const Points points = testing::make_station_points(some_points());
  const Fields run = forward(ensemble, points, testing::make_request({}));
  std::int64_t all = 0;
  for (int f = 0; f < n_forms; ++f) {
    const auto form = static_cast<Form>(f);
    const std::int64_t pairs = run.pairs_by_form[static_cast<std::size_t>(f)];
    all += pairs;
    CostSettings settings;
    settings.weights = only(form, 1);
    settings.lanes = run.plan.lanes;
    settings.on_device = is_device(run.plan.space);
    EXPECT_EQ(cost_of_share(settings, ensemble, {0, 200}, points, {0, points.size()}), static_cast<double>(pairs))
        << name(form);
    const bool on_hosts = form == Form::multipole_12 || form == Form::multipole_10;
    if (form != Form::corners && form != Form::multipole_0 && !(on_hosts && settings.on_device)) {
      EXPECT_GT(pairs, 0) << name(form);
    }
  }
  EXPECT_EQ(all, 200 * points.size());
}

TEST(TimeEstimate, IsTheCountedPairsTimesWhatTheyCost) {
  const ListEnsemble ensemble(some_prisms());
  const Points points = testing::make_station_points(some_points());
  const Fields run = forward(ensemble, points, testing::make_request({}));
  const double without = share_seconds({}, ensemble, points, run.plan);
  EXPECT_GT(without, 0) << "prisms are staged and points put in order";
  FormWeights weights{};
  double expected = 0;
  for (std::size_t form = 0; form < weights.size(); ++form) {
    weights[form] = 1e6 * static_cast<double>(1 + form);
    expected += 1e-9 * weights[form] * static_cast<double>(run.pairs_by_form[form]);
  }
  EXPECT_NEAR(share_seconds(weights, ensemble, points, run.plan) - without, expected, 1e-9 * expected);
  // near pairs alone: their cost is no part of that of far ones
  const std::int64_t near = run.pairs_by_form[static_cast<std::size_t>(Form::compact)];
  EXPECT_NEAR(share_seconds(only(Form::compact, 1e9), ensemble, points, run.plan) - without, static_cast<double>(near),
              1e-9 * static_cast<double>(near));
}

TEST(TimeEstimate, OfARankIsThatOfItsShare) {
  const ListEnsemble ensemble(some_prisms());
  const Points points = testing::make_station_points(some_points());
  Plan plan = forward(ensemble, points, testing::make_request({})).plan;
  const FormWeights weights = only(Form::compact, 1e6);
  const double whole = share_seconds(weights, ensemble, points, plan) - share_seconds({}, ensemble, points, plan);
  double sum = 0;
  for (const IndexRange prisms : {IndexRange{0, 37}, IndexRange{37, 200}}) {
    for (const IndexRange at : {IndexRange{0, 100 * lanes_at_most}, IndexRange{100 * lanes_at_most, points.size()}}) {
      plan.prism_begin = prisms.begin;
      plan.prism_end = prisms.end;
      plan.point_begin = at.begin;
      plan.point_end = at.end;
      sum += share_seconds(weights, ensemble, points, plan) - share_seconds({}, ensemble, points, plan);
    }
  }
  EXPECT_NEAR(sum, whole, 1e-9 * whole);
  plan.point_begin = plan.point_end;
  EXPECT_GE(share_seconds(weights, ensemble, points, plan), 0);
}

// Of many prisms and points it looks at a sample.
TEST(TimeEstimate, ASampleStandsForAllPrismsAndPoints) {
  std::vector<Prism> prisms;
  for (int i = 0; i < 40000; ++i) prisms.push_back({50.0 * i, 50.0 * i + 50, 0, 50, -100, 0, 1});
  std::vector<Point> at;
  for (int i = 0; i < 5000; ++i) at.push_back({400.0 * i, 25, 1});
  const ListEnsemble ensemble(prisms, false);
  const Points points = testing::make_station_points(at);
  CostSettings settings;
  settings.weights.fill(1);
  EXPECT_NEAR(cost_of_share(settings, ensemble, {0, 40000}, points, {0, 5000}), 40000.0 * 5000, 1e-9 * 40000 * 5000);
}

TEST(TimeEstimate, MeasuresWhatEachFormCosts) {
  for (const KernelKind kernel : {KernelKind::automatic, KernelKind::corners}) {
    Request request = testing::make_request({}, FieldList{Field::gz});
    request.execution.kernel = kernel;
    const ListEnsemble ensemble(some_prisms());
    const Points points = testing::make_station_points(some_points());
    const Plan plan = plan_on_ranks(request, ensemble, points, problem_size(ensemble, points), testing::ranks());
    for (const double weight : measured_weights(plan)) EXPECT_TRUE(std::isfinite(weight) && weight > 0);
    const double seconds = estimated_seconds(request, ensemble, points, plan, testing::ranks());
    EXPECT_TRUE(std::isfinite(seconds) && seconds > 0);
    for (const double of_rank : gather_everywhere(testing::ranks(), seconds)) EXPECT_EQ(of_rank, seconds);
  }
}

}  // namespace
}  // namespace prismfield::test_time_estimate
