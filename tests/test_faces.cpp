// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Points on the faces of prisms, told by coordinates that rounding may have set apart.
#include "forward_helpers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>

#include "model/voxels.hpp"

namespace prismfield::test_faces {
namespace {

using testing::make_request;
using testing::norm_of_vector;
using testing::pi;
using testing::Point;
using testing::Prism;
using testing::run_forward;
using testing::values_at;

/// Cells between the edges of `axis` along one direction, one cell of [0, 1] along the others, densities all different.
std::unique_ptr<Cells> row_of_cells(const Axis& axis, std::size_t direction) {
  Voxels voxels;
  voxels.easting = voxels.northing = voxels.upward = {0, 1, 1};
  (direction == 0 ? voxels.easting : direction == 1 ? voxels.northing : voxels.upward) = axis;
  return make_voxels(voxels, [](const CellEdges&) {
    CellBackground background;
    background[density_property].kind = PropertyFill::Kind::random;
    background[density_property].range = {100, 3000};
    return background;
  });
}

/// How many of the places lie on a face of the row: on the edges that its cells have there, their densities do not
/// cancel, so that the point has no value of the tensor.
std::size_t found_on_faces(const Cells& cells, std::size_t direction, const std::vector<double>& places,
                           double rounding, const Execution& execution) {
  Points points;
  const std::array<std::vector<double>*, 3> columns = {&points.easting, &points.northing, &points.upward};
  columns[direction]->assign(places.begin(), places.end());
  columns[(direction + 1) % 3]->assign(places.size(), 0);
  columns[(direction + 2) % 3]->assign(places.size(), 0.5);
  points.rounding[direction] = rounding;
  const Fields result = forward(cells, points, make_request(execution));
  for (const double value : result.values) EXPECT_TRUE(std::isfinite(value));
  return result.singular_points.size();
}

/// The nodes of a grid axis, found on the faces of the cells of `cells` along each direction.
void expect_all_on_faces(const Axis& cells, const Axis& grid, const Execution& execution) {
  const std::vector<double> nodes = grid_points(grid);
  for (std::size_t d = 0; d < 3; ++d) {
    EXPECT_EQ(found_on_faces(*row_of_cells(cells, d), d, nodes, rounding_of_edges(nodes), execution), nodes.size())
        << "cells [" << cells.min << ", " << cells.max << ", " << cells.count << "], points [" << grid.min << ", "
        << grid.max << ", " << grid.count << "], direction " << d;
  }
}

Execution with_precision(Precision precision) {
  Execution execution;
  execution.precision = precision;
  return execution;
}

std::vector<Execution> executions() {
  std::vector<Execution> all{with_precision(Precision::double_), with_precision(Precision::single)};
  all.push_back(all[0]);
  all.back().kernel = KernelKind::corners;
  return all;
}

TEST(OnFaces, AreGridPointsOfTheSameRange) {
  for (const Execution& execution : executions()) {
    expect_all_on_faces({0, 22000, 700}, {0, 22000, 701}, execution);
    expect_all_on_faces({0, 22000, 700}, {0, 22000, 11}, execution);
    expect_all_on_faces({-11000, 11000, 700}, {-11000, 11000, 11}, execution);
    expect_all_on_faces({-10, 0, 100}, {-10, 0, 21}, execution);
  }
}

TEST(OnFaces, AreGridPointsOfEveryRange) {
  std::mt19937_64 random(20261121);
  const auto whole = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const std::vector<Execution> all = executions();
  for (int trial = 0; trial < 15; ++trial) {
    const std::int64_t unit = std::array<std::int64_t, 5>{1, 2, 10, 100, 1000}[static_cast<std::size_t>(trial % 5)];
    const auto metres = [&](std::int64_t n) { return static_cast<double>(n) / static_cast<double>(unit); };
    const std::int64_t stride = whole(1, 7), fine = whole(1, 40) * stride;
    // ends in whole units: the cells' widths need not be
    const std::int64_t length = whole(1, 30000) * unit;
    const std::array<std::int64_t, 5> corners = {whole(0, 50 * unit), -length, -whole(1, length), -length / 2,
                                                 whole(200'000, 9'000'000) * unit + whole(0, unit)};
    for (const std::int64_t corner : corners) {
      const Axis cells{metres(corner), metres(corner + length), fine};
      expect_all_on_faces(cells, {cells.min, cells.max, fine / stride + 1},
                          all[static_cast<std::size_t>(trial) % all.size()]);
      // widths in whole units: points over a part of the range
      const std::int64_t width = whole(1, 500), first = whole(0, fine - 1), nodes = (fine - first) / stride + 1;
      if (nodes < 2) continue;
      expect_all_on_faces(
          {metres(corner), metres(corner + width * fine), fine},
          {metres(corner + width * first), metres(corner + width * (first + (nodes - 1) * stride)), nodes},
          all[static_cast<std::size_t>(trial) % all.size()]);
    }
  }
}

TEST(OnFaces, AreStationsWrittenInDecimals) {
  // -10 + 99 * 0.1 is -0.0999...964
  std::vector<double> heights;
  for (int i = 0; i <= 100; ++i) heights.push_back((i - 100) / 10.0);
  for (const Execution& execution : executions()) {
    EXPECT_EQ(found_on_faces(*row_of_cells({-10, 0, 100}, 2), 2, heights, 0, execution), heights.size());
  }
}

/// `a` moved by n of the numbers next to it.
double moved(double a, int n) {
  for (; n > 0; --n) a = std::nextafter(a, 1e300);
  for (; n < 0; ++n) a = std::nextafter(a, -1e300);
  return a;
}

// 4 ulp from a face a point is on it, bit for bit; 5 ulp from it it has the value of its side.
TEST(OnFaces, ArePointsWithinFourUlp) {
  constexpr double accuracy = 1e-11;
  for (const Prism& prism :
       {Prism{100, 230, -40, 77, -300, -20.5, 1}, Prism{500'000, 500'100, 4'649'776, 4'650'776, -50, -7, 1}}) {
    const std::array<std::array<double, 2>, 3> faces = {
        {{prism.west, prism.east}, {prism.south, prism.north}, {prism.bottom, prism.top}}};
    for (std::size_t d = 0; d < 3; ++d) {
      for (int side = 0; side < 2; ++side) {
        std::vector<Point> points;
        for (int n = -5; n <= 5; ++n) {
          Point at{0.3 * prism.west + 0.7 * prism.east, 0.6 * prism.south + 0.4 * prism.north,
                   0.2 * prism.bottom + 0.8 * prism.top};
          at[d] = moved(faces[d][side], n);
          points.push_back(at);
        }
        const Fields result = run_forward(with_precision(Precision::double_), {prism}, points);
        const auto trace = [&](std::size_t i) {
          const auto v = values_at(result, i);
          return v[4] + v[5] + v[6];
        };
        for (std::size_t i = 1; i < 10; ++i) EXPECT_EQ(values_at(result, i), values_at(result, 5)) << d << side << i;
        EXPECT_NEAR(trace(5), -2 * pi, accuracy);
        EXPECT_NEAR(trace(side == 0 ? 0 : 10), 0, accuracy);
        EXPECT_NEAR(trace(side == 0 ? 10 : 0), -4 * pi, accuracy);
        // V changes by g, g by T, which is 4 pi and a logarithm, times the distance
        for (const std::size_t i : {0U, 10U}) {
          const auto v = values_at(result, i), on_face = values_at(result, 5);
          const double distance = std::abs(points[i][d] - faces[d][side]);
          for (std::size_t f = 0; f < 4; ++f) {
            const double change = distance * (f == 0 ? norm_of_vector(on_face) : 50);
            EXPECT_NEAR(v[f], on_face[f], accuracy * std::abs(on_face[0]) / prism.longest_edge() + change);
          }
        }
      }
    }
  }
}

// A prism of few ulp: each point belongs to the nearer face, and all is finite.
TEST(OnFaces, ArePointsOfPrismsThinnerThanTheirRounding) {
  const double bottom = 1000;
  for (int thickness = 1; thickness < 12; ++thickness) {
    const Prism prism{0, 1, 0, 1, bottom, moved(bottom, thickness), 1};
    std::vector<Point> points;
    for (int n = -6; n <= thickness + 6; ++n) points.push_back({0.3, 0.4, moved(bottom, n)});
    for (const Execution& execution : executions()) {
      const Fields result = run_forward(execution, {prism}, points);
      for (const double value : result.values) EXPECT_TRUE(std::isfinite(value));
    }
  }
}

}  // namespace
}  // namespace prismfield::test_faces
