// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <chrono>

#include "engine/tile_sums.hpp"

namespace prismfield {

/// The engine of one execution space and arithmetic.
template <class Space, class A>
class KokkosEngine final : public FieldEngine {
public:
  using Memory = typename Space::memory_space;
  using Real = typename A::Real;

  KokkosEngine(const Space& space, const EngineSettings& settings)
      : m_space(space), m_sums(settings), m_prisms(settings) {
    m_busy.resize(is_device_space<Space> ? 1 : static_cast<std::size_t>(settings.slots));
    allocate_or_fail([&] {
      m_host_result = Kokkos::create_mirror_view(PinnedHost<Space>(), m_sums.result());
      m_host_contact = Kokkos::create_mirror_view(PinnedHost<Space>(), m_sums.data().contact);
    });
  }

  void start_tile(const double* easting, const double* northing, const double* upward, std::int64_t n_points,
                  const double* values, const double* contact) override {
    m_sums.set_points(m_space, easting, northing, upward, n_points);
    for (int f = 0; f < m_sums.n_fields(); ++f) std::copy_n(values + f * n_points, n_points, &m_host_result(f, 0));
    std::copy_n(contact, n_contact_columns * n_points, &m_host_contact(0, 0));
    Kokkos::deep_copy(m_space, m_sums.result(), m_host_result);
    Kokkos::deep_copy(m_space, m_sums.data().contact, m_host_contact);
    m_sums.empty_slots(m_space);
    m_space.fence("prismfield: tile started");
  }

  void add(const PrismBlock& block, std::int64_t first_batch) override {
    if (block.size() == 0) return;
    m_prisms.stage(m_space, block);
    // the device may still read what was prepared of the previous block
    note_device_idle();
    m_prisms.upload(m_space);
    if constexpr (is_device_space<Space>) m_device_busy_since = now();
    m_sums.add(m_space, m_prisms, first_batch, [&](std::int64_t slot, std::int64_t begin, std::int64_t end) {
      note_busy({slot, begin, end});
    });
  }

  void end_chunk() override { m_sums.reduce(m_space); }

  void read_tile(double* values, double* contact) override {
    note_device_idle();
    Kokkos::deep_copy(m_space, m_host_result, m_sums.result());
    Kokkos::deep_copy(m_space, m_host_contact, m_sums.data().contact);
    m_space.fence("prismfield: tile read");
    const std::int64_t n_points = m_sums.data().n_points;
    for (int f = 0; f < m_sums.n_fields(); ++f) std::copy_n(&m_host_result(f, 0), n_points, values + f * n_points);
    std::copy_n(&m_host_contact(0, 0), n_contact_columns * n_points, contact);
  }

  std::vector<BusyInterval> busy() override {
    note_device_idle();
    std::vector<BusyInterval> all;
    for (const auto& intervals : m_busy) all.insert(all.end(), intervals.begin(), intervals.end());
    return all;
  }

  std::array<std::int64_t, n_forms> pairs() override {
    const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_sums.data().pairs);
    std::array<std::int64_t, n_forms> out{};
    std::copy_n(mirror.data(), n_forms, out.begin());
    return out;
  }

  [[nodiscard]] static EngineMemory memory(FieldSet set) {
    const std::int64_t n_fields = fields_of(set).size();
    EngineMemory m;
    m.per_slot_point = n_fields * static_cast<std::int64_t>(sizeof(Real));
    m.per_point = n_fields * 8 + n_contact_columns * 8 + 3 * static_cast<std::int64_t>(sizeof(Real));
    m.per_prism = StagedPrisms<Space, A>::prism_bytes(set);
    m.per_shape = StagedPrisms<Space, A>::shape_bytes;
    if (is_device_space<Space>) {
      // at most: a batch is one prism or more
      m.per_prism += static_cast<std::int64_t>(sizeof(kernel::BatchReach));
      m.host_per_point = m.per_point;
      m.host_per_prism = static_cast<std::int64_t>(n_prism_columns(set) * sizeof(double) + sizeof(std::int32_t));
    }
    return m;
  }

private:
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

  Space m_space;
  TileSums<Space, A> m_sums;
  StagedPrisms<Space, A> m_prisms;
  Kokkos::View<double**, Kokkos::LayoutRight, PinnedHost<Space>> m_host_result;
  Kokkos::View<double* [n_contact_columns], Kokkos::LayoutRight, PinnedHost<Space>> m_host_contact;
  /// of each slot, of the device as a whole
  std::vector<std::vector<BusyInterval>> m_busy;
  /// since when launches are under way; 0: none is
  std::int64_t m_device_busy_since = 0;
};

template <class Space, class A>
std::unique_ptr<FieldEngine> make_kokkos_engine(const Space& space, const EngineSettings& settings) {
  return std::make_unique<KokkosEngine<Space, A>>(space, settings);
}

template <class Space, class A>
EngineMemory kokkos_engine_memory(FieldSet set) {
  return KokkosEngine<Space, A>::memory(set);
}

}  // namespace prismfield
