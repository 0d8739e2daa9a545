// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "kernel/field_values.hpp"
#include "kernel/lean.hpp"

/// The closed forms of a prism's field. Notation: x[0], x[1] are the prism's west and east faces minus the point, y and
/// z likewise; r[i][j][k] the distance of corner (i, j, k); s the sign (-1)^(i+j+k) with s(1, 1, 1) = +1; fields are
/// those of unit density and G = 1, z up, in the units of the given lengths.
namespace prismfield::kernel {
inline namespace PRISMFIELD_LANES {

/// A prism as its points see it.
template <class L>
struct PrismFaces {
  L x[2], y[2], z[2];
  /// edge lengths, from the prism alone
  value_t<L> dx, dy, dz;
};

/// Squared distance from the point to the prism, 0 inside and on it.
template <class L>
PRISMFIELD_INLINE_FUNCTION L gap_squared(const PrismFaces<L>& p) {
  const L zero(value_t<L>(0));
  const L gx = max(zero, max(p.x[0], -p.x[1]));
  const L gy = max(zero, max(p.y[0], -p.y[1]));
  const L gz = max(zero, max(p.z[0], -p.z[1]));
  return fma(gx, gx, fma(gy, gy, gz * gz));
}

/// Distances of the eight corners.
template <class L>
PRISMFIELD_INLINE_FUNCTION void corner_distances(const PrismFaces<L>& p, L (&r)[2][2][2]) {
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const L xy = fma(p.x[i], p.x[i], p.y[j] * p.y[j]);
      for (int k = 0; k < 2; ++k) r[i][j][k] = sqrt(fma(p.z[k], p.z[k], xy));
    }
  }
}

/// An edge of length e with ends at a[0] < a[1] along itself, w2 the squared distance from the point to its line.
template <class L>
struct Edge {
  /// r1 + r2
  L sum;
  /// r1 + r2 - e, without cancellation
  L excess;
  /// ln((r1 + r2 + e)/(r1 + r2 - e)), on the edge its finite part
  LogParts<L> log;
};

/// The edge's logarithm from its end distances: docs/numerics.md, Compact form. On the edge (w2 = 0 between the ends)
/// the finite part: ln(4 |a0| a1) between the ends, ln(2 e) at an end, in metres; `metres` is the length of the given
/// unit: docs/numerics.md, Faces, edges and corners.
template <class L>
PRISMFIELD_INLINE_FUNCTION Edge<L> make_edge(const L& a0, const L& a1, value_t<L> e, const L& w2, const L& r0,
                                             const L& r1, value_t<L> metres) {
  using T = value_t<L>;
  constexpr T tiny = sizeof(T) == 8 ? T(1e-290) : T(1e-34);
  const L zero(T(0));
  Edge<L> edge;
  edge.sum = r0 + r1;
  const L slope = L(T(1)) / max(r0 + abs(a0), L(tiny)) + L(T(1)) / max(r1 + abs(a1), L(tiny));
  edge.excess = fma(w2, slope, L(T(2)) * max(zero, max(a0, -a1)));
  const auto on_edge = edge.excess < L(tiny);
  const L one(T(1));
  L numerator = L(T(2) * e);
  L denominator = max(edge.excess, L(tiny));
  if (any(on_edge)) {
    const L inner = L(T(4) * metres * metres) * abs(a0) * abs(a1);
    const L finite = max(select(zero < inner, inner, L(T(2) * e * metres)), L(tiny));
    // ln(finite) = -ln(1/finite) below 1: the difference to 1 is exact enough on that side only
    const auto below = finite < one;
    numerator = select(on_edge, abs(finite - one), numerator);
    denominator = select(on_edge, select(below, finite, one), denominator);
    const LogParts<L> log = log1p_quotient_parts(numerator, denominator);
    const L sign = select(on_edge && below, L(T(-1)), one);
    edge.log = {sign * log.exponent, sign * log.twice, sign * log.tail};
  } else {
    edge.log = log1p_quotient_parts(numerator, denominator);
  }
  return edge;
}

/// Factor of one edge in the face's complex product: (sum + e) excess + 2 sum |h| + 2 i d e, with h the distance of the
/// face's plane and d the signed distance, in that plane, from the point to the edge (positive towards the inside).
template <class L>
struct Complex {
  L re, im;
};
template <class L>
PRISMFIELD_INLINE_FUNCTION Complex<L> edge_factor(const Edge<L>& edge, value_t<L> e, const L& h_abs, const L& d) {
  using T = value_t<L>;
  return {fma(edge.sum + L(e), edge.excess, L(T(2)) * edge.sum * h_abs), L(T(2) * e) * d};
}
template <class L>
PRISMFIELD_INLINE_FUNCTION Complex<L> operator*(const Complex<L>& a, const Complex<L>& b) {
  return {a.re * b.re - a.im * b.im, fma(a.re, b.im, a.im * b.re)};
}

/// Signed solid angle of a face at distance h from its four edges' factors; 0 in its plane, the mean of both sides.
template <class L>
PRISMFIELD_INLINE_FUNCTION L face_angle(const L& h, const Complex<L>& a, const Complex<L>& b, const Complex<L>& c,
                                        const Complex<L>& d) {
  using T = value_t<L>;
  const Complex<L> p = (a * b) * (c * d);
  const L zero(T(0));
  const auto in_plane = h == zero;
  // in the plane the product may vanish: its angle is not used there
  const L angle = atan2(abs(p.im), select(in_plane, L(T(1)), p.re));
  return select(in_plane, zero, copysign(L(T(2)) * angle, h));
}

/// Fields near and inside the prism: twelve edge logarithms and six face angles. Accurate to a few eps up to a distance
/// of one edge, then loses eps t^2 at t edges. V and g are exact everywhere; T on a face is the mean of both sides, on
/// edges and corners its finite part. docs/numerics.md, Compact form.
template <FieldSet set, class L>
PRISMFIELD_LARGE_FUNCTION FieldValues<set, L> compact_form(const PrismFaces<L>& p, value_t<L> metres) {
  using T = value_t<L>;
  using W = Wants<set>;
  L r[2][2][2];
  corner_distances(p, r);
  const L xx[2] = {p.x[0] * p.x[0], p.x[1] * p.x[1]};
  const L yy[2] = {p.y[0] * p.y[0], p.y[1] * p.y[1]};
  const L zz[2] = {p.z[0] * p.z[0], p.z[1] * p.z[1]};
  Edge<L> along_x[2][2];  // [j][k]
  Edge<L> along_y[2][2];  // [i][k]
  Edge<L> along_z[2][2];  // [i][j]
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 2; ++b) {
      along_x[a][b] = make_edge(p.x[0], p.x[1], p.dx, yy[a] + zz[b], r[0][a][b], r[1][a][b], metres);
      along_y[a][b] = make_edge(p.y[0], p.y[1], p.dy, xx[a] + zz[b], r[a][0][b], r[a][1][b], metres);
      along_z[a][b] = make_edge(p.z[0], p.z[1], p.dz, xx[a] + yy[b], r[a][b][0], r[a][b][1], metres);
    }
  }
  L angle_x[2], angle_y[2], angle_z[2];
  for (int a = 0; a < 2; ++a) {
    if constexpr (W::vector || W::tensor) {
      const L hx = abs(p.x[a]);
      angle_x[a] = face_angle(
          p.x[a], edge_factor(along_z[a][1], p.dz, hx, p.y[1]), edge_factor(along_z[a][0], p.dz, hx, -p.y[0]),
          edge_factor(along_y[a][1], p.dy, hx, p.z[1]), edge_factor(along_y[a][0], p.dy, hx, -p.z[0]));
      const L hy = abs(p.y[a]);
      angle_y[a] = face_angle(
          p.y[a], edge_factor(along_z[1][a], p.dz, hy, p.x[1]), edge_factor(along_z[0][a], p.dz, hy, -p.x[0]),
          edge_factor(along_x[a][1], p.dx, hy, p.z[1]), edge_factor(along_x[a][0], p.dx, hy, -p.z[0]));
    }
    const L hz = abs(p.z[a]);
    angle_z[a] =
        face_angle(p.z[a], edge_factor(along_y[1][a], p.dy, hz, p.x[1]), edge_factor(along_y[0][a], p.dy, hz, -p.x[0]),
                   edge_factor(along_x[1][a], p.dx, hz, p.y[1]), edge_factor(along_x[0][a], p.dx, hz, -p.y[0]));
  }

  // sums over the four edges of one direction, signed (-1)^(i+j) and weighted by an edge's coordinates
  const auto mixed = [](const Edge<L>(&e)[2][2]) { return (e[1][1].log - e[0][1].log) - (e[1][0].log - e[0][0].log); };
  const auto by_first = [](const Edge<L>(&e)[2][2], const L(&c)[2]) {
    return c[1] * (e[1][1].log - e[1][0].log) - c[0] * (e[0][1].log - e[0][0].log);
  };
  const auto by_second = [](const Edge<L>(&e)[2][2], const L(&c)[2]) {
    return c[1] * (e[1][1].log - e[0][1].log) - c[0] * (e[1][0].log - e[0][0].log);
  };
  FieldValues<set, L> out;
  if constexpr (W::potential) {
    const auto by_both = [](const Edge<L>(&e)[2][2], const L(&c)[2], const L(&d)[2]) {
      return c[1] * (d[1] * e[1][1].log.value() - d[0] * e[1][0].log.value()) -
             c[0] * (d[1] * e[0][1].log.value() - d[0] * e[0][0].log.value());
    };
    const L edges = by_both(along_z, p.x, p.y) + by_both(along_y, p.x, p.z) + by_both(along_x, p.y, p.z);
    const L faces = (xx[1] * angle_x[1] - xx[0] * angle_x[0]) + (yy[1] * angle_y[1] - yy[0] * angle_y[0]) +
                    (zz[1] * angle_z[1] - zz[0] * angle_z[0]);
    at<Field::potential>(out) = edges - L(T(0.5)) * faces;
  }
  if constexpr (W::vector) {
    at<Field::gx>(out) =
        (p.x[1] * angle_x[1] - p.x[0] * angle_x[0]) - by_second(along_z, p.y) - by_second(along_y, p.z);
    at<Field::gy>(out) = (p.y[1] * angle_y[1] - p.y[0] * angle_y[0]) - by_first(along_z, p.x) - by_second(along_x, p.z);
  }
  if constexpr (W::gz) {
    at<Field::gz>(out) = (p.z[1] * angle_z[1] - p.z[0] * angle_z[0]) - by_first(along_y, p.x) - by_first(along_x, p.y);
  }
  if constexpr (W::tensor) {
    at<Field::gxx>(out) = angle_x[0] - angle_x[1];
    at<Field::gyy>(out) = angle_y[0] - angle_y[1];
    at<Field::gzz>(out) = angle_z[0] - angle_z[1];
    at<Field::gxy>(out) = mixed(along_z);
    at<Field::gxz>(out) = mixed(along_y);
    at<Field::gyz>(out) = mixed(along_x);
  }
  return out;
}

template <class L>
struct Vector3 {
  L x, y, z;
};

/// Half width of the region about a prism's centre, in edges of each direction, where vector_about_centre serves.
inline constexpr double centre_reach = 1.0 / 16;

/// The vector close to the prism's centre, where it vanishes and a sum of terms of full size would leave it few digits:
/// g = -(integral over s in [0, 1] of T(s c)) c by the Gauss-Legendre rule of six nodes on [-1, 1], T being even.
/// (x, y, z) = c: centre minus point. Error below 1e-13 of |g| within centre_reach. docs/numerics.md, About the centre.
template <class L>
PRISMFIELD_LARGE_FUNCTION Vector3<L> vector_about_centre(const L x, const L y, const L z, value_t<L> dx, value_t<L> dy,
                                                         value_t<L> dz, value_t<L> metres) {
  using T = value_t<L>;
  constexpr T nodes[3] = {T(0.2386191860831969), T(0.6612093864662645), T(0.9324695142031521)};
  constexpr T weights[3] = {T(0.4679139345726910), T(0.3607615730481386), T(0.1713244923791704)};
  FieldValues<FieldSet::tensor, L> mean;
  mean.clear();
  for (int m = 0; m < 3; ++m) {
    PrismFaces<L> p;
    for (int i = 0; i < 2; ++i) {
      const T side = i == 0 ? T(-0.5) : T(0.5);
      p.x[i] = fma(x, L(nodes[m]), L(side * dx));
      p.y[i] = fma(y, L(nodes[m]), L(side * dy));
      p.z[i] = fma(z, L(nodes[m]), L(side * dz));
    }
    p.dx = dx;
    p.dy = dy;
    p.dz = dz;
    const auto tensor = compact_form<FieldSet::tensor, L>(p, metres);
    for (int f = 0; f < mean.size; ++f) mean.value[f] = fma(tensor.value[f], L(weights[m]), mean.value[f]);
  }
  const L gxy = at<Field::gxy>(mean);
  const L gxz = at<Field::gxz>(mean);
  const L gyz = at<Field::gyz>(mean);
  return {-(at<Field::gxx>(mean) * x + gxy * y + gxz * z), -(gxy * x + at<Field::gyy>(mean) * y + gyz * z),
          -(gxz * x + gyz * y + at<Field::gzz>(mean) * z)};
}

/// Logarithms of the four edges of one direction, at (f_i, s_j) in the plane across them, as differences that are never
/// formed by subtraction. docs/numerics.md, Difference-free form.
template <class L>
struct EdgeDifferences {
  /// sum of (-1)^(i+j) L_ij
  L mixed;
  /// mean over j of L_1j - L_0j, and over i of L_i1 - L_i0
  L mean_first, mean_second;
  /// mean of the four
  L mean;
};

/// `sum` [i][j]: end distances' sum of the edges of this direction, of length e, `part` their parts; q_first [j][k],
/// q_second [i][k]: inverse sums of the edges along the first and second direction; x, y: length times twice the centre
/// of first and second.
template <FieldSet set, class L>
PRISMFIELD_INLINE_FUNCTION EdgeDifferences<L> edge_differences(const L (&sum)[2][2], const L (&part)[2][2],
                                                               value_t<L> e, const L (&q_first)[2][2],
                                                               const L (&q_second)[2][2], const L& x, const L& y) {
  using T = value_t<L>;
  using W = Wants<set>;
  const L q0 = q_first[0][0] + q_first[0][1];
  const L t0 = q_second[0][0] + q_second[0][1];
  const L t1 = q_second[1][0] + q_second[1][1];
  const L p = (q_second[0][0] + q_second[1][0]) * q_first[0][0] * q_first[1][0] +
              (q_second[0][1] + q_second[1][1]) * q_first[0][1] * q_first[1][1];
  const L s = fma(sum[1][1], t0, sum[0][0] * t1);
  const L d0 = fma(sum[0][0], sum[1][0], L(-e * e));
  const L ends[2][2] = {{sum[0][0] + L(e), sum[0][1] + L(e)}, {sum[1][0] + L(e), sum[1][1] + L(e)}};
  const L ex = L(e) * x;
  const L like = ends[0][0] * ends[1][1];
  const L unlike = ends[0][1] * ends[1][0];
  const L half(T(0.5));
  EdgeDifferences<L> out;
  out.mixed = log_quotient(part[0][1] * part[1][0] * (like * like), part[0][0] * part[1][1] * (unlike * unlike),
                           half * like * unlike * (ex * y * fma(p, d0, q0 * s)));
  if constexpr (W::gz) {
    const auto difference = [&](const L& near_end, const L& near_part, const L& far_end, const L& far_part,
                                const L& grows) {
      return log_quotient(near_part * (far_end * far_end), far_part * (near_end * near_end),
                          -grows * near_end * far_end);
    };
    const L first_0 = difference(ends[0][0], part[0][0], ends[1][0], part[1][0], ex * q0);
    const L second_0 = difference(ends[0][0], part[0][0], ends[0][1], part[0][1], L(e) * y * t0);
    out.mean_first = fma(half, out.mixed, first_0);
    out.mean_second = fma(half, out.mixed, second_0);
    if constexpr (W::potential) {
      const L two(T(2));
      const L corner = log_quotient(ends[0][0] * ends[0][0], two * part[0][0], L(T(2) * e) * ends[0][0]);
      out.mean = corner + half * (first_0 + second_0) + L(T(0.25)) * out.mixed;
    }
  }
  return out;
}

/// Of the edge between corners at distances a and b whose directions have this product: a b + product, without the
/// cancellation beside the edge. cross_squared: the squared distance from its line times its squared length.
template <class L>
PRISMFIELD_INLINE_FUNCTION L edge_part(const L& a, const L& b, const L& product, const L& cross_squared) {
  const L zero(value_t<L>(0));
  const auto acute = zero <= product;
  const L size = fma(a, b, abs(product));
  return select(acute, size, cross_squared / size);
}

/// What the angle of a right-angled triangle at two heights, faces 0 and 1 of a prism, is made of: docs/numerics.md,
/// Difference-free form. [face].
template <class L>
struct TriangleAtHeights {
  L d[2];
  /// (d[1] - d[0]) over the difference of the squared heights
  L slope;
};

/// b is the distance of the right angle's corner, a and c those of the other two, [face]; along_a and along_c the
/// sides' sums of distances and parts; q_a, q_b, q_c the inverse sums of a, b, c over the faces. outward_a, outward_c:
/// the product of the side with the direction from the point to the right angle. long_a: side a is not the shorter one.
template <class L>
PRISMFIELD_INLINE_FUNCTION TriangleAtHeights<L> triangle_at_heights(const L (&a)[2], const L (&b)[2], const L (&c)[2],
                                                                    const L& q_a, const L& q_b, const L& q_c,
                                                                    const L (&sum_a)[2], const L (&sum_c)[2],
                                                                    const L (&part_a)[2], const L (&part_c)[2],
                                                                    const L& outward_a, const L& outward_c,
                                                                    bool long_a) {
  using T = value_t<L>;
  const L zero(T(0));
  // d = part of one side times the sum of the other plus the other's product times the one's sum: of the two the sum
  // without cancellation, or the one with the longer side's part
  const auto by_a = long_a ? !(outward_c < zero && zero <= outward_a) : (zero <= outward_c && outward_a < zero);
  TriangleAtHeights<L> out;
  const L outward = select(by_a, outward_c, outward_a);
  const L q_one = select(by_a, q_a, q_c);
  const L q_other = select(by_a, q_c, q_a);
  L part[2], one[2], other[2];
  for (int i = 0; i < 2; ++i) {
    part[i] = select(by_a, part_a[i], part_c[i]);
    one[i] = select(by_a, sum_a[i], sum_c[i]);
    other[i] = select(by_a, sum_c[i], sum_a[i]);
    out.d[i] = fma(part[i], other[i], outward * one[i]);
  }
  const L grows = L(T(1)) + q_one * b[1] + select(by_a, a[0], c[0]) * q_b;
  out.slope = fma(grows, other[1], fma(part[0], q_b + q_other, outward * (q_one + q_b)));
  return out;
}

/// Signed solid angle of the face 0 of a direction, and that of face 1 minus it, which is no difference of nearly equal
/// numbers. h: the heights of both; the rectangle's sides u and v of lengths du and dv; r [face][iu][iv]; q [iu][iv]:
/// inverse sums of r over the faces; sum_u, part_u [face][iv] and sum_v, part_v [face][iu] of the sides.
template <class L>
struct FaceAngles {
  L first, difference;
};
template <class L>
PRISMFIELD_INLINE_FUNCTION FaceAngles<L> far_face_angles(const L (&h)[2], value_t<L> dh, const L (&u)[2],
                                                         const L (&v)[2], value_t<L> du, value_t<L> dv,
                                                         const L (&r)[2][2][2], const L (&q)[2][2],
                                                         const L (&sum_u)[2][2], const L (&sum_v)[2][2],
                                                         const L (&part_u)[2][2], const L (&part_v)[2][2]) {
  using T = value_t<L>;
  TriangleAtHeights<L> t[2];
  for (int i = 0; i < 2; ++i) {
    // the right angle at (u_i, v_i); a at the other end of the side along u, c of that along v
    const int o = 1 - i;
    const L a[2] = {r[0][o][i], r[1][o][i]};
    const L b[2] = {r[0][i][i], r[1][i][i]};
    const L c[2] = {r[0][i][o], r[1][i][o]};
    const L sum_a[2] = {sum_u[0][i], sum_u[1][i]};
    const L sum_c[2] = {sum_v[0][i], sum_v[1][i]};
    const L part_a[2] = {part_u[0][i], part_u[1][i]};
    const L part_c[2] = {part_v[0][i], part_v[1][i]};
    const T sign = i == 0 ? T(1) : T(-1);
    t[i] = triangle_at_heights(a, b, c, q[o][i], q[i][i], q[i][o], sum_a, sum_c, part_a, part_c, L(sign * du) * u[i],
                               L(sign * dv) * v[i], dv <= du);
  }
  const L area(du * dv);
  L total[2], re[2], im[2], size[2];
  for (int i = 0; i < 2; ++i) {
    const L n = h[i] * area;
    const L nn = n * n;
    const L dd = t[0].d[i] * t[1].d[i];
    total[i] = t[0].d[i] + t[1].d[i];
    im[i] = n * total[i];
    re[i] = dd - nn;
    size[i] = abs(dd) + nn;
  }
  // im[1] re[0] - im[0] re[1]: far away by the differences with the squared heights, near by itself, whichever has the
  // smaller terms
  const L heights = h[0] * (h[0] + h[1]);
  const L slope = t[0].slope + t[1].slope;
  const L slope_of_re = fma(t[0].slope, t[1].d[1], fma(t[0].d[0], t[1].slope, -area * area));
  const L by_slopes = area * L(dh) * fma(total[1], re[0], heights * fma(slope, re[0], -total[0] * slope_of_re));
  const L size_of_slope = fma(t[0].slope, abs(t[1].d[1]), fma(abs(t[0].d[0]), t[1].slope, area * area));
  const L size_by_slopes =
      area * L(dh) * fma(abs(total[1]), size[0], abs(heights) * fma(slope, size[0], abs(total[0]) * size_of_slope));
  const L across =
      select(size_by_slopes < fma(abs(im[1]), size[0], abs(im[0]) * size[1]), by_slopes, im[1] * re[0] - im[0] * re[1]);
  return {L(T(2)) * atan2(im[0], re[0]), L(T(2)) * atan2(across, fma(re[0], re[1], im[0] * im[1]))};
}

/// Fields from about one edge away: differences of logarithms are formed before the logarithm, so that only eps t is
/// lost at t edges. docs/numerics.md, Difference-free form. Not for points near or inside the prism.
// long: the steps share nearly all of their values, and read side by side with the formulas
template <FieldSet set, class L>
PRISMFIELD_LARGE_FUNCTION FieldValues<set, L> difference_free_form(const PrismFaces<L>& p) {
  using T = value_t<L>;
  using W = Wants<set>;
  L r[2][2][2];
  corner_distances(p, r);
  L sum_x[2][2], sum_y[2][2], sum_z[2][2];  // [j][k], [i][k], [i][j]
  L q_x[2][2], q_y[2][2], q_z[2][2];
  L part_x[2][2], part_y[2][2], part_z[2][2];
  const L one(T(1));
  const L xx[2] = {p.x[0] * p.x[0], p.x[1] * p.x[1]};
  const L yy[2] = {p.y[0] * p.y[0], p.y[1] * p.y[1]};
  const L zz[2] = {p.z[0] * p.z[0], p.z[1] * p.z[1]};
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 2; ++b) {
      sum_x[a][b] = r[0][a][b] + r[1][a][b];
      sum_y[a][b] = r[a][0][b] + r[a][1][b];
      sum_z[a][b] = r[a][b][0] + r[a][b][1];
      q_x[a][b] = one / sum_x[a][b];
      q_y[a][b] = one / sum_y[a][b];
      q_z[a][b] = one / sum_z[a][b];
      const L to_x = yy[a] + zz[b];
      const L to_y = xx[a] + zz[b];
      const L to_z = xx[a] + yy[b];
      part_x[a][b] = edge_part(r[0][a][b], r[1][a][b], fma(p.x[0], p.x[1], to_x), to_x * L(p.dx * p.dx));
      part_y[a][b] = edge_part(r[a][0][b], r[a][1][b], fma(p.y[0], p.y[1], to_y), to_y * L(p.dy * p.dy));
      part_z[a][b] = edge_part(r[a][b][0], r[a][b][1], fma(p.z[0], p.z[1], to_z), to_z * L(p.dz * p.dz));
    }
  }
  const L sx = p.x[0] + p.x[1];
  const L sy = p.y[0] + p.y[1];
  const L sz = p.z[0] + p.z[1];
  const L x2 = L(p.dx) * sx;
  const L y2 = L(p.dy) * sy;
  const L z2 = L(p.dz) * sz;
  // the inverse sums' indices follow [edge's place in the other direction][k along this one]
  const L q_y_by_zx[2][2] = {{q_y[0][0], q_y[1][0]}, {q_y[0][1], q_y[1][1]}};
  const L q_z_by_yx[2][2] = {{q_z[0][0], q_z[1][0]}, {q_z[0][1], q_z[1][1]}};
  const L q_x_by_zy[2][2] = {{q_x[0][0], q_x[1][0]}, {q_x[0][1], q_x[1][1]}};
  EdgeDifferences<L> along_z{};
  if constexpr (W::vector || W::tensor) along_z = edge_differences<set, L>(sum_z, part_z, p.dz, q_x, q_y, x2, y2);
  // along y: first x, second z, k along y; along x: first y, second z, k along x
  const EdgeDifferences<L> along_y = edge_differences<set, L>(sum_y, part_y, p.dy, q_x_by_zy, q_z, x2, z2);
  const EdgeDifferences<L> along_x = edge_differences<set, L>(sum_x, part_x, p.dx, q_y_by_zx, q_z_by_yx, y2, z2);

  FaceAngles<L> angle_x{}, angle_y{}, angle_z;
  if constexpr (W::vector || W::tensor) {
    angle_x = far_face_angles(p.x, p.dx, p.y, p.z, p.dy, p.dz, r, q_x, sum_y, sum_z, part_y, part_z);
    const L by_y[2][2][2] = {{{r[0][0][0], r[0][0][1]}, {r[1][0][0], r[1][0][1]}},
                             {{r[0][1][0], r[0][1][1]}, {r[1][1][0], r[1][1][1]}}};
    const L sum_z_by_y[2][2] = {{sum_z[0][0], sum_z[1][0]}, {sum_z[0][1], sum_z[1][1]}};
    const L part_z_by_y[2][2] = {{part_z[0][0], part_z[1][0]}, {part_z[0][1], part_z[1][1]}};
    angle_y = far_face_angles(p.y, p.dy, p.x, p.z, p.dx, p.dz, by_y, q_y, sum_x, sum_z_by_y, part_x, part_z_by_y);
  }
  const auto turned = [](const L(&m)[2][2], L(&to)[2][2]) {
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) to[a][b] = m[b][a];
    }
  };
  L by_z[2][2][2], sum_x_by_z[2][2], sum_y_by_z[2][2], part_x_by_z[2][2], part_y_by_z[2][2];
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 2; ++b) {
      for (int c = 0; c < 2; ++c) by_z[c][a][b] = r[a][b][c];
    }
  }
  turned(sum_x, sum_x_by_z);
  turned(sum_y, sum_y_by_z);
  turned(part_x, part_x_by_z);
  turned(part_y, part_y_by_z);
  angle_z =
      far_face_angles(p.z, p.dz, p.x, p.y, p.dx, p.dy, by_z, q_z, sum_x_by_z, sum_y_by_z, part_x_by_z, part_y_by_z);
  const L half(T(0.5));
  FieldValues<set, L> out;
  const L cx = half * sx;
  const L cy = half * sy;
  const L cz = half * sz;
  const L dx(p.dx), dy(p.dy), dz(p.dz);
  if constexpr (W::potential) {
    const auto edges = [](const EdgeDifferences<L>& e, const L& cf, const L& cs, const L& df, const L& ds) {
      return cf * (cs * e.mixed + ds * e.mean_first) + df * (cs * e.mean_second + ds * e.mean);
    };
    const auto faces = [&](const FaceAngles<L>& angle, const L& c, const L& d) {
      return fma(c, c, L(T(0.25)) * d * d) * angle.difference + c * d * fma(L(T(2)), angle.first, angle.difference);
    };
    at<Field::potential>(out) = edges(along_z, cx, cy, dx, dy) + edges(along_y, cx, cz, dx, dz) +
                                edges(along_x, cy, cz, dy, dz) -
                                half * (faces(angle_x, cx, dx) + faces(angle_y, cy, dy) + faces(angle_z, cz, dz));
  }
  const auto face = [&](const FaceAngles<L>& angle, const L& c, const L& d) {
    return c * angle.difference + d * fma(half, angle.difference, angle.first);
  };
  const auto by_first = [](const EdgeDifferences<L>& e, const L& c, const L& d) {
    return fma(c, e.mixed, d * e.mean_second);
  };
  const auto by_second = [](const EdgeDifferences<L>& e, const L& c, const L& d) {
    return fma(c, e.mixed, d * e.mean_first);
  };
  if constexpr (W::vector) {
    at<Field::gx>(out) = face(angle_x, cx, dx) - by_second(along_z, cy, dy) - by_second(along_y, cz, dz);
    at<Field::gy>(out) = face(angle_y, cy, dy) - by_first(along_z, cx, dx) - by_second(along_x, cz, dz);
  }
  if constexpr (W::gz) {
    at<Field::gz>(out) = face(angle_z, cz, dz) - by_first(along_y, cx, dx) - by_first(along_x, cy, dy);
  }
  if constexpr (W::tensor) {
    at<Field::gxx>(out) = -angle_x.difference;
    at<Field::gyy>(out) = -angle_y.difference;
    at<Field::gzz>(out) = -angle_z.difference;
    at<Field::gxy>(out) = along_z.mixed;
    at<Field::gxz>(out) = along_y.mixed;
    at<Field::gyz>(out) = along_x.mixed;
  }
  return out;
}

