// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include "engine/instances.hpp"
#include "engine/launch.hpp"

namespace prismfield {

/// The engine of one execution space and arithmetic.
template <class Space, class A>
class KokkosEngine final : public FieldEngine {
public:
  using Memory = typename Space::memory_space;
  using Sum = typename A::Sum;
  using Coordinate = typename A::Coordinate;

  KokkosEngine(const Space& space, const EngineSettings& settings)
      : m_space(space), m_settings(settings), m_launcher(space, settings), m_prisms(settings.origin, settings.batch) {
    m_n_fields = fields_of(settings.set).size();
    const std::int64_t padded = padded_points(settings.tile_points);
    m_data.slots = settings.slots;
    m_data.batch = settings.batch;
    m_busy.resize(is_device_space<Space> ? 1 : static_cast<std::size_t>(settings.slots));
    allocate_or_fail([&] {
      m_data.scratch = decltype(m_data.scratch)(view_label("scratch"), settings.slots, m_n_fields, padded);
      m_result = decltype(m_result)(view_label("result"), m_n_fields, padded);
      m_data.contact = decltype(m_data.contact)(view_label("contact"), padded);
      m_host_result = Kokkos::create_mirror_view(PinnedHost<Space>(), m_result);
      m_host_contact = Kokkos::create_mirror_view(PinnedHost<Space>(), m_data.contact);
      m_data.pairs = decltype(m_data.pairs)("prismfield::pairs", n_forms);
      m_data.easting = decltype(m_data.easting)(view_label("easting"), padded);
      m_data.northing = decltype(m_data.northing)(view_label("northing"), padded);
      m_data.upward = decltype(m_data.upward)(view_label("upward"), padded);
    });
  }

  void start_tile(const double* easting, const double* northing, const double* upward, std::int64_t n_points,
                  const double* values, const double* contact) override {
    m_data.n_points = n_points;
    const double* from[3] = {easting, northing, upward};
    decltype(m_data.easting)* to[3] = {&m_data.easting, &m_data.northing, &m_data.upward};
    for (std::size_t d = 0; d < 3; ++d) {
      const auto mirror = Kokkos::create_mirror_view(*to[d]);
      const std::int64_t padded = static_cast<std::int64_t>(mirror.extent(0));
      for (std::int64_t i = 0; i < padded; ++i) {
        mirror(i) = static_cast<Coordinate>(from[d][std::min(i, n_points - 1)] - origin(d));
      }
      Kokkos::deep_copy(m_space, *to[d], mirror);
      m_space.fence("prismfield: points copied");
    }
    for (int f = 0; f < m_n_fields; ++f) std::copy_n(values + f * n_points, n_points, &m_host_result(f, 0));
    std::copy_n(contact, n_contact_columns * n_points, &m_host_contact(0, 0));
    Kokkos::deep_copy(m_space, m_result, m_host_result);
    Kokkos::deep_copy(m_space, m_data.contact, m_host_contact);
    Kokkos::deep_copy(m_space, m_data.scratch, Sum(0));
    m_space.fence("prismfield: tile started");
  }

  void add(const PrismBlock& block, std::int64_t first_batch) override {
    const std::int64_t n = block.size();
    if (n == 0) return;
    const Kokkos::Profiling::ScopedRegion region("prismfield: prisms to slots");
    m_prisms.stage(m_space, block);
    // the device may still read what was prepared of the previous block
    note_device_idle();
    m_prisms.upload(m_space);
    if constexpr (is_device_space<Space>) m_device_busy_since = now();
    m_prisms.give_to(m_data);
    m_data.first_batch = first_batch;
    if (!m_settings.launch_per_prism) {
      launch();
      return;
    }
    for (std::int64_t p = 0; p < n; ++p) {
      m_data.prism_begin = p;
      m_data.prism_end = p + 1;
      launch();
    }
  }

  void end_chunk() override {
    const Kokkos::Profiling::ScopedRegion region("prismfield: reduce slots");
    const std::int64_t padded = static_cast<std::int64_t>(m_result.extent(1));
    Kokkos::parallel_for("prismfield::reduce_slots",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(m_space, 0, m_n_fields * padded),
                         ReduceSlots<Sum, Memory>{m_data.scratch, m_result});
  }

  void read_tile(double* values, double* contact) override {
    note_device_idle();
    Kokkos::deep_copy(m_space, m_host_result, m_result);
    Kokkos::deep_copy(m_space, m_host_contact, m_data.contact);
    m_space.fence("prismfield: tile read");
    const std::int64_t n_points = m_data.n_points;
    for (int f = 0; f < m_n_fields; ++f) std::copy_n(&m_host_result(f, 0), n_points, values + f * n_points);
    std::copy_n(&m_host_contact(0, 0), n_contact_columns * n_points, contact);
  }

  std::vector<BusyInterval> busy() override {
    note_device_idle();
    std::vector<BusyInterval> all;
    for (const auto& intervals : m_busy) all.insert(all.end(), intervals.begin(), intervals.end());
    return all;
  }

  std::array<std::int64_t, n_forms> pairs() override {
    const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_data.pairs);
    std::array<std::int64_t, n_forms> out{};
    std::copy_n(mirror.data(), n_forms, out.begin());
    return out;
  }

  [[nodiscard]] static EngineMemory memory(FieldSet set) {
    const std::int64_t n_fields = fields_of(set).size();
    EngineMemory m;
    m.per_slot_point = n_fields * static_cast<std::int64_t>(sizeof(Sum));
    m.per_point = n_fields * 8 + n_contact_columns * 8 + 3 * static_cast<std::int64_t>(sizeof(Coordinate));
    m.per_prism = StagedPrisms<Space, A>::prism_bytes;
    m.per_shape = StagedPrisms<Space, A>::shape_bytes;
    if (is_device_space<Space>) {
      // at most: a batch is one prism or more
      m.per_prism += static_cast<std::int64_t>(sizeof(kernel::BatchReach));
      m.host_per_point = m.per_point;
      m.host_per_prism = 7 * 8 + 4 + 3 * 8;
    }
    return m;
  }

  /// Points padded to whole lanes of every width that the engine may use.
  [[nodiscard]] static std::int64_t padded_points(std::int64_t n) {
    constexpr std::int64_t width = is_device_space<Space> ? device_width<A> : kernel::host_width<A>;
    return (n + width - 1) / width * width;
  }

private:
  void launch() {
    m_launcher.launch(m_data, m_prisms.one_shape(), [&](std::int64_t slot, std::int64_t begin, std::int64_t end) {
      note_busy({slot, begin, end});
    });
  }

  /// Waits for what is under way and notes how long it took.
  void note_device_idle() {
    m_space.fence("prismfield: launches done");
    if (m_device_busy_since == 0) return;
    note_busy({-1, m_device_busy_since, now()});
    m_device_busy_since = 0;
  }

  void note_busy(const BusyInterval& interval) {
    constexpr std::int64_t shortest_gap = 1'000'000;
    constexpr std::size_t most_intervals = 10'000;
    auto& intervals = m_busy[static_cast<std::size_t>(std::max<std::int64_t>(interval.slot, 0))];
    // on a device every launch is told, as long as they are few
    const bool many = intervals.size() >= std::max<std::size_t>(most_intervals / m_busy.size(), 100);
    const bool follows = !intervals.empty() && interval.begin - intervals.back().end < shortest_gap;
    const bool joined = many || (follows && !is_device_space<Space>);
    if (joined) {
      intervals.back().end = interval.end;
    } else {
      intervals.push_back(interval);
    }
  }

  [[nodiscard]] double origin(std::size_t d) const {
    return sizeof(Coordinate) == sizeof(float) ? m_settings.origin[d] : 0.0;
  }

  Space m_space;
  EngineSettings m_settings;
  TileLauncher<Space, A> m_launcher;
  StagedPrisms<Space, A> m_prisms;
  int m_n_fields = 0;
  kernel::LaunchData<A, Memory> m_data;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> m_result;
  Kokkos::View<double**, Kokkos::LayoutRight, PinnedHost<Space>> m_host_result;
  Kokkos::View<double* [n_contact_columns], Kokkos::LayoutRight, PinnedHost<Space>> m_host_contact;
  /// of each slot, of the device as a whole
  std::vector<std::vector<BusyInterval>> m_busy;
  /// since when launches are under way; 0: none is
  std::int64_t m_device_busy_since = 0;
};

template <class Space, class A>
std::unique_ptr<FieldEngine> make_kokkos_engine(const EngineSettings& settings) {
  return std::make_unique<KokkosEngine<Space, A>>(Space(), settings);
}

template <class Space, class A>
EngineMemory kokkos_engine_memory(FieldSet set) {
  return KokkosEngine<Space, A>::memory(set);
}

}  // namespace prismfield
