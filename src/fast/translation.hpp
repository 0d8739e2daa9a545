// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "fast/expansion_tables.hpp"
#include "fast/worker.hpp"

/// Translations of expansions: rotated so that the way points along z, where orders do not mix, and back. A rotation
/// turns about z, swaps x and z, turns about z and swaps again.
namespace prismfield::fast {
inline namespace PRISMFIELD_LANES {

/// Rotation that takes the direction of (x, y, z) to z, as powers of two turns, m = 0 ... degree:
///   ((y + i x)/s)^m, s^2 = x^2 + y^2,   and   ((z - i s)/d)^m, d^2 = s^2 + z^2
template <class L>
struct Rotation {
  Terms<L> first, second;
  L distance;
};

template <class L>
PRISMFIELD_INLINE_FUNCTION void make_powers(const L& re, const L& im, int degree, const Terms<L>& powers) {
  L a(1.0), b(0.0);
  for (int m = 0; m <= degree; ++m) {
    powers.set(m, a, b);
    const L next = a * re - b * im;
    b = kernel::fma(a, im, b * re);
    a = next;
  }
}

template <class L, class Worker>
PRISMFIELD_INLINE_FUNCTION Rotation<L> make_rotation(const Worker& worker, int degree, const L& x, const L& y,
                                                     const L& z, Room<L>& room) {
  const L zero(0.0), one(1.0);
  const L s = kernel::sqrt(kernel::fma(x, x, y * y));
  const L d = kernel::sqrt(kernel::fma(z, z, s * s));
  const auto on_axis = s <= zero;
  const auto nowhere = d <= zero;
  const L per_s = one / kernel::select(on_axis, one, s);
  const L per_d = one / kernel::select(nowhere, one, d);
  Rotation<L> rotation{room.terms(degree + 1), room.terms(degree + 1), d};
  if (worker.rank() == 0) {
    make_powers(kernel::select(on_axis, one, y * per_s), x * per_s, degree, rotation.first);
    make_powers(kernel::select(nowhere, one, z * per_d), zero - s * per_d, degree, rotation.second);
  }
  worker.wait();
  return rotation;
}

/// Orders that a step of degree n needs of an expansion whose translation has total degree `total`: on the axis a term
/// (n, m) meets (k, m) with n + k <= total and m <= k alone.
PRISMFIELD_INLINE_FUNCTION int orders_on_axis(int n, int total) { return n < total - n ? n : total - n; }

/// Degrees [first, last] that are worked on together.
struct Degrees {
  int first, last;
  [[nodiscard]] PRISMFIELD_INLINE_FUNCTION int first_term() const { return term(first, 0); }
  [[nodiscard]] PRISMFIELD_INLINE_FUNCTION int n_terms() const { return term(last + 1, 0) - term(first, 0); }
};

/// Calls f(degrees) for 0 ... degree: a thread by itself one after the other, whose terms stay near to it from step to
/// step, a team all at once, since it waits after each step.
template <class Worker, class F>
PRISMFIELD_INLINE_FUNCTION void for_degrees(const Worker& /*worker*/, int degree, const F& f) {
  if constexpr (Worker::is_alone) {
    for (int n = 0; n <= degree; ++n) f(Degrees{n, n});
  } else {
    f(Degrees{0, degree});
  }
}

/// Turns about z in place: times the powers, or with `sign` -1 their conjugates.
template <class L, class Worker, class Memory>
PRISMFIELD_INLINE_FUNCTION void turn(const Worker& worker, const ExpansionTables<Memory>& tables, Degrees degrees,
                                     const Terms<L>& powers, double sign, const Terms<L>& terms) {
  const int begin = degrees.first_term();
  share(worker, degrees.n_terms(), [&](int j) {
    const int i = begin + j, m = tables.order_of(i);
    if (m == 0) return;
    const L c = powers.real(m), s = powers.imag(m) * L(sign);
    const L re = terms.real(i), im = terms.imag(i);
    terms.set(i, re * c - im * s, kernel::fma(re, s, im * c));
  });
}

/// One or several rows of a swap, of terms (n, m), (n, m + 2), ...: they read the same terms, and their sums hide each
/// other's latency.
template <int rows, class L, class Memory>
PRISMFIELD_INLINE_FUNCTION void swap_rows(const ExpansionTables<Memory>& tables, int n, int m, int in,
                                          const Terms<L>& from, const Terms<L>& to) {
  const double* const row = &tables.swap(swap_row(n, m));
  const int stride = 2 * (n + 1);
  const int first = term(n, 0);
  const int parity = (n - m) & 1;
  L re[rows], im[rows];
  for (int r = 0; r < rows; ++r) re[r] = im[r] = L(0.0);
  const auto add_real = [&](int l) {
    const L value = from.real(first + l);
    for (int r = 0; r < rows; ++r) re[r] = kernel::fma(L(row[r * stride + l]), value, re[r]);
  };
  const auto add_imag = [&](int l) {
    const L value = from.imag(first + l);
    for (int r = 0; r < rows; ++r) im[r] = kernel::fma(L(row[r * stride + l]), value, im[r]);
  };
  int l = 0;
  for (; l < in; l += 2) {
    add_real(l + parity);
    add_imag(l + 1 - parity);
  }
  if (l == in && parity == 0) add_real(l);
  if (l == in && parity == 1) add_imag(l);
  for (int r = 0; r < rows; ++r) to.set(first + m + 2 * r, re[r], im[r]);
}

/// Swaps x and z: of terms up to order in(n), those up to order out(n).
template <class L, class Worker, class Memory, class In, class Out>
PRISMFIELD_INLINE_FUNCTION void swap_axes(const Worker& worker, const ExpansionTables<Memory>& tables, Degrees degrees,
                                          const In& in, const Out& out, const Terms<L>& from, const Terms<L>& to) {
  if constexpr (Worker::is_alone) {
    for (int n = degrees.first; n <= degrees.last; ++n) {
      for (int first = 0; first < 2; ++first) {
        int m = first;
        for (; m + 6 <= out(n); m += 8) swap_rows<4>(tables, n, m, in(n), from, to);
        const int left = (out(n) - m + 2) / 2;
        if (left == 3) swap_rows<3>(tables, n, m, in(n), from, to);
        if (left == 2) swap_rows<2>(tables, n, m, in(n), from, to);
        if (left == 1) swap_rows<1>(tables, n, m, in(n), from, to);
      }
    }
  } else {
    const int begin = degrees.first_term();
    share(worker, degrees.n_terms(), [&](int j) {
      const int n = tables.degree_of(begin + j), m = tables.order_of(begin + j);
      if (m <= out(n)) swap_rows<1>(tables, n, m, in(n), from, to);
    });
  }
}

/// All orders of a degree.
struct AllOrders {
  PRISMFIELD_INLINE_FUNCTION int operator()(int n) const { return n; }
};
/// Those that meet others on the axis.
struct AxisOrders {
  int total;
  PRISMFIELD_INLINE_FUNCTION int operator()(int n) const { return orders_on_axis(n, total); }
};

/// Rotates `terms` to the axis, of which orders up to most(n) are wanted; `spare`: as many terms.
template <class L, class Worker, class Memory, class Most>
PRISMFIELD_INLINE_FUNCTION void rotate(const Worker& worker, const ExpansionTables<Memory>& tables, Degrees degrees,
                                       const Rotation<L>& rotation, const Most& most, const Terms<L>& terms,
                                       const Terms<L>& spare) {
  turn(worker, tables, degrees, rotation.first, 1, terms);
  swap_axes(worker, tables, degrees, AllOrders(), AllOrders(), terms, spare);
  turn(worker, tables, degrees, rotation.second, 1, spare);
  swap_axes(worker, tables, degrees, AllOrders(), most, spare, terms);
}

/// Rotates `terms`, of which orders up to most(n) are not zero, back from the axis.
template <class L, class Worker, class Memory, class Most>
PRISMFIELD_INLINE_FUNCTION void rotate_back(const Worker& worker, const ExpansionTables<Memory>& tables,
                                            Degrees degrees, const Rotation<L>& rotation, const Most& most,
                                            const Terms<L>& terms, const Terms<L>& spare) {
  swap_axes(worker, tables, degrees, most, AllOrders(), terms, spare);
  turn(worker, tables, degrees, rotation.second, -1, spare);
  swap_axes(worker, tables, degrees, AllOrders(), AllOrders(), spare, terms);
  turn(worker, tables, degrees, rotation.first, -1, terms);
}

/// start factor^n, n = 0 ... degree.
template <class L, class Worker>
PRISMFIELD_INLINE_FUNCTION void scale_powers(const Worker& worker, int degree, const L& factor, const L& start,
                                             double* powers) {
  if (worker.rank() == 0) {
    L power = start;
    for (int n = 0; n <= degree; ++n) {
      put(power, powers, n);
      power = power * factor;
    }
  }
  worker.wait();
}

/// Lengths of one translation: (x, y, z) from the old to the new centre; both expansions count lengths in `from` and
/// `to`, so that nothing overflows.
template <class L>
struct Way {
  L x, y, z, from, to;
};

/// Multiplies terms (n, m), m up to most(n), by powers of degree n and by table(term).
template <class L, class Worker, class Memory, class Most, class Table>
PRISMFIELD_INLINE_FUNCTION void scale_terms(const Worker& worker, const ExpansionTables<Memory>& tables,
                                            Degrees degrees, const Most& most, const Table& table, const double* powers,
                                            const Terms<L>& terms) {
  const int begin = degrees.first_term();
  share(worker, degrees.n_terms(), [&](int j) {
    const int i = begin + j, n = tables.degree_of(i);
    if (tables.order_of(i) > most(n)) return;
    const L factor = lane<L>(powers, n) * L(table(i));
    terms.set(i, terms.real(i) * factor, terms.imag(i) * factor);
  });
}

/// L_k^m, k and so many that follow, up to `last`, on the axis, not scaled: sums over n of terms (n, m) times meet(n +
/// k), which vanishes above `degree`.
template <int rows, class L>
PRISMFIELD_INLINE_FUNCTION void sum_on_axis(int degree, int k, int last, int m, const double* meet,
                                            const Terms<L>& terms, const Terms<L>& result) {
  L re[rows], im[rows];
  for (int r = 0; r < rows; ++r) re[r] = im[r] = L(0.0);
  for (int n = m; n <= degree - k; ++n) {
    const L a = terms.real(term(n, m)), b = terms.imag(term(n, m));
    for (int r = 0; r < rows; ++r) {
      const L factor = lane<L>(meet, n + k + r);
      re[r] = kernel::fma(a, factor, re[r]);
      im[r] = kernel::fma(b, factor, im[r]);
    }
  }
  const L sign(m % 2 == 0 ? 1.0 : -1.0);
  for (int r = 0; r < rows && k + r <= last; ++r) result.set(term(k + r, m), re[r] * sign, im[r] * sign);
}

/// The degrees that a thread by itself sums up together on the axis: their sums hide each other's latency.
inline constexpr int rows_on_axis = 4;

template <class L, class Worker, class Memory>
PRISMFIELD_INLINE_FUNCTION void meet_on_axis(const Worker& worker, const ExpansionTables<Memory>& tables, int degree,
                                             const double* meet, const Terms<L>& terms, const Terms<L>& result) {
  if constexpr (Worker::is_alone) {
    for (int m = 0; 2 * m <= degree; ++m) {
      for (int k = m; k <= degree - m; k += rows_on_axis) {
        sum_on_axis<rows_on_axis>(degree, k, degree - m, m, meet, terms, result);
      }
    }
  } else {
    share(worker, n_terms(degree), [&](int i) {
      const int k = tables.degree_of(i), m = tables.order_of(i);
      if (m <= orders_on_axis(k, degree)) sum_on_axis<1>(degree, k, k, m, meet, terms, result);
    });
  }
}

/// Moments about one centre to locals about another, D = new minus old centre, of total degree n + k <= degree:
///   L_k^l = (-1)^k sum over n and m of conj(M_n^m) S_(n+k)^(m+l)(D),
/// on the axis L_k^m = (-1)^(k+m) sum over n of M_n^m (n + k)!/d^(n+k+1). `degrees`: the lanes' own total degrees, none
/// above `degree`. In `terms` before, in `result` after.
template <class L, class Worker, class Memory>
PRISMFIELD_INLINE_FUNCTION void moments_to_locals(const Worker& worker, const ExpansionTables<Memory>& tables,
                                                  int degree, const L& degrees, const Way<L>& way,
                                                  const Terms<L>& terms, const Terms<L>& result, Room<L> room) {
  const AxisOrders axis{degree};
  const Rotation<L> rotation = make_rotation(worker, degree, way.x, way.y, way.z, room);
  const L per_d = L(1.0) / rotation.distance;
  double* const in = room.lanes(degree + 1);
  double* const out = room.lanes(degree + 1);
  double* const meet = room.lanes(degree + rows_on_axis);
  scale_powers(worker, degree, way.from * per_d, L(1.0), in);
  scale_powers(worker, degree, L(0.0) - way.to * per_d, per_d, out);
  share(worker, degree + rows_on_axis, [&](int n) {
    // a lane's own degree ends its sums here
    put(kernel::select(L(static_cast<double>(n)) <= degrees, L(tables.factorial(n)), L(0.0)), meet, n);
  });
  for_degrees(worker, degree, [&](Degrees some) {
    rotate(worker, tables, some, rotation, axis, terms, result);
    scale_terms(worker, tables, some, axis, tables.inverse_norm, in, terms);
  });
  meet_on_axis(worker, tables, degree, meet, terms, result);
  for_degrees(worker, degree, [&](Degrees some) {
    scale_terms(worker, tables, some, axis, tables.inverse_norm, out, result);
    rotate_back(worker, tables, some, rotation, axis, result, terms);
  });
}

/// What moves along the axis: moments, M'_n^m = sum over k <= n of M_k^m t^(n-k)/(n-k)!, t = old minus new centre, or
/// locals, L'_k^m = sum over n >= k of L_n^m t^(n-k)/(n-k)!, t = new minus old centre.
enum class Shift { moments, locals };

/// Moves moments or locals to another centre, exactly up to their degree. In `terms` before, in `result` after.
template <Shift shift, class L, class Worker, class Memory>
PRISMFIELD_INLINE_FUNCTION void shift_terms(const Worker& worker, const ExpansionTables<Memory>& tables, int degree,
                                            const Way<L>& way, const Terms<L>& terms, const Terms<L>& result,
                                            Room<L> room) {
  constexpr bool up = shift == Shift::moments;
  const L t_sign(up ? -1.0 : 1.0);
  const Rotation<L> rotation = make_rotation(worker, degree, way.x * t_sign, way.y * t_sign, way.z * t_sign, room);
  // moments count the lengths of the way in `to`, locals in `from`
  const L unit = up ? way.to : way.from;
  double* const scale = room.lanes(degree + 1);
  double* const along = room.lanes(degree + 1);
  scale_powers(worker, degree, up ? way.from / way.to : way.to / way.from, L(1.0), scale);
  scale_powers(worker, degree, rotation.distance / unit, L(1.0), along);
  for_degrees(worker, degree,
              [&](Degrees some) { rotate(worker, tables, some, rotation, AllOrders(), terms, result); });
  const auto one = [&](int i) { return up ? tables.inverse_norm(i) : tables.norm(i); };
  const auto back = [&](int i) { return up ? tables.norm(i) : tables.inverse_norm(i); };
  share(worker, n_terms(degree), [&](int i) {
    const L factor = up ? lane<L>(scale, tables.degree_of(i)) * L(one(i)) : L(one(i));
    terms.set(i, terms.real(i) * factor, terms.imag(i) * factor);
  });
  share(worker, n_terms(degree), [&](int i) {
    const int n = tables.degree_of(i), m = tables.order_of(i);
    L re(0.0), im(0.0);
    const int low = up ? m : n, high = up ? n : degree;
    for (int k = low; k <= high; ++k) {
      const int by = up ? n - k : k - n;
      const L factor = lane<L>(along, by) * L(tables.inverse_factorial(by));
      re = kernel::fma(terms.real(term(k, m)), factor, re);
      im = kernel::fma(terms.imag(term(k, m)), factor, im);
    }
    const L factor = up ? L(back(i)) : lane<L>(scale, n) * L(back(i));
    result.set(i, re * factor, im * factor);
  });
  for_degrees(worker, degree,
              [&](Degrees some) { rotate_back(worker, tables, some, rotation, AllOrders(), result, terms); });
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::fast