/// A quantity at the four edges of one direction, [i][j] at (f_i, s_j) in the plane across them, and its differences
/// divided by those of f^2 and s^2, none of them formed by subtraction: first[j] of (1, j) - (0, j), second[i] of
/// (i, 1) - (i, 0), mixed of both. docs/numerics.md, Third derivatives.
template <class L>
struct OverEdges {
  L at[2][2];
  L first[2], second[2];
  L mixed;
};
template <class L>
PRISMFIELD_INLINE_FUNCTION OverEdges<L> operator+(const OverEdges<L>& a, const OverEdges<L>& b) {
  OverEdges<L> out;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) out.at[i][j] = a.at[i][j] + b.at[i][j];
    out.first[i] = a.first[i] + b.first[i];
    out.second[i] = a.second[i] + b.second[i];
  }
  out.mixed = a.mixed + b.mixed;
  return out;
}
template <class L>
PRISMFIELD_INLINE_FUNCTION OverEdges<L> operator*(const OverEdges<L>& a, const OverEdges<L>& b) {
  OverEdges<L> out;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) out.at[i][j] = a.at[i][j] * b.at[i][j];
    out.first[i] = fma(a.at[1][i], b.first[i], a.first[i] * b.at[0][i]);
    out.second[i] = fma(a.at[i][1], b.second[i], a.second[i] * b.at[i][0]);
  }
  out.mixed =
      fma(a.at[1][1], b.mixed, fma(a.second[1], b.first[0], fma(a.first[1], b.second[0], a.mixed * b.at[0][0])));
  return out;
}
/// 1/a; 1 where a is 0, at edges and corners: what they are multiplied by is 0 there.
template <class L>
PRISMFIELD_INLINE_FUNCTION OverEdges<L> inverse(const OverEdges<L>& a) {
  const L zero(value_t<L>(0)), one(value_t<L>(1));
  OverEdges<L> out;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) out.at[i][j] = one / select(a.at[i][j] == zero, one, a.at[i][j]);
  }
  for (int i = 0; i < 2; ++i) {
    out.first[i] = -a.first[i] * (out.at[0][i] * out.at[1][i]);
    out.second[i] = -a.second[i] * (out.at[i][0] * out.at[i][1]);
  }
  out.mixed = -out.at[1][1] * fma(a.second[1], out.first[0], fma(a.first[1], out.second[0], a.mixed * out.at[0][0]));
  return out;
}

/// Distances r of corners that are one end of these edges.
template <class L>
PRISMFIELD_INLINE_FUNCTION OverEdges<L> distances_over_edges(const L (&r)[2][2]) {
  const L one(value_t<L>(1));
  OverEdges<L> out;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) out.at[i][j] = r[i][j];
    out.first[i] = one / (r[0][i] + r[1][i]);
    out.second[i] = one / (r[i][0] + r[i][1]);
  }
  out.mixed = -(out.first[0] * out.first[1]) * (out.second[0] + out.second[1]);
  return out;
}

