// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstring>

#include "kernel/field_values.hpp"
#include "kernel/multipole_table.hpp"

/// Far fields by the multipole expansion of a box about its centre.
///
/// With (X, Y, Z) = (x^2, y^2, z^2), s = X + Y + Z, t = 1/s, the box's even symmetry and Laplace's equation leave
///   V = s^(-1/2) f(U, V, t),  U = X t^2, V = Y t^2,
/// f a polynomial whose terms of total degree n/2 are the multipole of order n. With
///   e = (2 U d_U + 2 V d_V + t d_t + 1/2) f
/// every derivative of the potential is a short combination of e, f_U, f_V, e_U, e_V, f_UU, f_UV, f_VV:
///   V_x / (2 x s^(-3/2)) = t f_U - e,                V_z / (2 z s^(-3/2)) = -e,
///   V_xy / (4 x y s^(-5/2)) = t^2 f_UV - t e_U - t e_V + h,   V_xz: h - t e_U,   V_yz: h - t e_V,
///   V_xx / (2 s^(-3/2)) = (t f_U - e) + 2 X t (t^2 f_UU - 2 t e_U + h),
/// and h follows from V_xx + V_yy + V_zz = 0, which every multipole obeys term by term.
namespace prismfield::kernel {

/// Number of coefficients of a polynomial of this total degree in (U, V, t).
constexpr int n_coefficients(int degree) { return (degree + 1) * (degree + 2) * (degree + 3) / 6; }

inline namespace PRISMFIELD_LANES {

/// Place of U^i V^j t^k: by total degree first, so that a lower order's coefficients are the first ones of a higher's.
PRISMFIELD_INLINE_FUNCTION constexpr int coefficient_index(int i, int j, int k) {
  const int d = i + j + k;
  return d * (d + 1) * (d + 2) / 6 + k * (d + 1) - k * (k - 1) / 2 + j;
}

}  // namespace PRISMFIELD_LANES

/// Of the tables, and of hosts.
inline constexpr int max_half_order = 6;
/// Of devices: a kernel's arguments hold a shape, and threads have no registers for more.
inline constexpr int device_half_order = 4;

/// The polynomials of a box of unit mass; T: value type, `most`: half the highest order.
template <class T, int most>
struct MultipoleCoefficients {
  T e[n_coefficients(most)];
  T f_u[n_coefficients(most - 1)];
  T f_v[n_coefficients(most - 1)];
  T e_u[n_coefficients(most - 1)];
  T e_v[n_coefficients(most - 1)];
  T f_uu[n_coefficients(most - 2)];
  T f_uv[n_coefficients(most - 2)];
  T f_vv[n_coefficients(most - 2)];
  T f[n_coefficients(most)];
};

inline namespace PRISMFIELD_LANES {

/// Coefficients c, and those of derivatives of their polynomial, which are not stored.
template <class T>
struct AlongU {
  const T* c;
};
template <class T>
struct AlongV {
  const T* c;
};
/// Of e_U or e_V that of h = (2 U d_U + 2 V d_V + t d_t + 3/2) e.
template <class T>
struct AlongScale {
  const T* c;
};

namespace detail {
template <int i, int j, int k, class T>
PRISMFIELD_INLINE_FUNCTION T coefficient(const T* c) {
  return c[coefficient_index(i, j, k)];
}
template <int i, int j, int k, class T>
PRISMFIELD_INLINE_FUNCTION T coefficient(const AlongU<T>& of) {
  return T(i + 1) * of.c[coefficient_index(i + 1, j, k)];
}
template <int i, int j, int k, class T>
PRISMFIELD_INLINE_FUNCTION T coefficient(const AlongV<T>& of) {
  return T(j + 1) * of.c[coefficient_index(i, j + 1, k)];
}
template <int i, int j, int k, class T>
PRISMFIELD_INLINE_FUNCTION T coefficient(const AlongScale<T>& of) {
  return T(2 * i + 2 * j + k + 3.5) * of.c[coefficient_index(i, j, k)];
}

/// Terms of the polynomial of total degree `degree` divisible by U^i V^j t^k and reached from it by U, V or t
/// (variables 3), by V or t (2), by t (1), divided by U^i V^j t^k: Horner's rule in three variables.
template <int degree, int variables, int i, int j, int k, class L, class C>
PRISMFIELD_INLINE_FUNCTION L horner(const C& c, const L& u, const L& v, const L& t) {
  L sum(coefficient<i, j, k>(c));
  if constexpr (i + j + k < degree) {
    sum = fma(horner<degree, 1, i, j, k + 1>(c, u, v, t), t, sum);
    if constexpr (variables >= 2) sum = fma(horner<degree, 2, i, j + 1, k>(c, u, v, t), v, sum);
    if constexpr (variables >= 3) sum = fma(horner<degree, 3, i + 1, j, k>(c, u, v, t), u, sum);
  }
  return sum;
}
}  // namespace detail

/// The polynomial of total degree `degree` >= 0 with these coefficients; 0 for a negative degree.
template <int degree, class L, class C>
PRISMFIELD_INLINE_FUNCTION L polynomial(C c, const L& u, const L& v, const L& t) {
  if constexpr (degree < 0) {
    return L(value_t<L>(0));
  } else {
    return detail::horner<degree, 3, 0, 0, 0>(c, u, v, t);
  }
}

/// polynomial<degree> times `factor` plus `rest`. For a negative degree that is `rest`, which a compiler may not find
/// itself: three multiplications of a pair of order 2.
template <int degree, class L, class C>
PRISMFIELD_INLINE_FUNCTION L add_polynomial(C c, const L& u, const L& v, const L& t, const L& factor, const L& rest) {
  if constexpr (degree < 0) {
    return rest;
  } else {
    return fma(polynomial<degree>(c, u, v, t), factor, rest);
  }
}

/// The far field of order 2 half_order of a box of this mass: calls add(field, a, b) for each field of the set, a b
/// being its value. (x, y, z): prism centre minus point, s = x^2 + y^2 + z^2, in the coefficients' unit of length, G =
/// 1, z up; to `third`, of a set that has the tensor, the third derivatives. docs/numerics.md, Multipoles and Third
/// derivatives.
template <int half_order, FieldSet set, class L, class T, int most, class Add, class Third = NoThirdDerivatives>
PRISMFIELD_INLINE_FUNCTION void multipole_form(const MultipoleCoefficients<T, most>& c, T mass, const L& x, const L& y,
                                               const L& z, const L& s, const Add& add, Third* third = nullptr) {
  using W = Wants<set>;
  constexpr int n = half_order;
  const L two(T(2));
  const L inverse_r = inverse_sqrt(s);
  const L t = inverse_r * inverse_r;
  const L m = inverse_r * L(mass);
  const L xt = x * x * t;
  const L yt = y * y * t;
  const L u = xt * t;
  const L v = yt * t;
  const L e = polynomial<n>(c.e, u, v, t);
  if constexpr (W::potential) add(std::integral_constant<Field, Field::potential>(), m, polynomial<n>(c.f, u, v, t));
  // (x, y, z) points from the point to the prism: the derivatives of odd order change sign
  const L p2 = (two * t) * m;
  const L px = p2 * x;
  const L py = p2 * y;
  const L pz = p2 * z;
  if constexpr (W::vector || W::tensor) {
    const L ax = add_polynomial<n - 1>(c.f_u, u, v, t, t, -e);
    const L ay = add_polynomial<n - 1>(c.f_v, u, v, t, t, -e);
    if constexpr (W::vector) {
      add(std::integral_constant<Field, Field::gx>(), px, -ax);
      add(std::integral_constant<Field, Field::gy>(), py, -ay);
    }
    if constexpr (W::tensor) {
      const L tt = t * t;
      const L eu = polynomial<n - 1>(c.e_u, u, v, t) * t;
      const L ev = polynomial<n - 1>(c.e_v, u, v, t) * t;
      const L kx = add_polynomial<n - 2>(c.f_uu, u, v, t, tt, -two * eu);
      const L ky = add_polynomial<n - 2>(c.f_vv, u, v, t, tt, -two * ev);
      const L h = fma(L(T(0.5)), e - ax - ay, -fma(xt, kx, yt * ky));
      const L gxx = fma(two * xt, kx + h, ax);
      const L gyy = fma(two * yt, ky + h, ay);
      add(std::integral_constant<Field, Field::gxx>(), p2, gxx);
      add(std::integral_constant<Field, Field::gyy>(), p2, gyy);
      add(std::integral_constant<Field, Field::gzz>(), p2, -(gxx + gyy));
      const L t2 = two * t;
      const L qx = px * t2;
      const L qy = py * t2;
      add(std::integral_constant<Field, Field::gxy>(), qx * y, add_polynomial<n - 2>(c.f_uv, u, v, t, tt, h - eu - ev));
      add(std::integral_constant<Field, Field::gxz>(), qx * z, h - eu);
      add(std::integral_constant<Field, Field::gyz>(), qy * z, h - ev);
      if constexpr (!std::is_same_v<Third, NoThirdDerivatives>) {
        const L hu = polynomial<n - 1, L>(AlongScale<T>{c.e_u}, u, v, t) * t;
        const L hv = polynomial<n - 1, L>(AlongScale<T>{c.e_v}, u, v, t) * t;
        const L three(T(3));
        const L zt = z * z * t;
        const L xz = h - eu;
        const L yz = h - ev;
        const L xxz = add_polynomial<n - 2>(AlongU<T>{c.e_u}, u, v, t, -tt, two * hu);
        const L yyz = add_polynomial<n - 2>(AlongV<T>{c.e_v}, u, v, t, -tt, two * hv);
        const L k = fma(L(T(0.5)), fma(three, h, xz + yz), fma(xt, xxz, yt * yyz));
        const L xyz = add_polynomial<n - 2>(AlongV<T>{c.e_u}, u, v, t, -tt, hu + hv - k);
        const L xxx = add_polynomial<n - 3>(AlongU<T>{c.f_uu}, u, v, t, tt * t, fma(three, xxz - hu, -k));
        const L yyy = add_polynomial<n - 3>(AlongV<T>{c.f_vv}, u, v, t, tt * t, fma(three, yyz - hv, -k));
        // the derivatives of odd order change sign, as above
        const L qz = -pz * t2;
        third->xxz = qz * fma(two * xt, xxz - k, xz);
        third->yyz = qz * fma(two * yt, yyz - k, yz);
        third->zzz = -(third->xxz + third->yyz);
        third->xzz = -qx * fma(two * zt, hu - k, xz);
        third->yzz = -qy * fma(two * zt, hv - k, yz);
        third->xyz = qz * (x * y) * (t2 * xyz);
        third->xxx = -qx * fma(two * xt, xxx, three * (kx + h));
        third->yyy = -qy * fma(two * yt, yyy, three * (ky + h));
        third->xyy = -(third->xxx + third->xzz);
        third->xxy = -(third->yyy + third->yzz);
      }
    }
  }
  if constexpr (W::gz) add(std::integral_constant<Field, Field::gz>(), pz, e);
}

}  // namespace PRISMFIELD_LANES

/// Tables that the preparation of a prism reads, as one struct that can be handed to a kernel by value.
struct MultipoleTables {
  static constexpr int n_shapes = (weight_steps + 1) * (weight_steps + 2) / 2;
  double even_2[2][3], even_4[3][6], even_6[4][10], even_8[5][15], even_10[6][21], even_12[7][28];
  double weight[n_shapes][weight_orders];
};

/// The tables of multipole_table.hpp. Host only.
[[nodiscard]] inline MultipoleTables multipole_tables() {
  MultipoleTables t;
  const auto copy = [](auto& to, const auto& from) {
    static_assert(sizeof(to) == sizeof(from));
    std::memcpy(&to, &from, sizeof(to));
  };
  copy(t.even_2, even_derivative_2);
  copy(t.even_4, even_derivative_4);
  copy(t.even_6, even_derivative_6);
  copy(t.even_8, even_derivative_8);
  copy(t.even_10, even_derivative_10);
  copy(t.even_12, even_derivative_12);
  copy(t.weight, multipole_weight);
  return t;
}

/// Distances from a prism's centre, squared, from which each order holds its truncation error below `tolerance`.
template <class T, int most>
struct MultipoleRanges {
  /// orders 2 most, 2 most - 2, ..., 0: increasing
  T squared[most + 1];
  /// of order 2 half_order
  KOKKOS_INLINE_FUNCTION T of(int half_order) const { return squared[most - half_order]; }
};

inline namespace PRISMFIELD_LANES {

namespace detail {
/// Coefficients of d_x^2(m-r) d_y^2r (1/R), r = 0...m, in the potential of a box of half edges h and unit mass:
/// h_x^2i h_y^2j h_z^2k / ((2i+1)! (2j+1)! (2k+1)!) d_x^2i d_y^2j d_z^2k with d_zz = -d_xx - d_yy.
/// docs/numerics.md, Multipoles.
template <int m>
PRISMFIELD_FUNCTION void box_moments(double xx, double yy, double zz, double (&c)[m + 1]) {
  constexpr double inverse_factorial[] = {1.0,          1.0 / 6,        1.0 / 120,       1.0 / 5040,
                                          1.0 / 362880, 1.0 / 39916800, 1.0 / 6227020800};
  constexpr double binomial[7][7] = {
      {1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}, {1, 5, 10, 10, 5, 1}, {1, 6, 15, 20, 15, 6, 1}};
  for (int r = 0; r <= m; ++r) c[r] = 0;
  double px = 1;
  for (int i = 0; i <= m; ++i) {
    double py = px * inverse_factorial[i];
    for (int j = 0; i + j <= m; ++j) {
      const int k = m - i - j;
      double w = py * inverse_factorial[j] * inverse_factorial[k];
      for (int l = 0; l < k; ++l) w *= -zz;
      for (int l = 0; l <= k; ++l) c[j + l] += w * binomial[k][l];
      py *= yy;
    }
    px *= xx;
  }
}

/// Writes the multipole of order 2 m of unit mass to f's coefficients.
template <int m>
PRISMFIELD_FUNCTION void add_multipole(const double (&table)[m + 1][(m + 1) * (m + 2) / 2], double xx, double yy,
                                       double zz, double* f) {
  double c[m + 1];
  box_moments<m>(xx, yy, zz, c);
  int column = 0;
  for (int d = 0; d <= m; ++d) {
    for (int j = 0; j <= d; ++j) {
      double sum = 0;
      for (int r = 0; r <= m; ++r) sum += c[r] * table[r][column];
      f[coefficient_index(d - j, j, m - d)] = sum;
      ++column;
    }
  }
}

/// What the multipole of order 2 m adds at most to the gradient tensor of a box at a distance of its longest half edge,
/// relative to what its mass gives, to weight[m - 1]; y, z: its other edges' squares relative to the longest one's, z
/// not above y. The last order's includes all that follow. docs/numerics.md, Ranges of the multipoles.
PRISMFIELD_FUNCTION inline void multipole_weights(const MultipoleTables& tables, double y, double z,
                                                  double (&weight)[weight_orders]) {
  const double u = y * weight_steps;
  const double v = z * weight_steps;
  const int i = Kokkos::min(static_cast<int>(u), weight_steps - 1);
  const int j = Kokkos::min(static_cast<int>(v), i);
  const double along = u - i;
  const double across = v - j;
  const auto row = [](int a, int b) { return a * (a + 1) / 2 + b; };
  const double(&first)[weight_orders] = tables.weight[row(i, j)];
  const double(&last)[weight_orders] = tables.weight[row(i + 1, j + 1)];
  // on the diagonal j = i no shape lies above the triangle's, but for rounding
  const bool below = across <= along || j == i;
  const double(&middle)[weight_orders] = tables.weight[below ? row(i + 1, j) : row(i, j + 1)];
  const double large = below ? along : across;
  const double small = below ? Kokkos::min(along, across) : along;
  for (int m = 0; m < weight_orders; ++m) {
    weight[m] = first[m] * (1 - large) + middle[m] * (large - small) + last[m] * small;
  }
}

/// From weights for the gradient tensor to such for its gradient along any direction, relative to the least that the
/// mass gives. docs/numerics.md, Third derivatives.
PRISMFIELD_FUNCTION inline void raise_weights(double (&weight)[weight_orders]) {
  for (int m = 1; m <= weight_orders; ++m) {
    const int degree = 2 * m + (m == weight_orders ? 2 : 0);
    weight[m - 1] *= (degree + 3) / Kokkos::sqrt(3.0);
  }
}

/// Distances squared, in longest half edges squared, from which the orders 12, 10, ..., 0 neglect less than `tolerance`
/// of the gradient tensor.
template <int most>
PRISMFIELD_FUNCTION void multipole_ranges(const double (&weight)[weight_orders], double tolerance,
                                          double (&ranges)[most + 1]) {
  const double nearest = weight_reach;
  double range = nearest;
  double alone = nearest;
  // from where each neglected order alone is at the tolerance to where their sum is
  for (int m = most + 2; m <= weight_orders; ++m) {
    alone = Kokkos::max(alone, Kokkos::pow(weight[m - 1] / tolerance, 1.0 / m));
  }
  for (int q = most; q >= 0; --q) {
    alone = Kokkos::max(alone, Kokkos::pow(weight[q] / tolerance, 1.0 / (q + 1)));
    double s = alone;
    for (int step = 0; step < 5; ++step) {
      const double inverse = 1 / s;
      double neglected = 0;
      for (int m = weight_orders; m > q; --m) neglected = (neglected + weight[m - 1]) * inverse;
      double kept = 0;
      for (int m = q; m > 0; --m) kept = (kept + weight[m - 1]) * inverse;
      for (int m = 0; m < q; ++m) neglected *= inverse;
      // relative to the least that all orders together may be
      const double excess = neglected / (tolerance * (1 - kept - neglected)) - 1;
      // a step outwards never ends within: the last one must not go inwards
      s *= 1 + (step < 4 ? excess : Kokkos::max(excess, 0.0)) / (q + 1);
      // a large tolerance is kept from nearer on, where the weights do not hold
      s = Kokkos::max(s, nearest);
    }
    range = Kokkos::max(s, range);
    ranges[most - q] = range;
  }
}
}  // namespace detail

/// Prepares a box of these edge lengths: its polynomials for unit mass and the ranges of the orders, all in the unit of
/// the given lengths; of_gradient: the tolerance is of the tensor's gradient.
template <class T, int most>
PRISMFIELD_FUNCTION void prepare_multipole(const MultipoleTables& tables, double dx, double dy, double dz,
                                           double tolerance, bool of_gradient, MultipoleCoefficients<T, most>& out,
                                           MultipoleRanges<T, most>& ranges) {
  const double xx = 0.25 * dx * dx;
  const double yy = 0.25 * dy * dy;
  const double zz = 0.25 * dz * dz;
  double f[n_coefficients(most)];
  f[0] = 1;
  detail::add_multipole<1>(tables.even_2, xx, yy, zz, f);
  detail::add_multipole<2>(tables.even_4, xx, yy, zz, f);
  detail::add_multipole<3>(tables.even_6, xx, yy, zz, f);
  detail::add_multipole<4>(tables.even_8, xx, yy, zz, f);
  if constexpr (most > 4) {
    detail::add_multipole<5>(tables.even_10, xx, yy, zz, f);
    detail::add_multipole<6>(tables.even_12, xx, yy, zz, f);
  }
  const double longest = Kokkos::max(xx, Kokkos::max(yy, zz));
  const double shortest = Kokkos::min(xx, Kokkos::min(yy, zz));
  const double between = Kokkos::max(Kokkos::min(xx, yy), Kokkos::min(Kokkos::max(xx, yy), zz));
  double weight[weight_orders];
  detail::multipole_weights(tables, between / longest, shortest / longest, weight);
  if (of_gradient) detail::raise_weights(weight);
  double range[most + 1];
  detail::multipole_ranges<most>(weight, tolerance, range);
  for (int q = 0; q <= most; ++q) ranges.squared[q] = static_cast<T>(range[q] * longest);

  for (int d = 0; d <= most; ++d) {
    for (int k = 0; k <= d; ++k) {
      for (int j = 0; j <= d - k; ++j) {
        const int i = d - k - j;
        const double value = f[coefficient_index(i, j, k)];
        const double e = (2 * i + 2 * j + k + 0.5) * value;
        out.f[coefficient_index(i, j, k)] = static_cast<T>(value);
        out.e[coefficient_index(i, j, k)] = static_cast<T>(e);
        if (i > 0) {
          out.f_u[coefficient_index(i - 1, j, k)] = static_cast<T>(i * value);
          out.e_u[coefficient_index(i - 1, j, k)] = static_cast<T>(i * e);
        }
        if (j > 0) {
          out.f_v[coefficient_index(i, j - 1, k)] = static_cast<T>(j * value);
          out.e_v[coefficient_index(i, j - 1, k)] = static_cast<T>(j * e);
        }
        if (i > 1) out.f_uu[coefficient_index(i - 2, j, k)] = static_cast<T>(i * (i - 1) * value);
        if (i > 0 && j > 0) out.f_uv[coefficient_index(i - 1, j - 1, k)] = static_cast<T>(i * j * value);
        if (j > 1) out.f_vv[coefficient_index(i, j - 2, k)] = static_cast<T>(j * (j - 1) * value);
      }
    }
  }
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel
