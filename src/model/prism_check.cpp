// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/prism_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace prismfield {
namespace {

constexpr std::size_t overlaps_named = 10;
constexpr std::size_t overlaps_counted = 100'000;

constexpr double far = std::numeric_limits<double>::infinity();
constexpr double largest_number = std::numeric_limits<double>::max();

double least(std::span<const double> v) {
  return std::accumulate(v.begin(), v.end(), far, [](double a, double b) { return std::min(a, b); });
}

double greatest(std::span<const double> v) {
  return std::accumulate(v.begin(), v.end(), -far, [](double a, double b) { return std::max(a, b); });
}

/// A box, low and high in each direction.
struct Extent {
  std::array<double, 3> low, high;
};

// Touching faces do not count: neighbours that share a face keep the search out of each other's branches.
bool overlap(const Extent& a, const Extent& b) noexcept {
  return a.low[0] < b.high[0] && b.low[0] < a.high[0] && a.low[1] < b.high[1] && b.low[1] < a.high[1] &&
         a.low[2] < b.high[2] && b.low[2] < a.high[2];
}

struct Item {
  Extent extent;
  std::int64_t prism;
};

/// A binary tree of boxes over the prisms, halved along the direction in which most prisms lie side by side, and its
/// join with itself.
class OverlapSearch {
public:
  OverlapSearch(const PrismBlock& prisms, double tolerance, std::size_t max_pairs)
      : m_tolerance(tolerance), m_max_pairs(max_pairs) {
    const auto n = static_cast<std::size_t>(prisms.size());
    m_items.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      m_items.push_back(
          {{{prisms.west[i], prisms.south[i], prisms.bottom[i]}, {prisms.east[i], prisms.north[i], prisms.top[i]}},
           static_cast<std::int64_t>(i)});
    }
  }

  Overlaps find() {
    if (m_items.size() > 1) {
      m_nodes.reserve(4 * m_items.size() / leaf_items + 1);
      build(0, m_items.size());
      join_within(0);
    }
    m_found.memory_bytes = static_cast<std::int64_t>(m_items.size() * sizeof(Item) + m_nodes.size() * sizeof(Node));
    std::sort(m_found.pairs.begin(), m_found.pairs.end(),
              [](const auto& a, const auto& b) { return std::pair(a.second, a.first) < std::pair(b.second, b.first); });
    return std::move(m_found);
  }

private:
  static constexpr std::size_t leaf_items = 8;
  static constexpr std::uint32_t no_child = 0;

  struct Node {
    Extent extent;
    std::size_t begin, end;
    /// children; no_child in a leaf
    std::uint32_t left, right;
  };

  std::uint32_t build(std::size_t begin, std::size_t end) {
    const auto index = static_cast<std::uint32_t>(m_nodes.size());
    Extent box{{far, far, far}, {-far, -far, -far}};
    std::array<double, 3> least = box.low, greatest = box.high, edges{}, shortest = box.low, longest{};
    for (std::size_t i = begin; i < end; ++i) {
      const Extent& e = m_items[i].extent;
      for (std::size_t d = 0; d < 3; ++d) {
        box.low[d] = std::min(box.low[d], e.low[d]);
        box.high[d] = std::max(box.high[d], e.high[d]);
        const double center = middle(e, d), length = edge(e, d);
        least[d] = std::min(least[d], center);
        greatest[d] = std::max(greatest[d], center);
        edges[d] += length;
        shortest[d] = std::min(shortest[d], length);
        longest[d] = std::max(longest[d], length);
      }
    }
    m_nodes.push_back({box, begin, end, no_child, no_child});
    if (end - begin <= leaf_items) return index;

    // the spread of the centres in mean edges: about how many prisms stand in line
    const auto in_line = [&](std::size_t d) { return (greatest[d] - least[d]) / edges[d]; };
    std::size_t split = begin + (end - begin) / 2;
    const std::size_t d = largest(in_line);
    std::nth_element(at(begin), at(split), at(end),
                     [d](const Item& a, const Item& b) { return middle(a.extent, d) < middle(b.extent, d); });
    double left_high = -far, right_low = far;
    for (std::size_t i = begin; i < split; ++i) left_high = std::max(left_high, m_items[i].extent.high[d]);
    for (std::size_t i = split; i < end; ++i) right_low = std::min(right_low, m_items[i].extent.low[d]);
    if (left_high - right_low > 0.5 * (box.high[d] - box.low[d])) {
      // Some prisms reach across both halves: halves by length separate such prisms from the short ones, so that each
      // half can be cut by place further down.
      const auto ratio = [&](std::size_t direction) { return longest[direction] / shortest[direction]; };
      const std::size_t by = largest(ratio);
      if (ratio(by) > 4) {
        const double limit = std::sqrt(shortest[by]) * std::sqrt(longest[by]);
        const auto behind =
            std::partition(at(begin), at(end), [&](const Item& item) { return edge(item.extent, by) < limit; });
        split = static_cast<std::size_t>(behind - m_items.begin());
      }
    }
    const std::uint32_t left = build(begin, split);
    const std::uint32_t right = build(split, end);
    m_nodes[index].left = left;
    m_nodes[index].right = right;
    return index;
  }

  [[nodiscard]] std::vector<Item>::iterator at(std::size_t i) {
    return m_items.begin() + static_cast<std::ptrdiff_t>(i);
  }

  template <class Measure>
  static std::size_t largest(const Measure& measure) {
    std::size_t best = 0;
    for (std::size_t d = 1; d < 3; ++d) {
      if (measure(d) > measure(best)) best = d;
    }
    return best;
  }

  static double edge(const Extent& e, std::size_t d) noexcept { return e.high[d] - e.low[d]; }

  // half of each first: the sum of two large coordinates may pass the range of double
  static double middle(const Extent& e, std::size_t d) noexcept { return 0.5 * e.low[d] + 0.5 * e.high[d]; }

  void join_within(std::uint32_t index) {
    if (!m_found.complete) return;
    const Node& node = m_nodes[index];
    if (node.left == no_child) {
      for (std::size_t i = node.begin; i < node.end; ++i) {
        for (std::size_t j = i + 1; j < node.end; ++j) test(m_items[i], m_items[j]);
      }
      return;
    }
    join_within(node.left);
    join_within(node.right);
    join(node.left, node.right);
  }

  void join(std::uint32_t a_index, std::uint32_t b_index) {
    const Node& a = m_nodes[a_index];
    const Node& b = m_nodes[b_index];
    if (!m_found.complete || !overlap(a.extent, b.extent)) return;
    const bool a_is_leaf = a.left == no_child, b_is_leaf = b.left == no_child;
    if (a_is_leaf && b_is_leaf) {
      for (std::size_t i = a.begin; i < a.end; ++i) {
        if (!overlap(m_items[i].extent, b.extent)) continue;
        for (std::size_t j = b.begin; j < b.end; ++j) test(m_items[i], m_items[j]);
      }
    } else if (b_is_leaf || (!a_is_leaf && a.end - a.begin >= b.end - b.begin)) {
      join(a.left, b_index);
      join(a.right, b_index);
    } else {
      join(a_index, b.left);
      join(a_index, b.right);
    }
  }

  void test(const Item& a, const Item& b) {
    if (!overlap(a.extent, b.extent)) return;
    for (std::size_t d = 0; d < 3; ++d) {
      const double depth = std::min(a.extent.high[d], b.extent.high[d]) - std::max(a.extent.low[d], b.extent.low[d]);
      if (!(depth > m_tolerance * std::min(edge(a.extent, d), edge(b.extent, d)))) return;
    }
    if (m_found.pairs.size() == m_max_pairs) {
      m_found.complete = false;
      return;
    }
    m_found.pairs.emplace_back(std::min(a.prism, b.prism), std::max(a.prism, b.prism));
  }

  double m_tolerance;
  std::size_t m_max_pairs;
  std::vector<Item> m_items;
  std::vector<Node> m_nodes;
  Overlaps m_found;
};

}  // namespace

std::string beyond_coordinates() {
  return fmt::format("lies more than {:g} m from 0, the limit up to which results are finite", max_coordinate);
}

std::string beyond_densities() {
  return fmt::format("is more than {:g} kg/m3, the limit up to which results are finite", max_density);
}

std::string below_longest_edge() {
  return fmt::format("all edges are shorter than {:g} m, the limit down to which results are finite", min_longest_edge);
}

std::string property_error(std::size_t property, double value) {
  if (!std::isfinite(value)) return "is NaN or infinite";
  if (property == susceptibility_property) {
    const auto [least, most] = susceptibility_limits;
    if (least <= value && value <= most) return "";
    return fmt::format("is {:g}; a susceptibility from {:g} to {:g} (SI) is expected", value, least, most);
  }
  if (std::abs(value) <= max_density) return "";
  return property == density_property
             ? beyond_densities()
             : fmt::format("is more than {:g} A/m, the limit up to which results are finite", max_density);
}

std::string column_error(std::size_t column, double value) {
  if (column >= n_face_columns) return property_error(column - n_face_columns, value);
  if (std::abs(value) <= max_coordinate) return "";
  return std::isfinite(value) ? beyond_coordinates() : "is NaN or infinite";
}

bool is_too_small(std::span<const double> prism) noexcept {
  return std::max({prism[1] - prism[0], prism[3] - prism[2], prism[5] - prism[4]}) < min_longest_edge;
}

ZeroSize PrismCheck::check_each() {
  const auto columns = list_columns_of(m_list.prisms);
  std::size_t kept = 0;
  ZeroSize zero;
  if (add_other_axis()) return zero;
  for (std::size_t i = 0; i < m_list.numbers.size(); ++i) {
    Prism prism{};
    for (std::size_t c = 0; c < n_list_columns; ++c) {
      if (!columns[c]->empty()) prism[c] = (*columns[c])[i];
    }
    const std::int64_t number = m_list.numbers[i];
    if (!is_finite(prism, number) || is_inverted(prism, number) || !convert(prism, number)) continue;
    if (prism[0] == prism[1] || prism[2] == prism[3] || prism[4] == prism[5]) {
      if (zero.count++ == 0) zero.first = number;
      continue;
    }
    if (is_too_small(prism)) {
      m_limited.add("prisms that are too small", [&] {
        return Problem{m_names.where(number), m_names.key(number), below_longest_edge()};
      });
      continue;
    }
    for (std::size_t c = 0; c < n_list_columns; ++c) {
      if (!columns[c]->empty()) (*columns[c])[kept] = prism[c];
    }
    m_list.numbers[kept++] = number;
  }
  m_limited.finish();
  for (auto* column : columns) column->resize(std::min(column->size(), kept));
  m_list.numbers.resize(kept);
  return zero;
}

std::int64_t PrismCheck::check_overlaps() {
  const Overlaps overlaps = find_overlaps(m_list.prisms, overlap_tolerance, overlaps_counted);
  const std::size_t named = std::min(overlaps.pairs.size(), overlaps_named);
  for (std::size_t o = 0; o < named; ++o) {
    const auto a = static_cast<std::size_t>(overlaps.pairs[o].first);
    const auto b = static_cast<std::size_t>(overlaps.pairs[o].second);
    const std::string other = "the prism of " + m_names.reference(m_list.numbers[a]);
    m_problems.add(m_names.where(m_list.numbers[b]), m_names.key(m_list.numbers[b]),
                   fmt::format("overlaps {} by {} m; allow_overlap: true accepts this", other, common_edges(a, b)));
  }
  if (overlaps.pairs.size() > named) {
    m_problems.add(m_names.list(), "",
                   fmt::format("{}{} more overlapping pairs", overlaps.complete ? "" : "more than ",
                               overlaps.pairs.size() - named));
  }
  return overlaps.memory_bytes;
}

const char* PrismCheck::axis_remark() const noexcept {
  return m_units.z_down ? "; with axis_z: down these are depths; for heights, write axis_z: up"
                        : "; with axis_z: up these are heights; for depths, write axis_z: down";
}

bool PrismCheck::add_other_axis() {
  const PrismBlock& p = m_list.prisms;
  std::int64_t inverted = 0;
  for (std::size_t i = 0; i < m_list.numbers.size(); ++i) {
    const double height = m_units.z_down ? p.bottom[i] - p.top[i] : p.top[i] - p.bottom[i];
    if (height > 0) return false;
    inverted += height < 0 ? 1 : 0;
  }
  if (inverted < 2) return false;
  m_problems.add(m_names.list(), "", fmt::format("bottom is above top in all prisms{}", axis_remark()));
  return true;
}

bool PrismCheck::is_finite(const Prism& prism, std::int64_t number) {
  bool finite = true;
  for (std::size_t c = 0; c < n_list_columns; ++c) {
    if (std::isfinite(prism[c])) continue;
    finite = false;
    m_limited.add("NaN or infinite values", [&] {
      return Problem{m_names.where(number), m_names.key(number, list_column(c)), "is NaN or infinite"};
    });
  }
  return finite;
}

bool PrismCheck::is_inverted(const Prism& prism, std::int64_t number) {
  bool inverted = false;
  for (std::size_t c = 0; c < n_face_columns; c += 2) {
    const bool depths = c == 4 && m_units.z_down;
    if (depths ? prism[c] >= prism[c + 1] : prism[c] <= prism[c + 1]) continue;
    inverted = true;
    m_limited.add("inverted prisms", [&] {
      static constexpr std::array<const char*, 3> relations = {"is east of", "is north of", "is above"};
      const char* const remark = c < 4 ? "" : axis_remark();
      return Problem{m_names.where(number), m_names.key(number),
                     fmt::format("{} {} {} {} {}{}", prism_columns[c], prism[c], relations[c / 2], prism_columns[c + 1],
                                 prism[c + 1], remark)};
    });
  }
  return inverted;
}

bool PrismCheck::convert(Prism& prism, std::int64_t number) {
  for (std::size_t c = 0; c < n_face_columns; ++c) prism[c] *= m_units.length_to_si;
  prism[n_face_columns] *= m_units.density_to_si;
  if (m_units.z_down) {
    prism[4] = -prism[4];
    prism[5] = -prism[5];
  }
  bool within = true;
  for (std::size_t c = 0; c < n_list_columns; ++c) {
    const bool is_face = c < n_face_columns;
    // what is infinite now was finite in the unit of the file
    const std::string error = column_error(c, std::clamp(prism[c], -largest_number, largest_number));
    if (error.empty()) continue;
    within = false;
    m_limited.add(is_face               ? "coordinates beyond the limit"
                  : c == n_face_columns ? "densities beyond the limit"
                                        : "values beyond the limits",
                  [&] {
                    return Problem{m_names.where(number), m_names.key(number, list_column(c)), error};
                  });
  }
  return within;
}

std::string PrismCheck::common_edges(std::size_t a, std::size_t b) const {
  const PrismBlock& p = m_list.prisms;
  return fmt::format("{:.6g} x {:.6g} x {:.6g}", std::min(p.east[a], p.east[b]) - std::max(p.west[a], p.west[b]),
                     std::min(p.north[a], p.north[b]) - std::max(p.south[a], p.south[b]),
                     std::min(p.top[a], p.top[b]) - std::max(p.bottom[a], p.bottom[b]));
}

bool EdgeRanges::is_one_shape() const noexcept {
  // as far apart as the rounding of coordinates leaves equal prisms; the kernels decide for themselves
  constexpr double rounding = 1e-12;
  return std::ranges::all_of(along, [](const Range& edge) { return edge.max - edge.min <= rounding * edge.min; });
}

EdgeRanges edge_ranges_of(const PrismColumns& prisms) {
  const auto range = [](std::span<const double> low, std::span<const double> high) {
    Range edge{HUGE_VAL, 0};
    for (std::size_t i = 0; i < low.size(); ++i) {
      edge.min = std::min(edge.min, high[i] - low[i]);
      edge.max = std::max(edge.max, high[i] - low[i]);
    }
    return edge;
  };
  return {{range(prisms.west, prisms.east), range(prisms.south, prisms.north), range(prisms.bottom, prisms.top)}};
}

Bounds bounds_of(const PrismColumns& prisms) {
  return {least(prisms.west),     greatest(prisms.east), least(prisms.south),
          greatest(prisms.north), least(prisms.bottom),  greatest(prisms.top)};
}

PropertyRanges ranges_of(const ListedPrisms& prisms) {
  const auto columns = list_columns_of(prisms);
  PropertyRanges ranges;
  for (std::size_t i = 0; i < prisms.west.size(); ++i) {
    Properties one{};
    for (std::size_t p = 0; p < one.size(); ++p) {
      const std::vector<double>& column = *columns[n_face_columns + p];
      if (!column.empty()) one[p] = column[i];
    }
    ranges.include(one);
  }
  return ranges;
}

Overlaps find_overlaps(const PrismBlock& prisms, double tolerance, std::size_t max_pairs) {
  return OverlapSearch(prisms, tolerance, max_pairs).find();
}

}  // namespace prismfield
