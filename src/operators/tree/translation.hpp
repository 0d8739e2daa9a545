// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "operators/tree/expansion_tables.hpp"
#include "operators/tree/worker.hpp"

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
struct AllDegrees {
  int last;
  static constexpr int first = 0;
};
/// One, which a compiler knows.
template <int n>
struct OneDegree {
  static constexpr int first = n, last = n;
};

/// Calls f(degrees) for 0 ... degree: a thread by itself one after the other, whose terms stay near to it from step to
/// step, a team all at once, since it waits after each step.
template <int n = 0, class Worker, class F>
PRISMFIELD_INLINE_FUNCTION void for_degrees(const Worker& worker, int degree, const F& f) {
  if constexpr (!Worker::is_alone) {
    f(AllDegrees{degree});
  } else if (n <= degree) {
    f(OneDegree<n>());
    if constexpr (n < max_degree) for_degrees<n + 1>(worker, degree, f);
  }
}

/// Calls f(i) for the terms of these degrees.
template <class Worker, class Degrees, class F>
PRISMFIELD_INLINE_FUNCTION void share_terms(const Worker& worker, const Degrees& degrees, const F& f) {
  const int begin = term(degrees.first, 0);
  share(worker, term(degrees.last + 1, 0) - begin, [&](int j) { f(begin + j); });
}

/// A term times a power of a turn.
template <class L>
struct Turned {
  L re, im;
  PRISMFIELD_INLINE_FUNCTION Turned(const Terms<L>& powers, int m, const L& a, const L& b) {
    const L c = powers.real(m), s = powers.imag(m);
    re = a * c - b * s;
    im = kernel::fma(a, s, b * c);
  }
};
/// The same back.
template <class L>
struct TurnedBack {
  L re, im;
  PRISMFIELD_INLINE_FUNCTION TurnedBack(const Terms<L>& powers, int m, const L& a, const L& b) {
    const L c = powers.real(m), s = powers.imag(m);
    re = kernel::fma(a, c, b * s);
    im = b * c - a * s;
  }
};

/// One or several rows of a swap, of terms (n, m), (n, m + 2), ...: they read the same terms, and their sums hide each
/// other's latency. Calls give(term, order, re, im).
template <int rows, class L, class Memory, class Give>
PRISMFIELD_INLINE_FUNCTION void swap_rows(const ExpansionTables<Memory>& tables, int n, int m, int in,
                                          const Terms<L>& from, const Give& give) {
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
  for (int r = 0; r < rows; ++r) give(first + m + 2 * r, m + 2 * r, re[r], im[r]);
}

/// The rows of a swap from (n, m) on, every second, in even groups of six at most; beyond `out` perhaps a few more.
template <int n, int m, class L, class Memory, class Give>
PRISMFIELD_INLINE_FUNCTION void swap_rows_from(const ExpansionTables<Memory>& tables, int in, int out,
                                               const Terms<L>& from, const Give& give) {
  constexpr int left = (n - m) / 2 + 1, groups = (left + 5) / 6, rows = (left + groups - 1) / groups;
  if (m > out) return;
  swap_rows<rows>(tables, n, m, in, from, give);
  if constexpr (left > rows) swap_rows_from<n, m + 2 * rows>(tables, in, out, from, give);
}

/// Swaps x and z: of terms up to order in(n), those up to order out(n), and perhaps more. Calls give(term, order, re,
/// im), which writes where nothing is read.
template <class L, class Worker, class Memory, class Degrees, class In, class Out, class Give>
PRISMFIELD_INLINE_FUNCTION void swap_axes(const Worker& worker, const ExpansionTables<Memory>& tables,
                                          const Degrees& degrees, const In& in, const Out& out, const Terms<L>& from,
                                          const Give& give) {
  if constexpr (Worker::is_alone) {
    constexpr int n = Degrees::first;
    swap_rows_from<n, 0>(tables, in(n), out(n), from, give);
    if constexpr (n > 0) swap_rows_from<n, 1>(tables, in(n), out(n), from, give);
  } else {
    share_terms(worker, degrees, [&](int i) {
      const int n = tables.degree_of(i), m = tables.order_of(i);
      if (m <= out(n)) swap_rows<1>(tables, n, m, in(n), from, give);
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

/// Rotates `terms` to the axis; calls give(term, order, re, im) for orders up to most(n). `spare`: as many terms.
template <class L, class Worker, class Memory, class Degrees, class Most, class Give>
PRISMFIELD_INLINE_FUNCTION void rotate(const Worker& worker, const ExpansionTables<Memory>& tables,
                                       const Degrees& degrees, const Rotation<L>& rotation, const Most& most,
                                       const Terms<L>& terms, const Terms<L>& spare, const Give& give) {
  share_terms(worker, degrees, [&](int i) {
    const Turned<L> turned(rotation.first, tables.order_of(i), terms.real(i), terms.imag(i));
    terms.set(i, turned.re, turned.im);
  });
  swap_axes(worker, tables, degrees, AllOrders(), AllOrders(), terms, [&](int i, int m, const L& re, const L& im) {
    const Turned<L> turned(rotation.second, m, re, im);
    spare.set(i, turned.re, turned.im);
  });
  swap_axes(worker, tables, degrees, AllOrders(), most, spare, give);
}

/// Rotates `terms`, nonzero in orders up to most(n), back from the axis; calls give(term, re, im).
template <class L, class Worker, class Memory, class Degrees, class Most, class Give>
PRISMFIELD_INLINE_FUNCTION void rotate_back(const Worker& worker, const ExpansionTables<Memory>& tables,
                                            const Degrees& degrees, const Rotation<L>& rotation, const Most& most,
                                            const Terms<L>& terms, const Terms<L>& spare, const Give& give) {
  swap_axes(worker, tables, degrees, most, AllOrders(), terms, [&](int i, int m, const L& re, const L& im) {
    const TurnedBack<L> turned(rotation.second, m, re, im);
    spare.set(i, turned.re, turned.im);
  });
  swap_axes(worker, tables, degrees, AllOrders(), AllOrders(), spare, [&](int i, int m, const L& re, const L& im) {
    const TurnedBack<L> turned(rotation.first, m, re, im);
    give(i, turned.re, turned.im);
  });
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

/// L_k^m, k and so many that follow, up to `last`, on the axis: calls give(k, term, re, im) with the sums over n of
/// terms (n, m) times meet(n + k), which vanishes above `degree`.
template <int rows, class L, class Give>
PRISMFIELD_INLINE_FUNCTION void sum_on_axis(int degree, int k, int last, int m, const double* meet,
                                            const Terms<L>& terms, const Give& give) {
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
  for (int r = 0; r < rows && k + r <= last; ++r) give(k + r, term(k + r, m), re[r], im[r]);
}

/// The degrees that a thread by itself sums up together on the axis: their sums hide each other's latency.
inline constexpr int rows_on_axis = 4;

template <class L, class Worker, class Memory, class Give>
PRISMFIELD_INLINE_FUNCTION void meet_on_axis(const Worker& worker, const ExpansionTables<Memory>& tables, int degree,
                                             const double* meet, const Terms<L>& terms, const Give& give) {
  if constexpr (Worker::is_alone) {
    for (int m = 0; 2 * m <= degree; ++m) {
      for (int k = m; k <= degree - m; k += rows_on_axis) {
        sum_on_axis<rows_on_axis>(degree, k, degree - m, m, meet, terms, give);
      }
    }
  } else {
    share(worker, n_terms(degree), [&](int i) {
      const int k = tables.degree_of(i), m = tables.order_of(i);
      if (m <= orders_on_axis(k, degree)) sum_on_axis<1>(degree, k, k, m, meet, terms, give);
    });
  }
}

/// Moments about one centre to locals about another, D = new minus old centre, of total degree n + k <= degree:
///   L_k^l = (-1)^k sum over n and m of conj(M_n^m) S_(n+k)^(m+l)(D),
/// on the axis L_k^m = (-1)^(k+m) sum over n of M_n^m (n + k)!/d^(n+k+1). `degrees`: the lanes' own total degrees, none
/// above `degree`. Calls give(term, re, im); `terms` and `spare` are written.
template <class L, class Worker, class Memory, class Give>
PRISMFIELD_INLINE_FUNCTION void moments_to_locals(const Worker& worker, const ExpansionTables<Memory>& tables,
                                                  int degree, const L& degrees, const Way<L>& way,
                                                  const Terms<L>& terms, const Terms<L>& spare, Room<L> room,
                                                  const Give& give) {
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
  for_degrees(worker, degree, [&](const auto& some) {
    rotate(worker, tables, some, rotation, axis, terms, spare, [&](int i, int, const L& re, const L& im) {
      const L factor = lane<L>(in, tables.degree_of(i)) * L(tables.inverse_norm(i));
      terms.set(i, re * factor, im * factor);
    });
  });
  meet_on_axis(worker, tables, degree, meet, terms, [&](int k, int i, const L& re, const L& im) {
    const double sign = (tables.order_of(i) & 1) == 0 ? 1.0 : -1.0;
    const L factor = lane<L>(out, k) * L(sign * tables.inverse_norm(i));
    spare.set(i, re * factor, im * factor);
  });
  for_degrees(worker, degree,
              [&](const auto& some) { rotate_back(worker, tables, some, rotation, axis, spare, terms, give); });
}

/// What moves along the axis: moments, M'_n^m = sum over k <= n of M_k^m t^(n-k)/(n-k)!, t = old minus new centre, or
/// locals, L'_k^m = sum over n >= k of L_n^m t^(n-k)/(n-k)!, t = new minus old centre.
enum class Shift { moments, locals };

/// Moves moments or locals to another centre, exactly up to their degree; calls give(term, re, im), which may write to
/// `spare`, as this does, and to `terms`.
template <Shift shift, class L, class Worker, class Memory, class Give>
PRISMFIELD_INLINE_FUNCTION void shift_terms(const Worker& worker, const ExpansionTables<Memory>& tables, int degree,
                                            const Way<L>& way, const Terms<L>& terms, const Terms<L>& spare,
                                            Room<L> room, const Give& give) {
  constexpr bool up = shift == Shift::moments;
  const L t_sign(up ? -1.0 : 1.0);
  const Rotation<L> rotation = make_rotation(worker, degree, way.x * t_sign, way.y * t_sign, way.z * t_sign, room);
  // moments count the lengths of the way in `to`, locals in `from`
  const L unit = up ? way.to : way.from;
  double* const scale = room.lanes(degree + 1);
  double* const along = room.lanes(degree + 1);
  scale_powers(worker, degree, up ? way.from / way.to : way.to / way.from, L(1.0), scale);
  scale_powers(worker, degree, rotation.distance / unit, L(1.0), along);
  share(worker, degree + 1, [&](int k) { put(lane<L>(along, k) * L(tables.inverse_factorial(k)), along, k); });
  const auto one = [&](int i) { return up ? tables.inverse_norm(i) : tables.norm(i); };
  const auto back = [&](int i) { return up ? tables.norm(i) : tables.inverse_norm(i); };
  for_degrees(worker, degree, [&](const auto& some) {
    rotate(worker, tables, some, rotation, AllOrders(), terms, spare, [&](int i, int, const L& re, const L& im) {
      const L factor = up ? lane<L>(scale, tables.degree_of(i)) * L(one(i)) : L(one(i));
      terms.set(i, re * factor, im * factor);
    });
  });
  share(worker, n_terms(degree), [&](int i) {
    const int n = tables.degree_of(i), m = tables.order_of(i);
    L re(0.0), im(0.0);
    const int low = up ? m : n, high = up ? n : degree;
    for (int k = low; k <= high; ++k) {
      const L factor = lane<L>(along, up ? n - k : k - n);
      re = kernel::fma(terms.real(term(k, m)), factor, re);
      im = kernel::fma(terms.imag(term(k, m)), factor, im);
    }
    const L factor = up ? L(back(i)) : lane<L>(scale, n) * L(back(i));
    spare.set(i, re * factor, im * factor);
  });
  for_degrees(worker, degree,
              [&](const auto& some) { rotate_back(worker, tables, some, rotation, AllOrders(), spare, terms, give); });
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::fast