/// The sums over the four edges of one direction, of length e with ends at a, of (-1)^(i+j) f_i and s_j times the
/// integral of 1/r^3 along the edge.
template <class L>
struct EdgeSums {
  L by_first, by_second;
};

/// r [end][i][j]; df, ds: lengths of the edges along f and s.
template <class L>
PRISMFIELD_INLINE_FUNCTION EdgeSums<L> sums_of_edges(const L (&r)[2][2][2], const L (&f)[2], const L (&s)[2],
                                                     const L (&a)[2], value_t<L> df, value_t<L> ds, value_t<L> e) {
  using T = value_t<L>;
  const L zero(T(0)), one(T(1)), half(T(0.5));
  const OverEdges<L> low = distances_over_edges(r[0]), high = distances_over_edges(r[1]);
  OverEdges<L> part = low * high;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const L w2 = fma(f[i], f[i], s[j] * s[j]);
      part.at[i][j] = edge_part(r[0][i][j], r[1][i][j], fma(a[0], a[1], w2), w2 * L(e * e));
    }
    part.first[i] = part.first[i] + one;
    part.second[i] = part.second[i] + one;
  }
  const OverEdges<L> integral = (inverse(low) + inverse(high)) * inverse(part);
  const auto on_edge = min(min(part.at[0][0], part.at[0][1]), min(part.at[1][0], part.at[1][1])) == zero;
  // x_1 d_1 - x_0 d_0 by itself, or by its centre and the differences of d, whichever has the smaller terms
  const auto weighted = [&](const L(&x)[2], value_t<L> dx, const L(&d)[2]) {
    const L centre = half * (x[0] + x[1]);
    const L by_centre = L(T(2) * dx) * (centre * centre) * integral.mixed;
    const L by_mean = L(T(0.5) * dx) * (d[0] + d[1]);
    const L high_side = x[1] * d[1], low_side = x[0] * d[0];
    const auto by_sides = on_edge || abs(high_side) + abs(low_side) < abs(by_centre) + abs(by_mean);
    return L(e) * select(by_sides, high_side - low_side, by_centre + by_mean);
  };
  return {L(ds) * (s[0] + s[1]) * weighted(f, df, integral.second),
          L(df) * (f[0] + f[1]) * weighted(s, ds, integral.first)};
}

/// Third derivatives at any place, near, inside and far, to some ten eps: algebraic sums over edges. On faces their
/// value, which is that of both sides, though gxx, gyy and gzz jump there; on edges and corners the finite part.
/// docs/numerics.md, Third derivatives.
template <class L>
PRISMFIELD_LARGE_FUNCTION ThirdDerivatives<L> third_derivatives(const PrismFaces<L>& p) {
  const L zero(value_t<L>(0)), one(value_t<L>(1));
  L r[2][2][2], along_y[2][2][2], along_z[2][2][2];
  corner_distances(p, r);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 2; ++k) {
        along_y[j][i][k] = r[i][j][k];
        along_z[k][i][j] = r[i][j][k];
      }
    }
  }
  const EdgeSums<L> x = sums_of_edges(r, p.y, p.z, p.x, p.dy, p.dz, p.dx);
  const EdgeSums<L> y = sums_of_edges(along_y, p.x, p.z, p.y, p.dx, p.dz, p.dy);
  const EdgeSums<L> z = sums_of_edges(along_z, p.x, p.y, p.z, p.dx, p.dy, p.dz);
  ThirdDerivatives<L> out;
  out.yyz = x.by_first;
  out.yzz = x.by_second;
  out.xxz = y.by_first;
  out.xzz = y.by_second;
  out.xxy = z.by_first;
  out.xyy = z.by_second;
  out.xxx = -(out.xyy + out.xzz);
  out.yyy = -(out.xxy + out.yzz);
  out.zzz = -(out.xxz + out.yyz);
  const OverEdges<L> west = distances_over_edges(r[0]), east = distances_over_edges(r[1]);
  const L of_corners = (inverse(west) * inverse(east) * inverse(west + east)).mixed;
  out.xyz = L(p.dx * p.dy * p.dz) * (p.x[0] + p.x[1]) * ((p.y[0] + p.y[1]) * (p.z[0] + p.z[1])) * of_corners;
  L nearest = r[0][0][0];
  for (int c = 1; c < 8; ++c) nearest = min(nearest, r[c / 4][c / 2 % 2][c % 2]);
  const auto at_corner = nearest == zero;
  if (any(at_corner)) {
    L sum = zero;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        for (int k = 0; k < 2; ++k) {
          const L part = select(r[i][j][k] == zero, zero, one / r[i][j][k]);
          sum = (i + j + k) % 2 == 0 ? sum + part : sum - part;
        }
      }
    }
    out.xyz = select(at_corner, sum, out.xyz);
  }
  return out;
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel
