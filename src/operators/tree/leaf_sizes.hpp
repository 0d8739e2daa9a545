// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

/// How many items the leaves of trees hold, and how many cells the trees have.
namespace prismfield::fast {

/// Items of a leaf at most.
struct LeafSizes {
  std::int64_t prisms, points;
};

/// Points to a prism in equal volumes, about.
[[nodiscard]] double points_per_prism(const PrismSource& prisms, const PointColumns& points);

/// Leaves with which a product takes about the least time: of points and of prisms as large as one another.
[[nodiscard]] LeafSizes leaf_sizes(bool on_device, double points_per_prism, std::int64_t n_prisms);

/// Cells whose radius is at most this part of their distance from the other tree's items exchange whole at every
/// tolerance.
inline constexpr double far_leaf_radius = 0.2;
/// The items of such a leaf at most: a thread of a host, or a team, takes them one after the other.
[[nodiscard]] constexpr std::int64_t far_leaf_items(bool on_device) { return on_device ? 128 : 512; }

/// A box around items, metres.
struct ItemBox {
  std::array<double, 3> low{}, high{};
  [[nodiscard]] constexpr double middle(std::size_t d) const { return 0.5 * (low[d] + high[d]); }
};

/// Sides by which a cell may be cut: three coordinates and the size.
inline constexpr int n_sides = 4;

/// What leaves hold at most, and where the other tree's items are, seen from where the items' places are counted. For
/// hosts and devices.
struct LeafRule {
  std::int64_t items, far_items;
  std::array<double, 3> low{}, high{};

  LeafRule(std::int64_t most, std::int64_t most_if_far, const ItemBox& own, const ItemBox& others)
      : items(most), far_items(most_if_far) {
    for (std::size_t d = 0; d < 3; ++d) {
      low[d] = others.low[d] - own.middle(d);
      high[d] = others.high[d] - own.middle(d);
    }
  }

  /// Whether a cell of so many items between low and high, sizes as the fourth side, is a leaf.
  [[nodiscard]] constexpr bool is_leaf(std::int64_t n, const float* cell_low, const float* cell_high) const {
    if (n <= items) return true;
    if (n > far_items) return false;
    const double size = cell_high[3];
    double gap = 0, diagonal = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const double below = low[d] - cell_high[d] - size, above = cell_low[d] - high[d] - size;
      const double away = std::max(std::max(below, above), 0.0);
      const double half = 0.5 * (cell_high[d] - cell_low[d]) + size;
      gap += away * away;
      diagonal += half * half;
    }
    return diagonal <= far_leaf_radius * far_leaf_radius * gap;
  }
};

/// Numbers of the cells of both trees.
struct TreeCells {
  std::int64_t of_prisms = 0, of_points = 0;
};

/// Some of the prisms and of the points that trees are made of. By them the cells of the trees are counted before the
/// trees are made, in some milliseconds.
class TreeSample {
public:
  /// Of at least one prism and one point. Prisms that this rank cannot read are taken as spread evenly over their box.
  TreeSample(const PrismSource& prisms, const PointColumns& points);

  /// Cells of the trees of all prisms and of all points, about; seldom fewer than there are.
  [[nodiscard]] TreeCells cells(const LeafSizes& leaves, bool on_device) const;
  /// Part of the points that lie in the box around the prisms, about.
  [[nodiscard]] double part_inside() const;

private:
  /// The place, from the middle of the box, metres, and half the diagonal, 0 of a point.
  using Item = std::array<float, n_sides>;
  struct Items {
    std::vector<Item> some;
    std::int64_t all = 0;
    ItemBox box;
  };
  static double count(Item* begin, Item* end, double items_of_one, const LeafRule& rule);
  [[nodiscard]] static std::int64_t cells_of(Items items, const LeafRule& rule);

  Items m_prisms, m_points;
};

}  // namespace prismfield::fast
