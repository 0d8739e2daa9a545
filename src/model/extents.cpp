// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/extents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include <prismfield/request.hpp>

#include "base/number_text.hpp"

namespace prismfield {
namespace {

Range range_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  return {*least, *greatest};
}

std::string range_text(double min, double max) {
  return min == max ? fmt::format("{:.10g}", min) : fmt::format("{:.10g} to {:.10g}", min, max);
}

/// Lengths of a box along easting, northing, upward.
std::array<double, 3> lengths_of(const Bounds& b) { return {b.east - b.west, b.north - b.south, b.top - b.bottom}; }

bool is_within_outline(const Points& points, std::size_t i, const Bounds& box) {
  return points.easting[i] >= box.west && points.easting[i] <= box.east && points.northing[i] >= box.south &&
         points.northing[i] <= box.north;
}

/// Whether a box in kilometres fits another in metres: near it, and of its size.
bool fits_in_km(const Bounds& box, const Bounds& other) {
  constexpr double km = 1000, alike = 10;
  const Bounds scaled = {box.west * km, box.east * km, box.south * km, box.north * km, box.bottom * km, box.top * km};
  const auto diagonal = [](const Bounds& b) {
    const double across = b.east - b.west, along = b.north - b.south;
    return std::sqrt(across * across + along * along);
  };
  const double size = diagonal(scaled), of_other = diagonal(other);
  return size <= alike * of_other && of_other <= alike * size && distance(scaled, other) <= of_other;
}

std::string degrees_text(const char* what, const Bounds& bounds) {
  return fmt::format(
      "the coordinates of the {} look like degrees ({}); easting and northing are metres of a map projection, such as "
      "UTM: project them first, with GMT's mapproject or PROJ's cs2cs",
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

bool could_be_degrees(const Bounds& box) noexcept {
  return box.west >= -180 && box.east <= 360 && box.south >= -90 && box.north <= 90;
}

Bounds bounds_of(const Points& points) {
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

std::string intensity_error(double intensity) {
  if (!(intensity > 0)) return fmt::format("is {} nT; an intensity above 0 is expected", intensity);
  // the Earth's field has more than 20,000 nT, Mercury's some hundred
  if (intensity >= 1) return "";
  const auto taken_for = [&](const char* unit, double nanoteslas) {
    return fmt::format(", and this looks like one in {}: write {:.6g}", unit, intensity * nanoteslas);
  };
  const std::string guess = 1e-6 <= intensity && intensity <= 1e-3 ? taken_for("T", 1e9)
                            : intensity >= 0.1                     ? taken_for("gauss", 1e5)
                                                                   : "";
  return fmt::format("is {} nT; an intensity in nT is expected{}", intensity, guess);
}

std::vector<std::string> magnetic_warnings(const PropertyRanges& ranges, const Magnetic& magnetic, bool demagnetizes) {
  std::vector<std::string> warnings;
  // magnetite has at most the second
  constexpr double little = 0.1, of_magnetite = 20, nanotesla = 1e-9;
  const double largest = ranges.susceptibility.max;
  if (largest > of_magnetite) {
    warnings.push_back(fmt::format(
        "the model has susceptibilities of up to {:.6g} SI, more than magnetite; are they in 1e-3 or 1e-6 SI?",
        largest));
  } else if (largest > little && !demagnetizes) {
    warnings.push_back(fmt::format(
        "the model has susceptibilities of up to {:.6g} SI; from about {} on the fields of the masses change what is "
        "induced in them, which magnetic.demagnetization: true takes into account",
        largest, little));
  }
  const auto& f = magnetic.inducing_field;
  const double intensity = std::hypot(f[0], f[1], f[2]) / nanotesla;
  if (intensity > 0 && (intensity < 20'000 || intensity > 70'000)) {
    warnings.push_back(fmt::format(
        "magnetic.inducing_field.intensity is {:.6g} nT; the Earth's field has 22,000 to 67,000 nT", intensity));
  }
  return warnings;
}

std::vector<std::string> constant_warnings(double constant) {
  constexpr double most = 0.01, of_cgs = 1000;
  const double codata = Request().gravitational_constant;
  const double ratio = constant / codata;
  if (std::abs(ratio - 1) <= most) return {};
  const bool is_cgs = std::abs(ratio / of_cgs - 1) <= most;
  return {
      fmt::format("gravitational_constant is {:g}, {:.4g} times the {:g} m3 kg-1 s-2 of CODATA, and so are all "
                  "fields: {}",
                  constant, ratio, codata,
                  is_cgs ? "it is in cgs units (cm3 g-1 s-2); m3 kg-1 s-2 is needed, which is the default: leave the "
                           "key out"
                         : "leave the key out if its unit is not m3 kg-1 s-2")};
}

std::vector<std::string> density_warnings(const Range& densities, bool are_of_file) {
  // the heaviest metals have 22,600 kg/m3; contrasts below 20 are not worth a model
  constexpr double least = 20, most = 30'000;
  const double largest = std::max(std::abs(densities.min), std::abs(densities.max));
  // no contrast is so far below 0
  constexpr double of_grams = 1000, lowest = -9000;
  for (const double density : {densities.min, densities.max}) {
    if (density >= lowest && density <= most) continue;
    const bool in_grams = looks_like_dummy(density / of_grams);
    if (!in_grams && !looks_like_dummy(density)) continue;
    return {
        fmt::format("the model has a density of {:.6g} {}, which looks like a dummy, a number that stands for none; "
                    "leave such prisms or cells out, or give them density 0",
                    in_grams ? density / of_grams : density, in_grams ? "g/cm3" : "kg/m3")};
  }
  if (largest > most) {
    return {fmt::format("the model has densities of up to {:.6g} kg/m3, more than any metal; is their unit right?",
                        largest)};
  }
  if (largest == 0 || largest >= least) return {};
  return {fmt::format("no density of the model is above {:.6g} kg/m3; are they g/cm3? {}", largest,
                      are_of_file ? "density_unit: g/cm3 beside their file says so"
                                  : "Densities in the case are kg/m3: 1 g/cm3 is 1000")};
}

std::vector<std::string> place_warnings(const Bounds& model, const Bounds& points) {
  const std::array<double, 3> size = lengths_of(model), spread = lengths_of(points);
  // 8 km of depth under 100 km, which are a degree, are 8000 long and 1 wide
  constexpr double metres_a_degree = 1000;
  if (could_be_degrees(model) && size[2] > metres_a_degree * std::max(size[0], size[1])) {
    return {degrees_text("model", model)};
  }
  // points over 22 km are spread over 0.2 degrees: a hundred thousandth
  constexpr double model_a_degree = 5000;
  const double wide = std::max(spread[0], spread[1]);
  if (could_be_degrees(points) && std::min(spread[0], spread[1]) > 0 &&
      wide * model_a_degree < std::max(size[0], size[1])) {
    return {degrees_text("points", points)};
  }
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
