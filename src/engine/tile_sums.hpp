// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include "engine/launch.hpp"
#include "kernel/corners.hpp"

namespace prismfield {

/// Fields of prisms summed at one tile of points: a scratch grid a slot, and the result that the slots are reduced
/// into.
template <class Space, class A>
class TileSums {
public:
  using Memory = typename Space::memory_space;
  using Real = typename A::Real;
  using Result = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;
  using Contacts = Kokkos::View<double* [n_contact_columns], Kokkos::LayoutRight, Memory>;

  /// Allocates for the settings' slots and points of a tile. Throws AllocationFailure.
  explicit TileSums(const EngineSettings& settings)
      : m_settings(settings), m_launcher(settings), m_n_fields(fields_of(settings.set).size()) {
    const std::int64_t padded = padded_points(settings.tile_points);
    m_data.slots = settings.slots;
    m_data.batch = settings.batch;
    const FieldList fields = fields_of(settings.set), of_corners = fields_of(kernel::corners_set(settings.set));
    for (const FieldInfo& field : of_corners) {
      const int row = fields.contains(field.field) ? fields.index_of(field.field) : -1;
      m_data.row_of_corners[of_corners.index_of(field.field)] = static_cast<std::int8_t>(row);
    }
    for (std::size_t d = 0; d < 3; ++d) m_data.rounding[d] = static_cast<Real>(settings.rounding[d]);
    allocate_or_fail([&] {
      m_data.scratch = decltype(m_data.scratch)(view_label("scratch"), settings.slots, m_n_fields, padded);
      m_result = Result(view_label("result"), m_n_fields, padded);
      m_data.contact = Contacts(view_label("contact"), padded);
      m_data.pairs = decltype(m_data.pairs)(view_label("pairs"), n_forms);
      m_data.easting = decltype(m_data.easting)(view_label("easting"), padded);
      m_data.northing = decltype(m_data.northing)(view_label("northing"), padded);
      m_data.upward = decltype(m_data.upward)(view_label("upward"), padded);
    });
  }

  /// Copies a tile's points, metres, of the host; waits.
  void set_points(const Space& space, const double* easting, const double* northing, const double* upward,
                  std::int64_t n_points) {
    m_data.n_points = n_points;
    const std::array<const double*, 3> from = {easting, northing, upward};
    const std::array<decltype(m_data.easting)*, 3> to = {&m_data.easting, &m_data.northing, &m_data.upward};
    std::array<decltype(Kokkos::create_mirror_view(m_data.easting)), 3> mirrors;
    for (std::size_t d = 0; d < 3; ++d) {
      mirrors[d] = Kokkos::create_mirror_view(*to[d]);
      const std::int64_t padded = static_cast<std::int64_t>(mirrors[d].extent(0));
      for (std::int64_t i = 0; i < padded; ++i) {
        mirrors[d](i) = static_cast<Real>(from[d][std::min(i, n_points - 1)] - origin(d));
      }
      Kokkos::deep_copy(space, *to[d], mirrors[d]);
    }
    space.fence("prismfield: points copied");
  }

  void empty_slots(const Space& space) { Kokkos::deep_copy(space, m_data.scratch, Real(0)); }

  /// Adds prisms to the slots; their first batch has the run's number `first_batch`. note_busy: see TileLauncher.
  void add(const Space& space, const StagedPrisms<Space, A>& prisms, std::int64_t first_batch,
           const typename TileLauncher<Space, A>::NoteBusy& note_busy) {
    const Kokkos::Profiling::ScopedRegion region("prismfield: prisms to slots");
    prisms.give_to(m_data);
    m_data.first_batch = first_batch;
    if (!m_settings.launch_per_prism) {
      m_launcher.launch(space, m_data, prisms.one_shape(), note_busy);
      return;
    }
    for (std::int64_t p = 0; p < prisms.size(); ++p) {
      m_data.prism_begin = p;
      m_data.prism_end = p + 1;
      m_launcher.launch(space, m_data, prisms.one_shape(), note_busy);
    }
  }

  /// Adds the slots in their order to the result and empties them.
  void reduce(const Space& space) {
    const Kokkos::Profiling::ScopedRegion region("prismfield: reduce slots");
    m_launcher.reduce(space, m_data, m_result);
  }

  /// What launches at this tile read and write.
  [[nodiscard]] const kernel::LaunchData<A, Memory>& data() const noexcept { return m_data; }
  /// (field of the set, padded point), G = 1
  [[nodiscard]] const Result& result() const noexcept { return m_result; }
  [[nodiscard]] int n_fields() const noexcept { return m_n_fields; }

  /// Points padded to whole lanes of every width that a launch may use.
  [[nodiscard]] static std::int64_t padded_points(std::int64_t n) {
    constexpr std::int64_t width = is_device_space<Space> ? device_width : kernel::host_width<A>;
    return (n + width - 1) / width * width;
  }

private:
  [[nodiscard]] double origin(std::size_t d) const {
    return sizeof(Real) == sizeof(float) ? m_settings.origin[d] : 0.0;
  }

  EngineSettings m_settings;
  TileLauncher<Space, A> m_launcher;
  int m_n_fields;
  kernel::LaunchData<A, Memory> m_data;
  Result m_result;
};

}  // namespace prismfield
