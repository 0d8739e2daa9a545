// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "kernel/field_rows.hpp"
#include "kernel/tile.hpp"

namespace prismfield::kernel {

/// What becomes of the fields of each pair of a point and a prism of unit density, where they are not summed over the
/// prisms (tile.hpp does that): with G(f, i, p) row f of prism p at point i,
enum class PairSink {
  /// sum over f and i of factor(f, i) G(f, i, p): the prism's entry of G' factor
  products,
  /// sum over f and i of factor(f, i) G(f, i, p)^2: of the diagonal of G' diag(factor) G
  squares,
  /// G(f, i, p) itself
  entries
};

/// Where entries go: that of row f, point i and prism p to to[offset[f] + i * point_stride + p * prism_stride].
/// Offsets and no rows of a View: on a device ten instructions less for each of them.
struct EntryPlaces {
  double* to = nullptr;
  std::int64_t point_stride = 0, prism_stride = 0;
  /// for each row of FieldRows; -1: not asked for
  std::int64_t offset[FieldRows::most] = {};

  void set(double* first, const FieldRows& rows, std::int64_t row_stride, std::int64_t stride_of_points,
           std::int64_t stride_of_prisms) {
    to = first;
    point_stride = stride_of_points;
    prism_stride = stride_of_prisms;
    for (int f = 0; f < FieldRows::most; ++f) offset[f] = rows.asked[f] < 0 ? -1 : rows.asked[f] * row_stride;
  }
};

/// Where a launch over pairs finds its factors and leaves its results, beside its points and prisms (LaunchData).
template <class A, class Memory>
struct PairData {
  PairSink sink = PairSink::products;
  FieldRows rows;
  /// (row, n_padded): zero for rows that are not asked for and for padding; not for entries
  Kokkos::View<typename A::Real**, Kokkos::LayoutRight, Memory> factors;
  /// (part of the points, prism): sums; not for entries
  Kokkos::View<double**, Kokkos::LayoutRight, Memory, Kokkos::MemoryUnmanaged> sums;
  /// for entries only
  EntryPlaces entries;
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

/// A prism as its pairs read it, once for all of its points: what is stored between them could lie anywhere, for all
/// that a compiler knows.
template <class A, class Memory, FieldSet set>
struct PairPrism {
  FarPrismIn<A, Memory> far;
  WeightOf<A, set> weight;
  const NearPrism<A>& near;

  PRISMFIELD_INLINE_FUNCTION PairPrism(const LaunchData<A, Memory>& data, std::int64_t p)
      : far(data.far(p)), weight(weight_of<set>(data, p)), near(data.near(p)) {}
  /// The same with `scale` times the weight.
  PRISMFIELD_INLINE_FUNCTION PairPrism(const LaunchData<A, Memory>& data, std::int64_t p, typename A::Real scale)
      : PairPrism(data, p) {
    weight.mass *= scale;
    weight.density *= scale;
  }
};

/// Fields of a prism, with its weight, at one lane group; all zero where the pass leaves the pair to another.
template <class Ls, FieldSet set, class Kernel, class Memory, class Shape>
PRISMFIELD_INLINE_FUNCTION FieldValues<set, typename Ls::Real> pair_fields(
    const LaunchData<typename Ls::Arithmetic, Memory>& data, const Shape& shape,
    const PairPrism<typename Ls::Arithmetic, Memory, set>& prism, std::int64_t group) {
  using L = typename Ls::Real;
  const std::int64_t point = group * Ls::width;
  const L px = load<L>(&data.easting(point));
  const L py = load<L>(&data.northing(point));
  const L pz = load<L>(&data.upward(point));
  FieldValues<set, L> fields;
  fields.clear();
  const int valid = static_cast<int>(Kokkos::min<std::int64_t>(Ls::width, data.n_points - point));
  FormCounts not_counted;
  add_prism<Ls, set, Kernel::pass>(shape, prism.far, prism.near, prism.weight, px, py, pz, data.rounding, valid, fields,
                                   not_counted, ContactNote<typename Ls::Arithmetic, Memory, set>());
  return fields;
}

/// Calls take(row, value) for the rows of a pair's fields.
template <FieldSet set, class S, class Take>
PRISMFIELD_INLINE_FUNCTION void for_each_row(const FieldRows& rows, const FieldValues<set, S>& fields,
                                             const Take& take) {
  constexpr int n = FieldValues<set, S>::size;
  for (int f = 0; f < n; ++f) take(f, fields.value[f]);
  for (int row = n; row < n + rows.n_sums; ++row) {
    S sum(value_t<S>(0));
    for (int f = 0; f < n; ++f) sum = fma(S(static_cast<value_t<S>>(rows.weight[row - n][f])), fields.value[f], sum);
    take(row, sum);
  }
}

/// What a pair's row, times its factor, adds to a prism's sum.
template <class S>
PRISMFIELD_INLINE_FUNCTION S summand(PairSink sink, const S& value) {
  return sink == PairSink::squares ? value * value : value;
}

/// The sum of products or squares of one prism over the lane groups [first, last) of a host.
template <class Ls, FieldSet set, class Memory, class Shapes>
PRISMFIELD_INLINE_FUNCTION double sum_over_points(const LaunchData<typename Ls::Arithmetic, Memory>& data,
                                                  const PairData<typename Ls::Arithmetic, Memory>& pairs,
                                                  const Shapes& shapes, std::int64_t p, std::int64_t first,
                                                  std::int64_t last) {
  using S = typename Ls::Real;
  // one lane sums many points alone: in double
  using Total = std::conditional_t<Ls::width == 1, double, S>;
  const PairPrism<typename Ls::Arithmetic, Memory, set> prism(data, p);
  const auto& shape = shapes(prism.far.shape);
  Total total(0);
  for (std::int64_t group = first; group < last; ++group) {
    const FieldValues<set, S> fields = pair_fields<Ls, set, ChooseForm<Pass::all>>(data, shape, prism, group);
    for_each_row(pairs.rows, fields, [&](int f, const S& value) {
      const S factor = load<S>(&pairs.factors(f, group * Ls::width));
      total = fma(Total(factor), Total(summand(pairs.sink, value)), total);
    });
  }
  value_t<Total> lane[Ls::width];
  store(total, lane);
  double sum = 0;
  for (int i = 0; i < Ls::width; ++i) sum += static_cast<double>(lane[i]);
  return sum;
}

/// Points that a warp takes in one go for each of its threads' prisms of one shape, see take_in_step(); 0: each thread
/// takes one after the other on its own. Entries of 1e6 prisms at 30 points on an H200, gz: 0.49 ms instead of 0.75; by
/// 2 points 0.49, by 8 0.51. The tensor: 0.98 instead of 1.17, by 2 points, for which there are not registers
/// enough, 1.07.
template <class A, FieldSet set, class Kernel, class Shapes>
inline constexpr int points_in_step = 0;
template <class A, FieldSet set>
inline constexpr int points_in_step<A, set, ChooseForm<Pass::far>, OneShape<A>> = set == FieldSet::gz ? 4 : 1;

/// Calls take(i, fields) for the multipoles of one order at n points; where the order is the highest, near pairs may be
/// among them, which have zeros.
template <int half_order, class Ls, FieldSet set, int n, class Take>
PRISMFIELD_INLINE_FUNCTION void take_multipoles(const PrismShape<typename Ls::Arithmetic, device_half_order>& shape,
                                                const WeightOf<typename Ls::Arithmetic, set>& weight,
                                                const CentreSeen<typename Ls::Real> (&seen)[n], const Take& take) {
  for (int i = 0; i < n; ++i) {
    FieldValues<set, typename Ls::Real> fields;
    fields.clear();
    add_multipole<half_order, Ls, set>(shape, weight, seen[i], fields);
    if constexpr (half_order == device_half_order) {
      if (!takes_multipole(shape.ranges.squared[0], seen[i].s)) fields.clear();
    }
    take(i, fields);
  }
}

/// Calls take(i, fields) for n points from `point` on and the prisms of a warp's threads, with one order for all these
/// pairs; fields of near pairs are zero.
template <class Ls, FieldSet set, int n, class Memory, class Take>
PRISMFIELD_INLINE_FUNCTION void take_in_step(const Warp& warp, const LaunchData<typename Ls::Arithmetic, Memory>& data,
                                             const PrismShape<typename Ls::Arithmetic, device_half_order>& shape,
                                             const PairPrism<typename Ls::Arithmetic, Memory, set>& prism,
                                             std::int64_t point, const Take& take) {
  CentreSeen<typename Ls::Real> seen[n];
  for (int i = 0; i < n; ++i) {
    seen[i] =
        centre_seen<Ls>(shape, prism.far, data.easting(point + i), data.northing(point + i), data.upward(point + i));
  }
  switch (order_in_step(warp, shape, seen)) {
    case 3: take_multipoles<3, Ls, set>(shape, prism.weight, seen, take); break;
    case 2: take_multipoles<2, Ls, set>(shape, prism.weight, seen, take); break;
    case 1: take_multipoles<1, Ls, set>(shape, prism.weight, seen, take); break;
    case 0: take_multipoles<0, Ls, set>(shape, prism.weight, seen, take); break;
    // where there are near pairs too
    default: take_multipoles<4, Ls, set>(shape, prism.weight, seen, take); break;
  }
}

/// Bit i: whether point begin + i, i below n, may be near to a prism of the warp of thread `rank`, whose prism is p;
/// each thread asks for one point. All working threads of the warp have to call this.
template <class A, class Memory>
PRISMFIELD_INLINE_FUNCTION std::uint32_t points_in_reach(const Warp& warp, std::int64_t rank,
                                                         const LaunchData<A, Memory>& data, std::int64_t p,
                                                         std::int64_t begin, int n) {
  const std::int64_t first = p - rank % Warp::size;
  const std::int64_t last = Kokkos::min(first + Warp::size, data.prism_end) - 1;
  const std::uint32_t all = n < Warp::size ? (std::uint32_t{1} << n) - 1 : ~std::uint32_t{0};
  return all & warp.bits_of(rank, [&](int i) {
    bool reached = false;
    for (std::int64_t b = first / data.batch; i < n && !reached && b <= last / data.batch; ++b) {
      reached = within_reach(data.reach(b), data.easting(begin + i), data.northing(begin + i), data.upward(begin + i));
    }
    return reached;
  });
}

/// Calls take(point, fields) for the near pairs of one prism, `scale` times its weight, with the points [first, last)
/// of a device. Which these are is found first, by few registers: the closed forms take more than a thread has, and all
/// that a loop keeps for its next point would be moved out of them and back at every point. Entries of 1e6 prisms at 30
/// points, 0.3 % of them near, on an H200: 0.13 ms instead of 0.47.
template <class Ls, FieldSet set, class Kernel, class Memory, class Shapes, class Take>
PRISMFIELD_INLINE_FUNCTION void for_each_near_pair(const Warp& warp, std::int64_t rank,
                                                   const LaunchData<typename Ls::Arithmetic, Memory>& data,
                                                   const Shapes& shapes, std::int64_t p,
                                                   typename Ls::Arithmetic::Real scale, std::int64_t first,
                                                   std::int64_t last, const Take& take) {
  const auto next_of = [](std::uint32_t bits) { return Kokkos::Experimental::countr_zero_builtin(bits); };
  for (std::int64_t begin = first; begin < last; begin += Warp::size) {
    const int n = static_cast<int>(Kokkos::min<std::int64_t>(Warp::size, last - begin));
    std::uint32_t near = 0;
    for (std::uint32_t bits = points_in_reach(warp, rank, data, p, begin, n); bits != 0; bits &= bits - 1) {
      const auto& far = data.far(p);
      const std::int64_t point = begin + next_of(bits);
      const auto seen =
          centre_seen<Ls>(shapes(far.shape), far, data.easting(point), data.northing(point), data.upward(point));
      if (!takes_multipole(shapes(far.shape).ranges.squared[0], seen.s)) near |= bits & -bits;
    }
    for (; near != 0; near &= near - 1) {
      const std::int64_t point = begin + next_of(near);
      const PairPrism<typename Ls::Arithmetic, Memory, set> prism(data, p, scale);
      take(point, pair_fields<Ls, set, Kernel>(data, shapes(prism.far.shape), prism, point));
    }
  }
}

/// Calls take(point, fields) for one prism, `scale` times its weight, at the points [first, last) of a device, in a
/// pass of near pairs for these only.
template <class Ls, FieldSet set, class Kernel, class Memory, class Shapes, class Take>
PRISMFIELD_INLINE_FUNCTION void for_each_pair(const Warp& warp, std::int64_t rank,
                                              const LaunchData<typename Ls::Arithmetic, Memory>& data,
                                              const Shapes& shapes, std::int64_t p, typename Ls::Arithmetic::Real scale,
                                              std::int64_t first, std::int64_t last, const Take& take) {
  static_assert(Ls::width == 1);
  using Fields = FieldValues<set, typename Ls::Real>;
  if constexpr (passes_by<Kernel>) {
    for_each_near_pair<Ls, set, Kernel>(warp, rank, data, shapes, p, scale, first, last, take);
  } else {
    const PairPrism<typename Ls::Arithmetic, Memory, set> prism(data, p, scale);
    const auto& shape = shapes(prism.far.shape);
    constexpr int in_step = points_in_step<typename Ls::Arithmetic, set, Kernel, Shapes>;
    std::int64_t point = first;
    const auto take_next = [&](int i, const Fields& fields) { take(point + i, fields); };
    if constexpr (in_step == 0) {
      for (; point < last; ++point) take(point, pair_fields<Ls, set, Kernel>(data, shape, prism, point));
    } else {
      for (; point + in_step <= last; point += in_step) {
        take_in_step<Ls, set, in_step>(warp, data, shape, prism, point, take_next);
      }
      for (; in_step > 1 && point < last; ++point) {
        take_in_step<Ls, set, 1>(warp, data, shape, prism, point, take_next);
      }
    }
  }
}

/// One thread's work on a device: a prism at a part of the points, by far pairs first, which set, then by near ones,
/// which add. `rank`: the thread's in its block, whose prisms follow one another; all working threads of a warp take
/// the same points.
template <class Ls, FieldSet set, class Kernel, class Memory, class Shapes>
PRISMFIELD_INLINE_FUNCTION void pairs_of_prism(const Warp& warp, std::int64_t rank,
                                               const LaunchData<typename Ls::Arithmetic, Memory>& data,
                                               const PairData<typename Ls::Arithmetic, Memory>& pairs,
                                               const Shapes& shapes, std::int64_t p, std::int64_t part,
                                               std::int64_t first, std::int64_t last) {
  using Real = typename Ls::Real;
  using Fields = FieldValues<set, Real>;
  constexpr bool adds = passes_by<Kernel>;
  if (pairs.sink == PairSink::entries) {
    const EntryPlaces& places = pairs.entries;
    double* const of_prism = places.to + p * places.prism_stride;
    // in floats a weight could become too small
    constexpr bool scales_weight = sizeof(Real) == 8;
    const auto take = [&](std::int64_t point, const Fields& fields) {
      double* const of_pair = of_prism + point * places.point_stride;
      for_each_row(pairs.rows, fields, [&](int f, const Real& value) {
        const std::int64_t offset = places.offset[f];
        if (offset < 0) return;
        const double entry = scales_weight ? static_cast<double>(value) : pairs.scale * static_cast<double>(value);
        of_pair[offset] = adds ? of_pair[offset] + entry : entry;
      });
    };
    for_each_pair<Ls, set, Kernel>(warp, rank, data, shapes, p,
                                   scales_weight ? static_cast<Real>(pairs.scale) : Real(1), first, last, take);
    return;
  }
  // of many points: in double
  double sum = 0;
  for_each_pair<Ls, set, Kernel>(
      warp, rank, data, shapes, p, Real(1), first, last, [&](std::int64_t point, const Fields& fields) {
        for_each_row(pairs.rows, fields, [&](int f, const Real& value) {
          sum = fma(static_cast<double>(pairs.factors(f, point)), static_cast<double>(summand(pairs.sink, value)), sum);
        });
      });
  pairs.sums(part, p) = adds ? pairs.sums(part, p) + sum : sum;
}

/// One thread's work on a host: prisms [begin, end), at most prisms_per_pair_item, at the lane groups [first, last) of
/// one part.
template <class Ls, FieldSet set, class Memory, class Shapes>
PRISMFIELD_INLINE_FUNCTION void pairs_of_item(const LaunchData<typename Ls::Arithmetic, Memory>& data,
                                              const PairData<typename Ls::Arithmetic, Memory>& pairs,
                                              const Shapes& shapes, std::int64_t begin, std::int64_t end,
                                              std::int64_t part, std::int64_t first, std::int64_t last) {
  using S = typename Ls::Real;
  constexpr int n_native = FieldValues<set, S>::size;
  if (pairs.sink != PairSink::entries) {
    for (std::int64_t p = begin; p < end; ++p) pairs.sums(part, p) = 0;
    for (std::int64_t block = first; block < last; block += groups_per_pair_block) {
      const std::int64_t block_end = Kokkos::min(block + groups_per_pair_block, last);
      for (std::int64_t p = begin; p < end; ++p) {
        pairs.sums(part, p) += sum_over_points<Ls, set>(data, pairs, shapes, p, block, block_end);
      }
    }
    return;
  }
  const int n_rows = n_native + pairs.rows.n_sums;
  value_t<S> held[n_native + FieldRows::most_sums][prisms_per_entry_run][Ls::width];
  for (std::int64_t run = begin; run < end; run += prisms_per_entry_run) {
    const int n_run = static_cast<int>(Kokkos::min<std::int64_t>(prisms_per_entry_run, end - run));
    for (std::int64_t group = first; group < last; ++group) {
      for (int r = 0; r < n_run; ++r) {
        const PairPrism<typename Ls::Arithmetic, Memory, set> prism(data, run + r);
        const auto fields = pair_fields<Ls, set, ChooseForm<Pass::all>>(data, shapes(prism.far.shape), prism, group);
        for_each_row(pairs.rows, fields, [&](int f, const S& value) { store(value, held[f][r]); });
      }
      const std::int64_t point = group * Ls::width;
      const int valid = static_cast<int>(Kokkos::min<std::int64_t>(Ls::width, data.n_points - point));
      for (int f = 0; f < n_rows; ++f) {
        const EntryPlaces& places = pairs.entries;
        if (places.offset[f] < 0) continue;
        for (int i = 0; i < valid; ++i) {
          double* const to = places.to + places.offset[f] + (point + i) * places.point_stride;
          for (int r = 0; r < n_run; ++r) {
            to[(run + r) * places.prism_stride] = pairs.scale * static_cast<double>(held[f][r][i]);
          }
        }
      }
    }
  }
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel
