// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/extents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/statistics.hpp"

namespace prismfield {
namespace {

std::string range_text(double min, double max) {
  return min == max ? fmt::format("{:.10g}", min) : fmt::format("{:.10g} to {:.10g}", min, max);
}

/// Lengths of a box along easting, northing, upward.
std::array<double, 3> lengths_of(const Bounds& b) { return {b.east - b.west, b.north - b.south, b.top - b.bottom}; }

bool is_within_outline(const Points& points, std::size_t i, const Bounds& box) {
  return points.easting[i] >= box.west && points.easting[i] <= box.east && points.northing[i] >= box.south &&
         points.northing[i] <= box.north;
}

/// The larger of the lengths from west to east and south to north.
double width_of(const Bounds& b) { return std::max(b.east - b.west, b.north - b.south); }

std::string degrees_text(const char* what, const Bounds& bounds) {
  return fmt::format(
      "the coordinates of the {} look like degrees ({}); easting and northing are metres of a map projection, such as "
      "UTM: project them first, points with GMT's mapproject or PROJ's cs2cs, grids with gdalwarp. If they are metres "
      "of a local grid, put its origin into it",
      what, extent_text(bounds));
}

}  // namespace

double distance(const Bounds& a, const Bounds& b) {
  const auto gap = [](double a_min, double a_max, double b_min, double b_max) {
    return std::max({0.0, b_min - a_max, a_min - b_max});
  };
  return std::hypot(gap(a.west, a.east, b.west, b.east), gap(a.south, a.north, b.south, b.north),
                    gap(a.bottom, a.top, b.bottom, b.top));
}

bool fits_in_km(const Bounds& box, const Bounds& other) {
  constexpr double km = 1000, alike = 10;
  const Bounds scaled = {box.west * km, box.east * km, box.south * km, box.north * km, box.bottom * km, box.top * km};
  const auto diagonal = [](const Bounds& b) { return std::hypot(b.east - b.west, b.north - b.south); };
  const double size = diagonal(scaled), of_other = diagonal(other);
  return size <= alike * of_other && of_other <= alike * size && distance(scaled, other) <= of_other;
}

bool could_be_degrees(const Bounds& box) noexcept {
  return box.west >= -180 && box.east <= 360 && box.south >= -90 && box.north <= 90;
}

DegreesDoubt degrees_doubt(const Bounds& model, const Bounds& points) {
  // times the width: stations above the model, where none sees it; depths that no survey reaches, no needle in a local
  // grid has, and 5 km below 2 degrees; how far off a local grid's origin is at most
  constexpr double aloft = 20, deep = 500, needle = 1000, steep = 1.5, far = 3;
  // 22 km are 0.2 degrees, a hundred thousandth; parts of a model that surveys cover are not so small
  constexpr double model_a_degree = 5000, most_sizes = 10;
  const auto off_origin = [](const Bounds& box) {
    return std::hypot(std::max({0.0, box.west, -box.east}), std::max({0.0, box.south, -box.north}));
  };
  const bool is_area = points.east > points.west && points.north > points.south;
  const Bounds all = {std::min(model.west, points.west),     std::max(model.east, points.east),
                      std::min(model.south, points.south),   std::max(model.north, points.north),
                      std::min(model.bottom, points.bottom), std::max(model.top, points.top)};
  if (const double wide = width_of(all), high = all.top - all.bottom, off = off_origin(all); could_be_degrees(all)) {
    const bool is_certain = is_area && off > wide && (points.bottom - model.top > aloft * wide || high > deep * wide);
    const bool is_likely = high > needle * wide || (is_area && off > far * wide && high > steep * wide);
    if (is_certain || is_likely) {
      return {degrees_text(&model == &points ? "places" : "model and the points", all), is_certain};
    }
  }
  if (could_be_degrees(model) && model.top - model.bottom > needle * width_of(model)) {
    return {degrees_text("model", model), false};
  }
  const double wide = width_of(points), largest = std::max(width_of(model), model.top - model.bottom);
  if (!could_be_degrees(points) || !is_area || !(wide * model_a_degree < largest)) return {};
  return {degrees_text("points", points), off_origin(points) > wide && distance(model, points) > most_sizes * largest};
}

Bounds bounds_of(const Points& points) {
  if (points.size() == 0) return {};
  const Range easting = range_of(points.is_grid() ? points.grid_easting : points.easting);
  const Range northing = range_of(points.is_grid() ? points.grid_northing : points.northing);
  const Range upward = range_of(points.upward);
  return {easting.min, easting.max, northing.min, northing.max, upward.min, upward.max};
}

std::int64_t points_within_outline(const Points& points, const Bounds& box) {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < points.easting.size(); ++i) n += is_within_outline(points, i, box) ? 1 : 0;
  return n;
}

