// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/cost_model.hpp"
#include "forward_helpers.hpp"
#include "list_ensemble.hpp"

#include <gtest/gtest.h>

namespace prismfield::test_cost_model {
namespace {

using testing::ListEnsemble;
using testing::Point;
using testing::Prism;

/// Cells of different shapes, with points from inside them to far away.
std::vector<Prism> some_prisms() {
  std::vector<Prism> prisms;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 5; ++j) {
      const double x = 100.0 * i;
      const double y = 120.0 * j;
      prisms.push_back({x, x + 60 + 5 * i, y, y + 100, -400.0 - 50 * j, -300, 1000});
    }
  }
  return prisms;
}
std::vector<Point> some_points(double step) {
  std::vector<Point> points;
  for (int i = 0; i < 37; ++i) {
    for (int j = 0; j < 29; ++j) points.push_back({-3000 + step * i, -100 + 17.3 * j, -310 + 21.7 * j});
  }
  points.push_back({30, 50, -300});
  for (int i = 1; i < 40; ++i) points.push_back({1000.0 * i * i, 0, 0});
  return points;
}

double cost_of(const CostSettings& settings, const std::vector<Prism>& prisms, const std::vector<Point>& points,
               std::int64_t stride = 1) {
  CostPoints at;
  for (const Point& p : points) {
    at.easting.push_back(p[0]);
    at.northing.push_back(p[1]);
    at.upward.push_back(p[2]);
  }
  at.groups = static_cast<std::int64_t>(points.size()) / settings.lanes;
  const ListEnsemble ensemble(prisms);
  PrismBlock block;
  ensemble.read({0, ensemble.size()}, block);
  return cost_of_block(settings, block, 0, at, stride);
}

/// Where the lanes of a group have one place, the model's forms are those that the kernel counts.
TEST(CostModel, FormsAreThoseThatTheKernelTakes) {
  const auto prisms = some_prisms();
  const auto points = testing::in_whole_groups(some_points(200));
  for (const Precision precision : {Precision::double_, Precision::single}) {
    for (const KernelKind kernel : {KernelKind::automatic, KernelKind::corners}) {
      Execution execution;
      execution.precision = precision;
      execution.kernel = kernel;
      const Fields result = testing::run_forward(execution, prisms, points);
      const bool on_device = is_device(result.plan.space);
      const CostSettings settings{precision,          kernel,   result.plan.lanes, form_weights(on_device),
                                  default_truncation, on_device};
      ASSERT_EQ(testing::lanes_at_most % settings.lanes, 0);
      const double cost = cost_of(settings, prisms, points);
      const double counted = cost_of_pairs(settings.weights, result.pairs_by_form);
      // a pair that rounding brings to the other side of a range's end
      EXPECT_NEAR(cost / counted, 1, 1e-3) << name(precision);
      ASSERT_EQ(result.rank_cost.size(), 1U);
      EXPECT_DOUBLE_EQ(result.rank_cost[0],
                       counted + prism_weight(on_device, false) * static_cast<double>(prisms.size()));
      if (kernel == KernelKind::automatic) {
        EXPECT_GT(result.pairs_by_form[static_cast<std::size_t>(Form::compact)], 0);
        EXPECT_GT(result.pairs_by_form[static_cast<std::size_t>(Form::difference_free)], 0);
        EXPECT_GT(result.pairs_by_form[static_cast<std::size_t>(Form::multipole_4)], 0);
      }
    }
  }
}

TEST(CostModel, AGroupPaysTheDearestOfItsLanes) {
  const std::vector<Prism> one = {{0, 10, 0, 10, -10, 0, 1}};
  // seven points far away and one on the prism: the whole group is taken by both forms
  std::vector<Point> points(7, Point{1e5, 0, 0});
  points.push_back({5, 5, 0});
  CostSettings settings;
  settings.lanes = 8;
  settings.weights = form_weights(false);
  const double both = cost_of(settings, one, points);
  EXPECT_NEAR(both,
              8 * (settings.weights[static_cast<std::size_t>(Form::compact)] +
                   settings.weights[static_cast<std::size_t>(Form::multipole_12)]),
              1e-9);
  settings.lanes = 1;
  const double alone = cost_of(settings, one, points);
  EXPECT_NEAR(alone,
              settings.weights[static_cast<std::size_t>(Form::compact)] +
                  7 * settings.weights[static_cast<std::size_t>(Form::multipole_0)],
              1e-9);
}

TEST(CostModel, ASampleOfPointsFindsTheSameCost) {
  std::vector<Prism> prisms;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 25; ++j) prisms.push_back({25.0 * i, 25.0 * i + 25, 25.0 * j, 25.0 * j + 25, -200, -100, 1});
  }
  const auto points = some_points(100);
  CostSettings settings;
  settings.weights = form_weights(false);
  const double exact = cost_of(settings, prisms, points);
  for (const std::int64_t stride : {2, 7, 50}) {
    EXPECT_NEAR(cost_of(settings, prisms, points, stride) / exact, 1, 0.01) << stride;
  }
}

TEST(CostModel, NoPointsCostNothing) { EXPECT_EQ(cost_of({}, some_prisms(), {}), 0); }

}  // namespace
}  // namespace prismfield::test_cost_model
