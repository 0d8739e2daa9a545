// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/forms.hpp>

#include "kernel/multipole.hpp"

namespace prismfield::kernel {

/// Which arithmetic a run uses for positions, formulas and sums. `least`: of truncation errors allowed to a multipole,
/// relative to the gradient tensor.
struct DoubleArithmetic {
  using Real = double;
  static constexpr double least = least_truncation;
};
struct SingleArithmetic {
  using Real = float;
  static constexpr double least = 1e-7;
};

/// What the prisms of one shape share. Cells of a regular ensemble have one shape, so that its polynomials stay in the
/// fastest cache. Floats count lengths in longest edges, so that no power overflows; doubles in metres.
template <class A, int most = max_half_order>
struct PrismShape {
  using Real = typename A::Real;
  static constexpr int half_order = most;
  MultipoleRanges<Real, most> ranges;
  /// metres of the unit of length, and its inverse
  Real unit, inverse_unit;
  /// squared distance from the surface, in the unit, up to which the compact form is the more accurate
  Real compact_squared;
  /// the closed forms in float would lose too much: near pairs take doubles, whatever the precision
  bool near_in_double;
  MultipoleCoefficients<Real, most> coefficients;
};

template <class A, class Memory>
using PrismShapeIn =
    PrismShape<A,
               Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible ? max_half_order : device_half_order>;

/// Bytes to which what far points read is aligned in a memory: for a device's widest loads, which halve their number;
/// as it comes on a host, which lost 7 % by it with floats.
template <class A, class Memory>
inline constexpr std::size_t far_alignment = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible
                                                 ? sizeof(typename A::Real)
                                                 : 16;

/// What far points read of a prism.
template <class A, std::size_t alignment>
struct alignas(alignment) FarPrism {
  using Real = typename A::Real;
  /// centre = center + center_low: half the sum of two faces has one bit more than a coordinate
  Real center[3], center_low[3];
  std::int32_t shape;
};

template <class A, class Memory>
using FarPrismIn = FarPrism<A, far_alignment<A, Memory>>;

/// What near points read of a prism.
template <class A>
struct NearPrism {
  using Real = typename A::Real;
  Real x[2], y[2], z[2];
  /// edge lengths in the shape's unit of length
  Real dx, dy, dz;
};

/// What the fields of a prism are proportional to, apart from its geometry.
template <class A>
struct PrismWeight {
  using Real = typename A::Real;
  /// density times volume in the shape's unit of length
  Real mass;
  Real density;
};

/// A prism's magnetisation along easting, northing, upward, A/m.
template <class A>
struct PrismMagnetization {
  typename A::Real magnetization[3];
};

/// A prism's weight as kernels of magnetic fields see it: of density 1 in forward runs, in products of operators of the
/// amounts that they multiply.
template <class A>
struct MagneticWeight : PrismWeight<A>, PrismMagnetization<A> {
  /// 4 pi times the part of the magnetisation, along each direction, that B holds inside
  typename A::Real inside[3];
};

/// Where a batch's prisms are, so that points far from all of them can pass it by. Metres, relative to the origin.
struct BatchReach {
  /// box of the prisms' centres
  double low[3], high[3];
  /// distance squared from a centre beyond which every prism is in a multipole's range
  double squared;
};

/// Longest over shortest edge up to which near pairs stay in floats in single precision. The loss of the closed forms
/// grows with it, to per cents at 10,000.
inline constexpr double most_aspect_in_float = 100;

/// Two edge lengths are one shape's when they differ by less than this, relative: edges of equal cells differ by the
/// rounding of their coordinates, and a multipole beyond the first changes by far less than its truncation error.
inline constexpr double shape_tolerance = 1e-11;

inline namespace PRISMFIELD_LANES {

/// Distance from the surface, in longest edges, at which the difference-free form replaces the compact one. Nearer, the
/// difference-free form loses digits near edges; farther, the compact form loses them to cancellation, most for long
/// prisms. `middle`: the edge that is neither the longest nor the shortest.
PRISMFIELD_FUNCTION inline double compact_reach(double longest, double middle) {
  return 0.05 * Kokkos::sqrt(Kokkos::min(1.0, 30 * (middle / longest)));
}

/// Whether the near pairs of prisms of these edges take doubles in a run of floats.
template <class A>
PRISMFIELD_FUNCTION bool is_near_in_double(double longest, double shortest) {
  return sizeof(typename A::Real) == 4 && longest > most_aspect_in_float * shortest;
}

/// Prepares the shape of prisms of these edge lengths, metres. `truncation`: error allowed to its multipoles, relative
/// to the gradient tensor; below the arithmetic's least that is taken; of_gradient: relative to the tensor's
/// gradient, for sets of magnetic gradients.
template <class A, int most>
PRISMFIELD_FUNCTION void prepare_shape(const MultipoleTables& tables, const double (&edge)[3],
                                       PrismShape<A, most>& shape, double truncation = default_truncation,
                                       bool of_gradient = false) {
  using Real = typename A::Real;
  const double least = A::least;
  const double longest = Kokkos::max(edge[0], Kokkos::max(edge[1], edge[2]));
  const double unit = sizeof(Real) == 4 ? longest : 1.0;
  shape.unit = static_cast<Real>(unit);
  shape.inverse_unit = static_cast<Real>(1.0 / unit);
  const double middle = Kokkos::max(Kokkos::min(edge[0], edge[1]), Kokkos::min(Kokkos::max(edge[0], edge[1]), edge[2]));
  shape.near_in_double = is_near_in_double<A>(longest, Kokkos::min(edge[0], Kokkos::min(edge[1], edge[2])));
  const double reach = compact_reach(longest, middle) * (longest / unit);
  shape.compact_squared = static_cast<Real>(reach * reach);
  prepare_multipole(tables, edge[0] / unit, edge[1] / unit, edge[2] / unit, Kokkos::max(truncation, least), of_gradient,
                    shape.coefficients, shape.ranges);
}

/// Prepares one prism of a shape from its faces in metres, taken relative to `origin` (zero but for single precision).
template <class A, int most, std::size_t alignment>
PRISMFIELD_FUNCTION void prepare_prism(const PrismShape<A, most>& shape, std::int32_t shape_index,
                                       const double (&face)[3][2], const double (&origin)[3],
                                       FarPrism<A, alignment>& far, NearPrism<A>& near) {
  using Real = typename A::Real;
  const double inverse_unit = sizeof(Real) == 4 ? 1.0 / static_cast<double>(shape.unit) : 1.0;
  double edge[3];
  for (int d = 0; d < 3; ++d) {
    edge[d] = (face[d][1] - face[d][0]) * inverse_unit;
    const double low_face = face[d][0] - origin[d];
    const double high_face = face[d][1] - origin[d];
    // the exact sum of two doubles as sum + rest (Knuth)
    const double sum = low_face + high_face;
    const double part = sum - low_face;
    const double rest = (low_face - (sum - part)) + (high_face - part);
    far.center[d] = static_cast<Real>(0.5 * sum);
    far.center_low[d] = static_cast<Real>(0.5 * rest + (0.5 * sum - static_cast<double>(far.center[d])));
    Real* to = d == 0 ? near.x : d == 1 ? near.y : near.z;
    to[0] = static_cast<Real>(low_face);
    to[1] = static_cast<Real>(high_face);
  }
  near.dx = static_cast<Real>(edge[0]);
  near.dy = static_cast<Real>(edge[1]);
  near.dz = static_cast<Real>(edge[2]);
  far.shape = shape_index;
}

/// Prepares the weight of a prism of this density, kg/m3, or amount.
template <class A, int most>
PRISMFIELD_FUNCTION void prepare_weight(const PrismShape<A, most>& shape, const double (&face)[3][2], double density,
                                        PrismWeight<A>& weight) {
  using Real = typename A::Real;
  const double inverse_unit = sizeof(Real) == 4 ? 1.0 / static_cast<double>(shape.unit) : 1.0;
  double edge[3];
  for (int d = 0; d < 3; ++d) edge[d] = (face[d][1] - face[d][0]) * inverse_unit;
  weight.density = static_cast<Real>(density);
  weight.mass = static_cast<Real>(density * edge[0] * edge[1] * edge[2]);
}

/// Prepares the reach of prisms begin, begin + stride, ... below end; that of no prism holds no point. It is widened by
/// far more than the rounding of a point's distance, which is taken in the prism's arithmetic.
template <class A, class Shapes, class FarPrisms>
PRISMFIELD_FUNCTION void prepare_reach(const Shapes& shapes, const FarPrisms& far, std::int64_t begin, std::int64_t end,
                                       std::int64_t stride, BatchReach& reach) {
  double furthest = 0;
  for (int d = 0; d < 3; ++d) {
    reach.low[d] = Kokkos::Experimental::infinity_v<double>;
    reach.high[d] = -Kokkos::Experimental::infinity_v<double>;
  }
  for (std::int64_t p = begin; p < end; p += stride) {
    const auto& prism = far(p);
    const auto& shape = shapes(prism.shape);
    for (int d = 0; d < 3; ++d) {
      const double c = static_cast<double>(prism.center[d]) + static_cast<double>(prism.center_low[d]);
      reach.low[d] = Kokkos::min(reach.low[d], c);
      reach.high[d] = Kokkos::max(reach.high[d], c);
    }
    const double unit = static_cast<double>(shape.unit);
    furthest = Kokkos::max(furthest, static_cast<double>(shape.ranges.squared[0]) * unit * unit);
  }
  reach.squared = 1.001 * furthest;
}

/// Whether a point may be within the reach of one of the batch's prisms.
PRISMFIELD_INLINE_FUNCTION bool within_reach(const BatchReach& reach, double x, double y, double z) {
  const double point[3] = {x, y, z};
  double squared = 0;
  for (int d = 0; d < 3; ++d) {
    const double outside = Kokkos::max(0.0, Kokkos::max(reach.low[d] - point[d], point[d] - reach.high[d]));
    squared += outside * outside;
  }
  return squared <= reach.squared;
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel
