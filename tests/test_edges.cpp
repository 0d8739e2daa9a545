// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/random.hpp"
#include "mesh_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace prismfield::test_edges {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made;

using Edges = testing::MeshTest;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_F(Edges, DrawsWidthsUpwardFromTheOrigin) {
  m_spec.upward = EdgesRandom{{1000, 11000}, 400, -5, std::nullopt, 3};
  const auto ensemble = made(m_run, m_spec);
  EXPECT_EQ(ensemble->bounds().bottom, -5);
  PrismBlock p;
  ensemble->read({0, ensemble->size()}, p);
  double edge = -5;
  for (std::size_t k = 0; k < 400; ++k) {
    EXPECT_EQ(p.bottom[6 * k], edge);
    edge += random_uniform(1000, 11000, 3, RandomStream::mesh_width_upward, k);
    EXPECT_EQ(p.top[6 * k], edge);
  }
}

TEST_F(Edges, DrawsWidthsDownwardFromTheTop) {
  m_spec.upward = EdgesRandom{{1000, 11000}, 20, 77, 0.0, 3};
  const auto ensemble = made(m_run, m_spec);
  EXPECT_EQ(ensemble->bounds().top, 0);
  EXPECT_LT(ensemble->bounds().bottom, -20 * 1000);
  EXPECT_GT(ensemble->bounds().bottom, -20 * 11000);
}

TEST_F(Edges, DrawsOtherWidthsInEachDirectionOfOneSeed) {
  m_spec.easting = m_spec.northing = m_spec.upward = EdgesRandom{{1, 2}, 1, 0, std::nullopt, 3};
  const PrismBlock p = read();
  EXPECT_EQ((std::set<double>{p.east[0], p.north[0], p.top[0]}).size(), 3U);
  m_spec.easting = EdgesRandom{{4, 4}, 2, 0, std::nullopt, 3};
  EXPECT_THAT(read().east, ElementsAre(4, 8));
}

TEST_F(Edges, SumWidthsWithoutLosingWhatRoundsOff) {
  // one after the other, 1000 tenths miss the last by 99 ulp
  for (const double sign : {1.0, -1.0}) {
    const std::vector<double> edges = edges_from_widths(0, std::vector<double>(1000, sign * 0.1));
    ASSERT_EQ(edges.size(), 1001U);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const double meant = static_cast<double>(i) / 10;
      EXPECT_LE(std::abs(sign * edges[i] - meant), 2 * (std::nextafter(meant, infinity) - meant)) << i;
    }
  }
}

TEST_F(Edges, RefusesEdgesThatDoNotIncrease) {
  m_spec.easting = EdgesList{{0, 100, 100, 50, 500}};
  m_spec.northing = EdgesWidths{0, {100, 0, -5, infinity}};
  m_spec.upward = Axis{0, 0, 2};
  EXPECT_THAT(
      message(),
      AllOf(HasSubstr("model.mesh.easting.edges: edge 2, 100, is not above the one before, 100; edges must increase"),
            HasSubstr("model.mesh.easting.edges: edge 3, 50, is not above the one before, 100"),
            HasSubstr("model.mesh.northing.widths: width 1, 0, must be above 0"),
            HasSubstr("model.mesh.northing.widths: width 2, -5, must be above 0"),
            HasSubstr("model.mesh.northing.widths: width 3, inf, must be above 0"),
            HasSubstr("model.mesh.upward: edge 1")));
  m_spec.easting = EdgesList{{5}};
  EXPECT_THAT(message(), HasSubstr("model.mesh.easting.edges: 1 edge; two or more are needed"));
  m_spec.easting = EdgesList{{0, 1, std::nan("")}};
  EXPECT_THAT(message(), HasSubstr("edge 2 is not finite"));
  m_spec.easting = EdgesWidths{1e300, {1, 1}};
  EXPECT_THAT(message(), HasSubstr("model.mesh.easting.widths: edge 1, 1e+300, is not above the one before"));
  m_spec.easting = EdgesRandom{{0, 5}, 3, 0, std::nullopt, 1};
  EXPECT_THAT(message(), HasSubstr("model.mesh.easting.random_widths: [0, 5]"));
  m_spec.easting = EdgesRandom{{1, 5}, 0, 0, std::nullopt, 1};
  EXPECT_THAT(message(), HasSubstr("model.mesh.easting.cells: 0 cells"));
}

}  // namespace
}  // namespace prismfield::test_edges
