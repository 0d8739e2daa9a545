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

/// Makes heights at the nodes of a grid with these easting and northing coordinates: (northing, easting), metres.
using HeightsOn = std::function<std::vector<double>(const std::vector<double>&, const std::vector<double>&)>;
/// One height for all nodes, or a function for one height per node.
using GridHeights = std::variant<double, HeightsOn>;

/// Points at the nodes of a grid. Coordinates must be finite and rise.
[[nodiscard]] Points make_grid(std::vector<double> easting, std::vector<double> northing, const GridHeights& heights);

/// Points of a grid. Throws InputError with every error found, by keys such as observations.grid.easting.
[[nodiscard]] Points make_grid(const Axis& easting, const Axis& northing, const GridHeights& heights);

/// Stations at random places. Unset ranges: above the model, 100 m over its top.
struct StationsRandom {
  std::int64_t count = 0;
  std::optional<Range> easting, northing, upward;
  std::uint64_t seed = 1;
};

/// Random stations above a model with these bounds. Coordinates depend on seed and station number only. Throws
/// InputError with every error found, by keys such as observations.stations.random.
[[nodiscard]] Points make_random_stations(const StationsRandom& spec, const Bounds& bounds);

/// Throws InputError, by keys such as points.easting (`key` is their first part), for columns of different lengths and
/// values that are not finite or beyond max_coordinate.
void check_points(const PointColumns& points, const std::string& key = "points");

/// The points with these numbers, in this order, as stations.
[[nodiscard]] Points chosen_points(const PointColumns& all, std::span<const std::int64_t> numbers);

/// Numbers of the points [range.begin, range.end) in the order of computation, along a Z-curve. Points of a lane group
/// or warp are then at nearly the same distance from a prism and take the same form.
[[nodiscard]] std::vector<std::int64_t> spatial_order(const PointColumns& points, IndexRange range);

}  // namespace prismfield
