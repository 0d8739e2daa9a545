// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/points.hpp"

#include <fmt/format.h>
#include <array>

#include <algorithm>
#include <cmath>
#include <utility>

#include <prismfield/error.hpp>

#include "base/random.hpp"
#include "model/prism_check.hpp"

namespace prismfield {
namespace {

std::vector<double> grid_axis(const std::string& key, const Axis& axis, ProblemList& problems) {
  if (axis.count < 1 || !std::isfinite(axis.min) || !std::isfinite(axis.max) ||
      (axis.count > 1 && !(axis.min < axis.max)) || axis.min > axis.max) {
    problems.add("", key,
                 fmt::format("[{}, {}, {}]; min < max and at least 1 point are needed, or min = max with 1 point",
                             axis.min, axis.max, axis.count));
    return {};
  }
  std::vector<double> points = grid_points(axis);
  if (std::adjacent_find(points.begin(), points.end(), std::greater_equal<>()) != points.end()) {
    problems.add("", key,
                 fmt::format("{} points between {} and {} are closer than double precision can tell apart", axis.count,
                             axis.min, axis.max));
  }
  return points;
}

/// The lowest 21 bits of a number with two zeros between neighbours.
std::uint64_t spread(std::uint64_t bits) {
  bits = (bits | bits << 32U) & 0x001f00000000ffffU;
  bits = (bits | bits << 16U) & 0x001f0000ff0000ffU;
  bits = (bits | bits << 8U) & 0x100f00f00f00f00fU;
  bits = (bits | bits << 4U) & 0x10c30c30c30c30c3U;
  return (bits | bits << 2U) & 0x1249249249249249U;
}

}  // namespace

Points make_grid(const Axis& easting, const Axis& northing, const GridHeights& heights) {
  const std::string key = "observations.grid";
  ProblemList problems;
  std::vector<double> along_easting = grid_axis(key + ".easting", easting, problems);
  std::vector<double> along_northing = grid_axis(key + ".northing", northing, problems);
  problems.throw_if_any();
  const std::array<double, 3> rounding = {rounding_of_edges(along_easting), rounding_of_edges(along_northing), 0};
  Points points = make_grid(std::move(along_easting), std::move(along_northing), heights);
  points.rounding = rounding;
  return points;
}

Points make_grid(std::vector<double> easting, std::vector<double> northing, const GridHeights& heights) {
  const std::string key = "observations.grid";
  Points points;
  points.grid_easting = std::move(easting);
  points.grid_northing = std::move(northing);
  const std::size_t n_easting = points.grid_easting.size(), n_northing = points.grid_northing.size();
  if (const auto* height = std::get_if<double>(&heights)) {
    if (!std::isfinite(*height)) throw InputError("", key + ".upward", "the height is not finite");
    points.upward.assign(n_easting * n_northing, *height);
  } else {
    points.upward = std::get<HeightsOn>(heights)(points.grid_easting, points.grid_northing);
  }
  points.easting.reserve(n_easting * n_northing);
  points.northing.reserve(n_easting * n_northing);
  for (const double north : points.grid_northing) {
    points.easting.insert(points.easting.end(), points.grid_easting.begin(), points.grid_easting.end());
    points.northing.insert(points.northing.end(), n_easting, north);
  }
  return points;
}

Points make_random_stations(const StationsRandom& spec, const Bounds& bounds) {
  const std::string key = "observations.stations";
  ProblemList problems;
  if (spec.count < 1) problems.add("", key + ".random", fmt::format("{} stations; at least 1 is needed", spec.count));
  const auto coordinates = [&](const char* name, const std::optional<Range>& asked, const Range& otherwise,
                               RandomStream stream) {
    const Range range = asked.value_or(otherwise);
    const std::string range_key = key + "." + name;
    if (!(range.min <= range.max) || !std::isfinite(range.max - range.min)) {
      problems.add("", range_key, fmt::format("[{}, {}]; min <= max is needed", range.min, range.max));
      return std::vector<double>();
    }
    std::vector<double> values(static_cast<std::size_t>(std::max<std::int64_t>(spec.count, 0)), range.min);
    if (range.min < range.max) fill_uniform(range.min, range.max, spec.seed, stream, 0, spec.count, values.data());
    return values;
  };
  const double above = bounds.top + 100;
  Points points;
  points.easting = coordinates("easting", spec.easting, {bounds.west, bounds.east}, RandomStream::station_easting);
  points.northing =
      coordinates("northing", spec.northing, {bounds.south, bounds.north}, RandomStream::station_northing);
  points.upward = coordinates("upward", spec.upward, {above, above}, RandomStream::station_upward);
  problems.throw_if_any();
  return points;
}

void check_points(const PointColumns& points, const std::string& key) {
  ProblemList problems;
  const std::array<std::pair<const char*, std::span<const double>>, 3> columns = {
      {{"easting", points.easting}, {"northing", points.northing}, {"upward", points.upward}}};
  for (const auto& [column, values] : columns) {
    const std::string at = key + "." + column;
    if (values.size() != points.easting.size()) {
      problems.add(
          "", at,
          fmt::format("has {} values, easting has {}; one a point is needed", values.size(), points.easting.size()));
    }
    const auto bad = std::find_if(values.begin(), values.end(), [](double x) { return !std::isfinite(x); });
    if (bad != values.end()) problems.add("", at, fmt::format("point {} is NaN or infinite", bad - values.begin()));
    const auto far = std::find_if(values.begin(), values.end(),
                                  [](double x) { return std::isfinite(x) && std::abs(x) > max_coordinate; });
    if (far != values.end()) {
      problems.add("", at, fmt::format("point {} {}", far - values.begin(), beyond_coordinates()));
    }
  }
  problems.throw_if_any();
}

Points chosen_points(const PointColumns& all, std::span<const std::int64_t> numbers) {
  const auto chosen = [&](std::span<const double> column) {
    std::vector<double> values(numbers.size());
    std::transform(numbers.begin(), numbers.end(), values.begin(),
                   [&](std::int64_t number) { return column[static_cast<std::size_t>(number)]; });
    return values;
  };
  return {chosen(all.easting), chosen(all.northing), chosen(all.upward), {}, {}, all.rounding};
}

std::vector<std::int64_t> spatial_order(const PointColumns& points, IndexRange range) {
  const auto n = static_cast<std::size_t>(range.size());
  std::vector<std::int64_t> order(n);
  if (n == 0) return order;
  const std::array<std::span<const double>, 3> columns = {points.easting, points.northing, points.upward};
  std::array<double, 3> low{};
  double extent = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto [smallest, largest] =
        std::minmax_element(columns[d].begin() + range.begin, columns[d].begin() + range.end);
    low[d] = *smallest;
    extent = std::max(extent, *largest - *smallest);
  }
  constexpr int bits = 20;
  const double scale = extent > 0 ? ((1 << bits) - 1) / extent : 0;
  std::vector<std::pair<std::uint64_t, std::int64_t>> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto point = static_cast<std::size_t>(range.begin) + i;
    std::uint64_t key = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const auto cell = static_cast<std::uint64_t>((columns[d][point] - low[d]) * scale);
      key |= spread(cell) << d;
    }
    keys[i] = {key, static_cast<std::int64_t>(point)};
  }
  std::sort(keys.begin(), keys.end());
  std::transform(keys.begin(), keys.end(), order.begin(), [](const auto& key) { return key.second; });
  return order;
}

}  // namespace prismfield
