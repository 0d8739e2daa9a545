// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>

#include "kernel/closed_forms.hpp"
#include "kernel/prepared_prism.hpp"

/// Magnetic fields by Poisson's relation: with U the gradient tensor of a prism for G = 1 and unit density and M its
/// magnetisation, B = mu0/(4 pi) (U M + 4 pi s M), s being 0 outside, and the gradient of B is that of U times M,
/// M being constant. Kernels leave mu0/(4 pi) out. docs/magnetics.md.
namespace prismfield::kernel {
inline namespace PRISMFIELD_LANES {

/// What a prism's fields of a set are proportional to.
template <class A, FieldSet set>
using WeightOf = std::conditional_t<has_magnetic(set), MagneticWeight<A>, PrismWeight<A>>;

/// 4 pi times the part of the magnetisation, along each direction, that B holds inside; `share`: see share_inside().
template <class A>
Kokkos::Array<typename A::Real, 3> inside_factors(const std::array<double, 3>& share) {
  constexpr double full_angle = 4 * 3.14159265358979323846;
  Kokkos::Array<typename A::Real, 3> factors{};
  for (std::size_t d = 0; d < 3; ++d) factors[d] = static_cast<typename A::Real>(full_angle * share[d]);
  return factors;
}

/// How much of a prism a point sees around it: 1 inside, 1/2 on a face, 1/4 on an edge, 1/8 at a corner, 0 outside.
template <class L>
PRISMFIELD_INLINE_FUNCTION L part_inside(const PrismFaces<L>& p) {
  using T = value_t<L>;
  const L zero(T(0)), half(T(0.5));
  const auto along = [&](const L(&face)[2]) {
    return select(face[0] < zero, half, zero) - select(zero < face[0], half, zero) +
           select(zero < face[1], half, zero) - select(face[1] < zero, half, zero);
  };
  // outside in a direction: half - half = 0
  return along(p.x) * along(p.y) * along(p.z);
}

/// The third derivatives that a set needs, by the form of all distances.
template <FieldSet set, class L>
PRISMFIELD_INLINE_FUNCTION ThirdOf<set, L> third_of(const PrismFaces<L>& p) {
  if constexpr (has_magnetic_gradient(set)) {
    return third_derivatives(p);
  } else {
    return {};
  }
}

/// The fields of a set outside the prism, of those of gravity for unit density that it is made of and of its third
/// derivatives.
template <FieldSet set, class L, class A>
PRISMFIELD_INLINE_FUNCTION FieldValues<set, L> composed(const FieldValues<gravity_of(set), L>& gravity,
                                                        const ThirdOf<set, L>& third, const WeightOf<A, set>& weight) {
  if constexpr (!has_magnetic(set)) {
    return gravity;
  } else {
    using T = value_t<L>;
    FieldValues<set, L> out;
    const L mx(static_cast<T>(weight.magnetization[0]));
    const L my(static_cast<T>(weight.magnetization[1]));
    const L mz(static_cast<T>(weight.magnetization[2]));
    const L xy = at<Field::gxy>(gravity), xz = at<Field::gxz>(gravity), yz = at<Field::gyz>(gravity);
    at<Field::bx>(out) = fma(at<Field::gxx>(gravity), mx, fma(xy, my, xz * mz));
    at<Field::by>(out) = fma(xy, mx, fma(at<Field::gyy>(gravity), my, yz * mz));
    at<Field::bz>(out) = fma(xz, mx, fma(yz, my, at<Field::gzz>(gravity) * mz));
    if constexpr (has_magnetic_gradient(set)) {
      at<Field::bxx>(out) = fma(third.xxx, mx, fma(third.xxy, my, third.xxz * mz));
      at<Field::byy>(out) = fma(third.xyy, mx, fma(third.yyy, my, third.yyz * mz));
      at<Field::bzz>(out) = fma(third.xzz, mx, fma(third.yzz, my, third.zzz * mz));
      at<Field::bxy>(out) = fma(third.xxy, mx, fma(third.xyy, my, third.xyz * mz));
      at<Field::bxz>(out) = fma(third.xxz, mx, fma(third.xyz, my, third.xzz * mz));
      at<Field::byz>(out) = fma(third.xyz, mx, fma(third.yyz, my, third.yzz * mz));
    }
    return out;
  }
}

/// Adds what B holds inside; `part`: see part_inside().
template <FieldSet set, class L, class A>
PRISMFIELD_INLINE_FUNCTION void add_inside(const MagneticWeight<A>& weight, const L& part,
                                           FieldValues<set, L>& fields) {
  using T = value_t<L>;
  constexpr int first = FieldValues<set, L>::index(Field::bx);
  for (int d = 0; d < 3; ++d) {
    const auto m = static_cast<T>(weight.inside[d]) * static_cast<T>(weight.magnetization[d]);
    fields.value[first + d] = fma(part, L(m), fields.value[first + d]);
  }
}

/// What an edge along each direction that passes through a point adds to the logarithms that diverge there, see
/// Contact: the density; of a magnetisation a sum of the components across the edge, by factors that leave no two
/// magnetisations of practice alike.
template <class A>
PRISMFIELD_INLINE_FUNCTION Kokkos::Array<double, 3> edge_strengths(const PrismWeight<A>& weight) {
  const auto density = static_cast<double>(weight.density);
  return {density, density, density};
}
template <class A>
PRISMFIELD_INLINE_FUNCTION Kokkos::Array<double, 3> edge_strengths(const MagneticWeight<A>& weight) {
  constexpr double of_component[3] = {1, 0.6180339887498949, 0.3247179572447460};
  const auto amount = static_cast<double>(weight.density);
  double part[3];
  for (int d = 0; d < 3; ++d) part[d] = of_component[d] * static_cast<double>(weight.magnetization[d]);
  return {amount * (part[1] + part[2]), amount * (part[0] + part[2]), amount * (part[0] + part[1])};
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel
