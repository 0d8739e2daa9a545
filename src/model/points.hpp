// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/ranges.hpp>

#include "model/axis.hpp"

namespace prismfield {

/// Heights at the nodes of a grid of these easting and northing coordinates: (northing, easting), metres.
using HeightsOn = std::function<std::vector<double>(const std::vector<double>&, const std::vector<double>&)>;
/// One height for all, or one a node.
using GridHeights = std::variant<double, HeightsOn>;

/// Points at the nodes of a grid of these coordinates, which rise, numbers all.
[[nodiscard]] Points make_grid(std::vector<double> easting, std::vector<double> northing, const GridHeights& heights);

/// Points of a grid. Throws InputError with every error found, by keys such as observations.grid.easting.
[[nodiscard]] Points make_grid(const Axis& easting, const Axis& northing, const GridHeights& heights);

/// Stations drawn at random; ranges that are not given: over the model, 100 m above its top.
struct StationsRandom {
  std::int64_t count = 0;
  std::optional<Range> easting, northing, upward;
  std::uint64_t seed = 1;
};

/// Random stations over a model of these bounds; coordinates depend on seed and station number only. Throws InputError
/// with every error found, by keys such as observations.stations.random.
[[nodiscard]] Points make_random_stations(const StationsRandom& spec, const Bounds& bounds);

/// Throws InputError, by keys such as points.easting, for columns of different lengths and values that are not finite
/// or beyond max_coordinate. `key`: what the keys begin with.
void check_points(const PointColumns& points, const std::string& key = "points");

/// The points of these numbers, in their order, as stations.
[[nodiscard]] Points chosen_points(const PointColumns& all, std::span<const std::int64_t> numbers);

/// Numbers of the points [range.begin, range.end) in the order in which they are worked on: along a Z-curve, so that
/// points side by side in a lane group or warp see a prism at nearly the same distance and take the same form.
[[nodiscard]] std::vector<std::int64_t> spatial_order(const PointColumns& points, IndexRange range);

}  // namespace prismfield
