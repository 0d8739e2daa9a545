// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/random.hpp"
#include "points_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace prismfield::test_points {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::lines_in;
using testing::PointsTest;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using GridTest = PointsTest;
using StationsTest = PointsTest;

TEST_F(GridTest, NumbersPointsEastingFastest) {
  m_run.observations = GridSpec{{0, 20, 3}, {100, 150, 2}, 7.5};
  const Points p = make();
  EXPECT_TRUE(p.is_grid());
  EXPECT_EQ(p.size(), 6);
  EXPECT_THAT(p.easting, ElementsAre(0, 10, 20, 0, 10, 20));
  EXPECT_THAT(p.northing, ElementsAre(100, 100, 100, 150, 150, 150));
  EXPECT_THAT(p.upward, Each(7.5));
  EXPECT_EQ(p.upward.size(), 6U);
  EXPECT_THAT(p.grid_easting, ElementsAre(0, 10, 20));
  EXPECT_THAT(p.grid_northing, ElementsAre(100, 150));
}

TEST_F(GridTest, MayBeOnePointOrOneLine) {
  m_run.observations = GridSpec{{5, 5, 1}, {1, 9, 1}, -3.0};
  const Points p = make();
  EXPECT_THAT(p.easting, ElementsAre(5));
  EXPECT_THAT(p.northing, ElementsAre(1));
  m_run.observations = GridSpec{{0, 10, 11}, {5, 5, 1}, -3.0};
  EXPECT_EQ(make().size(), 11);
}

TEST_F(GridTest, RefusesAxesWithoutPoints) {
  m_run.observations = GridSpec{{5, 5, 2}, {9, 1, 5}, 0.0};
  EXPECT_EQ(lines_in(message()), 2U);
  EXPECT_THAT(message(), AllOf(HasSubstr("case.yaml:9: observations.grid.easting: [5, 5, 2]"),
                               HasSubstr("observations.grid.northing: [9, 1, 5]")));
  m_run.observations = GridSpec{{0, 10, 0}, {0, nan, 5}, 0.0};
  EXPECT_EQ(lines_in(message()), 2U);
  m_run.observations = GridSpec{{1e16, 1e16 + 4, 100}, {0, 1, 2}, 0.0};
  EXPECT_THAT(message(), HasSubstr("closer than double precision can tell apart"));
  m_run.observations = GridSpec{{0, 1, 2}, {0, 1, 2}, nan};
  EXPECT_THAT(message(), HasSubstr("observations.grid.upward: the height is not finite"));
}

TEST_F(GridTest, RefusesPlacesWhoseResultsWouldNotBeFinite) {
  m_run.observations = GridSpec{{0, 1e38, 2}, {0, 1, 2}, -2e12};
  EXPECT_EQ(lines_in(message()), 2U);
  EXPECT_THAT(
      message(),
      AllOf(HasSubstr("case.yaml:9: observations.grid.easting: point 1 lies more than 1e+12 m from 0, the limit"),
            HasSubstr("observations.grid.upward: point 0 lies more than 1e+12 m from 0")));
}

TEST_F(PointsTest, AreMissing) { EXPECT_THAT(message(), HasSubstr("observations: is missing; grid or stations")); }

TEST_F(StationsTest, AtRandomLieOverTheModelByDefault) {
  m_run.observations = StationsRandom{500, {}, {}, {}, 2};
  const Points p = make();
  ASSERT_EQ(p.size(), 500);
  EXPECT_FALSE(p.is_grid());
  EXPECT_THAT(p.upward, Each(50));
  EXPECT_GE(*std::min_element(p.easting.begin(), p.easting.end()), 0);
  EXPECT_LT(*std::max_element(p.easting.begin(), p.easting.end()), 1000);
  EXPECT_GE(*std::min_element(p.northing.begin(), p.northing.end()), 2000);
  EXPECT_LT(*std::max_element(p.northing.begin(), p.northing.end()), 5000);
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_EQ(p.easting[i], random_uniform(0, 1000, 2, RandomStream::station_easting, i));
    EXPECT_EQ(p.northing[i], random_uniform(2000, 5000, 2, RandomStream::station_northing, i));
  }
}

TEST_F(StationsTest, AtRandomKeepToTheRangesAsked) {
  m_run.observations = StationsRandom{100, Range{-5, -4}, Range{7, 7}, Range{1, 3}, 2};
  const Points p = make();
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(p.easting[i], random_uniform(-5, -4, 2, RandomStream::station_easting, i));
    EXPECT_EQ(p.northing[i], 7);
    EXPECT_EQ(p.upward[i], random_uniform(1, 3, 2, RandomStream::station_upward, i));
  }
  // more stations leave the first where they were
  std::get<StationsRandom>(m_run.observations).count = 101;
  EXPECT_EQ(make().easting[99], p.easting[99]);
  m_run.observations = StationsRandom{0, Range{3, 2}, {}, {}, 2};
  EXPECT_THAT(message(), AllOf(HasSubstr("observations.stations.random: 0 stations"),
                               HasSubstr("observations.stations.easting: [3, 2]")));
}

}  // namespace
}  // namespace prismfield::test_points