std::vector<double> densities_at(const Points& points, const PrismSource& prisms) {
  // rounding of a grid's points and a mesh's faces, against the size of a prism
  constexpr double near = 1e-9;
  const std::size_t n = points.easting.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return points.easting[a] < points.easting[b]; });
  std::vector<double> densities(n, 0);
  constexpr std::int64_t at_once = 65536;
  PrismBlock block;
  for (std::int64_t begin = 0; begin < prisms.size(); begin += at_once) {
    prisms.read({begin, std::min(begin + at_once, prisms.size())}, block);
    for (std::size_t i = 0; i < block.west.size(); ++i) {
      const std::array low = {block.west[i], block.south[i], block.bottom[i]};
      const std::array high = {block.east[i], block.north[i], block.top[i]};
      std::array<double, 3> margin{};
      for (std::size_t d = 0; d < 3; ++d) margin[d] = near * (high[d] - low[d]);
      const auto first = std::partition_point(order.begin(), order.end(),
                                              [&](std::size_t p) { return points.easting[p] < low[0] - margin[0]; });
      for (auto at = first; at != order.end() && points.easting[*at] <= high[0] + margin[0]; ++at) {
        const std::array point = {points.easting[*at], points.northing[*at], points.upward[*at]};
        bool is_in = true, is_on = false;
        for (std::size_t d = 0; d < 3; ++d) {
          is_in = is_in && point[d] >= low[d] - margin[d] && point[d] <= high[d] + margin[d];
          is_on = is_on || std::fabs(point[d] - low[d]) <= margin[d] || std::fabs(point[d] - high[d]) <= margin[d];
        }
        if (is_in) densities[*at] += is_on ? std::numeric_limits<double>::quiet_NaN() : block.density[i];
      }
    }
  }
  return densities;
}

std::string extent_text(const Bounds& b) {
  return fmt::format("easting {}, northing {}, upward {} m", range_text(b.west, b.east), range_text(b.south, b.north),
                     range_text(b.bottom, b.top));
}

std::string density_text(const Range& densities) {
  return fmt::format("{} kg/m3", range_text(densities.min, densities.max));
}

std::string magnetic_text(const PropertyRanges& ranges) {
  std::string text;
  const auto [least, most] = ranges.susceptibility;
  if (ranges.has_susceptibility()) text = fmt::format("susceptibility {} SI", range_text(least, most));
  if (!(ranges.remanence.max > 0)) return text;
  return fmt::format("{}{}remanent magnetization {} A/m", text, text.empty() ? "" : ", ",
                     range_text(ranges.remanence.min, ranges.remanence.max));
}

std::vector<std::string> place_warnings(const Bounds& model, const Bounds& points) {
  const std::array<double, 3> size = lengths_of(model);
  if (const DegreesDoubt degrees = degrees_doubt(model, points); !degrees.text.empty()) return {degrees.text};
  constexpr double most_sizes = 10;
  const double apart = distance(model, points), largest = *std::max_element(size.begin(), size.end());
  if (!(apart > most_sizes * largest)) return {};
  const std::string extents = fmt::format("The model: {}; the points: {}", extent_text(model), extent_text(points));
  for (const auto& [box, other, what, fitted, file] : {std::tuple{&model, &points, "model", "points", "prisms"},
                                                       std::tuple{&points, &model, "points", "model", "stations"}}) {
    if (!fits_in_km(*box, *other)) continue;
    return {
        fmt::format("the coordinates of the {} look like kilometres: times 1,000 they fit the {}. Write "
                    "length_unit: km beside the file of {}; lengths in the case itself are metres. {}",
                    what, fitted, file, extents)};
  }
  return {
      fmt::format("the points lie {:.6g} m away from the model, {:.3g} times its size; are both in the same "
                  "coordinates? {}",
                  apart, apart / largest, extents)};
}

std::vector<std::string> height_warnings(const Bounds& model, const Points& points) {
  for (std::size_t i = 0; i < points.upward.size(); ++i) {
    if (points.upward[i] >= model.top) return {};
    if (points.upward[i] > model.bottom && is_within_outline(points, i, model)) return {};
  }
  const Range upward = range_of(points.upward);
  return {
      fmt::format("all points lie below the top of the model and none inside it (the model: upward {} m; the points: "
                  "upward {} m); upward is a height: if one of the two is a depth, write upward as minus the depth, or "
                  "axis_z: down beside the file of stations or prisms",
                  range_text(model.bottom, model.top), range_text(upward.min, upward.max))};
}

}  // namespace prismfield
