// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "kernel/tile.hpp"

namespace prismfield::kernel {

/// What becomes of the fields of each pair of a point and a prism of unit density, where they are not summed over the
/// prisms (tile.hpp does that): with G(f, i, p) field f of prism p at point i,
enum class PairSink {
  /// sum over f and i of factor(f, i) G(f, i, p): the prism's entry of G' factor
  products,
  /// sum over f and i of factor(f, i) G(f, i, p)^2: of the diagonal of G' diag(factor) G
  squares,
  /// G(f, i, p) itself
  entries
};

/// Where a launch over pairs finds its factors and leaves its results, beside its points and prisms (LaunchData).
template <class A, class Memory>
struct PairData {
  PairSink sink = PairSink::products;
  /// (field of the set, n_padded): zero for fields that are not asked for and for padding; not for entries
  Kokkos::View<typename A::Sum**, Kokkos::LayoutRight, Memory> factors;
  /// (part of the points, prism): sums; not for entries
  Kokkos::View<double**, Kokkos::LayoutRight, Memory, Kokkos::MemoryUnmanaged> sums;
  /// (asked field, point, prism); for entries only
  Kokkos::View<double***, Kokkos::LayoutStride, Memory> entries;
  /// row of `entries` for each field of the set; -1: not asked for
  int entry_row[n_all_fields] = {};
  /// what entries are multiplied by
  double scale = 1;
};

/// Prisms that one thread of a host takes at a time, so that a block of points stays in the first cache for all.
inline constexpr int prisms_per_pair_item = 64;
/// Lane groups of such a block.
inline constexpr std::int64_t groups_per_pair_block = 128;
/// Prisms whose entries a host thread holds back to write them side by side.
inline constexpr int prisms_per_entry_run = 16;

inline namespace PRISMFIELD_LANES {

/// A point in or on a prism is noted by the sum over prisms alone.
struct IgnoreContact {
  template <class Faces>
  PRISMFIELD_INLINE_FUNCTION void operator()(int, const Faces&) const {}
};

/// Fields of prism p, with its weight in `data`, at one lane group; all zero where the pass leaves the pair to another,
/// which it returns to be so for the whole batch.
template <class Ls, FieldSet set, class Kernel, class Memory, class Shapes>
PRISMFIELD_INLINE_FUNCTION bool pair_fields(const LaunchData<typename Ls::Arithmetic, Memory>& data,
                                            const Shapes& shapes, std::int64_t p, std::int64_t group,
                                            FieldValues<set, typename Ls::Sum>& fields) {
  using C = typename Ls::Coordinate;
  const std::int64_t point = group * Ls::width;
  const C px = load<C>(&data.easting(point));
  const C py = load<C>(&data.northing(point));
  const C pz = load<C>(&data.upward(point));
  fields.clear();
  if constexpr (passes_by<Kernel>) {
    static_assert(Ls::width == 1);
    if (!within_reach(data.reach(p / data.batch), px, py, pz)) return false;
  }
  const int valid = static_cast<int>(Kokkos::min<std::int64_t>(Ls::width, data.n_points - point));
  FormCounts not_counted;
  add_prism<Ls, set, Kernel::pass>(shapes(data.far(p).shape), data.far(p), data.near(p), data.weights(p), px, py, pz,
                                   data.rounding, valid, fields, not_counted, IgnoreContact());
  return true;
}

/// The sum of products or squares of one prism over the lane groups [first, last).
template <class Ls, FieldSet set, class Kernel, class Memory, class Shapes>
PRISMFIELD_INLINE_FUNCTION double sum_over_points(const LaunchData<typename Ls::Arithmetic, Memory>& data,
                                                  const PairData<typename Ls::Arithmetic, Memory>& pairs,
                                                  const Shapes& shapes, std::int64_t p, std::int64_t first,
                                                  std::int64_t last) {
  using S = typename Ls::Sum;
  // a device's thread sums many points alone: in double
  using Total = std::conditional_t<Ls::width == 1, double, S>;
  Total total(0);
  for (std::int64_t group = first; group < last; ++group) {
    FieldValues<set, S> fields;
    if (!pair_fields<Ls, set, Kernel>(data, shapes, p, group, fields)) continue;
    for (int f = 0; f < FieldValues<set, S>::size; ++f) {
      const S factor = load<S>(&pairs.factors(f, group * Ls::width));
      const S value = fields.value[f];
      const S once = pairs.sink == PairSink::squares ? value * value : value;
      total = fma(convert<Total>(factor), convert<Total>(once), total);
    }
  }
  value_t<Total> lane[Ls::width];
  store(total, lane);
  double sum = 0;
  for (int i = 0; i < Ls::width; ++i) sum += static_cast<double>(lane[i]);
  return sum;
}

/// One thread's work on a device: a prism at a part of the points, by far pairs first, which set, then by near ones,
/// which add.
template <class Ls, FieldSet set, class Kernel, class Memory, class Shapes>
PRISMFIELD_INLINE_FUNCTION void pairs_of_prism(const LaunchData<typename Ls::Arithmetic, Memory>& data,
                                               const PairData<typename Ls::Arithmetic, Memory>& pairs,
                                               const Shapes& shapes, std::int64_t p, std::int64_t part,
                                               std::int64_t first, std::int64_t last) {
  static_assert(Ls::width == 1);
  constexpr bool adds = passes_by<Kernel>;
  if (pairs.sink != PairSink::entries) {
    const double sum = sum_over_points<Ls, set, Kernel>(data, pairs, shapes, p, first, last);
    pairs.sums(part, p) = adds ? pairs.sums(part, p) + sum : sum;
    return;
  }
  for (std::int64_t point = first; point < last; ++point) {
    FieldValues<set, typename Ls::Sum> fields;
    if (!pair_fields<Ls, set, Kernel>(data, shapes, p, point, fields)) continue;
    for (int f = 0; f < FieldValues<set, typename Ls::Sum>::size; ++f) {
      const int row = pairs.entry_row[f];
      if (row < 0) continue;
      const double entry = pairs.scale * static_cast<double>(fields.value[f]);
      pairs.entries(row, point, p) = adds ? pairs.entries(row, point, p) + entry : entry;
    }
  }
}

/// One thread's work on a host: prisms [begin, end), at most prisms_per_pair_item, at the lane groups [first, last) of
/// one part.
template <class Ls, FieldSet set, class Kernel, class Memory, class Shapes>
PRISMFIELD_INLINE_FUNCTION void pairs_of_item(const LaunchData<typename Ls::Arithmetic, Memory>& data,
                                              const PairData<typename Ls::Arithmetic, Memory>& pairs,
                                              const Shapes& shapes, std::int64_t begin, std::int64_t end,
                                              std::int64_t part, std::int64_t first, std::int64_t last) {
  using S = typename Ls::Sum;
  constexpr int n_fields = FieldValues<set, S>::size;
  if (pairs.sink != PairSink::entries) {
    for (std::int64_t p = begin; p < end; ++p) pairs.sums(part, p) = 0;
    for (std::int64_t block = first; block < last; block += groups_per_pair_block) {
      const std::int64_t block_end = Kokkos::min(block + groups_per_pair_block, last);
      for (std::int64_t p = begin; p < end; ++p) {
        pairs.sums(part, p) += sum_over_points<Ls, set, Kernel>(data, pairs, shapes, p, block, block_end);
      }
    }
    return;
  }
  value_t<S> held[n_fields][prisms_per_entry_run][Ls::width];
  for (std::int64_t run = begin; run < end; run += prisms_per_entry_run) {
    const int n_run = static_cast<int>(Kokkos::min<std::int64_t>(prisms_per_entry_run, end - run));
    for (std::int64_t group = first; group < last; ++group) {
      for (int r = 0; r < n_run; ++r) {
        FieldValues<set, S> fields;
        pair_fields<Ls, set, Kernel>(data, shapes, run + r, group, fields);
        for (int f = 0; f < n_fields; ++f) store(fields.value[f], held[f][r]);
      }
      const std::int64_t point = group * Ls::width;
      const int valid = static_cast<int>(Kokkos::min<std::int64_t>(Ls::width, data.n_points - point));
      for (int f = 0; f < n_fields; ++f) {
        const int row = pairs.entry_row[f];
        if (row < 0) continue;
        for (int i = 0; i < valid; ++i) {
          for (int r = 0; r < n_run; ++r) {
            pairs.entries(row, point + i, run + r) = pairs.scale * static_cast<double>(held[f][r][i]);
          }
        }
      }
    }
  }
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel
