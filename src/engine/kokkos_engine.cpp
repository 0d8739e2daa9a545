// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <algorithm>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "base/machine.hpp"
#include "engine/devices.hpp"
#include "engine/engine.hpp"
#include "engine/tile_sums.hpp"
#include "engine/with_arithmetic.hpp"
#include "engine/with_space.hpp"
#include "kernel/host_tile.hpp"

namespace prismfield {

std::vector<Space> built_spaces() {
  std::vector<Space> spaces;
#if defined(KOKKOS_ENABLE_CUDA)
  spaces.push_back(Space::cuda);
#endif
#if defined(KOKKOS_ENABLE_HIP)
  spaces.push_back(Space::hip);
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  spaces.push_back(Space::openmp);
#endif
  spaces.push_back(Space::serial);
  return spaces;
}

namespace {

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
    // on a device each launch has an interval, up to a number of launches
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

EngineMemory sum_of(const EngineMemory& a, const EngineMemory& b) {
  return {a.per_slot_point + b.per_slot_point, a.per_point + b.per_point,
          a.per_prism + b.per_prism,           a.per_shape + b.per_shape,
          a.host_per_point + b.host_per_point, a.host_per_prism + b.host_per_prism};
}

/// The engines of two products of the same prisms at the same points.
class TwoEngines final : public FieldEngine {
public:
  /// `n_fields`: of the first
  TwoEngines(std::unique_ptr<FieldEngine> first, std::unique_ptr<FieldEngine> second, std::int64_t n_fields)
      : m_first(std::move(first)), m_second(std::move(second)), m_n_fields(n_fields) {}

  void start_tile(const double* easting, const double* northing, const double* upward, std::int64_t n_points,
                  const double* values, const double* contact) override {
    m_contact.assign(static_cast<std::size_t>(n_contact_columns * n_points), 0.0);
    m_second_values = m_n_fields * n_points;
    m_first->start_tile(easting, northing, upward, n_points, values, contact);
    m_second->start_tile(easting, northing, upward, n_points, values + m_second_values, m_contact.data());
  }
  void add(const PrismBlock& block, std::int64_t first_batch) override {
    m_first->add(block, first_batch);
    m_second->add(block, first_batch);
  }
  void end_chunk() override {
    m_first->end_chunk();
    m_second->end_chunk();
  }
  void read_tile(double* values, double* contact) override {
    m_first->read_tile(values, contact);
    m_second->read_tile(values + m_second_values, m_contact.data());
    add_product_contacts(m_contact, {contact, m_contact.size()});
  }
  /// A pair of a prism and a point counts once, by its form in the first product.
  [[nodiscard]] std::array<std::int64_t, n_forms> pairs() override { return m_first->pairs(); }
  [[nodiscard]] std::vector<BusyInterval> busy() override {
    std::vector<BusyInterval> all = m_first->busy(), more = m_second->busy();
    all.insert(all.end(), more.begin(), more.end());
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    return all;
  }

private:
  std::unique_ptr<FieldEngine> m_first, m_second;
  std::int64_t m_n_fields, m_second_values = 0;
  /// of the second product
  std::vector<double> m_contact;
};

}  // namespace

EngineTraits engine_traits(Space space, Precision precision, FieldList fields, KernelKind kernel) {
  return with_space(space, [&](auto exec) {
    using Exec = decltype(exec);
    return with_arithmetic(precision, [&](auto arithmetic) {
      using A = decltype(arithmetic);
      EngineTraits traits;
      for (const FieldSet set : sets_of(fields)) {
        traits.memory = sum_of(traits.memory, KokkosEngine<Exec, A>::memory(set));
      }
      if constexpr (std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>) {
        traits.device = "host";
        traits.threads = exec.concurrency();
        traits.lanes = kernel == KernelKind::corners ? 1 : kernel::host_width<A>;
        traits.free_memory = available_memory_of_machine();
      } else {
        const ChosenDevice device = chosen_device();
        traits.device = device.name;
        traits.threads = exec.concurrency();
        traits.is_device = true;
        traits.max_block = 512;
        traits.free_memory = device.free_memory;
      }
      return traits;
    });
  });
}

std::unique_ptr<FieldEngine> make_engine(Space space, Precision precision, FieldList fields,
                                         const EngineSettings& settings) {
  const auto engine_of = [&](FieldSet set) {
    EngineSettings of_set = settings;
    of_set.set = set;
    return with_space(space, [&](auto exec) {
      return with_arithmetic(precision, [&](auto arithmetic) {
        return std::unique_ptr<FieldEngine>(
            std::make_unique<KokkosEngine<decltype(exec), decltype(arithmetic)>>(exec, of_set));
      });
    });
  };
  const std::vector<FieldSet> sets = sets_of(fields);
  std::unique_ptr<FieldEngine> first = engine_of(sets.front());
  if (sets.size() == 1) return first;
  return std::make_unique<TwoEngines>(std::move(first), engine_of(sets.back()), fields_of(sets.front()).size());
}

}  // namespace prismfield
