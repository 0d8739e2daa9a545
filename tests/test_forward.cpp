// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/forward.hpp>

#include "compute/method.hpp"
#include "compute/plan.hpp"
#include "forward_helpers.hpp"
#include "parallel/collectives.hpp"
#include "ranks.hpp"

namespace prismfield::testing::test_forward {
namespace {

constexpr std::int64_t n_prisms = 40;

std::vector<Prism> row_of_prisms() {
  std::vector<Prism> prisms;
  for (int i = 0; i < n_prisms; ++i) prisms.push_back({10.0 * i, 10.0 * i + 9, 0, 10, -20, -10.0 - i, 100.0 + i});
  return prisms;
}

Points some_points() {
  return {.easting = {5, 105, 205, 305, 405, 505}, .northing = {5, 5, 5, 5, 5, 5}, .upward = {1, 2, 3, 4, 5, 6}};
}

/// Every rank has all prisms, one a launch.
Request one_prism_a_launch() {
  Request request{.fields = {Field::gz, Field::gzz}};
  request.execution.space = Space::serial;
  request.execution.partition = Partition::points;
  request.execution.slots = request.execution.batch = request.execution.chunk = 1;
  return request;
}

/// Fails on one rank; on the others its second prism comes once that is known here.
class FailingSource final : public ListEnsemble {
public:
  explicit FailingSource(int failing_rank) : ListEnsemble(row_of_prisms()), m_failing_rank(failing_rank) {}

  void read(IndexRange range, PrismBlock& out) const override {
    if (ranks().rank() == m_failing_rank) throw RunError("the disk is gone");
    ++m_reads;
    while (m_reads > 1 && !stop_announced(ranks())) std::this_thread::yield();
    ListEnsemble::read(range, out);
  }
  [[nodiscard]] int reads() const { return m_reads; }

private:
  int m_failing_rank;
  mutable int m_reads = 0;
};

TEST(Forward, WhatASourceThrowsOnOneRankIsThrownOnAll) {
  const ListEnsemble good(row_of_prisms());
  const std::vector<double> before = forward(good, some_points(), one_prism_a_launch(), ranks()).values;
  for (int failing = 0; failing < ranks().size(); ++failing) {
    const FailingSource source(failing);
    std::string told;
    try {
      static_cast<void>(forward(source, some_points(), one_prism_a_launch(), ranks()));
    } catch (const AgreedFailure& failure) {
      EXPECT_EQ(failure.kind, ErrorKind::failure);
      told = failure.what();
    } catch (const RunError& error) {
      EXPECT_EQ(ranks().size(), 1);
      told = error.what();
    }
    EXPECT_FALSE(told.empty());
    if (ranks().rank() == failing) {
      EXPECT_NE(told.find("the disk is gone"), std::string::npos) << told;
    }
    EXPECT_LE(source.reads(), 2) << "it goes on computing";
    // nothing of the failure is left
    EXPECT_EQ(forward(good, some_points(), one_prism_a_launch(), ranks()).values, before);
  }
}

TEST(Forward, WhatAnObserverThrowsOnOneRankIsThrownOnAll) {
  class Stop final : public Observer {
    void progress(double, std::int64_t) override {
      if (ranks().rank() == ranks().size() - 1) throw Stopped();
    }
  } stop;
  const ListEnsemble source(row_of_prisms());
  try {
    static_cast<void>(forward(source, some_points(), one_prism_a_launch(), ranks(), &stop));
    FAIL() << "nothing was thrown";
  } catch (const AgreedFailure& failure) {
    EXPECT_EQ(failure.kind, ErrorKind::stopped);
  } catch (const Stopped&) {
    EXPECT_EQ(ranks().size(), 1);
  }
}

TEST(Forward, FillsMemoryOfTheCaller) {
  const ListEnsemble source(row_of_prisms());
  const Points points = some_points();
  const Request request = one_prism_a_launch();
  const std::vector<double> expected = forward(source, points, request, ranks()).values;
  const bool is_root = ranks().rank() == 0;
  std::vector<double> values(2 * points.easting.size(), 3);
  const double* const memory = values.data();
  const Fields fields = forward_into(values, source, points, request, ranks());
  EXPECT_TRUE(fields.values.empty());
  EXPECT_EQ(values.data(), memory);
  EXPECT_EQ(values, is_root ? expected : std::vector<double>(values.size(), 3));

  values.resize(values.size() - (is_root ? 1 : 0));
  EXPECT_THROW(static_cast<void>(forward_into(values, source, points, request, ranks())), InputError);
}

/// A run whose plan the ranks make together.
Fields run_as_planned(const Execution& execution, const std::vector<Prism>& prisms, const Points& points) {
  const Request request = make_request(execution, FieldList{Field::gz});
  const ListEnsemble ensemble(prisms, true);
  const Plan plan = plan_on_ranks(request, ensemble, points, problem_size(ensemble, points), ranks());
  return forward(ensemble, points, request, *make_work(plan, ranks()), ranks(), nullptr);
}

/// Points 50 m apart above a square of 1 km.
Points points_above() {
  std::vector<Point> points;
  for (int i = 0; i < 400; ++i) points.push_back({50.0 * (i % 20), 50.0 * (i / 20), 10});
  return make_station_points(points);
}

TEST(Partition, AutoIsTheSameOnAllRanksAndChoosesPointsForFewPrisms) {
  std::vector<Prism> cells;
  for (int i = 0; i < 16000; ++i) {
    const double x = 50.0 * (i % 20), y = 50.0 * (i / 20 % 20), z = -2000 + 50.0 * (i / 400);
    cells.push_back({x, x + 50, y, y + 50, z, z + 50, 300.0 + i % 40});
  }
  Execution execution;
  // on a device these few prisms are done before they are shared out
  execution.space = built_spaces().back();
  const Fields many = run_as_planned(execution, cells, points_above());
  EXPECT_EQ(many.plan.partition, Partition::prisms);
  EXPECT_TRUE(many.plan.partition_is_auto);
  EXPECT_EQ(many.plan.prism_parts, ranks().size());
  const Fields few = run_as_planned(execution, {cells.back()}, points_above());
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

TEST(Partition, FewerPrismsThanRanksAndNoneAtAll) {
  const std::vector<Prism> all = row_of_prisms();
  Execution execution;
  execution.partition = Partition::prisms;
  for (const std::ptrdiff_t n : {0, 1, 3}) {
    const Fields result = run_as_planned(execution, {all.end() - n, all.end()}, points_above());
    if (ranks().rank() != 0) continue;
    EXPECT_EQ(result.pairs, n * points_above().size());
    EXPECT_EQ(std::accumulate(result.rank_pairs.begin(), result.rank_pairs.end(), std::int64_t{0}), result.pairs);
  }
}

}  // namespace
}  // namespace prismfield::testing::test_forward
