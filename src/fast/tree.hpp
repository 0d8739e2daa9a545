// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/staged_prisms.hpp"
#include "fast/cells.hpp"

/// Trees of prisms and of points by bisection, made in the space that computes, level by level. A cell of more items
/// than a leaf may have is cut in the middle of the longest side of the box of its items' centres. The items' sizes are
/// a fourth side: where they differ by more than the box is long, a huge prism among small ones parts from them, so
/// that no cell is much larger than its box of centres.
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

/// Sides by which a cell may be cut: three coordinates and the size.
inline constexpr int n_sides = 4;

/// Items that one thread looks at in a row, most of them in one cell.
inline constexpr std::int64_t items_in_a_row = 256;

/// What all items of a cell lie between: (cell, side); items in rows of threads.
template <class Memory>
struct BoxOfItems {
  Kokkos::View<const double**, Kokkos::LayoutRight, Memory> items;
  Kokkos::View<const std::int32_t*, Memory> cell_of;
  Kokkos::View<double*[n_sides], Kokkos::LayoutRight, Memory> low, high;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    const auto n = static_cast<std::int64_t>(cell_of.extent(0));
    const std::int64_t end = Kokkos::min((row + 1) * items_in_a_row, n);
    for (std::int64_t begin = row * items_in_a_row; begin < end;) {
      const std::int32_t cell = cell_of(begin);
      std::int64_t next = begin + 1;
      while (next < end && cell_of(next) == cell) ++next;
      if (cell >= 0) take(cell, begin, next);
      begin = next;
    }
  }

private:
  KOKKOS_FUNCTION void take(std::int32_t cell, std::int64_t begin, std::int64_t end) const {
    for (int side = 0; side < n_sides; ++side) {
      double least = items(side, begin), most = least;
      for (std::int64_t i = begin + 1; i < end; ++i) {
        least = Kokkos::min(least, items(side, i));
        most = Kokkos::max(most, items(side, i));
      }
      Kokkos::atomic_min(&low(cell, side), least);
      Kokkos::atomic_max(&high(cell, side), most);
    }
  }
};

/// How the cells of a level are cut.
template <class Memory>
struct Cuts {
  /// (cell) items [begin, end)
  Kokkos::View<std::int64_t*, Memory> begin, end;
  /// (cell) the side, -1: by number, -2: not at all; where
  Kokkos::View<std::int32_t*, Memory> side;
  Kokkos::View<double*, Memory> place;
  /// (cell) the first child's number in the next level
  Kokkos::View<std::int32_t*, Memory> child;
};

template <class Memory>
struct ChooseCuts {
  Kokkos::View<double*[n_sides], Kokkos::LayoutRight, Memory> low, high;
  Cuts<Memory> cuts;
  std::int64_t leaf_items;

  /// Counts the children before this cell's.
  KOKKOS_FUNCTION void operator()(std::int64_t cell, std::int32_t& children, bool is_last) const {
    if (cuts.end(cell) - cuts.begin(cell) <= leaf_items) {
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
    int longest = 0;
    for (int side = 1; side < n_sides; ++side) {
      if (high(cell, side) - low(cell, side) > high(cell, longest) - low(cell, longest)) longest = side;
    }
    const double length = high(cell, longest) - low(cell, longest);
    cuts.side(cell) = length > 0 ? longest : -1;
    cuts.place(cell) = low(cell, longest) + 0.5 * length;
  }
};

/// Items of a cell at most whose cut is moved to whole groups: below them every leaf then has whole groups, but for
/// one.
inline constexpr std::int64_t most_grouped_items = 256;

/// Moves the cuts of small cells, by an eighth of the side at most, so that their lower children have whole groups of
/// items.
template <class Memory>
struct RoundCuts {
  Kokkos::View<const double**, Kokkos::LayoutRight, Memory> items;
  Kokkos::View<double*[n_sides], Kokkos::LayoutRight, Memory> low, high;
  Cuts<Memory> cuts;
  std::int64_t group;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    const std::int64_t n = cuts.end(cell) - cuts.begin(cell);
    if (cuts.side(cell) < 0 || n > most_grouped_items || n < 2 * group) return;
    const double most = high(cell, cuts.side(cell)), reach = 0.125 * (most - low(cell, cuts.side(cell)));
    const double middle = cuts.place(cell);
    double place = middle;
    std::int64_t n_lower = 0, same = 0;
    for_items(cell, [&](double item) { n_lower += item <= place && item < most ? 1 : 0; });
    const std::int64_t wanted = Kokkos::max((n_lower + group / 2) / group, std::int64_t{1}) * group;
    while (n_lower < wanted) {
      const double next = next_above(cell, place, same);
      if (next >= most || next > middle + reach) break;
      place = next;
      n_lower += same;
    }
    while (n_lower > wanted) {
      // what is lower ends at `last`, and before it at `next`
      const double last = next_below(cell, place, true, same);
      const std::int64_t n_last = same;
      const double next = next_below(cell, last, false, same);
      if (same == 0 || next < middle - reach) break;
      place = next;
      n_lower -= n_last;
    }
    cuts.place(cell) = place;
  }

private:
  template <class F>
  KOKKOS_FUNCTION void for_items(std::int64_t cell, const F& f) const {
    for (std::int64_t i = cuts.begin(cell); i < cuts.end(cell); ++i) f(items(cuts.side(cell), i));
  }
  /// The least item above a place, and how many are the same.
  KOKKOS_FUNCTION double next_above(std::int64_t cell, double place, std::int64_t& same) const {
    double next = Kokkos::Experimental::infinity_v<double>;
    same = 0;
    for_items(cell, [&](double item) {
      if (item <= place || item > next) return;
      same = item < next ? 1 : same + 1;
      next = item;
    });
    return next;
  }
  /// The largest item below a place, or at it.
  KOKKOS_FUNCTION double next_below(std::int64_t cell, double place, bool or_at_it, std::int64_t& same) const {
    double next = -Kokkos::Experimental::infinity_v<double>;
    same = 0;
    for_items(cell, [&](double item) {
      if (item > place || (item >= place && !or_at_it) || item < next) return;
      same = item > next ? 1 : same + 1;
      next = item;
    });
    return next;
  }
};

/// places(i): the items before i that go to the upper child of their cell; of all items at the end.
template <class Memory>
struct CountUpper {
  Kokkos::View<const double**, Kokkos::LayoutRight, Memory> items;
  Kokkos::View<const std::int32_t*, Memory> cell_of;
  Cuts<Memory> cuts;
  Kokkos::View<double* [n_sides], Kokkos::LayoutRight, Memory> high;
  Kokkos::View<std::int64_t*, Memory> places;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& upper, bool is_last) const {
    if (is_last) places(i) = upper;
    if (is_upper(i)) ++upper;
    if (is_last && i + 1 == static_cast<std::int64_t>(cell_of.extent(0))) places(i + 1) = upper;
  }
  KOKKOS_FUNCTION bool is_upper(std::int64_t i) const {
    const std::int32_t cell = cell_of(i);
    if (cell < 0 || cuts.side(cell) == -2) return false;
    const std::int32_t side = cuts.side(cell);
    if (side == -1) return i - cuts.begin(cell) >= (cuts.end(cell) - cuts.begin(cell)) / 2;
    // neither child is empty, though the middle of neighbouring numbers is one of them
    return items(side, i) > cuts.place(cell) || items(side, i) == high(cell, side);
  }
};

/// Moves items to their children's places, the order within a child staying.
template <class Memory>
struct MoveItems {
  CountUpper<Memory> before;
  Kokkos::View<const std::int64_t*, Memory> order;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> new_items;
  Kokkos::View<std::int32_t*, Memory> new_cell_of;
  Kokkos::View<std::int64_t*, Memory> new_order;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int32_t cell = before.cell_of(i);
    std::int64_t to = i;
    std::int32_t child = -1;
    if (cell >= 0 && before.cuts.side(cell) != -2) {
      const std::int64_t begin = before.cuts.begin(cell), end = before.cuts.end(cell);
      const std::int64_t upper_before = before.places(i) - before.places(begin);
      const std::int64_t n_lower = (end - begin) - (before.places(end) - before.places(begin));
      const bool is_upper = before.places(i + 1) != before.places(i);
      to = is_upper ? begin + n_lower + upper_before : i - upper_before;
      child = before.cuts.child(cell) + (is_upper ? 1 : 0);
    }
    for (int side = 0; side < n_sides; ++side) new_items(side, to) = before.items(side, i);
    new_order(to) = order(i);
    new_cell_of(to) = child;
  }
};

/// The next level's cells.
template <class Memory>
struct MakeChildren {
  Cuts<Memory> cuts;
  Kokkos::View<const std::int64_t*, Memory> places;
  Cuts<Memory> next;
  /// (cell of the next level) the number of its parent in this level
  Kokkos::View<std::int32_t*, Memory> parent;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    if (cuts.side(cell) == -2) return;
    const std::int64_t begin = cuts.begin(cell), end = cuts.end(cell);
    const std::int64_t middle = end - (places(end) - places(begin));
    const std::int32_t child = cuts.child(cell);
    next.begin(child) = begin;
    next.end(child) = next.begin(child + 1) = middle;
    next.end(child + 1) = end;
    parent(child) = parent(child + 1) = static_cast<std::int32_t>(cell);
  }
};

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
  using Items = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;

  /// `items`: (4, n), n > 0: centres and sizes, which are reordered; leaves hold at most `leaf_items`, most of them
  /// whole groups. Throws AllocationFailure.
  TreeMaker(const Space& space, const Items& items, std::int64_t leaf_items, std::int64_t group)
      : m_space(space),
        m_leaf_items(leaf_items),
        m_group(group),
        m_n(static_cast<std::int64_t>(items.extent(1))),
        m_items(items) {
    m_order = new_view<Order>("tree_order", m_n);
    m_cell_of = new_view<CellOf>("cell_of_item", m_n);
    m_new_items = new_view<Items>("new_items", n_sides, m_n);
    m_new_order = new_view<Order>("new_order", m_n);
    m_new_cell_of = new_view<CellOf>("new_cell_of_item", m_n);
    m_places = new_view<Order>("places_of_items", m_n + 1);
    Kokkos::parallel_for("prismfield::number_items", indices(m_n), NumberItems<Memory>{m_order});
    Kokkos::deep_copy(m_space, m_cell_of, 0);
    Level root = new_level(1);
    Kokkos::deep_copy(m_space, root.cuts.begin, std::int64_t{0});
    Kokkos::deep_copy(m_space, root.cuts.end, m_n);
    m_levels.push_back(root);
    while (cut_last_level()) {
    }
  }

  /// The tree; boxes are to be fitted yet.
  [[nodiscard]] Tree<Memory> tree() const {
    Tree<Memory> tree;
    tree.order = m_order;
    tree.level_begin.push_back(0);
    for (const Level& level : m_levels) tree.level_begin.push_back(tree.level_begin.back() + level.n);
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
  using Sides = Kokkos::View<double* [n_sides], Kokkos::LayoutRight, Memory>;
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  struct Level {
    std::int32_t n;
    Cuts<Memory> cuts;
    CellOf parent;
  };
  [[nodiscard]] Policy indices(std::int64_t n) const { return Policy(m_space, 0, n); }

  [[nodiscard]] Level new_level(std::int32_t n) const {
    Level level;
    level.n = n;
    level.cuts.begin = new_view<Order>("level_begin", n);
    level.cuts.end = new_view<Order>("level_end", n);
    level.cuts.side = new_view<CellOf>("level_side", n);
    level.cuts.place = new_view<Kokkos::View<double*, Memory>>("level_place", n);
    level.cuts.child = new_view<CellOf>("level_child", n);
    level.parent = new_view<CellOf>("level_parent", n);
    return level;
  }

  /// Whether there is a next level.
  bool cut_last_level() {
    const Level level = m_levels.back();
    const Sides low = new_view<Sides>("level_low", level.n), high = new_view<Sides>("level_high", level.n);
    Kokkos::deep_copy(m_space, low, Kokkos::Experimental::infinity_v<double>);
    Kokkos::deep_copy(m_space, high, -Kokkos::Experimental::infinity_v<double>);
    Kokkos::parallel_for("prismfield::box_of_items", indices((m_n + items_in_a_row - 1) / items_in_a_row),
                         BoxOfItems<Memory>{m_items, m_cell_of, low, high});
    std::int32_t n_next = 0;
    Kokkos::parallel_scan("prismfield::choose_cuts", indices(level.n),
                          ChooseCuts<Memory>{low, high, level.cuts, m_leaf_items}, n_next);
    if (n_next == 0) return false;
    if (m_group > 1) {
      Kokkos::parallel_for("prismfield::round_cuts", indices(level.n),
                           RoundCuts<Memory>{m_items, low, high, level.cuts, m_group});
    }
    std::int64_t n_upper = 0;
    const CountUpper<Memory> count{m_items, m_cell_of, level.cuts, high, m_places};
    Kokkos::parallel_scan("prismfield::count_upper", indices(m_n), count, n_upper);
    const Level next = new_level(n_next);
    Kokkos::parallel_for("prismfield::make_children", indices(level.n),
                         MakeChildren<Memory>{level.cuts, m_places, next.cuts, next.parent});
    Kokkos::parallel_for("prismfield::move_items", indices(m_n),
                         MoveItems<Memory>{count, m_order, m_new_items, m_new_cell_of, m_new_order});
    std::swap(m_items, m_new_items);
    std::swap(m_order, m_new_order);
    std::swap(m_cell_of, m_new_cell_of);
    m_levels.push_back(next);
    return true;
  }

  Space m_space;
  std::int64_t m_leaf_items, m_group, m_n;
  Items m_items, m_new_items;
  Order m_order, m_new_order, m_places;
  CellOf m_cell_of, m_new_cell_of;
  std::vector<Level> m_levels;
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
