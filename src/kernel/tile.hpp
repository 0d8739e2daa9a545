// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "kernel/accumulate.hpp"
#include "kernel/contact.hpp"

namespace prismfield::kernel {

/// What one launch reads and writes, in one memory space. Points are padded with copies of the last one to whole lanes.
template <class A, class Memory>
struct LaunchData {
  using Real = typename A::Real;
  template <class T>
  using Array = Kokkos::View<T*, Memory>;

  /// (n_padded)
  Array<Real> easting, northing, upward;
  std::int64_t n_points = 0;
  /// how far points and faces at one place may be apart, metres, beside their ulp: see move_onto_prism()
  Kokkos::Array<Real, 3> rounding{};
  /// (n_shapes), (n_prisms), (n_prisms), (n_prisms)
  Array<PrismShapeIn<A, Memory>> shapes;
  Array<FarPrismIn<A, Memory>> far;
  Array<NearPrism<A>> near;
  Array<PrismWeight<A>> weights;
  /// (n_prisms) of magnetic sets, and of these 4 pi times the part of the magnetisation that B holds inside
  Array<PrismMagnetization<A>> magnetizations;
  Kokkos::Array<Real, 3> inside{};
  /// (n_prisms / batch, rounded up), for the pass of near pairs
  Array<BatchReach> reach;
  /// prisms of this launch, [begin, end) of the arrays above, and the number of their first batch
  std::int64_t prism_begin = 0, prism_end = 0;
  std::int64_t first_batch = 0;
  std::int64_t batch = 1;
  std::int64_t slots = 1;
  /// some near pairs take doubles in a run of floats
  bool near_in_double = false;
  /// of corners: the row of scratch that a field of corners_set() goes to; -1: none
  Kokkos::Array<std::int8_t, n_gravity_fields> row_of_corners{};
  /// (slot, field, n_padded)
  Kokkos::View<Real***, Kokkos::LayoutRight, Memory> scratch;
  /// (n_points, n_contact_columns): what prisms the point touches, see kernel/contact.hpp
  Kokkos::View<double* [n_contact_columns], Kokkos::LayoutRight, Memory> contact;
  /// (n_forms): pairs by form
  Array<std::int64_t> pairs;
};

inline namespace PRISMFIELD_LANES {

/// The weight of a prism for the fields of a set.
template <FieldSet set, class A, class Memory>
PRISMFIELD_INLINE_FUNCTION WeightOf<A, set> weight_of(const LaunchData<A, Memory>& data, std::int64_t p) {
  if constexpr (has_magnetic(set)) {
    return {data.weights(p), data.magnetizations(p), {data.inside[0], data.inside[1], data.inside[2]}};
  } else {
    return data.weights(p);
  }
}

/// Notes that a point lies in or on a prism, in the columns of Contact; `strength`: see edge_strengths().
template <class Memory, class T>
PRISMFIELD_FUNCTION void note_contact(
    const Kokkos::View<double* [n_contact_columns], Kokkos::LayoutRight, Memory>& contact, std::int64_t point,
    const T (&x)[2], const T (&y)[2], const T (&z)[2], const Kokkos::Array<double, 3>& strength) {
  Kokkos::atomic_add(&contact(point, Contact::prisms), 1.0);
  const T* const faces[3] = {x, y, z};
  for (int d = 0; d < 3; ++d) {
    const T* const first = faces[(d + 1) % 3];
    const T* const second = faces[(d + 2) % 3];
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        if (first[i] != T(0) || second[j] != T(0)) continue;
        for (int side = 0; side < 2; ++side) {
          const bool reaches = side == 0 ? faces[d][0] < T(0) : T(0) < faces[d][1];
          if (!reaches) continue;
          Kokkos::atomic_add(&contact(point, Contact::west + 2 * d + side), i == j ? strength[d] : -strength[d]);
          Kokkos::atomic_add(&contact(point, Contact::parts), Kokkos::abs(strength[d]));
        }
      }
    }
  }
}

}  // namespace PRISMFIELD_LANES

/// The form that a kernel uses: chosen by distance, or the papers' corners.
template <Pass pass_>
struct ChooseForm {
  static constexpr Pass pass = pass_;
};
struct CornersForm {};

inline namespace PRISMFIELD_LANES {

/// Whether a kernel skips batches that are far from a point.
template <class Kernel>
inline constexpr bool passes_by =
    std::is_same_v<Kernel, ChooseForm<Pass::near>> || std::is_same_v<Kernel, ChooseForm<Pass::near_in_double>>;

/// Where a launch finds a prism's shape: in the array, or, when all prisms share one, in the kernel's own arguments,
/// which a device reads as constants beside its arithmetic instead of through its load units.
template <class A, class Memory>
struct ShapeArray {
  Kokkos::View<PrismShapeIn<A, Memory>*, Memory> shapes;
  PRISMFIELD_INLINE_FUNCTION const PrismShapeIn<A, Memory>& operator()(std::int32_t i) const { return shapes(i); }
};
template <class A>
struct OneShape {
  PrismShape<A, device_half_order> shape;
  PRISMFIELD_INLINE_FUNCTION const auto& operator()(std::int32_t) const { return shape; }
};

/// Prisms of one shape that a warp takes in one go in a device's pass of far pairs, see add_in_step(); 0: each thread
/// takes one after the other on its own. Seven spheres on an H100, instead of 0: gz in double 13.7 instead of 26.1 ms,
/// nine fields 34.1 instead of 38.8, in single precision 16.4 instead of 29.1. Fewer or more prisms were slower: nine
/// fields in double by 1 prism 40.8 and by 2 36.6, in single by 1 19.0, gz by 2 16.2 ms. Magnetic gradients by 4 have
/// not registers enough.
template <class A, FieldSet set, class Kernel, class Shapes>
inline constexpr int prisms_in_step = 0;
template <class A, FieldSet set>
inline constexpr int prisms_in_step<A, set, ChooseForm<Pass::far>, OneShape<A>> =
    has_magnetic_gradient(set) || (sizeof(typename A::Real) == 4 && set != FieldSet::gz) ? 2 : 4;

/// Records in a launch's contacts that one of the points from `point` on lies in or on a prism; without a launch it
/// does nothing. Sums and pairs share the type: each type costs a compiled copy of near_fields().
template <class A, class Memory, FieldSet set>
struct ContactNote {
  const LaunchData<A, Memory>* launch = nullptr;
  const WeightOf<A, set>* weight = nullptr;
  std::int64_t point = 0;

  template <class L>
  PRISMFIELD_INLINE_FUNCTION void operator()(int lane, const PrismFaces<L>& faces) const {
    if (launch == nullptr) return;
    using R = value_t<L>;
    R seen[6][lanes_v<L>];
    for (int i = 0; i < 2; ++i) {
      store(faces.x[i], seen[i]);
      store(faces.y[i], seen[2 + i]);
      store(faces.z[i], seen[4 + i]);
    }
    const R x[2] = {seen[0][lane], seen[1][lane]};
    const R y[2] = {seen[2][lane], seen[3][lane]};
    const R z[2] = {seen[4][lane], seen[5][lane]};
    note_contact(launch->contact, point + lane, x, y, z, edge_strengths(*weight));
  }
};

/// Adds prisms [begin, end) at one group of points, one after the other.
template <class Ls, FieldSet set, class Kernel, class Memory, class Shapes>
PRISMFIELD_INLINE_FUNCTION void add_prisms(const LaunchData<typename Ls::Arithmetic, Memory>& data,
                                           const Shapes& shapes, std::int64_t begin, std::int64_t end,
                                           std::int64_t point, const typename Ls::Real& px, const typename Ls::Real& py,
                                           const typename Ls::Real& pz, int valid,
                                           FieldValues<set, typename Ls::Real>& sums, FormCounts& counts) {
  for (std::int64_t p = begin; p < end; ++p) {
    const WeightOf<typename Ls::Arithmetic, set> weight = weight_of<set>(data, p);
    if constexpr (std::is_same_v<Kernel, CornersForm>) {
      const NearPrism<typename Ls::Arithmetic>& near = data.near(p);
      const auto unit = shapes(data.far(p).shape).unit;
      const auto inverse_unit = shapes(data.far(p).shape).inverse_unit;
      typename Ls::Real x = px, y = py, z = pz;
      move_onto_prism(near, data.rounding, x, y, z);
      const auto faces = faces_seen<Ls>(near, inverse_unit, x, y, z);
      auto fields = composed<set, typename Ls::Real, typename Ls::Arithmetic>(
          corners_form<gravity_of(set)>(faces, unit), third_of<set>(faces), weight);
      if constexpr (has_magnetic(set)) add_inside(weight, part_inside(faces), fields);
      add_where<Ls, set>(true, fields, weight.density, unit, sums);
      counts.add(Form::corners, valid);
      if (gap_squared(faces) <= 0) {
        note_contact(data.contact, point, faces.x, faces.y, faces.z, edge_strengths(weight));
      }
    } else {
      const auto& far = data.far(p);
      const NearPrism<typename Ls::Arithmetic>& near = data.near(p);
      const ContactNote<typename Ls::Arithmetic, Memory, set> on_contact{&data, &weight, point};
      add_prism<Ls, set, Kernel::pass>(shapes(far.shape), far, near, weight, px, py, pz, data.rounding, valid, sums,
                                       counts, on_contact);
    }
  }
}

/// One work item: the batches of one slot at the lane groups first_group + rank, + size, ... below last_group. Each
/// batch is summed in registers before its one addition to scratch(slot, field, point).
template <class Ls, FieldSet set, class Kernel, class Memory, class Shapes>
PRISMFIELD_INLINE_FUNCTION void accumulate_tile(const LaunchData<typename Ls::Arithmetic, Memory>& data,
                                                const Shapes& shapes, std::int64_t slot, std::int64_t first_group,
                                                std::int64_t last_group, int rank, int size, FormCounts& counts) {
  using L = typename Ls::Real;
  constexpr int width = Ls::width;
  const std::int64_t n_batches = (data.prism_end - data.prism_begin + data.batch - 1) / data.batch;
  // batch b of the launch is batch first_batch + b of the run, which belongs to slot (first_batch + b) mod slots
  std::int64_t b = (slot - data.first_batch % data.slots + data.slots) % data.slots;
  for (; b < n_batches; b += data.slots) {
    const std::int64_t begin = data.prism_begin + b * data.batch;
    const std::int64_t end = Kokkos::min(begin + data.batch, data.prism_end);
    for (std::int64_t group = first_group + rank; group < last_group; group += size) {
      const std::int64_t point = group * width;
      const int valid = width == 1 ? 1 : static_cast<int>(Kokkos::min<std::int64_t>(width, data.n_points - point));
      const L px = load<L>(&data.easting(point));
      const L py = load<L>(&data.northing(point));
      const L pz = load<L>(&data.upward(point));
      if constexpr (passes_by<Kernel>) {
        static_assert(width == 1);
        if (!within_reach(data.reach(begin / data.batch), px, py, pz)) continue;
      }
      FieldValues<set, L> sums;
      sums.clear();
      constexpr int in_step = prisms_in_step<typename Ls::Arithmetic, set, Kernel, Shapes>;
      if constexpr (in_step == 0) {
        add_prisms<Ls, set, Kernel>(data, shapes, begin, end, point, px, py, pz, valid, sums, counts);
      } else {
        const Warp warp = Warp::of(rank, Kokkos::min<std::int64_t>(size, last_group - group + rank));
        for (std::int64_t p = begin; p < end; p += in_step) {
          const std::int64_t next = Kokkos::min(p + in_step, end);
          const auto weight_at = [&](int i) { return weight_of<set>(data, p + i); };
          if (next - p < in_step ||
              !add_in_step<Ls, set, in_step>(warp, shapes(0), &data.far(p), weight_at, px, py, pz, sums, counts)) {
            add_prisms<Ls, set, Kernel>(data, shapes, p, next, point, px, py, pz, valid, sums, counts);
          }
        }
      }
      for (int f = 0; f < FieldValues<set, L>::size; ++f) {
        const int row = std::is_same_v<Kernel, CornersForm> ? data.row_of_corners[f] : f;
        if (row < 0) continue;
        auto* const to = &data.scratch(slot, row, point);
        store(load<L>(to) + sums.value[f], to);
      }
    }
  }
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel
