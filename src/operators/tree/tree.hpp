// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/staged_prisms.hpp"
#include "operators/tree/cells.hpp"
#include "operators/tree/leaf_sizes.hpp"
#include "operators/tree/worker.hpp"

/// Trees of prisms and of points by bisection, made in the space that computes, level by level. A cell of more items
/// than a leaf may have is cut in the middle of the longest side of the box of its items' centres. The items' sizes are
/// a fourth side: where they differ by more than the box is long, a huge prism among small ones parts from them, so
/// that no cell is much larger than its box of centres. Far from all items of the other tree leaves hold more: smaller
/// cells would exchange nothing.
namespace prismfield::fast {

/// A tree's cells, and which items they hold.
template <class Memory>
struct Tree {
  Cells<Memory> cells;
  /// first cell of each level, and the number of cells
  std::vector<std::int32_t> level_begin;
  /// (place in the tree's order) the item
  Kokkos::View<std::int64_t*, Memory> order;
  /// (leaf) its cell, in the order of cells
  Kokkos::View<std::int32_t*, Memory> leaves;

  [[nodiscard]] std::int32_t n_cells() const { return level_begin.back(); }
  [[nodiscard]] std::int64_t n_items() const { return static_cast<std::int64_t>(order.extent(0)); }
};

template <class View, class... Extents>
[[nodiscard]] View new_view(const char* label, Extents... extents) {
  View view;
  allocate_or_fail([&] {
    view =
        View(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label(label)), static_cast<std::size_t>(extents)...);
  });
  return view;
}

/// How the cells of a level are cut.
template <class Memory>
struct Cuts {
  /// (cell) items [begin, end)
  Kokkos::View<std::int64_t*, Memory> begin, end;
  /// (cell) the side, -1: by number, -2: not at all; where
  Kokkos::View<std::int32_t*, Memory> side;
  Kokkos::View<float*, Memory> place;
  /// (cell) the first child's number in the next level
  Kokkos::View<std::int32_t*, Memory> child;
};

/// Items of one cell that a thread or a team works on at once, at most.
inline constexpr std::int64_t chunk_items = 4096;

/// A level's cells and their items, in chunks.
template <class Memory>
struct Level {
  /// (side, item), reordered from level to level
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> items;
  Cuts<Memory> cuts;
  /// (cell, side) what all items of a cell lie between
  Kokkos::View<float*[n_sides], Kokkos::LayoutRight, Memory> low, high;
  /// (cell + 1) the cell's first chunk; (chunk) its cell
  Kokkos::View<std::int64_t*, Memory> first_chunk;
  Kokkos::View<std::int32_t*, Memory> cell_of_chunk;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t begin_of_chunk(std::int64_t chunk) const {
    const std::int32_t cell = cell_of_chunk(chunk);
    return cuts.begin(cell) + (chunk - first_chunk(cell)) * chunk_items;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t end_of_chunk(std::int64_t chunk) const {
    return Kokkos::min(begin_of_chunk(chunk) + chunk_items, cuts.end(cell_of_chunk(chunk)));
  }
};

template <class Memory>
struct ListChunks {
  Level<Memory> level;
  KOKKOS_FUNCTION void operator()(std::int64_t cell, std::int64_t& chunks, bool is_last) const {
    const std::int64_t n = (level.cuts.end(cell) - level.cuts.begin(cell) + chunk_items - 1) / chunk_items;
    if (is_last) {
      level.first_chunk(cell) = chunks;
      level.first_chunk(cell + 1) = chunks + n;
      for (std::int64_t i = 0; i < n; ++i) level.cell_of_chunk(chunks + i) = static_cast<std::int32_t>(cell);
    }
    chunks += n;
  }
};

/// Widens the boxes of cells with too many items for a leaf by the items of a chunk.
template <class Memory>
struct BoxOfItems {
  Level<Memory> level;
  std::int64_t leaf_items;

  template <class Worker>
  PRISMFIELD_INLINE_FUNCTION void run(const Worker& worker, std::int64_t chunk) const {
    const std::int32_t cell = level.cell_of_chunk(chunk);
    if (level.cuts.end(cell) - level.cuts.begin(cell) <= leaf_items) return;
    const std::int64_t begin = level.begin_of_chunk(chunk), end = level.end_of_chunk(chunk);
    // side by side on a host
    constexpr int width = Worker::is_alone ? 16 : 1;
    for (int side = 0; side < n_sides; ++side) {
      const float* const item = &level.items(side, 0);
      float least[width], most[width];
      for (int j = 0; j < width; ++j) least[j] = most[j] = item[begin];
      std::int64_t i = begin + worker.rank() * width;
      for (; i + width <= end; i += worker.size() * width) {
        for (int j = 0; j < width; ++j) {
          least[j] = item[i + j] < least[j] ? item[i + j] : least[j];
          most[j] = item[i + j] > most[j] ? item[i + j] : most[j];
        }
      }
      for (int j = 0; i + j < end; ++j) {
        least[j] = Kokkos::min(least[j], item[i + j]);
        most[j] = Kokkos::max(most[j], item[i + j]);
      }
      for (int j = 1; j < width; ++j) {
        least[0] = Kokkos::min(least[0], least[j]);
        most[0] = Kokkos::max(most[0], most[j]);
      }
      Kokkos::atomic_min(&level.low(cell, side), least[0]);
      Kokkos::atomic_max(&level.high(cell, side), most[0]);
    }
  }
};

template <class Memory>
struct ChooseCuts {
  Level<Memory> level;
  LeafRule rule;

  /// Counts the children before this cell's.
  KOKKOS_FUNCTION void operator()(std::int64_t cell, std::int32_t& children, bool is_last) const {
    const Cuts<Memory>& cuts = level.cuts;
    if (rule.is_leaf(cuts.end(cell) - cuts.begin(cell), &level.low(cell, 0), &level.high(cell, 0))) {
      if (is_last) cuts.side(cell) = -2, cuts.child(cell) = -1;
      return;
    }
    if (is_last) {
      cuts.child(cell) = children;
      choose(cell);
    }
    children += 2;
  }

private:
  KOKKOS_FUNCTION void choose(std::int64_t cell) const {
    const auto length = [&](int side) { return level.high(cell, side) - level.low(cell, side); };
    int longest = 0;
    for (int side = 1; side < n_sides; ++side) {
      if (length(side) > length(longest)) longest = side;
    }
    level.cuts.side(cell) = length(longest) > 0 ? longest : -1;
    level.cuts.place(cell) = level.low(cell, longest) + 0.5F * length(longest);
  }
};

/// The most items of a cell whose cut moves to whole groups. All leaves below it but one then have whole groups.
inline constexpr std::int64_t most_grouped_items = 256;

/// Moves the cuts of small cells, by an eighth of the side at most, so that their lower children have whole groups of
/// items.
template <class Memory>
struct RoundCuts {
  Level<Memory> level;
  std::int64_t group;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    const Cuts<Memory>& cuts = level.cuts;
    const std::int64_t n = cuts.end(cell) - cuts.begin(cell);
    if (cuts.side(cell) < 0 || n > most_grouped_items || n < 2 * group) return;
    const float most = level.high(cell, cuts.side(cell));
    const float reach = 0.125F * (most - level.low(cell, cuts.side(cell)));
    const float middle = cuts.place(cell);
    float place = middle;
    std::int64_t n_lower = 0, same = 0;
    for_items(cell, [&](float item) { n_lower += item <= place && item < most ? 1 : 0; });
    const std::int64_t wanted = Kokkos::max((n_lower + group / 2) / group, std::int64_t{1}) * group;
    while (n_lower < wanted) {
      const float next = next_above(cell, place, same);
      if (next >= most || next > middle + reach) break;
      place = next;
      n_lower += same;
    }
    while (n_lower > wanted) {
      // what is lower ends at `last`, and before it at `next`
      const float last = next_below(cell, place, true, same);
      const std::int64_t n_last = same;
      const float next = next_below(cell, last, false, same);
      if (same == 0 || next < middle - reach) break;
      place = next;
      n_lower -= n_last;
    }
    cuts.place(cell) = place;
  }

private:
  template <class F>
  KOKKOS_FUNCTION void for_items(std::int64_t cell, const F& f) const {
    const Cuts<Memory>& cuts = level.cuts;
    for (std::int64_t i = cuts.begin(cell); i < cuts.end(cell); ++i) f(level.items(cuts.side(cell), i));
  }
  /// The least item above a place, and how many are the same.
  KOKKOS_FUNCTION float next_above(std::int64_t cell, float place, std::int64_t& same) const {
    float next = Kokkos::Experimental::infinity_v<float>;
    same = 0;
    for_items(cell, [&](float item) {
      if (item <= place || item > next) return;
      same = item < next ? 1 : same + 1;
      next = item;
    });
    return next;
  }
  /// The largest item below a place, or at it.
  KOKKOS_FUNCTION float next_below(std::int64_t cell, float place, bool or_at_it, std::int64_t& same) const {
    float next = -Kokkos::Experimental::infinity_v<float>;
    same = 0;
    for_items(cell, [&](float item) {
      if (item > place || (item >= place && !or_at_it) || item < next) return;
      same = item > next ? 1 : same + 1;
      next = item;
    });
    return next;
  }
};

/// Which items of a cell go to its upper child.
struct GoesUp {
  const float* item;
  float place, most;
  std::int64_t middle;

  template <class Memory>
  KOKKOS_FUNCTION GoesUp(const Level<Memory>& level, std::int32_t cell) {
    const std::int32_t side = level.cuts.side(cell);
    item = side < 0 ? nullptr : &level.items(side, 0);
    place = level.cuts.place(cell);
    most = side < 0 ? 0 : level.high(cell, side);
    middle = level.cuts.begin(cell) + (level.cuts.end(cell) - level.cuts.begin(cell)) / 2;
  }
  PRISMFIELD_INLINE_FUNCTION bool operator()(std::int64_t i) const {
    // neither child is empty, though the middle of neighbouring numbers is one of them
    return item == nullptr ? i >= middle : item[i] > place || item[i] == most;
  }
};

/// lower(chunk): how many of its items go to the lower child.
template <class Memory>
struct CountLower {
  Level<Memory> level;
  Kokkos::View<std::int64_t*, Memory> lower;

  template <class Worker>
  PRISMFIELD_INLINE_FUNCTION void run(const Worker& worker, std::int64_t chunk) const {
    const std::int32_t cell = level.cell_of_chunk(chunk);
    std::int64_t mine = 0;
    if (level.cuts.side(cell) != -2) {
      const GoesUp goes_up(level, cell);
      const std::int64_t end = level.end_of_chunk(chunk);
      for (std::int64_t i = level.begin_of_chunk(chunk) + worker.rank(); i < end; i += worker.size()) {
        mine += goes_up(i) ? 0 : 1;
      }
    }
    std::int64_t all = 0;
    worker.sum_before(mine, all);
    if (worker.rank() == 0) lower(chunk) = all;
  }
};

/// Numbers of chunks in, of those before them out; of all at the end.
template <class Memory>
struct SumChunks {
  Kokkos::View<std::int64_t*, Memory> lower;
  std::int64_t n;
  KOKKOS_FUNCTION void operator()(std::int64_t chunk, std::int64_t& before, bool is_last) const {
    const std::int64_t own = lower(chunk);
    if (is_last) lower(chunk) = before;
    before += own;
    if (is_last && chunk + 1 == n) lower(n) = before;
  }
};

/// The next level's cells.
template <class Memory>
struct MakeChildren {
  Level<Memory> level;
  /// (chunk + 1) items of lower children before it
  Kokkos::View<const std::int64_t*, Memory> lower;
  Cuts<Memory> next;
  /// (cell of the next level) the number of its parent in this level
  Kokkos::View<std::int32_t*, Memory> parent;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    const Cuts<Memory>& cuts = level.cuts;
    if (cuts.side(cell) == -2) return;
    const std::int32_t child = cuts.child(cell);
    next.begin(child) = cuts.begin(cell);
    next.end(child) = next.begin(child + 1) =
        cuts.begin(cell) + lower(level.first_chunk(cell + 1)) - lower(level.first_chunk(cell));
    next.end(child + 1) = cuts.end(cell);
    parent(child) = parent(child + 1) = static_cast<std::int32_t>(cell);
  }
};

/// Moves a chunk's items to the places of their children, in unchanged order within a child; items of leaves stay.
template <class Memory>
struct MoveItems {
  MakeChildren<Memory> made;
  Kokkos::View<const std::int64_t*, Memory> order;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> new_items;
  Kokkos::View<std::int64_t*, Memory> new_order;
  /// of leaves
  Kokkos::View<std::int64_t*, Memory> last_order;

  template <class Worker>
  PRISMFIELD_INLINE_FUNCTION void run(const Worker& worker, std::int64_t chunk) const {
    const Level<Memory>& level = made.level;
    const std::int32_t cell = level.cell_of_chunk(chunk);
    const std::int64_t begin = level.begin_of_chunk(chunk), end = level.end_of_chunk(chunk);
    if (level.cuts.side(cell) == -2) {
      for (std::int64_t i = begin + worker.rank(); i < end; i += worker.size()) last_order(i) = order(i);
      return;
    }
    const GoesUp goes_up(level, cell);
    const std::int64_t lower_before = made.lower(chunk) - made.lower(level.first_chunk(cell));
    std::int64_t lower = level.cuts.begin(cell) + lower_before;
    std::int64_t upper = made.next.begin(level.cuts.child(cell) + 1) + begin - lower;
    for (std::int64_t first = begin; first < end; first += worker.size()) {
      const std::int64_t i = first + worker.rank();
      const bool is_lower = i < end && !goes_up(i);
      std::int64_t all = 0;
      const std::int64_t before = worker.sum_before(is_lower ? 1 : 0, all);
      if (i < end) move(i, is_lower ? lower + before : upper + worker.rank() - before);
      lower += all;
      upper += worker.size() - all;
    }
  }

private:
  PRISMFIELD_INLINE_FUNCTION void move(std::int64_t i, std::int64_t to) const {
    for (int side = 0; side < n_sides; ++side) new_items(side, to) = made.level.items(side, i);
    new_order(to) = order(i);
  }
};

/// Runs a functor's chunks on a host, by threads.
template <class Functor>
struct HostChunks {
  Functor functor;
  void operator()(std::int64_t chunk) const { functor.run(Alone(), chunk); }
};

/// The same on a device, by teams.
template <class Functor, class Space>
struct DeviceChunks {
  using Policy = Kokkos::TeamPolicy<Space>;
  using Member = typename Policy::member_type;
  Functor functor;
  KOKKOS_FUNCTION void operator()(const Member& team) const { functor.run(InTeam<Member>{team}, team.league_rank()); }
};

template <class Space, class Functor>
void for_each_chunk(const char* name, const Space& space, std::int64_t n, const Functor& functor) {
  if constexpr (is_device_space<Space>) {
    using Chunks = DeviceChunks<Functor, Space>;
    Kokkos::parallel_for(name, typename Chunks::Policy(space, static_cast<int>(n), 64), Chunks{functor});
  } else {
    using Policy = Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for(name, Policy(space, 0, n, Kokkos::ChunkSize(16)), HostChunks<Functor>{functor});
  }
}

/// Puts a level's cells into a tree's.
template <class Memory>
struct PutLevel {
  Cuts<Memory> cuts;
  Kokkos::View<const std::int32_t*, Memory> parent;
  std::int32_t level_begin, level_before;
  Cells<Memory> cells;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto n = static_cast<std::int32_t>(cuts.begin.extent(0));
    const std::int64_t cell = level_begin + i;
    cells.begin(cell) = cuts.begin(i);
    cells.end(cell) = cuts.end(i);
    cells.child(cell) = cuts.child(i) < 0 ? -1 : level_begin + n + cuts.child(i);
    cells.parent(cell) = level_begin == 0 ? -1 : level_before + parent(i);
  }
};

template <class Memory>
struct ListLeaves {
  Kokkos::View<const std::int32_t*, Memory> child;
  Kokkos::View<std::int32_t*, Memory> leaves;
  KOKKOS_FUNCTION void operator()(std::int64_t cell, std::int64_t& n, bool is_last) const {
    if (child(cell) >= 0) return;
    if (is_last && leaves.extent(0) > 0) leaves(n) = static_cast<std::int32_t>(cell);
    ++n;
  }
};

/// Boxes, centres and radii of a level's cells: of leaves by their items, of others by their children.
template <class Memory>
struct FitCells {
  /// (3, n) in the tree's order: centres, and half edges, empty for points
  Kokkos::View<const double**, Kokkos::LayoutRight, Memory> centre, half;
  Cells<Memory> cells;
  /// (cell, 3)
  Kokkos::View<double*[3], Kokkos::LayoutRight, Memory> low, high;
  std::int32_t level_begin;

  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    const auto cell = static_cast<std::int32_t>(level_begin + number);
    const std::int32_t child = cells.child(cell);
    for (int d = 0; d < 3; ++d) {
      if (child < 0) {
        fit_side(cell, d);
      } else {
        low(cell, d) = Kokkos::min(low(child, d), low(child + 1, d));
        high(cell, d) = Kokkos::max(high(child, d), high(child + 1, d));
      }
      cells.centre(cell, d) = 0.5 * (low(cell, d) + high(cell, d));
    }
    // rounding moves no corner out of its sphere
    constexpr double wider = 1 + 1e-14;
    cells.radius(cell) = wider * (child < 0 ? radius_of_items(cell) : radius_of_children(cell, child));
  }

private:
  [[nodiscard]] KOKKOS_FUNCTION double half_edge(int d, std::int64_t i) const {
    return half.extent(1) == 0 ? 0.0 : half(d, i);
  }
  KOKKOS_FUNCTION void fit_side(std::int32_t cell, int d) const {
    double least = Kokkos::Experimental::infinity_v<double>, most = -least;
    for (std::int64_t i = cells.begin(cell); i < cells.end(cell); ++i) {
      least = Kokkos::min(least, centre(d, i) - half_edge(d, i));
      most = Kokkos::max(most, centre(d, i) + half_edge(d, i));
    }
    low(cell, d) = least;
    high(cell, d) = most;
  }
  [[nodiscard]] KOKKOS_FUNCTION double radius_of_items(std::int32_t cell) const {
    double most = 0;
    for (std::int64_t i = cells.begin(cell); i < cells.end(cell); ++i) {
      double squared = 0;
      for (int d = 0; d < 3; ++d) {
        const double away = Kokkos::abs(centre(d, i) - cells.centre(cell, d)) + half_edge(d, i);
        squared += away * away;
      }
      most = Kokkos::max(most, squared);
    }
    return Kokkos::sqrt(most);
  }
  [[nodiscard]] KOKKOS_FUNCTION double radius_of_children(std::int32_t cell, std::int32_t child) const {
    double diagonal = 0, most = 0;
    for (int d = 0; d < 3; ++d) {
      const double side = 0.5 * (high(cell, d) - low(cell, d));
      diagonal += side * side;
    }
    for (std::int32_t c = child; c < child + 2; ++c) {
      double squared = 0;
      for (int d = 0; d < 3; ++d) {
        const double away = cells.centre(c, d) - cells.centre(cell, d);
        squared += away * away;
      }
      most = Kokkos::max(most, Kokkos::sqrt(squared) + cells.radius(c));
    }
    return Kokkos::min(Kokkos::sqrt(diagonal), most);
  }
};

/// Units of length of a level's cells: the radius, but for cells of one point not 0.
template <class Memory>
struct ScaleCells {
  Cells<Memory> cells;
  std::int32_t level_begin;
  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    const std::int64_t cell = level_begin + number;
    const std::int32_t parent = cells.parent(cell);
    const double radius = cells.radius(cell);
    const double least = parent < 0 ? 0.0 : cells.scale(parent) / 16;
    cells.scale(cell) = parent < 0 && radius <= 0 ? 1.0 : Kokkos::max(radius, least);
  }
};

