// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <prismfield/ranges.hpp>

/// How a matrix between points and cells is cut into blocks that are dense or of low rank: trees of clusters by
/// bisection, and the pairs of clusters that are far enough from each other.
namespace prismfield {

/// An axis-parallel box, metres; of a point, low and high are the same.
struct ClusterBox {
  std::array<double, 3> low{}, high{};

  /// Makes it hold another box too.
  void add(const ClusterBox& other) noexcept;
  [[nodiscard]] double diameter() const noexcept;
};

/// The smallest distance between two boxes, metres; 0 where they touch or overlap.
[[nodiscard]] double gap(const ClusterBox& a, const ClusterBox& b) noexcept;

/// Things near each other, as a range of the tree's order.
struct Cluster {
  IndexRange range;
  ClusterBox box;
  /// the first of two children, which follow each other; -1: a leaf
  std::int64_t child = -1;

  [[nodiscard]] bool is_leaf() const noexcept { return child < 0; }
};

/// A tree of clusters. Cluster 0 holds everything; without things there is none.
struct ClusterTree {
  std::vector<Cluster> clusters;
  /// the number of each thing, in the order of the clusters' ranges
  std::vector<std::int64_t> order;

  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(order.size()); }
  /// The ranges, in their order, of the largest clusters that have at most `most` things or are leaves.
  [[nodiscard]] std::vector<IndexRange> cut(std::int64_t most) const;
};

/// Bisects things along the longest extent of their centres, into halves of about equal count, until a cluster has at
/// most `leaf_size`. The tree follows from the boxes alone.
[[nodiscard]] ClusterTree make_clusters(std::span<const ClusterBox> things, std::int64_t leaf_size);

/// A block of the matrix: clusters of points and of cells, numbers in their trees.
struct BlockPlace {
  std::int64_t points = 0;
  std::int64_t cells = 0;
  /// far enough apart for low rank
  bool admissible = false;
};

/// The blocks, which cover every pair of a point and a cell once. Admissible: the smaller diameter is at most four
/// times the gap, and there is a gap; what is not is cut down to pairs of leaves.
[[nodiscard]] std::vector<BlockPlace> cut_into_blocks(const ClusterTree& points, const ClusterTree& cells);

}  // namespace prismfield
