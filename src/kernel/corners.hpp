// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "kernel/closed_forms.hpp"

namespace prismfield::kernel {

/// The set that is computed where corners are asked for a set: a kernel for each would cost more to compile than they
/// would save in studies.
[[nodiscard]] constexpr FieldSet corners_set(FieldSet set) noexcept {
  return has_magnetic(set) ? FieldSet::magnetic_gradient : FieldSet::all;
}

inline namespace PRISMFIELD_LANES {

/// The papers' sum over eight corners with the library's logarithm and arctangent (Couder-Castaneda 2013, appendix, its
/// misprints corrected): for studies and tests, not for results, because it loses eps t^3 at t prism sizes.
/// Plain numbers only. On faces the mean of both sides; on edges and corners the finite part in `metres`.
/// docs/numerics.md, Eight corners.
template <FieldSet set, class T>
PRISMFIELD_FUNCTION FieldValues<set, T> corners_form(const PrismFaces<T>& p, T metres) {
  using W = Wants<set>;
  const auto logarithm = [&](T a, T r, T w2) {
    // a + r by its reflection where a < 0; on the edge's line the divergent ln w2 is left out
    if (a > T(0)) return Kokkos::log((a + r) * metres);
    if (w2 > T(0)) return Kokkos::log(w2 / (r - a) * metres);
    return r > a ? -Kokkos::log((r - a) * metres) : T(0);
  };
  const auto angle = [](T opposite, T h, T r) { return h == T(0) ? T(0) : Kokkos::atan(opposite / (h * r)); };
  FieldValues<set, T> out;
  out.clear();
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 2; ++k) {
        const T s = ((i + j + k) % 2 == 1) ? T(1) : T(-1);
        const T x = p.x[i];
        const T y = p.y[j];
        const T z = p.z[k];
        const T r = Kokkos::sqrt(x * x + y * y + z * z);
        const T lx = logarithm(x, r, y * y + z * z);
        const T ly = logarithm(y, r, x * x + z * z);
        T lz = T(0);
        if constexpr (W::vector || W::tensor) lz = logarithm(z, r, x * x + y * y);
        T ax = T(0);
        T ay = T(0);
        if constexpr (W::vector || W::tensor) {
          ax = angle(y * z, x, r);
          ay = angle(x * z, y, r);
        }
        const T az = angle(x * y, z, r);
        if constexpr (W::potential) {
          at<Field::potential>(out) +=
              s * (x * y * lz + y * z * lx + z * x * ly - (x * x * ax + y * y * ay + z * z * az) / T(2));
        }
        if constexpr (W::vector) {
          at<Field::gx>(out) -= s * (y * lz + z * ly - x * ax);
          at<Field::gy>(out) -= s * (z * lx + x * lz - y * ay);
        }
        if constexpr (W::gz) at<Field::gz>(out) -= s * (x * ly + y * lx - z * az);
        if constexpr (W::tensor) {
          at<Field::gxx>(out) -= s * ax;
          at<Field::gyy>(out) -= s * ay;
          at<Field::gzz>(out) -= s * az;
          at<Field::gxy>(out) += s * lz;
          at<Field::gxz>(out) += s * ly;
          at<Field::gyz>(out) += s * lx;
        }
      }
    }
  }
  return out;
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel
