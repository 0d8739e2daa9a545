// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "operators/compressed/h_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace prismfield {
namespace {

ClusterBox empty_box() {
  ClusterBox box;
  box.low.fill(std::numeric_limits<double>::infinity());
  box.high.fill(-std::numeric_limits<double>::infinity());
  return box;
}

/// Diameters of the smaller cluster that a gap may be admissible for: 2, 3 and 4 took a 13.4th, 14.7th and 15.0th of
/// the memory of doubles at 1e-4, more often tried in vain.
constexpr double reach = 4;

/// Twice a centre's coordinate.
double middle(const ClusterBox& box, std::size_t d) noexcept { return box.low[d] + box.high[d]; }

/// Half of n things, n > leaf_size; in whole vectors of lanes where leaves have several, so that products need no
/// scalar ends but in the last leaf.
std::int64_t near_half(std::int64_t n, std::int64_t leaf_size) {
  constexpr std::int64_t lanes = 8;
  const std::int64_t half = n / 2;
  return leaf_size < lanes ? half : (half + lanes / 2) / lanes * lanes;
}

/// The direction in which the centres of some things extend furthest.
std::size_t longest_extent(std::span<const ClusterBox> things, std::span<const std::int64_t> numbers) {
  std::size_t longest = 0;
  double extent = -1;
  for (std::size_t d = 0; d < 3; ++d) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const std::int64_t i : numbers) {
      const double at = middle(things[static_cast<std::size_t>(i)], d);
      low = std::min(low, at);
      high = std::max(high, at);
    }
    if (high - low > extent) {
      extent = high - low;
      longest = d;
    }
  }
  return longest;
}

}  // namespace

void ClusterBox::add(const ClusterBox& other) noexcept {
  for (std::size_t d = 0; d < 3; ++d) {
    low[d] = std::min(low[d], other.low[d]);
    high[d] = std::max(high[d], other.high[d]);
  }
}

double ClusterBox::diameter() const noexcept {
  return std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
}

double gap(const ClusterBox& a, const ClusterBox& b) noexcept {
  std::array<double, 3> apart{};
  for (std::size_t d = 0; d < 3; ++d) apart[d] = std::max({0.0, a.low[d] - b.high[d], b.low[d] - a.high[d]});
  return std::hypot(apart[0], apart[1], apart[2]);
}

std::vector<IndexRange> ClusterTree::cut(std::int64_t most) const {
  std::vector<IndexRange> found;
  if (clusters.empty()) return found;
  std::vector<std::int64_t> open = {0};
  while (!open.empty()) {
    const Cluster& cluster = clusters[static_cast<std::size_t>(open.back())];
    open.pop_back();
    if (cluster.is_leaf() || cluster.range.size() <= most) {
      found.push_back(cluster.range);
    } else {
      open.insert(open.end(), {cluster.child + 1, cluster.child});
    }
  }
  return found;
}

ClusterTree make_clusters(std::span<const ClusterBox> things, std::int64_t leaf_size) {
  ClusterTree tree;
  tree.order.resize(things.size());
  std::iota(tree.order.begin(), tree.order.end(), std::int64_t{0});
  if (things.empty()) return tree;
  tree.clusters.push_back({{0, tree.size()}, empty_box(), -1});
  for (std::size_t c = 0; c < tree.clusters.size(); ++c) {
    const IndexRange range = tree.clusters[c].range;
    const std::span<std::int64_t> numbers(tree.order.data() + range.begin, static_cast<std::size_t>(range.size()));
    for (const std::int64_t i : numbers) tree.clusters[c].box.add(things[static_cast<std::size_t>(i)]);
    if (range.size() <= leaf_size) continue;
    const std::size_t d = longest_extent(things, numbers);
    const std::int64_t half = near_half(range.size(), leaf_size);
    // things at one place by their numbers: the order must not depend on the library's selection
    std::nth_element(numbers.begin(), numbers.begin() + half, numbers.end(), [&](std::int64_t a, std::int64_t b) {
      const double at_a = middle(things[static_cast<std::size_t>(a)], d);
      const double at_b = middle(things[static_cast<std::size_t>(b)], d);
      return at_a < at_b || (at_a == at_b && a < b);
    });
    tree.clusters[c].child = static_cast<std::int64_t>(tree.clusters.size());
    tree.clusters.push_back({{range.begin, range.begin + half}, empty_box(), -1});
    tree.clusters.push_back({{range.begin + half, range.end}, empty_box(), -1});
  }
  for (const Cluster& cluster : tree.clusters) {
    if (cluster.is_leaf()) {
      std::sort(tree.order.begin() + cluster.range.begin, tree.order.begin() + cluster.range.end);
    }
  }
  return tree;
}

std::vector<BlockPlace> cut_into_blocks(const ClusterTree& points, const ClusterTree& cells) {
  std::vector<BlockPlace> blocks;
  if (points.clusters.empty() || cells.clusters.empty()) return blocks;
  std::vector<BlockPlace> open = {{0, 0, false}};
  while (!open.empty()) {
    BlockPlace place = open.back();
    open.pop_back();
    const Cluster& p = points.clusters[static_cast<std::size_t>(place.points)];
    const Cluster& c = cells.clusters[static_cast<std::size_t>(place.cells)];
    const double apart = gap(p.box, c.box);
    const double p_size = p.box.diameter();
    const double c_size = c.box.diameter();
    place.admissible = apart > 0 && std::min(p_size, c_size) <= reach * apart;
    if (place.admissible || (p.is_leaf() && c.is_leaf())) {
      blocks.push_back(place);
    } else if (c.is_leaf() || (!p.is_leaf() && p_size >= c_size)) {
      open.push_back({p.child, place.cells, false});
      open.push_back({p.child + 1, place.cells, false});
    } else {
      open.push_back({place.points, c.child, false});
      open.push_back({place.points, c.child + 1, false});
    }
  }
  return blocks;
}

}  // namespace prismfield