template <class Memory>
struct NumberItems {
  Kokkos::View<std::int64_t*, Memory> order;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { order(i) = i; }
};

/// Makes a tree of items, level by level.
template <class Space>
class TreeMaker {
public:
  using Memory = typename Space::memory_space;
  using Items = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;

  /// `items`: (4, n), n > 0: centres, from a place among them, and sizes, which are reordered; most leaves hold whole
  /// groups. Throws AllocationFailure.
  TreeMaker(const Space& space, const Items& items, const LeafRule& rule, std::int64_t group)
      : m_space(space), m_rule(rule), m_group(group), m_n(static_cast<std::int64_t>(items.extent(1))), m_items(items) {
    m_order = new_view<Order>("order_of_level", m_n);
    m_new_items = new_view<Items>("new_items", n_sides, m_n);
    m_new_order = new_view<Order>("new_order", m_n);
    m_last_order = new_view<Order>("tree_order", m_n);
    Kokkos::parallel_for("prismfield::number_items", indices(m_n), NumberItems<Memory>{m_order});
    CutLevel root = new_level(1);
    Kokkos::deep_copy(m_space, root.cuts.begin, std::int64_t{0});
    Kokkos::deep_copy(m_space, root.cuts.end, m_n);
    m_levels.push_back(root);
    while (cut_last_level()) {
    }
  }

  /// The tree; boxes are to be fitted yet.
  [[nodiscard]] Tree<Memory> tree() const {
    Tree<Memory> tree;
    tree.order = m_last_order;
    tree.level_begin.push_back(0);
    for (const CutLevel& level : m_levels) tree.level_begin.push_back(tree.level_begin.back() + level.n);
    const std::int32_t n = tree.n_cells();
    tree.cells.centre = new_view<decltype(tree.cells.centre)>("cell_centre", n);
    tree.cells.radius = new_view<decltype(tree.cells.radius)>("cell_radius", n);
    tree.cells.scale = new_view<decltype(tree.cells.scale)>("cell_scale", n);
    tree.cells.begin = new_view<Order>("cell_begin", n);
    tree.cells.end = new_view<Order>("cell_end", n);
    tree.cells.child = new_view<CellOf>("cell_child", n);
    tree.cells.parent = new_view<CellOf>("cell_parent", n);
    for (std::size_t l = 0; l < m_levels.size(); ++l) {
      Kokkos::parallel_for("prismfield::put_level", indices(m_levels[l].n),
                           PutLevel<Memory>{m_levels[l].cuts, m_levels[l].parent, tree.level_begin[l],
                                            l == 0 ? 0 : tree.level_begin[l - 1], tree.cells});
    }
    std::int64_t n_leaves = 0;
    Kokkos::parallel_scan("prismfield::count_leaves", indices(n), ListLeaves<Memory>{tree.cells.child, {}}, n_leaves);
    tree.leaves = new_view<CellOf>("leaves", n_leaves);
    Kokkos::parallel_scan("prismfield::list_leaves", indices(n), ListLeaves<Memory>{tree.cells.child, tree.leaves},
                          n_leaves);
    return tree;
  }

private:
  using Order = Kokkos::View<std::int64_t*, Memory>;
  using CellOf = Kokkos::View<std::int32_t*, Memory>;
  using Sides = Kokkos::View<float* [n_sides], Kokkos::LayoutRight, Memory>;
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  struct CutLevel {
    std::int32_t n;
    Cuts<Memory> cuts;
    CellOf parent;
  };
  [[nodiscard]] Policy indices(std::int64_t n) const { return Policy(m_space, 0, n); }

  [[nodiscard]] CutLevel new_level(std::int32_t n) const {
    CutLevel level;
    level.n = n;
    level.cuts.begin = new_view<Order>("level_begin", n);
    level.cuts.end = new_view<Order>("level_end", n);
    level.cuts.side = new_view<CellOf>("level_side", n);
    level.cuts.place = new_view<Kokkos::View<float*, Memory>>("level_place", n);
    level.cuts.child = new_view<CellOf>("level_child", n);
    level.parent = new_view<CellOf>("level_parent", n);
    return level;
  }

  /// Whether there is a next level.
  bool cut_last_level() {
    const CutLevel last = m_levels.back();
    Level<Memory> level{m_items,
                        last.cuts,
                        new_view<Sides>("level_low", last.n),
                        new_view<Sides>("level_high", last.n),
                        new_view<Order>("first_chunk", last.n + 1),
                        {}};
    level.cell_of_chunk = new_view<CellOf>("cell_of_chunk", m_n / chunk_items + last.n);
    Kokkos::deep_copy(m_space, level.low, Kokkos::Experimental::infinity_v<float>);
    Kokkos::deep_copy(m_space, level.high, -Kokkos::Experimental::infinity_v<float>);
    std::int64_t n_chunks = 0;
    Kokkos::parallel_scan("prismfield::list_chunks", indices(last.n), ListChunks<Memory>{level}, n_chunks);
    for_each_chunk("prismfield::box_of_items", m_space, n_chunks, BoxOfItems<Memory>{level, m_rule.items});
    std::int32_t n_next = 0;
    Kokkos::parallel_scan("prismfield::choose_cuts", indices(last.n), ChooseCuts<Memory>{level, m_rule}, n_next);
    if (m_group > 1) {
      Kokkos::parallel_for("prismfield::round_cuts", indices(last.n), RoundCuts<Memory>{level, m_group});
    }
    const auto lower = new_view<Order>("items_of_lower", n_chunks + 1);
    for_each_chunk("prismfield::count_lower", m_space, n_chunks, CountLower<Memory>{level, lower});
    Kokkos::parallel_scan("prismfield::sum_chunks", indices(n_chunks), SumChunks<Memory>{lower, n_chunks});
    const CutLevel next = new_level(n_next);
    const MakeChildren<Memory> make{level, lower, next.cuts, next.parent};
    Kokkos::parallel_for("prismfield::make_children", indices(last.n), make);
    for_each_chunk("prismfield::move_items", m_space, n_chunks,
                   MoveItems<Memory>{make, m_order, m_new_items, m_new_order, m_last_order});
    if (n_next == 0) return false;
    std::swap(m_items, m_new_items);
    std::swap(m_order, m_new_order);
    m_levels.push_back(next);
    return true;
  }

  Space m_space;
  LeafRule m_rule;
  std::int64_t m_group, m_n;
  Items m_items, m_new_items;
  Order m_order, m_new_order, m_last_order;
  std::vector<CutLevel> m_levels;
};

/// Fits a tree's cells to its items, (3, n) in the tree's order; `half`: half edges, empty for points.
template <class Space>
void fit_tree(const Space& space, const Tree<typename Space::memory_space>& tree,
              const Kokkos::View<double**, Kokkos::LayoutRight, typename Space::memory_space>& centre,
              const Kokkos::View<double**, Kokkos::LayoutRight, typename Space::memory_space>& half) {
  using Memory = typename Space::memory_space;
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  using Corners = Kokkos::View<double* [3], Kokkos::LayoutRight, Memory>;
  const auto low = new_view<Corners>("cell_low", tree.n_cells()), high = new_view<Corners>("cell_high", tree.n_cells());
  const std::size_t n_levels = tree.level_begin.size() - 1;
  const auto policy = [&](std::size_t level) {
    return Policy(space, 0, tree.level_begin[level + 1] - tree.level_begin[level]);
  };
  for (std::size_t level = n_levels; level-- > 0;) {
    Kokkos::parallel_for("prismfield::fit_cells", policy(level),
                         FitCells<Memory>{centre, half, tree.cells, low, high, tree.level_begin[level]});
  }
  for (std::size_t level = 0; level < n_levels; ++level) {
    Kokkos::parallel_for("prismfield::scale_cells", policy(level),
                         ScaleCells<Memory>{tree.cells, tree.level_begin[level]});
  }
}

}  // namespace prismfield::fast
