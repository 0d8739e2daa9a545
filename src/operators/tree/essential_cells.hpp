// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "operators/tree/interaction_lists.hpp"

/// What other ranks need of a rank's tree of prisms. Their points are known by boxes: cells of their trees of points,
/// as spheres that hold the spheres of all cells within them. Where all of these may exchange with a cell of prisms it
/// is cut off: its moments go to them. Others are opened, down to leaves, whose prisms go too.
namespace prismfield::fast {

/// The most boxes per rank, and their numbers: centre and reach, which is negative for no box.
inline constexpr std::size_t n_boxes = 64, box_numbers_of_rank = 4 * n_boxes;

/// The boxes of a tree of points.
template <class Memory>
[[nodiscard]] std::vector<double> boxes_of(const Cells<Memory>& cells) {
  const Kokkos::HostSpace host;
  const auto centre = Kokkos::create_mirror_view_and_copy(host, cells.centre);
  const auto radius = Kokkos::create_mirror_view_and_copy(host, cells.radius);
  const auto child = Kokkos::create_mirror_view_and_copy(host, cells.child);
  std::vector<std::int32_t> chosen{0};
  while (chosen.size() < n_boxes) {
    const auto size = [&](std::int32_t cell) { return child(cell) < 0 ? -1.0 : radius(cell); };
    const auto largest = std::max_element(chosen.begin(), chosen.end(),
                                          [&](std::int32_t a, std::int32_t b) { return size(a) < size(b); });
    if (child(*largest) < 0) break;
    *largest = child(*largest);
    chosen.push_back(*largest + 1);
  }
  std::vector<double> boxes(box_numbers_of_rank, -1.0);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    double* const box = &boxes[4 * i];
    for (int d = 0; d < 3; ++d) box[d] = centre(chosen[i], d);
    std::vector<std::int32_t> within{chosen[i]};
    while (!within.empty()) {
      const std::int32_t cell = within.back();
      within.pop_back();
      double squared = 0;
      for (int d = 0; d < 3; ++d) squared += (centre(cell, d) - box[d]) * (centre(cell, d) - box[d]);
      box[3] = std::max(box[3], std::sqrt(squared) + radius(cell));
      if (child(cell) >= 0) within.insert(within.end(), {child(cell), child(cell) + 1});
    }
  }
  return boxes;
}

/// The part that a cell has in what a rank needs.
enum class Part : std::int8_t { none, opened, cut_off, leaf };

/// The cells of a rank's tree of prisms, and what is known of each.
template <class Memory>
struct SourceCells {
  Cells<Memory> cells;
  /// (cell, 2 n_terms) moments
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> moments;
  /// (cell) the sum of |mass|
  Kokkos::View<double*, Memory> mass;
  BoundTable<Memory> table;
};

/// Parts of the cells of a level for all ranks.
template <class Memory>
struct MarkParts {
  SourceCells<Memory> sources;
  LeastDegree least;
  /// (rank, box_numbers_of_rank)
  Kokkos::View<const double**, Kokkos::LayoutRight, Memory> boxes;
  /// the rank that has the tree, and needs nothing
  std::int64_t own;
  std::int32_t first, last;
  /// (rank, cell)
  Kokkos::View<Part**, Kokkos::LayoutRight, Memory> parts;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t rank = i / (last - first), cell = first + i % (last - first);
    parts(rank, cell) = part_of(rank, cell);
  }

private:
  [[nodiscard]] KOKKOS_FUNCTION Part part_of(std::int64_t rank, std::int64_t cell) const {
    const std::int32_t parent = sources.cells.parent(cell);
    if (rank == own || (parent >= 0 && parts(rank, parent) != Part::opened)) return Part::none;
    if (may_exchange(rank, cell)) return Part::cut_off;
    return sources.cells.child(cell) < 0 ? Part::leaf : Part::opened;
  }
  /// Whether the cell may exchange with all spheres in a rank's boxes. A sphere of radius b in a box of this reach is
  /// at least at the gap + b. The bound grows with b and falls with the distance, so the largest b of a range at the
  /// distance of its least b covers the range. Ranges begin at 7/8, 3/4, 1/2 of the reach and at 0.
  [[nodiscard]] KOKKOS_FUNCTION bool may_exchange(std::int64_t rank, std::int64_t cell) const {
    const double a = sources.cells.radius(cell);
    double reach = 0, gap = Kokkos::Experimental::infinity_v<double>;
    look_at_boxes(rank, cell, reach, gap);
    if (gap <= 1.05 * a + 0.05 * reach) return false;
    // such a cell has no field, and its prisms touch no point
    if (sources.mass(cell) <= 0) return true;
    double high = reach;
    for (int range = 3; range >= 0; --range) {
      const double low = range == 0 ? 0.0 : reach * (1 - 1.0 / (1 << range));
      if (least(a, high, gap + low, sources.mass(cell), &sources.table(cell, 0)) < 0) return false;
      high = low;
    }
    return true;
  }
  /// The largest reach of a rank's boxes, and their least distance less their reach.
  KOKKOS_FUNCTION void look_at_boxes(std::int64_t rank, std::int64_t cell, double& reach, double& gap) const {
    for (std::size_t box = 0; box < n_boxes; ++box) {
      const double* const at = &boxes(rank, 4 * box);
      if (at[3] < 0) break;
      double squared = 0;
      for (int d = 0; d < 3; ++d) {
        const double away = at[d] - sources.cells.centre(cell, d);
        squared += away * away;
      }
      reach = Kokkos::max(reach, at[3]);
      gap = Kokkos::min(gap, Kokkos::sqrt(squared) - at[3]);
    }
  }
};

/// Numbers of a cell in a message, beside its moments and its row of the table: centre, radius, scale, mass, child in
/// the message, items.
inline constexpr int cell_numbers = 8;
inline constexpr int table_floats = n_target_sizes * n_powers, table_numbers = (table_floats + 1) / 2;
/// In front of a message: cells, and prisms.
inline constexpr int head_numbers = 2;

/// A rank's cells and prisms on the host, for messages to others.
class EssentialCells {
public:
  /// `columns`: (n_prism_columns, prism), in an order that is not the tree's.
  template <class Memory>
  EssentialCells(const SourceCells<Memory>& sources, const Kokkos::View<std::int64_t*, Memory>& order,
                 const Kokkos::View<double**, Kokkos::LayoutRight, Memory>& columns)
      : m_cells(on_host(sources.cells)),
        m_moments(copied(sources.moments)),
        m_mass(copied(sources.mass)),
        m_table(copied(sources.table)),
        m_order(copied(order)),
        m_columns(copied(columns)) {}

  /// What a rank needs: the numbers in front, the cells in their order, the prisms of leaves. `parts`: (cell).
  [[nodiscard]] std::vector<double> message(const Part* parts) const {
    std::vector<std::int32_t> chosen, place(m_cells.child.extent(0), -1);
    std::int64_t n_prisms = 0;
    for (std::size_t cell = 0; cell < place.size(); ++cell) {
      if (parts[cell] == Part::none) continue;
      place[cell] = static_cast<std::int32_t>(chosen.size());
      chosen.push_back(static_cast<std::int32_t>(cell));
      if (parts[cell] == Part::leaf) n_prisms += items_of(cell);
    }
    const std::size_t cell_length = cell_numbers + m_moments.extent(1) + table_numbers;
    std::vector<double> numbers(head_numbers + chosen.size() * cell_length +
                                m_columns.extent(0) * static_cast<std::size_t>(n_prisms));
    numbers[0] = static_cast<double>(chosen.size());
    numbers[1] = static_cast<double>(n_prisms);
    double* to = &numbers[head_numbers];
    for (const std::int32_t cell : chosen) {
      const double child = parts[cell] == Part::opened ? place[static_cast<std::size_t>(m_cells.child(cell))]
                           : parts[cell] == Part::leaf ? no_child
                                                       : cut_off_child;
      to = put_cell(cell, child, to);
    }
    for (const std::int32_t cell : chosen) {
      if (parts[cell] == Part::leaf) to = put_prisms(cell, to);
    }
    return numbers;
  }

private:
  template <class View>
  [[nodiscard]] static auto copied(const View& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  }
  template <class Memory>
  [[nodiscard]] static Cells<Kokkos::HostSpace> on_host(const Cells<Memory>& cells) {
    return {copied(cells.centre), copied(cells.radius), copied(cells.scale), copied(cells.begin),
            copied(cells.end),    copied(cells.child),  copied(cells.parent)};
  }
  [[nodiscard]] std::int64_t items_of(std::size_t cell) const { return m_cells.end(cell) - m_cells.begin(cell); }

  double* put_cell(std::int32_t cell, double child, double* to) const {
    for (int d = 0; d < 3; ++d) *to++ = m_cells.centre(cell, d);
    *to++ = m_cells.radius(cell);
    *to++ = m_cells.scale(cell);
    *to++ = m_mass(cell);
    *to++ = child;
    *to++ = static_cast<double>(items_of(static_cast<std::size_t>(cell)));
    to = std::copy_n(&m_moments(cell, 0), m_moments.extent(1), to);
    std::memcpy(to, &m_table(cell, 0), table_floats * sizeof(float));
    return to + table_numbers;
  }
  double* put_prisms(std::int32_t cell, double* to) const {
    for (std::int64_t i = m_cells.begin(cell); i < m_cells.end(cell); ++i) {
      for (std::size_t c = 0; c < m_columns.extent(0); ++c) *to++ = m_columns(c, m_order(i));
    }
    return to;
  }

  Cells<Kokkos::HostSpace> m_cells;
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> m_moments;
  Kokkos::View<double*, Kokkos::HostSpace> m_mass;
  BoundTable<Kokkos::HostSpace> m_table;
  Kokkos::View<std::int64_t*, Kokkos::HostSpace> m_order;
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> m_columns;
};

/// What came from other ranks.
struct ReceivedCells {
  SourceCells<Kokkos::HostSpace> sources;
  /// of each tree among these
  std::vector<std::int32_t> roots;
  /// (n_prism_columns, prism) of leaves, in the order of the cells, and their numbers behind those of this rank
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> prisms;
  Kokkos::View<std::int64_t*, Kokkos::HostSpace> numbers;

  /// `n_moments`, `n_columns`: numbers of a cell's moments and of a prism. Cells are numbered from `first_cell` on,
  /// prisms from `first_prism`.
  ReceivedCells(const std::vector<std::vector<double>>& messages, std::size_t n_moments, std::size_t n_columns,
                std::int32_t first_cell, std::int64_t first_prism) {
    std::int64_t n_cells = 0, n_prisms = 0;
    for (const std::vector<double>& message : messages) {
      if (message.empty()) continue;
      n_cells += static_cast<std::int64_t>(message[0]);
      n_prisms += static_cast<std::int64_t>(message[1]);
    }
    allocate(n_cells, n_moments, n_columns, n_prisms);
    std::int64_t cell = 0, prism = 0;
    for (const std::vector<double>& message : messages) {
      if (message.empty()) continue;
      roots.push_back(first_cell + static_cast<std::int32_t>(cell));
      const double* from = &message[head_numbers];
      std::int64_t next_prism = first_prism + prism;
      for (auto left = static_cast<std::int64_t>(message[0]); left > 0; --left) {
        from = take_cell(from, cell++, roots.back(), next_prism);
      }
      for (auto left = static_cast<std::int64_t>(message[1]); left > 0; --left, ++prism) {
        numbers(prism) = first_prism + prism;
        for (std::size_t c = 0; c < n_columns; ++c) prisms(c, prism) = *from++;
      }
    }
  }

private:
  void allocate(std::int64_t n, std::size_t n_moments, std::size_t n_columns, std::int64_t n_prisms) {
    Cells<Kokkos::HostSpace>& cells = sources.cells;
    cells.centre = new_view<decltype(cells.centre)>("received_centre", n);
    cells.radius = new_view<decltype(cells.radius)>("received_radius", n);
    cells.scale = new_view<decltype(cells.scale)>("received_scale", n);
    cells.begin = new_view<decltype(cells.begin)>("received_begin", n);
    cells.end = new_view<decltype(cells.end)>("received_end", n);
    cells.child = new_view<decltype(cells.child)>("received_child", n);
    sources.moments = new_view<decltype(sources.moments)>("received_moments", n, n_moments);
    sources.mass = new_view<decltype(sources.mass)>("received_mass", n);
    sources.table = new_view<decltype(sources.table)>("received_table", n, table_floats);
    prisms = new_view<decltype(prisms)>("received_prisms", n_columns, n_prisms);
    numbers = new_view<decltype(numbers)>("received_numbers", n_prisms);
  }
  const double* take_cell(const double* from, std::int64_t cell, std::int32_t root, std::int64_t& next_prism) {
    Cells<Kokkos::HostSpace>& cells = sources.cells;
    for (int d = 0; d < 3; ++d) cells.centre(cell, d) = *from++;
    cells.radius(cell) = *from++;
    cells.scale(cell) = *from++;
    sources.mass(cell) = *from++;
    const auto child = static_cast<std::int32_t>(*from++);
    cells.child(cell) = child < 0 ? child : root + child;
    // of cells without prisms here only their number counts
    cells.begin(cell) = child == no_child ? next_prism : 0;
    cells.end(cell) = cells.begin(cell) + static_cast<std::int64_t>(*from++);
    if (child == no_child) next_prism = cells.end(cell);
    std::copy_n(from, sources.moments.extent(1), &sources.moments(cell, 0));
    from += sources.moments.extent(1);
    std::memcpy(&sources.table(cell, 0), from, table_floats * sizeof(float));
    return from + table_numbers;
  }
};

/// What each rank needs of this one's tree, by their boxes, (rank, box_numbers_of_rank); nothing for `own`.
template <class Space>
[[nodiscard]] std::vector<std::vector<double>> essential_lists(
    const Space& space, const Tree<typename Space::memory_space>& tree,
    const SourceCells<typename Space::memory_space>& sources,
    const Kokkos::View<double**, Kokkos::LayoutRight, typename Space::memory_space>& columns, const LeastDegree& least,
    const std::vector<double>& boxes, int own) {
  using Memory = typename Space::memory_space;
  const auto n_ranks = static_cast<std::int64_t>(boxes.size() / box_numbers_of_rank);
  const auto copy =
      new_view<Kokkos::View<double**, Kokkos::LayoutRight, Memory>>("boxes", n_ranks, box_numbers_of_rank);
  Kokkos::deep_copy(space, copy,
                    Kokkos::View<const double**, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                        boxes.data(), copy.extent(0), copy.extent(1)));
  const auto parts = new_view<Kokkos::View<Part**, Kokkos::LayoutRight, Memory>>("parts", n_ranks, tree.n_cells());
  for (std::size_t level = 0; level + 1 < tree.level_begin.size(); ++level) {
    const std::int32_t first = tree.level_begin[level], last = tree.level_begin[level + 1];
    Kokkos::parallel_for(
        "prismfield::mark_parts",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, n_ranks * (last - first)),
        MarkParts<Memory>{sources, least, copy, own, first, last, parts});
  }
  space.fence("prismfield: essential cells marked");
  const auto marked = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), parts);
  const EssentialCells cells(sources, tree.order, columns);
  std::vector<std::vector<double>> lists(static_cast<std::size_t>(n_ranks));
  for (std::int64_t rank = 0; rank < n_ranks; ++rank) {
    if (rank != own) lists[static_cast<std::size_t>(rank)] = cells.message(&marked(rank, 0));
  }
  return lists;
}

/// `own`, and behind them the `other` rows.
template <class View, class HostView>
[[nodiscard]] View joined(const char* label, const View& own, const HostView& other) {
  const std::size_t n = own.extent(0), n_all = n + other.extent(0);
  const auto rest = std::make_pair(n, n_all), front = std::make_pair(std::size_t{0}, n);
  View all;
  if constexpr (View::rank == 2 && View::rank_dynamic == 2) {
    all = new_view<View>(label, n_all, own.extent(1));
  } else {
    all = new_view<View>(label, n_all);
  }
  if constexpr (View::rank == 2) {
    Kokkos::deep_copy(Kokkos::subview(all, front, Kokkos::ALL), own);
    Kokkos::deep_copy(Kokkos::subview(all, rest, Kokkos::ALL), other);
  } else {
    Kokkos::deep_copy(Kokkos::subview(all, front), own);
    Kokkos::deep_copy(Kokkos::subview(all, rest), other);
  }
  return all;
}

/// `own` columns, (n_prism_columns, prism), and behind them those of others.
template <class Columns>
[[nodiscard]] Columns with_columns(const Columns& own,
                                   const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>& others) {
  const std::size_t n = own.extent(1), n_all = n + others.extent(1);
  const auto all = new_view<Columns>("columns", own.extent(0), n_all);
  for (std::size_t c = 0; c < own.extent(0); ++c) {
    Kokkos::deep_copy(Kokkos::subview(all, c, std::make_pair(std::size_t{0}, n)), Kokkos::subview(own, c, Kokkos::ALL));
    Kokkos::deep_copy(Kokkos::subview(all, c, std::make_pair(n, n_all)), Kokkos::subview(others, c, Kokkos::ALL));
  }
  return all;
}

/// Puts the cells that came behind the own ones. Waits.
template <class Memory>
void append(SourceCells<Memory>& own, const SourceCells<Kokkos::HostSpace>& other) {
  Cells<Memory>& cells = own.cells;
  cells.centre = joined("cell_centre", cells.centre, other.cells.centre);
  cells.radius = joined("cell_radius", cells.radius, other.cells.radius);
  cells.scale = joined("cell_scale", cells.scale, other.cells.scale);
  cells.begin = joined("cell_begin", cells.begin, other.cells.begin);
  cells.end = joined("cell_end", cells.end, other.cells.end);
  cells.child = joined("cell_child", cells.child, other.cells.child);
  own.moments = joined("expansions", own.moments, other.moments);
  own.mass = joined("cell_mass", own.mass, other.mass);
  own.table = joined("bound_table", own.table, other.table);
}

}  // namespace prismfield::fast
