// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <vector>

#include "operators/tree/degree_bound.hpp"
#include "operators/tree/tree.hpp"

/// Which cells exchange expansions, and which leaves compute their pairs: the pair of the roots is taken apart by
/// cutting the larger cell of a pair until an exchange is exact enough and cheaper than the pairs, or both are leaves.
/// Step by step over all pairs there are, in an order that does not depend on threads.
namespace prismfield::fast {

/// Pairs of a target and a source cell, and what is done with them.
template <class Memory>
struct CellPairs {
  Kokkos::View<std::int32_t*, Memory> target, source, action;
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(target.extent(0)); }
};

/// What a pair of cells does, where it is no exchange of a degree >= 0.
enum PairAction : std::int32_t { nothing = -1, compute_pairs = -2, cut_target = -3, cut_source = -4 };

/// Numbers of exchanges, of pairs of leaves, and of cells' pairs that come of those that are cut.
struct PairCounts {
  std::int64_t exchanges = 0, leaves = 0, next = 0;
  KOKKOS_FUNCTION PairCounts& operator+=(const PairCounts& other) {
    exchanges += other.exchanges;
    leaves += other.leaves;
    next += other.next;
    return *this;
  }
};

/// Nanoseconds of an exchange and of a pair on a core: as ratios they hold on devices too.
KOKKOS_INLINE_FUNCTION double exchange_cost(int degree) {
  return 200 + 20.0 * degree + 0.07 * degree * degree * degree;
}
inline constexpr double pair_cost = 9;

template <class Memory>
struct ChooseActions {
  CellPairs<Memory> pairs;
  Cells<Memory> targets, sources;
  /// (source cell) sum of |mass|, and the bound's table
  Kokkos::View<const double*, Memory> mass;
  BoundTable<Memory> table;
  LeastDegree least;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    pairs.action(i) = action_of(pairs.target(i), pairs.source(i));
  }

private:
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t action_of(std::int32_t target, std::int32_t source) const {
    const double a = sources.radius(source), b = targets.radius(target);
    double squared = 0;
    for (int d = 0; d < 3; ++d) {
      const double away = targets.centre(target, d) - sources.centre(source, d);
      squared += away * away;
    }
    const double distance = Kokkos::sqrt(squared);
    const bool target_is_leaf = targets.child(target) < 0, source_is_leaf = sources.child(source) < 0;
    if (distance > 1.05 * (a + b)) {
      // those without mass may still hold points
      if (mass(source) <= 0) return nothing;
      const int degree = least(a, b, distance, mass(source), &table(source, 0));
      if (degree >= 0 && exchange_cost(degree) < pair_cost * n_pairs(target, source)) return degree;
    }
    if (target_is_leaf && source_is_leaf) return compute_pairs;
    return source_is_leaf || (!target_is_leaf && b >= a) ? cut_target : cut_source;
  }
  [[nodiscard]] KOKKOS_FUNCTION double n_pairs(std::int32_t target, std::int32_t source) const {
    return static_cast<double>(targets.end(target) - targets.begin(target)) *
           static_cast<double>(sources.end(source) - sources.begin(source));
  }
};

/// Sorts the pairs by what they do: the exchanges, the pairs of leaves, and the next ones to be looked at.
template <class Memory>
struct SortActions {
  CellPairs<Memory> pairs;
  Kokkos::View<const std::int32_t*, Memory> target_child, source_child;
  /// empty while they are counted
  CellPairs<Memory> exchanges, leaves, next;

  KOKKOS_FUNCTION void operator()(std::int64_t i, PairCounts& count, bool is_last) const {
    const std::int32_t action = pairs.action(i), target = pairs.target(i), source = pairs.source(i);
    if (action >= 0) {
      if (is_last && exchanges.target.extent(0) > 0) put(exchanges, count.exchanges, target, source, action);
      ++count.exchanges;
    } else if (action == compute_pairs) {
      if (is_last && leaves.target.extent(0) > 0) put(leaves, count.leaves, target, source, 0);
      ++count.leaves;
    } else if (action != nothing) {
      if (is_last && next.target.extent(0) > 0) {
        for (std::int32_t c = 0; c < 2; ++c) {
          put(next, count.next + c, action == cut_target ? target_child(target) + c : target,
              action == cut_target ? source : source_child(source) + c, nothing);
        }
      }
      count.next += 2;
    }
  }

private:
  KOKKOS_FUNCTION static void put(const CellPairs<Memory>& to, std::int64_t i, std::int32_t target, std::int32_t source,
                                  std::int32_t action) {
    to.target(i) = target;
    to.source(i) = source;
    to.action(i) = action;
  }
};

/// Rows of a list: pairs by one of their cells, ordered by degree and the other cell. (row + 1), (pair), (pair).
template <class Memory>
struct PairRows {
  Kokkos::View<std::int64_t*, Memory> begin;
  Kokkos::View<std::int32_t*, Memory> partner, degree;
  operator ExchangeRows<Memory>() const { return {begin, partner, degree}; }
};

template <class Memory>
struct CountRows {
  Kokkos::View<const std::int32_t*, Memory> row;
  Kokkos::View<std::int64_t*, Memory> count;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { Kokkos::atomic_inc(&count(row(i))); }
};

template <class Memory>
struct BeginRows {
  Kokkos::View<const std::int64_t*, Memory> count;
  Kokkos::View<std::int64_t*, Memory> begin, next;
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& before, bool is_last) const {
    if (is_last) begin(row) = next(row) = before;
    before += count(row);
    if (is_last && row + 1 == static_cast<std::int64_t>(count.extent(0))) begin(row + 1) = before;
  }
};

template <class Memory>
struct FillRows {
  Kokkos::View<const std::int32_t*, Memory> row, partner, degree;
  Kokkos::View<std::int64_t*, Memory> next;
  /// (pair) degree and partner as one number
  Kokkos::View<std::int64_t*, Memory> key;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    // in any order: rows are sorted next
    const std::int64_t to = Kokkos::atomic_fetch_inc(&next(row(i)));
    key(to) = std::int64_t{degree(i)} << 32 | partner(i);
  }
};

/// Sorts each row's keys, all different, by a heap.
template <class Memory>
struct SortRows {
  Kokkos::View<const std::int64_t*, Memory> begin;
  Kokkos::View<std::int64_t*, Memory> key;
  Kokkos::View<std::int32_t*, Memory> partner, degree;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t first = begin(row), n = begin(row + 1) - first;
    if (n == 0) return;
    std::int64_t* const keys = &key(first);
    for (std::int64_t i = n / 2; i-- > 0;) sink(keys, i, n);
    for (std::int64_t last = n; last-- > 1;) {
      Kokkos::kokkos_swap(keys[0], keys[last]);
      sink(keys, 0, last);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      partner(first + i) = static_cast<std::int32_t>(keys[i] & 0x7fffffff);
      degree(first + i) = static_cast<std::int32_t>(keys[i] >> 32);
    }
  }

private:
  KOKKOS_FUNCTION static void sink(std::int64_t* keys, std::int64_t i, std::int64_t n) {
    for (std::int64_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
      if (child + 1 < n && keys[child] < keys[child + 1]) ++child;
      if (keys[i] >= keys[child]) return;
      Kokkos::kokkos_swap(keys[i], keys[child]);
      i = child;
    }
  }
};

template <class Memory>
struct HighestDegree {
  Kokkos::View<const std::int32_t*, Memory> degree;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int32_t& most) const { most = Kokkos::max(most, degree(i)); }
};

/// The lists of a pair of trees.
template <class Memory>
struct InteractionLists {
  /// by target cell and, for transposed products, by source cell, of the same exchanges and of the same pairs of leaves
  PairRows<Memory> exchanges, exchanges_of_sources, leaves, leaves_of_sources;
  /// the highest degree of an exchange
  int degree = 0;
};

/// Makes the lists.
template <class Space>
class ListMaker {
public:
  using Memory = typename Space::memory_space;
  using Pairs = CellPairs<Memory>;

  ListMaker(const Space& space, const Tree<Memory>& targets, const Tree<Memory>& sources,
            const Kokkos::View<const double*, Memory>& mass, const BoundTable<Memory>& table, const LeastDegree& least)
      : m_space(space), m_targets(targets), m_sources(sources) {
    Pairs pairs = new_pairs(1);
    Kokkos::deep_copy(m_space, pairs.target, 0);
    Kokkos::deep_copy(m_space, pairs.source, 0);
    while (pairs.size() > 0) {
      Kokkos::parallel_for("prismfield::choose_actions", indices(pairs.size()),
                           ChooseActions<Memory>{pairs, targets.cells, sources.cells, mass, table, least});
      pairs = sort_actions(pairs);
    }
  }

  /// `both_ways`: by source cell too.
  [[nodiscard]] InteractionLists<Memory> lists(bool both_ways) const {
    InteractionLists<Memory> lists;
    const Pairs exchanges = joined(m_exchanges), leaves = joined(m_leaves);
    lists.exchanges = rows_of(exchanges.target, exchanges.source, exchanges.action, m_targets.n_cells());
    lists.leaves = rows_of(leaves.target, leaves.source, leaves.action, m_targets.n_cells());
    if (both_ways) {
      lists.exchanges_of_sources = rows_of(exchanges.source, exchanges.target, exchanges.action, m_sources.n_cells());
      lists.leaves_of_sources = rows_of(leaves.source, leaves.target, leaves.action, m_sources.n_cells());
    }
    std::int32_t most = 0;
    Kokkos::parallel_reduce("prismfield::highest_degree", indices(exchanges.size()),
                            HighestDegree<Memory>{exchanges.action}, Kokkos::Max<std::int32_t>(most));
    lists.degree = Kokkos::max(most, std::int32_t{2});
    return lists;
  }

private:
  using Numbers = Kokkos::View<std::int32_t*, Memory>;
  using Counts = Kokkos::View<std::int64_t*, Memory>;
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

  [[nodiscard]] Policy indices(std::int64_t n) const { return Policy(m_space, 0, n); }
  [[nodiscard]] static Pairs new_pairs(std::int64_t n) {
    return {new_view<Numbers>("pair_target", n), new_view<Numbers>("pair_source", n),
            new_view<Numbers>("pair_action", n)};
  }

  /// Keeps what is decided; the pairs that come next.
  Pairs sort_actions(const Pairs& pairs) {
    SortActions<Memory> sort{pairs, m_targets.cells.child, m_sources.cells.child, {}, {}, {}};
    PairCounts counts;
    Kokkos::parallel_scan("prismfield::count_actions", indices(pairs.size()), sort, counts);
    sort.exchanges = new_pairs(counts.exchanges);
    sort.leaves = new_pairs(counts.leaves);
    sort.next = new_pairs(counts.next);
    Kokkos::parallel_scan("prismfield::sort_actions", indices(pairs.size()), sort, counts);
    if (counts.exchanges > 0) m_exchanges.push_back(sort.exchanges);
    if (counts.leaves > 0) m_leaves.push_back(sort.leaves);
    return sort.next;
  }

  [[nodiscard]] Pairs joined(const std::vector<Pairs>& parts) const {
    std::int64_t n = 0;
    for (const Pairs& part : parts) n += part.size();
    const Pairs all = new_pairs(n);
    std::int64_t first = 0;
    for (const Pairs& part : parts) {
      const auto place = std::make_pair(first, first + part.size());
      Kokkos::deep_copy(m_space, Kokkos::subview(all.target, place), part.target);
      Kokkos::deep_copy(m_space, Kokkos::subview(all.source, place), part.source);
      Kokkos::deep_copy(m_space, Kokkos::subview(all.action, place), part.action);
      first += part.size();
    }
    return all;
  }

  [[nodiscard]] PairRows<Memory> rows_of(const Numbers& row, const Numbers& partner, const Numbers& degree,
                                         std::int64_t n_rows) const {
    const auto n = static_cast<std::int64_t>(row.extent(0));
    const auto count = new_view<Counts>("row_count", n_rows), next = new_view<Counts>("row_next", n_rows);
    const auto key = new_view<Counts>("row_key", n);
    const PairRows<Memory> rows{new_view<Counts>("row_begin", n_rows + 1), new_view<Numbers>("row_partner", n),
                                new_view<Numbers>("row_degree", n)};
    Kokkos::deep_copy(m_space, count, std::int64_t{0});
    Kokkos::parallel_for("prismfield::count_rows", indices(n), CountRows<Memory>{row, count});
    Kokkos::parallel_scan("prismfield::begin_rows", indices(n_rows), BeginRows<Memory>{count, rows.begin, next});
    Kokkos::parallel_for("prismfield::fill_rows", indices(n), FillRows<Memory>{row, partner, degree, next, key});
    Kokkos::parallel_for("prismfield::sort_rows", indices(n_rows),
                         SortRows<Memory>{rows.begin, key, rows.partner, rows.degree});
    return rows;
  }

  Space m_space;
  const Tree<Memory>& m_targets;
  const Tree<Memory>& m_sources;
  std::vector<Pairs> m_exchanges, m_leaves;
};

}  // namespace prismfield::fast
