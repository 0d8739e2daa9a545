// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "operators/tree/leaf_sizes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include <prismfield/ranges.hpp>

#include "base/random.hpp"

namespace prismfield::fast {
namespace {

/// Of a box of these sides; one that is flat, as of a grid or of one layer, is as high as cells near it reach.
double volume(const std::array<double, 3>& sides) {
  constexpr double least = 0.05;
  const double longest = *std::max_element(sides.begin(), sides.end());
  double product = 1;
  for (const double side : sides) product *= std::max(side, least * longest);
  return product;
}

/// Between some of a column's numbers.
double extent(std::span<const double> column) {
  constexpr std::size_t most_looked_at = 1000;
  const std::size_t stride = std::max<std::size_t>(column.size() / most_looked_at, 1);
  double low = column[0], high = column[0];
  for (std::size_t i = 0; i < column.size(); i += stride) {
    low = std::min(low, column[i]);
    high = std::max(high, column[i]);
  }
  return high - low;
}

/// Items of a sample.
constexpr std::int64_t sample_items = 8192;

/// n numbers of so many, or all if there are fewer, rising: one at random of each of n equal parts, as what lies on a
/// mesh is not to be met in step.
std::vector<std::int64_t> sampled_numbers(std::int64_t of, std::int64_t n) {
  // another sequence than that of the points of a check
  constexpr std::uint64_t seed = 2;
  n = std::min(n, of);
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < n; ++i) {
    const IndexRange part = balanced_part(of, i, n);
    const std::uint64_t bits = random_bits(seed, RandomStream::check_point, static_cast<std::uint64_t>(i));
    numbers.push_back(part.begin + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(part.size())));
  }
  return numbers;
}

struct Corners {
  std::array<float, n_sides> low, high;

  [[nodiscard]] float length(std::size_t side) const { return high[side] - low[side]; }
  [[nodiscard]] std::size_t longest(std::size_t sides) const {
    std::size_t longest = 0;
    for (std::size_t side = 1; side < sides; ++side) {
      if (length(side) > length(longest)) longest = side;
    }
    return longest;
  }
  [[nodiscard]] float middle(std::size_t side) const { return low[side] + 0.5F * length(side); }
};

/// Cells of a cell of so many items, all alike and evenly spread, between corners.
double cells_of_even(double n, Corners corners, const LeafRule& rule) {
  // the last cuts leave leaves of uneven numbers
  constexpr double uneven = 1.6;
  const double most = uneven * n / static_cast<double>(rule.items);
  double leaves = 1;
  while (!rule.is_leaf(std::llround(n), corners.low.data(), corners.high.data())) {
    // the half that is nearer to the other items
    const std::size_t side = corners.longest(3);
    const float middle = corners.middle(side);
    const bool is_upper = 0.5 * (rule.low[side] + rule.high[side]) > middle;
    (is_upper ? corners.low : corners.high)[side] = middle;
    leaves *= 2;
    n *= 0.5;
  }
  const bool are_full = n <= static_cast<double>(rule.items);
  return 2 * (are_full ? std::max(leaves, most) : leaves) - 1;
}

}  // namespace

double points_per_prism(const PrismSource& prisms, const PointColumns& points) {
  if (prisms.size() == 0 || points.size() == 0) return 1;
  const Bounds b = prisms.bounds();
  const double of_prisms = volume({b.east - b.west, b.north - b.south, b.top - b.bottom});
  const double of_points = volume({extent(points.easting), extent(points.northing), extent(points.upward)});
  // points at one place are dense
  constexpr double dense = 1e6;
  if (of_points <= 0) return dense;
  return static_cast<double>(points.size()) / static_cast<double>(prisms.size()) * (of_prisms / of_points);
}

LeafSizes leaf_sizes(bool on_device, double points_per_prism, std::int64_t n_prisms) {
  // measured; a device computes pairs faster beside exchanges
  if (on_device || points_per_prism < 2) return {32, 32};
  // a prism in leaves of 8 takes 2 kB where none are far
  constexpr std::int64_t most_in_least = 2000000, most_in_less = 8000000;
  if (n_prisms > most_in_less) return {32, 64};
  return {points_per_prism < 8 || n_prisms > most_in_least ? 16 : 8, 64};
}

TreeSample::TreeSample(const PrismSource& prisms, const PointColumns& points) {
  const Bounds b = prisms.bounds();
  m_prisms.all = prisms.size();
  m_prisms.box = {{b.west, b.south, b.bottom}, {b.east, b.north, b.top}};
  m_points.all = points.size();
  PrismBlock one;
  for (const std::int64_t number : sampled_numbers(prisms.size(), sample_items)) {
    prisms.read({number, number + 1}, one);
    const std::array<std::array<double, 2>, 3> sides = {
        {{one.west[0], one.east[0]}, {one.south[0], one.north[0]}, {one.bottom[0], one.top[0]}}};
    Item item{};
    double size = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const double half = 0.5 * (sides[d][1] - sides[d][0]);
      item[d] = static_cast<float>(sides[d][0] + half - m_prisms.box.middle(d));
      size += half * half;
    }
    item[3] = static_cast<float>(std::sqrt(size));
    m_prisms.some.push_back(item);
  }
  const std::vector<std::int64_t> numbers = sampled_numbers(points.size(), sample_items);
  m_points.some.resize(numbers.size());
  const std::array<std::span<const double>, 3> columns = {points.easting, points.northing, points.upward};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto [low, high] = std::minmax_element(columns[d].begin(), columns[d].end());
    m_points.box.low[d] = *low;
    m_points.box.high[d] = *high;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      m_points.some[i][d] =
          static_cast<float>(columns[d][static_cast<std::size_t>(numbers[i])] - m_points.box.middle(d));
    }
  }
}

double TreeSample::count(Item* begin, Item* end, double items_of_one, const LeafRule& rule) {
  // fewer do not say where a cell is cut
  constexpr std::ptrdiff_t least = 16;
  Corners corners{*begin, *begin};
  for (const Item* item = begin; item != end; ++item) {
    for (std::size_t side = 0; side < n_sides; ++side) {
      corners.low[side] = std::min(corners.low[side], (*item)[side]);
      corners.high[side] = std::max(corners.high[side], (*item)[side]);
    }
  }
  const double n = items_of_one * static_cast<double>(end - begin);
  if (rule.is_leaf(std::llround(n), corners.low.data(), corners.high.data())) return 1;
  if (items_of_one > 1 && end - begin < least) return cells_of_even(n, corners, rule);
  const std::size_t side = corners.longest(n_sides);
  const float middle = corners.middle(side), most = corners.high[side];
  Item* upper = std::partition(begin, end, [&](const Item& item) { return item[side] <= middle && item[side] < most; });
  if (upper == begin || upper == end) upper = begin + (end - begin) / 2;
  return 1 + count(begin, upper, items_of_one, rule) + count(upper, end, items_of_one, rule);
}

std::int64_t TreeSample::cells_of(Items items, const LeafRule& rule) {
  const auto n = static_cast<std::int64_t>(items.some.size());
  const double items_of_one = static_cast<double>(items.all) / static_cast<double>(n);
  return std::llround(count(items.some.data(), items.some.data() + n, items_of_one, rule));
}

TreeCells TreeSample::cells(const LeafSizes& leaves, bool on_device) const {
  const std::int64_t far = far_leaf_items(on_device);
  return {cells_of(m_prisms, {leaves.prisms, far, m_prisms.box, m_points.box}),
          cells_of(m_points, {leaves.points, far, m_points.box, m_prisms.box})};
}

double TreeSample::part_inside() const {
  const auto inside = std::count_if(m_points.some.begin(), m_points.some.end(), [&](const Item& point) {
    bool is_inside = true;
    for (std::size_t d = 0; d < 3; ++d) {
      const double place = point[d] + m_points.box.middle(d);
      is_inside = is_inside && m_prisms.box.low[d] < place && place < m_prisms.box.high[d];
    }
    return is_inside;
  });
  return static_cast<double>(inside) / static_cast<double>(m_points.some.size());
}

}  // namespace prismfield::fast
