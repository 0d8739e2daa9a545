// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/densities_at.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include <prismfield/error.hpp>

#include "io/point_fields.hpp"

namespace prismfield {
namespace {

/// Points of a result, one value each, in the order of its fields.
struct Places {
  std::vector<double> easting, northing, upward;
};

Places places_in(const ResultReader& file) {
  Places places{file.read("easting"), file.read("northing"), file.read("upward")};
  const std::size_t n = places.upward.size();
  if (places.easting.size() == n && places.northing.size() == n) return places;
  const std::vector<double> easting = std::move(places.easting), northing = std::move(places.northing);
  if (easting.size() * northing.size() != n) throw RunError("its heights lie at other points than it has");
  places.easting.clear();
  places.northing.clear();
  for (const double y : northing) {
    for (const double x : easting) {
      places.easting.push_back(x);
      places.northing.push_back(y);
    }
  }
  return places;
}

}  // namespace

std::vector<double> densities_at(const std::filesystem::path& result, const PrismSource& prisms) {
  const Places places = places_in(ResultReader::open(result));
  // rounding of a grid's points and a mesh's faces, against the size of a prism
  constexpr double near = 1e-9;
  const std::size_t n = places.easting.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return places.easting[a] < places.easting[b]; });
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
                                              [&](std::size_t p) { return places.easting[p] < low[0] - margin[0]; });
      for (auto at = first; at != order.end() && places.easting[*at] <= high[0] + margin[0]; ++at) {
        const std::array point = {places.easting[*at], places.northing[*at], places.upward[*at]};
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

}  // namespace prismfield
