// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/forms.hpp>

#include "kernel/choose_form.hpp"
#include "kernel/corners.hpp"
#include "kernel/magnetic.hpp"

namespace prismfield::kernel {

/// Pairs taken by each form.
struct FormCounts {
  std::int64_t count[n_forms] = {};

  constexpr void add(Form form, int pairs) { count[static_cast<int>(form)] += pairs; }
};

inline namespace PRISMFIELD_LANES {

/// The lane types of one arithmetic with W points side by side; Vector<T, W> is HostLane, or T itself on a device.
template <class A, template <class, int> class Vector, int W>
struct Lanes {
  using Arithmetic = A;
  using Real = Vector<typename A::Real, W>;
  static constexpr int width = W;
  static_assert(lanes_v<Real> == W);
};

/// Number of the first `valid` lanes whose mask is set.
template <class L, class M>
PRISMFIELD_INLINE_FUNCTION int count_lanes(const M& mask, int valid) {
  value_t<L> flag[lanes_v<L>];
  store(select(mask, L(value_t<L>(1)), L(value_t<L>(0))), flag);
  int n = 0;
  for (int i = 0; i < lanes_v<L>; ++i) n += (i < valid && flag[i] != value_t<L>(0)) ? 1 : 0;
  return n;
}

/// Factor from a field in the prism's unit of length to metres: V unit^2, g unit, T and B 1, B's gradient 1/unit.
/// Doubles are in metres already.
template <Field f, class R>
PRISMFIELD_INLINE_FUNCTION R unit_factor(R unit) {
  constexpr int order = native_derivatives[static_cast<std::size_t>(f)].order();
  constexpr int power = is_magnetic_native(f) ? 1 - order : 2 - order;
  return power == 2 ? unit * unit : power == 1 ? unit : power == 0 ? R(1) : R(1) / unit;
}

/// Points within so many ulp, of the larger of the two coordinates, of a face's coordinate lie on it. Coordinates that
/// were one place in double are the same float or neighbours.
template <class T>
inline constexpr int ulps_of_a_face = sizeof(T) == 8 ? 4 : 1;

/// The prism's faces as a lane of points sees them, in the prism's unit.
template <class Ls>
PRISMFIELD_INLINE_FUNCTION PrismFaces<typename Ls::Real> faces_seen(const NearPrism<typename Ls::Arithmetic>& prism,
                                                                    value_t<typename Ls::Real> inverse_unit,
                                                                    const typename Ls::Real& px,
                                                                    const typename Ls::Real& py,
                                                                    const typename Ls::Real& pz) {
  using L = typename Ls::Real;
  PrismFaces<L> p;
  for (int i = 0; i < 2; ++i) {
    p.x[i] = L(prism.x[i]) - px;
    p.y[i] = L(prism.y[i]) - py;
    p.z[i] = L(prism.z[i]) - pz;
    if constexpr (sizeof(value_t<L>) == 4) {
      p.x[i] = p.x[i] * L(inverse_unit);
      p.y[i] = p.y[i] * L(inverse_unit);
      p.z[i] = p.z[i] * L(inverse_unit);
    }
  }
  p.dx = prism.dx;
  p.dy = prism.dy;
  p.dz = prism.dz;
  return p;
}

/// Whether a face is so near to any of the points (see faces_seen()) that move_onto_prism() may move one. It takes few
/// operations, most of them for the prism alone.
template <class Ls>
PRISMFIELD_INLINE_FUNCTION bool any_may_touch(const NearPrism<typename Ls::Arithmetic>& prism,
                                              value_t<typename Ls::Real> inverse_unit,
                                              const Kokkos::Array<value_t<typename Ls::Real>, 3>& rounding,
                                              const PrismFaces<typename Ls::Real>& seen) {
  using L = typename Ls::Real;
  using R = value_t<L>;
  const auto reach = [&](const R(&face)[2], R along) {
    constexpr R ulps = R(2 * ulps_of_a_face<R>) * Kokkos::Experimental::epsilon_v<R>;
    const R metres = ulps * Kokkos::max(Kokkos::abs(face[0]), Kokkos::abs(face[1])) + R(2) * along;
    return L(sizeof(R) == 4 ? metres * inverse_unit : metres);
  };
  return any(min(abs(seen.x[0]), abs(seen.x[1])) <= reach(prism.x, rounding[0]) ||
             min(abs(seen.y[0]), abs(seen.y[1])) <= reach(prism.y, rounding[1]) ||
             min(abs(seen.z[0]), abs(seen.z[1])) <= reach(prism.z, rounding[2]));
}

/// A coordinate of the points, or that of the nearer of two faces where they are equal to ulps_of_a_face and
/// `rounding`.
template <class C>
PRISMFIELD_INLINE_FUNCTION C moved_onto_face(const value_t<C> (&face)[2], const C& point, value_t<C> rounding) {
  using T = value_t<C>;
  const C low = abs(C(face[0]) - point), high = abs(C(face[1]) - point);
  const auto low_is_nearer = low <= high;
  const C nearer = select(low_is_nearer, C(face[0]), C(face[1]));
  const C tolerance = fma(power_of_two_below(max(abs(nearer), abs(point))),
                          C(T(ulps_of_a_face<T>) * Kokkos::Experimental::epsilon_v<T>), C(rounding));
  return select(min(low, high) <= tolerance, nearer, point);
}

/// Moves points that lie on the prism within that tolerance onto its faces.
template <class A, class C>
PRISMFIELD_INLINE_FUNCTION void move_onto_prism(const NearPrism<A>& near, const Kokkos::Array<value_t<C>, 3>& rounding,
                                                C& px, C& py, C& pz) {
  const C x = moved_onto_face(near.x, px, rounding[0]);
  const C y = moved_onto_face(near.y, py, rounding[1]);
  const C z = moved_onto_face(near.z, pz, rounding[2]);
  const auto touches = C(near.x[0]) <= x && x <= C(near.x[1]) && C(near.y[0]) <= y && y <= C(near.y[1]) &&
                       C(near.z[0]) <= z && z <= C(near.z[1]);
  px = select(touches, x, px);
  py = select(touches, y, py);
  pz = select(touches, z, pz);
}

/// Adds a closed form's fields, where `mask` is set, times density or amount and units.
template <class Ls, FieldSet set, class M>
PRISMFIELD_INLINE_FUNCTION void add_where(const M& mask, const FieldValues<set, typename Ls::Real>& values,
                                          value_t<typename Ls::Real> density, value_t<typename Ls::Real> unit,
                                          FieldValues<set, typename Ls::Real>& sums) {
  using L = typename Ls::Real;
  using R = value_t<L>;
  for_each_field<set>([&](auto field) {
    constexpr int i = FieldValues<set, L>::index(decltype(field)::value);
    R factor = density;
    if constexpr (sizeof(R) == 4) factor *= unit_factor<decltype(field)::value>(unit);
    const L value = select(mask, values.value[i] * L(factor), L(R(0)));
    sums.value[i] = sums.value[i] + value;
  });
}

/// What add_near found for one lane of points.
template <class Ls, FieldSet set>
struct NearFields {
  FieldValues<set, typename Ls::Real> values;
  /// lanes that took each form; all others took the multipole of order 8
  int compact;
  int difference_free;
};

/// One prism's multipole of order 2 half_order at these places from its centre, in the shape's unit.
template <int half_order, class Ls, FieldSet set, class Shape>
PRISMFIELD_INLINE_FUNCTION FieldValues<set, typename Ls::Real> far_fields(
    const Shape& shape, const WeightOf<typename Ls::Arithmetic, set>& weight, const typename Ls::Real& x,
    const typename Ls::Real& y, const typename Ls::Real& z, const typename Ls::Real& s) {
  using L = typename Ls::Real;
  constexpr FieldSet from = gravity_of(set);
  FieldValues<from, L> gravity;
  ThirdOf<set, L> third;
  multipole_form<half_order, from>(
      shape.coefficients, weight.mass, x, y, z, s,
      [&](auto field, const L& a, const L& b) {
        constexpr int i = FieldValues<from, L>::index(decltype(field)::value);
        gravity.value[i] = a * b;
        if constexpr (sizeof(value_t<L>) == 4) {
          const auto unit = unit_factor<decltype(field)::value>(shape.unit);
          gravity.value[i] = gravity.value[i] * L(unit);
        }
      },
      &third);
  auto fields = composed<set, L, typename Ls::Arithmetic>(gravity, third, weight);
  if constexpr (has_magnetic_gradient(set) && sizeof(value_t<L>) == 4) {
    constexpr int first = FieldValues<set, L>::index(Field::bxx);
    for (int f = first; f < fields.size; ++f) {
      fields.value[f] = fields.value[f] * L(shape.inverse_unit);
    }
  }
  return fields;
}

/// Calls add(mask, fields) for the closed forms that lanes take, each that which is right for its own distance, lanes
/// of `is_far` none; returns how many of the first `valid` lanes are compact. (x, y, z): centre minus point, `metres`
/// of the faces' unit.
template <FieldSet all, class A, class L, class M, class Add>
PRISMFIELD_INLINE_FUNCTION int add_closed_forms(const PrismFaces<L>& p, const L& gap2, const WeightOf<A, all>& weight,
                                                const L& x, const L& y, const L& z, value_t<L> compact_squared,
                                                value_t<L> metres, const M& is_far, int valid, const Add& add) {
  using R = value_t<L>;
  constexpr FieldSet set = gravity_of(all);
  const ThirdOf<all, L> third = third_of<all>(p);
  // a far lane is never compact: a multipole's range begins beyond the compact form's reach
  const auto is_compact = takes_compact(compact_squared, gap2);
  int n_compact = 0;
  if (any(is_compact)) {
    auto values = compact_form<set, L>(p, metres);
    if constexpr (Wants<set>::gz) {
      const auto central = abs(x) < L(p.dx * R(centre_reach)) && abs(y) < L(p.dy * R(centre_reach)) &&
                           abs(z) < L(p.dz * R(centre_reach));
      if (any(central)) {
        const Vector3<L> g = vector_about_centre(x, y, z, p.dx, p.dy, p.dz, metres);
        if constexpr (Wants<set>::vector) {
          at<Field::gx>(values) = select(central, g.x, at<Field::gx>(values));
          at<Field::gy>(values) = select(central, g.y, at<Field::gy>(values));
        }
        at<Field::gz>(values) = select(central, g.z, at<Field::gz>(values));
      }
    }
    auto fields = composed<all, L, A>(values, third, weight);
    if constexpr (has_magnetic(all)) {
      if (any(gap2 <= L(R(0)))) add_inside(weight, part_inside(p), fields);
    }
    add(is_compact, fields);
    n_compact = count_lanes<L>(is_compact, valid);
  }
  const auto is_between = !(is_compact || is_far);
  if (any(is_between)) add(is_between, composed<all, L, A>(difference_free_form<set, L>(p), third, weight));
  return n_compact;
}

/// Calls on_contact(lane, faces) for every valid lane that lies in or on the prism.
template <class L, class Contact>
PRISMFIELD_INLINE_FUNCTION void tell_contacts(const PrismFaces<L>& p, const L& gap2, int valid,
                                              const Contact& on_contact) {
  using R = value_t<L>;
  if (!any(gap2 <= L(R(0)))) return;
  R gap[lanes_v<L>];
  store(gap2, gap);
  for (int i = 0; i < lanes_v<L>; ++i) {
    if (i < valid && gap[i] <= R(0)) on_contact(i, p);
  }
}

/// Fields of one prism at lanes that no multipole may take alone: each lane takes the form that is right for its own
/// distance. `on_contact(lane, faces)` is called for every valid lane that lies in or on the prism. On a host
/// kept out of line and returned by value, so that the far path next to it keeps its sums in registers.
template <class Ls, FieldSet set, class Contact, class Shape>
PRISMFIELD_LARGE_FUNCTION NearFields<Ls, set> near_fields(
    const Shape& shape, const NearPrism<typename Ls::Arithmetic>& near,
    const WeightOf<typename Ls::Arithmetic, set>& weight, const typename Ls::Real px, const typename Ls::Real py,
    const typename Ls::Real pz, const Kokkos::Array<value_t<typename Ls::Real>, 3>& rounding, const typename Ls::Real x,
    const typename Ls::Real y, const typename Ls::Real z, const typename Ls::Real s, int valid,
    const Contact on_contact) {
  using L = typename Ls::Real;
  using R = value_t<L>;
  NearFields<Ls, set> out;
  out.values.clear();
  const auto is_far = takes_multipole(shape.ranges.squared[0], s);
  int n_left = valid;
  if (any(is_far)) {
    const L away = select(is_far, s, L(shape.ranges.squared[0]));
    const FieldValues<set, L> far = far_fields<Shape::half_order, Ls, set>(shape, weight, x, y, z, away);
    for (int f = 0; f < far.size; ++f) {
      out.values.value[f] = out.values.value[f] + select(is_far, far.value[f], L(R(0)));
    }
    n_left -= count_lanes<L>(is_far, valid);
  }
  const PrismFaces<L> p = faces_seen<Ls>(near, shape.inverse_unit, px, py, pz);
  const L gap2 = gap_squared(p);
  // all others are further away
  PrismFaces<L> touching = p;
  if (any(takes_compact(shape.compact_squared, gap2)) && any_may_touch<Ls>(near, shape.inverse_unit, rounding, p)) {
    typename Ls::Real moved_x = px, moved_y = py, moved_z = pz;
    move_onto_prism(near, rounding, moved_x, moved_y, moved_z);
    touching = faces_seen<Ls>(near, shape.inverse_unit, moved_x, moved_y, moved_z);
  }
  out.compact = add_closed_forms<set, typename Ls::Arithmetic>(
      touching, gap2, weight, x, y, z, shape.compact_squared, shape.unit, is_far, valid,
      [&](const auto& mask, const FieldValues<set, L>& values) {
        add_where<Ls, set>(mask, values, weight.density, shape.unit, out.values);
      });
  if (out.compact > 0) tell_contacts(touching, gap_squared(touching), valid, on_contact);
  out.difference_free = n_left - out.compact;
  return out;
}

/// The prism's faces in metres as a point, metres, sees them, and its centre minus the point: in doubles, though the
/// prism is prepared for floats.
template <class A, std::size_t alignment, int most>
PRISMFIELD_INLINE_FUNCTION PrismFaces<double> faces_in_double(const PrismShape<A, most>& shape,
                                                              const FarPrism<A, alignment>& far,
                                                              const NearPrism<A>& near, const double (&point)[3],
                                                              double (&centre)[3]) {
  const typename A::Real* const face[3] = {near.x, near.y, near.z};
  const double relative[3] = {static_cast<double>(near.dx), static_cast<double>(near.dy), static_cast<double>(near.dz)};
  PrismFaces<double> p;
  double* const seen[3] = {p.x, p.y, p.z};
  double* const edge[3] = {&p.dx, &p.dy, &p.dz};
  for (int d = 0; d < 3; ++d) {
    centre[d] = (static_cast<double>(far.center[d]) - point[d]) + static_cast<double>(far.center_low[d]);
    // faces that are floats may lie further off than a thin prism is thick
    *edge[d] = relative[d] * static_cast<double>(shape.unit);
    for (int i = 0; i < 2; ++i) {
      // a point whose floats are the face's lies on it
      const double to_face = static_cast<double>(face[d][i]) - point[d];
      seen[d][i] = to_face == 0.0 ? 0.0 : centre[d] + (i == 0 ? -0.5 : 0.5) * *edge[d];
    }
  }
  return p;
}

/// The closed forms in doubles, of one prism at a point, metres, added to `sums` times its density; returns whether the
/// form is compact, 0 or 1.
template <FieldSet set, class A, std::size_t alignment, int most>
PRISMFIELD_INLINE_FUNCTION int add_closed_forms_in_double(const PrismShape<A, most>& shape,
                                                          const FarPrism<A, alignment>& far, const NearPrism<A>& near,
                                                          const WeightOf<A, set>& weight, const double (&point)[3],
                                                          FieldValues<set, double>& sums) {
  double centre[3];
  const PrismFaces<double> p = faces_in_double(shape, far, near, point, centre);
  const auto unit = static_cast<double>(shape.unit);
  const auto density = static_cast<double>(weight.density);
  return add_closed_forms<set, A>(p, gap_squared(p), weight, centre[0], centre[1], centre[2],
                                  static_cast<double>(shape.compact_squared) * unit * unit, 1.0, false, 1,
                                  [&](bool mask, const FieldValues<set, double>& values) {
                                    for (int f = 0; f < sums.size && mask; ++f) {
                                      sums.value[f] += values.value[f] * density;
                                    }
                                  });
}

/// near_fields() of a shape whose near pairs take doubles, all lanes by closed forms: one point after the other, since
/// vectors of floats have more lanes than those of doubles.
template <class Ls, FieldSet set, std::size_t alignment, class Contact, class Shape>
PRISMFIELD_LARGE_FUNCTION NearFields<Ls, set> near_fields_in_double(
    const Shape& shape, const FarPrism<typename Ls::Arithmetic, alignment>& far,
    const NearPrism<typename Ls::Arithmetic>& near, const WeightOf<typename Ls::Arithmetic, set>& weight,
    const typename Ls::Real seen_x, const typename Ls::Real seen_y, const typename Ls::Real seen_z,
    const Kokkos::Array<value_t<typename Ls::Real>, 3>& rounding, int valid, const Contact on_contact) {
  using L = typename Ls::Real;
  using R = value_t<L>;
  L px = seen_x, py = seen_y, pz = seen_z;
  move_onto_prism(near, rounding, px, py, pz);
  R place[3][Ls::width];
  store(px, place[0]);
  store(py, place[1]);
  store(pz, place[2]);
  NearFields<Ls, set> out;
  out.compact = 0;
  R held[FieldValues<set, L>::size][Ls::width] = {};
  for (int i = 0; i < valid; ++i) {
    const double point[3] = {static_cast<double>(place[0][i]), static_cast<double>(place[1][i]),
                             static_cast<double>(place[2][i])};
    FieldValues<set, double> sums;
    sums.clear();
    out.compact += add_closed_forms_in_double<set>(shape, far, near, weight, point, sums);
    for (int f = 0; f < sums.size; ++f) held[f][i] = static_cast<R>(sums.value[f]);
  }
  for (int f = 0; f < out.values.size; ++f) out.values.value[f] = load<L>(held[f]);
  const auto p = faces_seen<Ls>(near, shape.inverse_unit, px, py, pz);
  if (out.compact > 0) tell_contacts(p, gap_squared(p), valid, on_contact);
  out.difference_free = valid - out.compact;
  return out;
}

/// A prism's centre from the points and its distance squared, in the prism's unit.
template <class L>
struct CentreSeen {
  L x, y, z, s;
};
template <class Ls, std::size_t alignment, class Shape>
PRISMFIELD_INLINE_FUNCTION CentreSeen<typename Ls::Real> centre_seen(
    const Shape& shape, const FarPrism<typename Ls::Arithmetic, alignment>& far, const typename Ls::Real& px,
    const typename Ls::Real& py, const typename Ls::Real& pz) {
  using L = typename Ls::Real;
  CentreSeen<L> c;
  c.x = (L(far.center[0]) - px) + L(far.center_low[0]);
  c.y = (L(far.center[1]) - py) + L(far.center_low[1]);
  c.z = (L(far.center[2]) - pz) + L(far.center_low[2]);
  if constexpr (sizeof(value_t<L>) == 4) {
    c.x = c.x * L(shape.inverse_unit);
    c.y = c.y * L(shape.inverse_unit);
    c.z = c.z * L(shape.inverse_unit);
  }
  c.s = fma(c.x, c.x, fma(c.y, c.y, c.z * c.z));
  return c;
}

/// Adds one prism's multipole of order 2 half_order.
template <int half_order, class Ls, FieldSet set, class Shape>
PRISMFIELD_INLINE_FUNCTION void add_multipole(const Shape& shape, const WeightOf<typename Ls::Arithmetic, set>& weight,
                                              const CentreSeen<typename Ls::Real>& c,
                                              FieldValues<set, typename Ls::Real>& sums) {
  using L = typename Ls::Real;
  using R = value_t<L>;
  if constexpr (has_magnetic(set)) {
    const FieldValues<set, L> found = far_fields<half_order, Ls, set>(shape, weight, c.x, c.y, c.z, c.s);
    for (int f = 0; f < found.size; ++f) {
      sums.value[f] = sums.value[f] + found.value[f];
    }
    return;
  } else {
    const auto add = [&](auto field, const L& a, const L& b) {
      constexpr int i = FieldValues<set, L>::index(decltype(field)::value);
      if constexpr (sizeof(R) == 4) {
        sums.value[i] = fma(a * L(unit_factor<decltype(field)::value>(shape.unit)), b, sums.value[i]);
      } else {
        sums.value[i] = fma(a, b, sums.value[i]);
      }
    };
    multipole_form<half_order, set>(shape.coefficients, weight.mass, c.x, c.y, c.z, c.s, add);
  }
}

/// Adds one prism's fields at lanes that are all in a multipole's range: the lowest order that is exact enough for
/// every lane.
template <class Ls, FieldSet set, class Shape>
PRISMFIELD_INLINE_FUNCTION void add_far(const Shape& shape, const WeightOf<typename Ls::Arithmetic, set>& weight,
                                        const CentreSeen<typename Ls::Real>& c, int valid,
                                        FieldValues<set, typename Ls::Real>& sums, FormCounts& counts) {
  using L = typename Ls::Real;
  constexpr int most = Shape::half_order;
  const int order = lowest_order<most>([&](int q) { return q == most || all(L(shape.ranges.of(q)) <= c.s); });
  switch (order) {
    case 4: add_multipole<4, Ls, set>(shape, weight, c, sums); break;
    case 3: add_multipole<3, Ls, set>(shape, weight, c, sums); break;
    case 2: add_multipole<2, Ls, set>(shape, weight, c, sums); break;
    case 1: add_multipole<1, Ls, set>(shape, weight, c, sums); break;
    case 0: add_multipole<0, Ls, set>(shape, weight, c, sums); break;
    default:
      if constexpr (most > 4) {
        if (order == 5) {
          add_multipole<5, Ls, set>(shape, weight, c, sums);
        } else {
          add_multipole<6, Ls, set>(shape, weight, c, sums);
        }
      }
  }
  counts.add(form_of_order(order), valid);
}

/// The leading 32 bits of a number that is not negative: they order as the numbers do where they differ.
template <class T>
PRISMFIELD_INLINE_FUNCTION std::int32_t leading_bits(T a) {
  if constexpr (sizeof(T) == 4) {
    return bit_cast<std::int32_t>(a);
  } else {
    return static_cast<std::int32_t>(bit_cast<std::uint64_t>(a) >> 32);
  }
}

/// Adds the multipoles of one order of n prisms, in their order.
template <int half_order, class Ls, FieldSet set, int n, class Shape>
PRISMFIELD_INLINE_FUNCTION void add_multipoles(const Shape& shape,
                                               const WeightOf<typename Ls::Arithmetic, set> (&weight)[n],
                                               const CentreSeen<typename Ls::Real> (&seen)[n],
                                               FieldValues<set, typename Ls::Real>& sums) {
  for (int i = 0; i < n; ++i) add_multipole<half_order, Ls, set>(shape, weight[i], seen[i], sums);
}

/// The lowest order that is exact enough for n pairs of each of a warp's threads, as lowest_order() gives it, the same
/// in every thread: no thread waits while others evaluate another order. It is found by whole numbers, for which the
/// double-precision units need not wait.
template <class L, class A, int n, int most>
PRISMFIELD_INLINE_FUNCTION int order_in_step(const Warp& warp, const PrismShape<A, most>& shape,
                                             const CentreSeen<L> (&seen)[n]) {
  std::int32_t nearest = leading_bits(seen[0].s);
  for (int i = 1; i < n; ++i) nearest = Kokkos::min(nearest, leading_bits(seen[i].s));
  nearest = warp.smallest(nearest);
  return lowest_order<most>([&](int q) { return leading_bits(shape.ranges.of(q)) < nearest; });
}

/// Adds the fields of n prisms of one shape at the points of a warp's threads, by one order for all these pairs;
/// returns whether there is one that is exact enough, the same in every thread. weight_at(i): of prism i.
template <class Ls, FieldSet set, int n, std::size_t alignment, class Shape, class WeightAt>
PRISMFIELD_INLINE_FUNCTION bool add_in_step(const Warp& warp, const Shape& shape,
                                            const FarPrism<typename Ls::Arithmetic, alignment>* far,
                                            const WeightAt& weight_at, const typename Ls::Real& px,
                                            const typename Ls::Real& py, const typename Ls::Real& pz,
                                            FieldValues<set, typename Ls::Real>& sums, FormCounts& counts) {
  static_assert(Ls::width == 1);
  CentreSeen<typename Ls::Real> seen[n];
  WeightOf<typename Ls::Arithmetic, set> weight[n];
  for (int i = 0; i < n; ++i) {
    seen[i] = centre_seen<Ls>(shape, far[i], px, py, pz);
    weight[i] = weight_at(i);
  }
  const int order = order_in_step(warp, shape, seen);
  switch (order) {
    case 4: add_multipoles<4, Ls, set>(shape, weight, seen, sums); break;
    case 3: add_multipoles<3, Ls, set>(shape, weight, seen, sums); break;
    case 2: add_multipoles<2, Ls, set>(shape, weight, seen, sums); break;
    case 1: add_multipoles<1, Ls, set>(shape, weight, seen, sums); break;
    case 0: add_multipoles<0, Ls, set>(shape, weight, seen, sums); break;
    default: return false;
  }
  counts.add(form_of_order(order), n);
  return true;
}

}  // namespace PRISMFIELD_LANES

/// Which pairs a kernel takes. A device takes far and near ones in two kernels: the registers that the closed forms
/// need would leave the multipoles, nearly all of the work, with half as many threads. Near pairs that take doubles in
/// a run of floats are a third, where there are any.
enum class Pass { all, far, near, near_in_double };

inline namespace PRISMFIELD_LANES {

/// Adds one prism's fields at one lane of points: the multipole of the lowest order that is exact enough for every
/// lane, else the closed forms. Lanes that belong to another pass add nothing. `valid`: lanes that are real points, the
/// others are padding.
template <class Ls, FieldSet set, Pass pass, std::size_t alignment, class Contact, class Shape>
PRISMFIELD_INLINE_FUNCTION void add_prism(const Shape& shape, const FarPrism<typename Ls::Arithmetic, alignment>& far,
                                          const NearPrism<typename Ls::Arithmetic>& near,
                                          const WeightOf<typename Ls::Arithmetic, set>& weight,
                                          const typename Ls::Real& px, const typename Ls::Real& py,
                                          const typename Ls::Real& pz,
                                          const Kokkos::Array<value_t<typename Ls::Real>, 3>& rounding, int valid,
                                          FieldValues<set, typename Ls::Real>& sums, FormCounts& counts,
                                          const Contact& on_contact) {
  using L = typename Ls::Real;
  const CentreSeen<L> c = centre_seen<Ls>(shape, far, px, py, pz);
  if (all(takes_multipole(shape.ranges.squared[0], c.s))) {
    if constexpr (pass == Pass::all || pass == Pass::far) add_far<Ls, set>(shape, weight, c, valid, sums, counts);
  } else if constexpr (pass != Pass::far) {
    const auto add = [&](const NearFields<Ls, set>& found) {
      for (int f = 0; f < FieldValues<set, L>::size; ++f) sums.value[f] = sums.value[f] + found.values.value[f];
      counts.add(Form::compact, found.compact);
      counts.add(Form::difference_free, found.difference_free);
      counts.add(form_of_order(Shape::half_order), valid - found.compact - found.difference_free);
    };
    if constexpr (sizeof(value_t<L>) == 4) {
      if (shape.near_in_double) {
        if constexpr (pass != Pass::near) {
          add(near_fields_in_double<Ls, set>(shape, far, near, weight, px, py, pz, rounding, valid, on_contact));
        }
        return;
      }
    }
    if constexpr (pass != Pass::near_in_double) {
      add(near_fields<Ls, set>(shape, near, weight, px, py, pz, rounding, c.x, c.y, c.z, c.s, valid, on_contact));
    }
  }
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel
