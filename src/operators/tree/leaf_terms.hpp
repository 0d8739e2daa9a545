// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/fields.hpp>

#include "kernel/field_values.hpp"
#include "operators/tree/expansion_tables.hpp"
#include "operators/tree/worker.hpp"

/// What the leaves of a tree do: moments of prisms, fields at points, and what transposes them.
namespace prismfield::fast {
inline namespace PRISMFIELD_LANES {

/// R_n^m of (x, y, z), not N times it:
///   R_m^m = (x + i y)/(2m) R_(m-1)^(m-1),   R_n^m = [(2n - 1) z R_(n-1)^m - r^2 R_(n-2)^m]/(n^2 - m^2)
/// Calls give(term, re, im), one order after another; a team keeps the terms (m, m) in r, which may be what it gives
/// them to.
template <class L, class Worker, class Memory, class Give>
PRISMFIELD_INLINE_FUNCTION void regular_terms(const Worker& worker, const ExpansionTables<Memory>& tables, int degree,
                                              const L& x, const L& y, const L& z, const Terms<L>& r, const Give& give) {
  const L s = kernel::fma(x, x, kernel::fma(y, y, z * z));
  const auto to_next_order = [&](int m, L& re, L& im) {
    const L half(0.5 / m);
    const L next = (x * re - y * im) * half;
    im = kernel::fma(x, im, y * re) * half;
    re = next;
  };
  const auto give_order = [&](int m, L re, L im) {
    give(term(m, m), re, im);
    L re_before(0.0), im_before(0.0);
    for (int n = m + 1; n <= degree; ++n) {
      const L per(tables.regular(term(n, m)));
      const L a = z * L(2.0 * n - 1.0) * per, b = s * per;
      const L next_re = a * re - b * re_before, next_im = a * im - b * im_before;
      re_before = re, im_before = im;
      re = next_re, im = next_im;
      give(term(n, m), re, im);
    }
  };
  L re(1.0), im(0.0);
  if constexpr (Worker::is_alone) {
    for (int m = 0; m <= degree; ++m) {
      if (m > 0) to_next_order(m, re, im);
      give_order(m, re, im);
    }
  } else {
    if (worker.rank() == 0) {
      r.set(0, re, im);
      for (int m = 1; m <= degree; ++m) {
        to_next_order(m, re, im);
        r.set(term(m, m), re, im);
      }
    }
    worker.wait();
    share(worker, degree + 1, [&](int m) { give_order(m, r.real(term(m, m)), r.imag(term(m, m))); });
  }
}
/// The same into r.
template <class L, class Worker, class Memory>
PRISMFIELD_INLINE_FUNCTION void regular_terms(const Worker& worker, const ExpansionTables<Memory>& tables, int degree,
                                              const L& x, const L& y, const L& z, const Terms<L>& r) {
  regular_terms(worker, tables, degree, x, y, z, r, [&](int i, const L& re, const L& im) { r.set(i, re, im); });
}

/// A_n^m of a box of mass 1 about its own centre, n and m even, up to `degree`, to a (box_term(n, m)): all others
/// vanish, and these are real. hx, hy, hz: half edges.
template <class L, class Worker, class Memory>
PRISMFIELD_INLINE_FUNCTION void box_moments(const Worker& worker, const ExpansionTables<Memory>& tables, int degree,
                                            const L& hx, const L& hy, const L& hz, double* a, Room<L> room) {
  const int half = degree / 2;
  double* const powers[3] = {room.lanes(half + 1), room.lanes(half + 1), room.lanes(half + 1)};
  const L squared[3] = {hx * hx, hy * hy, hz * hz};
  if (worker.rank() == 0) {
    for (int d = 0; d < 3; ++d) {
      L power(1.0);
      for (int i = 0; i <= half; ++i) {
        put(power, powers[d], i);
        power = power * squared[d];
      }
    }
  }
  worker.wait();
  share(worker, (half + 1) * (half + 2) / 2, [&](int i) {
    const int q = tables.degree_of(i);
    const double* coefficient = &tables.box(box_coefficients(q) + tables.order_of(i) * n_monomials(q));
    L sum(0.0);
    for (int u = 0; u <= q; ++u) {
      L row(0.0);
      for (int v = 0; u + v <= q; ++v, ++coefficient) {
        row = kernel::fma(lane<L>(powers[1], v) * lane<L>(powers[2], q - u - v), L(*coefficient), row);
      }
      sum = kernel::fma(row, lane<L>(powers[0], u), sum);
    }
    put(sum, a, i);
  });
}

/// Re or Im of an expansion's term of any order, |m| <= n.
template <class L>
PRISMFIELD_INLINE_FUNCTION L real_of(const Terms<L>& terms, int n, int m) {
  if (m >= 0) return terms.real(term(n, m));
  const L value = terms.real(term(n, -m));
  return (m & 1) == 0 ? value : L(0.0) - value;
}
template <class L>
PRISMFIELD_INLINE_FUNCTION L imag_of(const Terms<L>& terms, int n, int m) {
  if (m >= 0) return terms.imag(term(n, m));
  const L value = terms.imag(term(n, -m));
  return (m & 1) == 0 ? L(0.0) - value : value;
}

/// Adds factor times n terms of one degree, from `first` on, to sums of orders from `order` on.
template <class L>
PRISMFIELD_INLINE_FUNCTION void add_row(const L& factor, const Terms<L>& from, int first, int n, const Terms<L>& sums,
                                        int order) {
  for (int i = 0; i < n; ++i) {
    sums.set(order + i, kernel::fma(factor, from.real(first + i), sums.real(order + i)),
             kernel::fma(factor, from.imag(first + i), sums.imag(order + i)));
  }
}

/// Adds to sums(m), m = 0 ... n, what the terms (k, +-l) of boxes are for their moments of degree n.
template <class L>
PRISMFIELD_INLINE_FUNCTION void add_box_term(const L& factor, int n, int k, int l, const Terms<L>& r,
                                             const Terms<L>& sums) {
  const int rest = n - k, first = term(rest, 0);
  if (l == 0) return add_row(factor, r, first, rest + 1, sums, 0);
  // orders m + l, then m - l: from 0 on, and below, where R_n^-m = (-1)^m conj(R_n^m)
  add_row(factor, r, first + l, rest + 1 - l, sums, 0);
  add_row(factor, r, first, (l + rest <= n ? rest : n - l) + 1, sums, l);
  for (int m = l > rest ? l - rest : 0; m < l; ++m) {
    const L signed_factor = (m & 1) == 0 ? factor : L(0.0) - factor;
    sums.set(m, kernel::fma(signed_factor, r.real(first + l - m), sums.real(m)),
             sums.imag(m) - signed_factor * r.imag(first + l - m));
  }
}

/// Calls take(i, re, im) for term i of the moments of shifted_box_moments().
template <class L, class Memory, class Take>
PRISMFIELD_INLINE_FUNCTION void take_box_moment(const ExpansionTables<Memory>& tables, int i, const double* a,
                                                const Terms<L>& r, const Take& take) {
  const int n = tables.degree_of(i), m = tables.order_of(i);
  L re(0.0), im(0.0);
  for (int k = 0; k <= n; k += 2) {
    const int rest = n - k;
    if (m <= rest) {
      const L factor = lane<L>(a, box_term(k, 0));
      re = kernel::fma(factor, r.real(term(rest, m)), re);
      im = kernel::fma(factor, r.imag(term(rest, m)), im);
    }
    for (int l = 2; l <= k; l += 2) {
      // order m - l is within the rest's from below on, m + l from above
      if (m - l > rest) continue;
      if (l - m > rest) break;
      const L factor = lane<L>(a, box_term(k, l));
      L re_both = real_of(r, rest, m - l), im_both = imag_of(r, rest, m - l);
      if (m + l <= rest) {
        re_both = re_both + r.real(term(rest, m + l));
        im_both = im_both + r.imag(term(rest, m + l));
      }
      re = kernel::fma(factor, re_both, re);
      im = kernel::fma(factor, im_both, im);
    }
  }
  take(i, re, im);
}

/// Calls take(i, re, im) for the moments of boxes of mass 1, not N times them, about a place from which their centres
/// are r's argument: M_n^m = sum over k and l of A_k^l R_(n-k)^(m-l), k and l even.
template <class L, class Worker, class Memory, class Take>
PRISMFIELD_INLINE_FUNCTION void shifted_box_moments(const Worker& worker, const ExpansionTables<Memory>& tables,
                                                    int degree, const double* a, const Terms<L>& r, Room<L> room,
                                                    const Take& take) {
  if constexpr (Worker::is_alone) {
    const Terms<L> sums = room.terms(degree + 1);
    for (int n = 0; n <= degree; ++n) {
      for (int m = 0; m <= n; ++m) sums.set(m, L(0.0), L(0.0));
      for (int k = 0; k <= n; k += 2) {
        for (int l = 0; l <= k; l += 2) add_box_term(lane<L>(a, box_term(k, l)), n, k, l, r, sums);
      }
      for (int m = 0; m <= n; ++m) take(term(n, m), sums.real(m), sums.imag(m));
    }
  } else {
    share(worker, n_terms(degree), [&](int i) { take_box_moment(tables, i, a, r, take); });
  }
}

/// A derivative of locals, of one degree less, from terms L_n^m (not L/N), lengths times `per_unit`; direction 0, 1, 2:
///   x: (L_(k+1)^(l+1) - L_(k+1)^(l-1))/2,   y: (L_(k+1)^(l+1) + L_(k+1)^(l-1))/(2i),   z: L_(k+1)^l
template <class L, class Worker, class Memory>
PRISMFIELD_INLINE_FUNCTION void derive(const Worker& worker, const ExpansionTables<Memory>& tables, int degree,
                                       int direction, double per_unit, const Terms<L>& from, const Terms<L>& to) {
  const L half(0.5 * per_unit);
  const auto give = [&](int k, int l, const L& re_below, const L& im_below) {
    const int i = term(k, l), above = term(k + 1, l + 1);
    if (direction == 0) {
      to.set(i, (from.real(above) - re_below) * half, (from.imag(above) - im_below) * half);
    } else {
      to.set(i, (from.imag(above) + im_below) * half, (L(0.0) - (from.real(above) + re_below)) * half);
    }
  };
  const auto derive_term = [&](int k, int l) {
    if (direction == 2) {
      to.set(term(k, l), from.real(term(k + 1, l)) * L(per_unit), from.imag(term(k + 1, l)) * L(per_unit));
    } else {
      give(k, l, real_of(from, k + 1, l - 1), imag_of(from, k + 1, l - 1));
    }
  };
  if constexpr (Worker::is_alone) {
    for (int k = 0; k < degree; ++k) {
      derive_term(k, 0);
      // without questions, so that a compiler takes several at once
      if (direction == 2) {
        for (int l = 1; l <= k; ++l) derive_term(k, l);
      } else {
        for (int l = 1; l <= k; ++l) give(k, l, from.real(term(k + 1, l - 1)), from.imag(term(k + 1, l - 1)));
      }
    }
  } else {
    share(worker, n_terms(degree - 1), [&](int i) { derive_term(tables.degree_of(i), tables.order_of(i)); });
  }
}

/// The transpose of derive(): adds to moments of one degree more what a derivative's weights Q are for its locals,
///   x: (Q_k^(j-1) - Q_k^(j+1))/2,   y: i (Q_k^(j-1) + Q_k^(j+1))/2,   z: Q_k^j   to (k + 1, j)
/// times `factor`. Of Q = R that is R's derivative by the place, so that moments of masses become those of dipoles.
template <class L, class Worker, class Memory>
PRISMFIELD_INLINE_FUNCTION void add_derived(const Worker& worker, const ExpansionTables<Memory>& tables, int degree,
                                            int direction, const L& factor, const Terms<L>& from, const Terms<L>& to) {
  share(worker, n_terms(degree), [&](int i) {
    const int k = tables.degree_of(i) - 1, j = tables.order_of(i);
    if (k < 0) return;
    L re(0.0), im(0.0);
    if (direction == 2) {
      if (j <= k) {
        re = from.real(term(k, j)) * factor;
        im = from.imag(term(k, j)) * factor;
      }
    } else {
      const L half = L(0.5) * factor, zero(0.0);
      const bool has_below = j - 1 <= k && 1 - j <= k, has_above = j + 1 <= k;
      const L re_below = has_below ? real_of(from, k, j - 1) : zero,
              im_below = has_below ? imag_of(from, k, j - 1) : zero;
      const L re_above = has_above ? from.real(term(k, j + 1)) : zero,
              im_above = has_above ? from.imag(term(k, j + 1)) : zero;
      if (direction == 0) {
        re = (re_below - re_above) * half;
        im = (im_below - im_above) * half;
      } else {
        re = (zero - (im_below + im_above)) * half;
        im = (re_below + re_above) * half;
      }
    }
    to.set(i, to.real(i) + re, to.imag(i) + im);
  });
}

/// conj(R) L summed over all orders: the value of locals at the lanes' places. L: numbers, not lanes, terms times their
/// weight 1 for m = 0, 2 otherwise.
template <class L>
PRISMFIELD_INLINE_FUNCTION L value_of(const Terms<L>& r, const double* re, const double* im, int degree) {
  // four sums, which hide each other's latency
  L sum[4] = {L(0.0), L(0.0), L(0.0), L(0.0)};
  const int n = n_terms(degree);
  int i = 0;
  for (; i + 1 < n; i += 2) {
    sum[0] = kernel::fma(r.real(i), L(re[i]), sum[0]);
    sum[1] = kernel::fma(r.imag(i), L(im[i]), sum[1]);
    sum[2] = kernel::fma(r.real(i + 1), L(re[i + 1]), sum[2]);
    sum[3] = kernel::fma(r.imag(i + 1), L(im[i + 1]), sum[3]);
  }
  if (i < n) {
    sum[0] = kernel::fma(r.real(i), L(re[i]), sum[0]);
    sum[1] = kernel::fma(r.imag(i), L(im[i]), sum[1]);
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::fast
