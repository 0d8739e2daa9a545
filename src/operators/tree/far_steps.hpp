// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "operators/tree/cells.hpp"
#include "operators/tree/leaf_terms.hpp"
#include "operators/tree/translation.hpp"
#include "operators/tree/transpose.hpp"

/// The steps of the far field. Each is a struct with
///   numbers<L>(degree)  numbers of room that an item needs, see room_numbers()
///   run<L>(...)         one item, on a host by a thread in lanes, on a device by a team
/// Items of a step write nothing in common: a leaf of `to` by its number among `leaves`, a cell of `to`, or the
/// children [first + i children<L>, ...) of a level. Every sum has one order, whatever the number of threads.
namespace prismfield::fast {
inline namespace PRISMFIELD_LANES {

/// Numbers of room of an item; of magnetised prisms an expansion more.
template <class Step, class L>
constexpr int room_numbers(int degree, bool are_magnetised) {
  return Step::template numbers<L>(degree) + (are_magnetised ? kernel::lanes_v<L> * 2 * aligned(n_terms(degree)) : 0);
}

/// Lanes in numbers, each its place.
template <class L>
PRISMFIELD_INLINE_FUNCTION L lane_numbers() {
  double number[kernel::lanes_v<L>];
  for (int i = 0; i < kernel::lanes_v<L>; ++i) number[i] = i;
  return kernel::load<L>(number);
}

template <class L, class Worker>
PRISMFIELD_INLINE_FUNCTION void clear(const Worker& worker, int n, const Terms<L>& terms) {
  share(worker, n, [&](int i) { terms.set(i, L(0.0), L(0.0)); });
}

/// Boxes of a leaf in lanes, as its centre sees them, in the leaf's unit of length; those behind the last are points at
/// the centre.
template <class L>
struct BoxLanes {
  L x, y, z, hx, hy, hz;
  /// against the magnetisation, by the unit of length
  L against[3];

  template <class Memory>
  PRISMFIELD_INLINE_FUNCTION BoxLanes(const FarData<Memory>& data, std::int32_t cell, std::int64_t first, int valid) {
    const L zero(0.0), per_unit(1.0 / data.to.cells.scale(cell));
    const auto is_valid = lane_numbers<L>() < L(static_cast<double>(valid));
    L* const place[3] = {&x, &y, &z};
    L* const half[3] = {&hx, &hy, &hz};
    for (int d = 0; d < 3; ++d) {
      const L away = kernel::load<L>(&data.prisms.centre(d, first)) - L(data.to.cells.centre(cell, d));
      *place[d] = kernel::select(is_valid, away * per_unit, zero);
      *half[d] = kernel::select(is_valid, kernel::load<L>(&data.prisms.half(d, first)) * per_unit, zero);
      against[d] = zero;
      if (!data.prisms.are_magnetised()) continue;
      against[d] = kernel::select(is_valid, zero - kernel::load<L>(&data.prisms.direction(d, first)) * per_unit, zero);
    }
  }
};

/// Writes R to r, the terms that moments of prisms with centres (x, y, z) consist of. For magnetised prisms it is the
/// derivative of R against the magnetisation: M . grad at the field's place is -M . grad at the source's. `spare`: as
/// long as r, for that derivative.
template <class L, class Worker, class Memory>
PRISMFIELD_INLINE_FUNCTION void source_terms(const Worker& worker, const FarData<Memory>& data, const L& x, const L& y,
                                             const L& z, const L (&against)[3], const Terms<L>& spare,
                                             const Terms<L>& r) {
  if (!data.prisms.are_magnetised()) return regular_terms(worker, data.tables, data.degree, x, y, z, r);
  regular_terms(worker, data.tables, data.degree - 1, x, y, z, spare);
  clear(worker, n_terms(data.degree), r);
  for (int d = 0; d < 3; ++d) add_derived(worker, data.tables, data.degree, d, against[d], spare, r);
}

/// Calls take(first, valid, i, re, im) for the moments of a leaf's boxes of mass 1, not N times them, in lanes.
template <class L, class Worker, class Memory, class Take, class Done>
PRISMFIELD_INLINE_FUNCTION void for_each_box(const Worker& worker, const FarData<Memory>& data, std::int32_t cell,
                                             Room<L> room, const Take& take, const Done& done) {
  const int n = n_terms(data.degree);
  const Terms<L> r = room.terms(n), spare = room.terms(data.prisms.are_magnetised() ? n : 0);
  double* const a = room.lanes(n_terms(data.degree / 2));
  const std::int64_t end = data.to.cells.end(cell);
  for (std::int64_t first = data.to.cells.begin(cell); first < end; first += kernel::lanes_v<L>) {
    const int valid = static_cast<int>(Kokkos::min<std::int64_t>(kernel::lanes_v<L>, end - first));
    const BoxLanes<L> box(data, cell, first, valid);
    source_terms(worker, data, box.x, box.y, box.z, box.against, spare, r);
    box_moments(worker, data.tables, data.degree, box.hx, box.hy, box.hz, a, room);
    shifted_box_moments(worker, data.tables, data.degree, a, r, room,
                        [&](int i, const L& re, const L& im) { take(first, valid, i, re, im); });
    done(first, valid);
    worker.wait();
  }
}

/// Numbers of room of for_each_box.
template <class L>
constexpr int box_numbers(int degree) {
  return kernel::lanes_v<L> * (2 * n_terms(degree) + n_terms(degree / 2) + 2 * (degree + 2));
}

/// Whether all prisms of a leaf share a shape, as near pairs see it.
template <class Memory>
PRISMFIELD_INLINE_FUNCTION bool are_alike(const FarData<Memory>& data, std::int32_t cell) {
  const std::int64_t first = data.to.cells.begin(cell);
  for (int d = 0; d < 3; ++d) {
    const double half = data.prisms.half(d, first);
    for (std::int64_t i = first + 1; i < data.to.cells.end(cell); ++i) {
      if (Kokkos::abs(data.prisms.half(d, i) - half) > kernel::shape_tolerance * half) return false;
    }
  }
  return true;
}

/// Adds factor times a term to term i of a sum.
template <class L>
PRISMFIELD_INLINE_FUNCTION void add_times(const L& factor, const L& re, const L& im, const Terms<L>& sum, int i) {
  sum.set(i, kernel::fma(factor, re, sum.real(i)), kernel::fma(factor, im, sum.imag(i)));
}

/// Leaves in lanes, and of each its i-th prism, as its centre sees it in its unit of length.
template <class L, class Memory>
struct LeafLanes {
  static constexpr int width = kernel::lanes_v<L>;
  const FarData<Memory>& data;
  std::int32_t cell[width];
  std::int64_t n_prisms[width], most = 0;
  /// number of leaves; further lanes repeat the last one without prisms
  int valid;
  bool alike = true;

  PRISMFIELD_INLINE_FUNCTION LeafLanes(const FarData<Memory>& all, std::int64_t item) : data(all) {
    const std::int64_t first = item * width, left = static_cast<std::int64_t>(data.leaves.extent(0)) - first;
    valid = static_cast<int>(Kokkos::min<std::int64_t>(width, left));
    for (int j = 0; j < width; ++j) {
      cell[j] = data.leaves(first + Kokkos::min(j, valid - 1));
      n_prisms[j] = j < valid ? data.to.cells.end(cell[j]) - data.to.cells.begin(cell[j]) : 0;
      most = Kokkos::max(most, n_prisms[j]);
      alike = alike && are_alike(data, cell[j]);
    }
  }
  /// f(cell, prism) for the i-th prisms of the leaves; 0 without such a prism.
  template <class F>
  PRISMFIELD_INLINE_FUNCTION L gather(std::int64_t i, const F& f) const {
    double number[width];
    for (int j = 0; j < width; ++j) {
      number[j] = i < n_prisms[j] ? f(cell[j], data.to.cells.begin(cell[j]) + i) : 0.0;
    }
    return kernel::load<L>(number);
  }
  PRISMFIELD_INLINE_FUNCTION L place(std::int64_t i, int d) const {
    return gather(i, [&](std::int32_t c, std::int64_t p) {
      return (data.prisms.centre(d, p) - data.to.cells.centre(c, d)) / data.to.cells.scale(c);
    });
  }
  PRISMFIELD_INLINE_FUNCTION L half(std::int64_t i, int d) const {
    return gather(i, [&](std::int32_t c, std::int64_t p) { return data.prisms.half(d, p) / data.to.cells.scale(c); });
  }
  PRISMFIELD_INLINE_FUNCTION L mass(std::int64_t i) const {
    return gather(i, [&](std::int32_t, std::int64_t p) { return data.prisms.mass(p); });
  }
  /// Against the magnetisation, by the unit of length.
  PRISMFIELD_INLINE_FUNCTION L against(std::int64_t i, int d) const {
    if (!data.prisms.are_magnetised()) return L(0.0);
    return gather(
        i, [&](std::int32_t c, std::int64_t p) { return -data.prisms.direction(d, p) / data.to.cells.scale(c); });
  }
};

/// Moments of the prisms of leaves. Those of one shape are moved as point masses, and made a
/// shape's together.
struct MomentsOfPrisms {
  template <class L>
  static constexpr int numbers(int degree) {
    return box_numbers<L>(degree) + kernel::lanes_v<L> * 2 * n_terms(degree);
  }
  template <class L, class Worker, class Memory>
  PRISMFIELD_INLINE_FUNCTION static void run(const Worker& worker, const FarData<Memory>& data, std::int64_t item,
                                             Room<L> room) {
    const LeafLanes<L, Memory> leaf(data, item);
    const int n = n_terms(data.degree);
    const bool are_magnetised = data.prisms.are_magnetised();
    const Terms<L> sum = room.terms(n), r = room.terms(n), spare = room.terms(are_magnetised ? n : 0);
    double* const a = room.lanes(n_terms(data.degree / 2));
    const auto moments_of_shapes = [&](std::int64_t i) {
      box_moments(worker, data.tables, data.degree, leaf.half(i, 0), leaf.half(i, 1), leaf.half(i, 2), a, room);
    };
    clear(worker, n, sum);
    for (std::int64_t i = 0; i < leaf.most; ++i) {
      const L x = leaf.place(i, 0), y = leaf.place(i, 1), z = leaf.place(i, 2), mass = leaf.mass(i);
      const auto add = [&](int k, const L& re, const L& im) { add_times(mass, re, im, sum, k); };
      if (leaf.alike && !are_magnetised) {
        regular_terms(worker, data.tables, data.degree, x, y, z, r, add);
        continue;
      }
      source_terms(worker, data, x, y, z, {leaf.against(i, 0), leaf.against(i, 1), leaf.against(i, 2)}, spare, r);
      if (leaf.alike) {
        share(worker, n, [&](int k) { add(k, r.real(k), r.imag(k)); });
      } else {
        moments_of_shapes(i);
        shifted_box_moments(worker, data.tables, data.degree, a, r, room, add);
      }
    }
    const auto keep = [&](int i, const L& re, const L& im) {
      const L norm(data.tables.norm(i));
      r.set(i, re * norm, im * norm);
    };
    if (leaf.alike) {
      moments_of_shapes(0);
      shifted_box_moments(worker, data.tables, data.degree, a, sum, room, keep);
    } else {
      share(worker, n, [&](int i) { keep(i, sum.real(i), sum.imag(i)); });
    }
    double *re[kernel::lanes_v<L>], *im[kernel::lanes_v<L>];
    for (int j = 0; j < kernel::lanes_v<L>; ++j) {
      re[j] = &data.to.values(leaf.cell[j], 0);
      im[j] = &data.to.values(leaf.cell[j], n);
    }
    add_to_rows<L>(worker, r.re, n, leaf.valid, all_rows_are_new, re);
    add_to_rows<L>(worker, r.im, n, leaf.valid, all_rows_are_new, im);
  }
};

/// The transpose: what locals are for each prism's mass, added to its sum.
struct SumsOfPrisms {
  template <class L>
  static constexpr int numbers(int degree) {
    return box_numbers<L>(degree) + (kernel::lanes_v<L> + 2) * aligned(n_terms(degree));
  }
  template <class L, class Worker, class Memory>
  PRISMFIELD_INLINE_FUNCTION static void run(const Worker& worker, const FarData<Memory>& data, std::int64_t item,
                                             Room<L> room) {
    const std::int32_t cell = data.leaves(item);
    const int n = n_terms(data.degree);
    double* const products = room.lanes(n);
    double* const re = room.numbers(n);
    double* const im = room.numbers(n);
    share(worker, n, [&](int i) {
      const double factor = data.tables.norm(i) * (data.tables.order_of(i) == 0 ? 1.0 : 2.0);
      re[i] = factor * data.to.values(cell, i);
      im[i] = factor * data.to.values(cell, n + i);
    });
    for_each_box(
        worker, data, cell, room,
        [&](std::int64_t, int, int i, const L& a, const L& b) {
          put(kernel::fma(a, L(re[i]), b * L(im[i])), products, i);
        },
        [&](std::int64_t first, int valid) {
          if (worker.rank() != 0) return;
          L sum(0.0);
          for (int i = 0; i < n; ++i) sum = sum + lane<L>(products, i);
          double value[kernel::lanes_v<L>];
          kernel::store(sum, value);
          for (int j = 0; j < valid; ++j) data.prisms.sums(first + j) += data.prisms.mass(first + j) * value[j];
        });
  }
};

/// Cells in lanes, at the ends of ways that all lead from or to others.
template <class L>
struct WayLanes {
  double x[kernel::lanes_v<L>], y[kernel::lanes_v<L>], z[kernel::lanes_v<L>];
  double from[kernel::lanes_v<L>], to[kernel::lanes_v<L>];

  template <class Memory>
  PRISMFIELD_INLINE_FUNCTION void set(int j, const Cells<Memory>& a, std::int32_t start, const Cells<Memory>& b,
                                      std::int32_t end) {
    x[j] = b.centre(end, 0) - a.centre(start, 0);
    y[j] = b.centre(end, 1) - a.centre(start, 1);
    z[j] = b.centre(end, 2) - a.centre(start, 2);
    from[j] = a.scale(start);
    to[j] = b.scale(end);
  }
  PRISMFIELD_INLINE_FUNCTION Way<L> lanes() const {
    return {kernel::load<L>(x), kernel::load<L>(y), kernel::load<L>(z), kernel::load<L>(from), kernel::load<L>(to)};
  }
};

/// Reads the expansions of one cell a lane.
template <class L, class Worker, class Memory>
PRISMFIELD_INLINE_FUNCTION void read_terms(const Worker& worker, const Expansions<Memory>& from,
                                           const std::int32_t (&cell)[kernel::lanes_v<L>], int stored, int n,
                                           const Terms<L>& terms) {
  const double* re[kernel::lanes_v<L>];
  const double* im[kernel::lanes_v<L>];
  for (int j = 0; j < kernel::lanes_v<L>; ++j) {
    re[j] = &from.values(cell[j], 0);
    im[j] = &from.values(cell[j], stored);
  }
  read_rows<L>(worker, re, n, terms.re);
  read_rows<L>(worker, im, n, terms.im);
}

/// Numbers of room of a translation.
template <class L>
constexpr int translation_numbers(int degree) {
  return kernel::lanes_v<L> * (4 * n_terms(degree) + 7 * (degree + 1) + rows_on_axis);
}

/// Moments of a level's children, moved to their parents, or locals of parents, moved to their children.
template <Shift shift>
struct ShiftLevel {
  /// Children of one item: whole pairs, whose parent no other item writes.
  template <class L>
  static constexpr int children = kernel::lanes_v<L> == 1 ? 2 : kernel::lanes_v<L>;

  template <class L>
  static constexpr int numbers(int degree) {
    return translation_numbers<L>(degree);
  }
  template <class L, class Worker, class Memory>
  PRISMFIELD_INLINE_FUNCTION static void run(const Worker& worker, const FarData<Memory>& data, std::int64_t item,
                                             Room<L> room) {
    const auto begin = static_cast<std::int32_t>(data.first + item * children<L>);
    for (std::int32_t first = begin; first < begin + children<L> && first < data.last; first += kernel::lanes_v<L>) {
      take(worker, data, first, room);
    }
  }

private:
  template <class L, class Worker, class Memory>
  PRISMFIELD_INLINE_FUNCTION static void take(const Worker& worker, const FarData<Memory>& data, std::int32_t first,
                                              Room<L> room) {
    constexpr int width = kernel::lanes_v<L>;
    constexpr bool up = shift == Shift::moments;
    const int n = n_terms(data.degree);
    const int valid = Kokkos::min(width, data.last - first);
    const Cells<Memory>& cells = data.to.cells;
    WayLanes<L> way;
    std::int32_t start[width], end[width];
    // the first child writes its parent's moments; children hold locals already
    std::uint32_t new_rows = 0;
    for (int j = 0; j < width; ++j) {
      const std::int32_t child = first + Kokkos::min(j, valid - 1), parent = cells.parent(child);
      if (up && child == cells.child(parent)) new_rows |= std::uint32_t{1} << j;
      start[j] = up ? child : parent;
      end[j] = up ? parent : child;
      way.set(j, cells, start[j], cells, end[j]);
    }
    const Terms<L> terms = room.terms(n), result = room.terms(n);
    read_terms(worker, data.to, start, n, n, terms);
    shift_terms<shift>(worker, data.tables, data.degree, way.lanes(), terms, result, room,
                       [&](int i, const L& re, const L& im) { result.set(i, re, im); });
    double *re[width], *im[width];
    for (int j = 0; j < width; ++j) {
      re[j] = &data.to.values(end[j], 0);
      im[j] = &data.to.values(end[j], n);
    }
    add_to_rows<L>(worker, result.re, n, valid, new_rows, re);
    add_to_rows<L>(worker, result.im, n, valid, new_rows, im);
  }
};

/// Locals of a cell by the moments of all cells of its row.
struct Exchange {
  template <class L>
  static constexpr int numbers(int degree) {
    return translation_numbers<L>(degree) + (kernel::lanes_v<L> + 1) * 2 * aligned(n_terms(degree));
  }
  template <class L, class Worker, class Memory>
  PRISMFIELD_INLINE_FUNCTION static void run(const Worker& worker, const FarData<Memory>& data, std::int64_t item,
                                             Room<L> room) {
    constexpr int width = kernel::lanes_v<L>;
    const auto cell = static_cast<std::int32_t>(item);
    const std::int64_t begin = data.rows.begin(cell), end = data.rows.begin(cell + 1);
    const int stored = n_terms(data.degree);
    if (begin == end) return share(worker, 2 * stored, [&](int i) { data.to.values(cell, i) = 0; });
    const Terms<L> sum = room.terms(stored), terms = room.terms(stored), spare = room.terms(stored);
    const Terms<double> all{room.numbers(stored), room.numbers(stored)};
    clear(worker, stored, sum);
    int most = 0;
    for (std::int64_t first = begin; first < end; first += width) {
      std::int32_t partner[width];
      double degrees[width];
      int degree = 0;
      WayLanes<L> way;
      for (int j = 0; j < width; ++j) {
        const std::int64_t pair = Kokkos::min(first + j, end - 1);
        partner[j] = data.rows.partner(pair);
        // a lane behind the last one sums nothing
        degrees[j] = first + j < end ? data.rows.degree(pair) : -1;
        degree = Kokkos::max(degree, static_cast<int>(data.rows.degree(pair)));
        way.set(j, data.from.cells, partner[j], data.to.cells, cell);
      }
      const int n = n_terms(degree);
      read_terms(worker, data.from, partner, stored, n, terms);
      moments_to_locals(worker, data.tables, degree, kernel::load<L>(degrees), way.lanes(), terms, spare, room,
                        [&](int i, const L& re, const L& im) { sum.set(i, sum.real(i) + re, sum.imag(i) + im); });
      most = Kokkos::max(most, degree);
    }
    sum_lanes<L>(worker, sum.re, n_terms(most), all.re);
    sum_lanes<L>(worker, sum.im, n_terms(most), all.im);
    share(worker, stored, [&](int i) {
      data.to.values(cell, i) = i < n_terms(most) ? all.real(i) : 0;
      data.to.values(cell, stored + i) = i < n_terms(most) ? all.imag(i) : 0;
    });
  }
};

/// How a native field of gravity follows by a derivative from one before it, or is the potential itself.
struct DerivedField {
  int of, direction;
};
PRISMFIELD_INLINE_FUNCTION constexpr DerivedField derived_field(int field) {
  constexpr DerivedField fields[n_gravity_fields] = {{0, -1}, {0, 0}, {0, 1}, {0, 2}, {1, 0},
                                                     {2, 1},  {3, 2}, {1, 1}, {1, 2}, {2, 2}};
  return fields[field];
}
PRISMFIELD_INLINE_FUNCTION constexpr int order_of_field(int field) { return field == 0 ? 0 : field < 4 ? 1 : 2; }

/// Which native fields are wanted, or needed for one that is, as bits.
template <class Memory>
PRISMFIELD_INLINE_FUNCTION std::uint32_t needed_fields(const FarData<Memory>& data) {
  std::uint32_t needed = 1;
  for (int f = 0; f < data.n_fields; ++f) {
    needed |= std::uint32_t{1} << data.field[f];
    needed |= std::uint32_t{1} << derived_field(data.field[f]).of;
  }
  return needed;
}

/// The points of a leaf in lanes, as its centre sees them in its unit of length.
template <class L>
struct PointLanes {
  L x, y, z;
  template <class Memory>
  PRISMFIELD_INLINE_FUNCTION PointLanes(const FarData<Memory>& data, std::int32_t cell, std::int64_t point) {
    const L per_unit(1.0 / data.to.cells.scale(cell));
    x = (kernel::load<L>(&data.points.place(0, point)) - L(data.to.cells.centre(cell, 0))) * per_unit;
    y = (kernel::load<L>(&data.points.place(1, point)) - L(data.to.cells.centre(cell, 1))) * per_unit;
    z = (kernel::load<L>(&data.points.place(2, point)) - L(data.to.cells.centre(cell, 2))) * per_unit;
  }
};

/// The fields of a leaf's locals at its points, added to theirs.
struct FieldsAtPoints {
  template <class L>
  static constexpr int numbers(int degree) {
    return (2 * n_gravity_fields + kernel::lanes_v<L> * 2) * aligned(n_terms(degree));
  }
  template <class L, class Worker, class Memory>
  PRISMFIELD_INLINE_FUNCTION static void run(const Worker& worker, const FarData<Memory>& data, std::int64_t item,
                                             Room<L> room) {
    const std::int32_t cell = data.leaves(item);
    const int degree = data.degree, n = n_terms(degree);
    const Terms<L> r = room.terms(n);
    Terms<double> of[n_gravity_fields];
    for (int f = 0; f < n_gravity_fields; ++f) of[f] = {room.numbers(n), room.numbers(n)};
    share(worker, n, [&](int i) {
      of[0].set(i, data.to.values(cell, i) * data.tables.norm(i), data.to.values(cell, n + i) * data.tables.norm(i));
    });
    const std::uint32_t needed = needed_fields(data);
    for (int f = 1; f < n_gravity_fields; ++f) {
      if ((needed >> f & 1) == 0) continue;
      const DerivedField by = derived_field(f);
      derive(worker, data.tables, degree - order_of_field(f) + 1, by.direction, 1.0 / data.to.cells.scale(cell),
             of[by.of], of[f]);
    }
    // terms of negative order count by those of positive order
    share(worker, n, [&](int i) {
      if (data.tables.order_of(i) == 0) return;
      for (int f = 0; f < n_gravity_fields; ++f) {
        if ((needed >> f & 1) != 0 && i < n_terms(degree - order_of_field(f))) {
          of[f].set(i, 2 * of[f].real(i), 2 * of[f].imag(i));
        }
      }
    });
    const std::int64_t begin = data.points.first(cell);
    const std::int64_t end = begin + data.to.cells.end(cell) - data.to.cells.begin(cell);
    for (std::int64_t point = begin; point < end; point += kernel::lanes_v<L>) {
      const PointLanes<L> y(data, cell, point);
      regular_terms(worker, data.tables, degree, y.x, y.y, y.z, r);
      share(worker, data.n_fields, [&](int f) {
        const int field = data.field[f];
        double* const to = &data.points.values(f, point);
        const L value = value_of(r, of[field].re, of[field].im, degree - order_of_field(field));
        kernel::store(kernel::load<L>(to) + value, to);
      });
    }
  }
};

/// The transpose: moments of a leaf's points, by the factors of their fields.
struct MomentsOfPoints {
  template <class L>
  static constexpr int numbers(int degree) {
    return (2 * n_gravity_fields + kernel::lanes_v<L> * 2 * (1 + n_gravity_fields)) * aligned(n_terms(degree));
  }
  template <class L, class Worker, class Memory>
  PRISMFIELD_INLINE_FUNCTION static void run(const Worker& worker, const FarData<Memory>& data, std::int64_t item,
                                             Room<L> room) {
    const std::int32_t cell = data.leaves(item);
    const int degree = data.degree, n = n_terms(degree);
    const Terms<L> r = room.terms(n);
    // sums over the points, of each field asked for, one behind another
    double* const re = room.lanes(data.n_fields * n);
    double* const im = room.lanes(data.n_fields * n);
    clear(worker, data.n_fields * n, Terms<L>{re, im});
    const std::int64_t begin = data.points.first(cell);
    const std::int64_t end = begin + data.to.cells.end(cell) - data.to.cells.begin(cell);
    for (std::int64_t point = begin; point < end; point += kernel::lanes_v<L>) {
      const PointLanes<L> y(data, cell, point);
      regular_terms(worker, data.tables, degree, y.x, y.y, y.z, r);
      for (int f = 0; f < data.n_fields; ++f) {
        const L factor = kernel::load<L>(&data.points.values(f, point));
        share(worker, n_terms(degree - order_of_field(data.field[f])), [&](int i) {
          const int k = f * n + i;
          put(kernel::fma(factor, r.real(i), lane<L>(re, k)), re, k);
          put(kernel::fma(factor, r.imag(i), lane<L>(im, k)), im, k);
        });
      }
    }
    Terms<double> of[n_gravity_fields];
    for (int f = 0; f < n_gravity_fields; ++f) of[f] = {room.numbers(n), room.numbers(n)};
    for (int f = 0; f < n_gravity_fields; ++f) clear(worker, n, of[f]);
    for (int f = 0; f < data.n_fields; ++f) {
      sum_lanes<L>(worker, re + f * n * kernel::lanes_v<L>, n, of[data.field[f]].re);
      sum_lanes<L>(worker, im + f * n * kernel::lanes_v<L>, n, of[data.field[f]].im);
    }
    const std::uint32_t needed = needed_fields(data);
    for (int f = n_gravity_fields - 1; f > 0; --f) {
      if ((needed >> f & 1) == 0) continue;
      const DerivedField by = derived_field(f);
      add_derived(worker, data.tables, degree - order_of_field(f) + 1, by.direction, 1.0 / data.to.cells.scale(cell),
                  of[f], of[by.of]);
    }
    share(worker, n, [&](int i) {
      data.to.values(cell, i) = of[0].real(i) * data.tables.norm(i);
      data.to.values(cell, n + i) = of[0].imag(i) * data.tables.norm(i);
    });
  }
};

/// What profiles call a step.
inline const char* label_of(FarStep step) {
  switch (step) {
    case FarStep::moments_of_prisms: return "prismfield::moments_of_prisms";
    case FarStep::sums_of_prisms: return "prismfield::sums_of_prisms";
    case FarStep::moments_to_parents: return "prismfield::moments_to_parents";
    case FarStep::locals_to_children: return "prismfield::locals_to_children";
    case FarStep::exchange: return "prismfield::exchange";
    case FarStep::fields_at_points: return "prismfield::fields_at_points";
    case FarStep::moments_of_points: break;
  }
  return "prismfield::moments_of_points";
}

/// Calls f with a step as its struct.
template <class F>
void with_step(FarStep step, const F& f) {
  switch (step) {
    case FarStep::moments_of_prisms: return f(MomentsOfPrisms());
    case FarStep::sums_of_prisms: return f(SumsOfPrisms());
    case FarStep::moments_to_parents: return f(ShiftLevel<Shift::moments>());
    case FarStep::locals_to_children: return f(ShiftLevel<Shift::locals>());
    case FarStep::exchange: return f(Exchange());
    case FarStep::fields_at_points: return f(FieldsAtPoints());
    case FarStep::moments_of_points: return f(MomentsOfPoints());
  }
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::fast
