// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <algorithm>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "base/machine.hpp"
#include "engine/devices.hpp"
#include "engine/engine.hpp"
#include "engine/instances/with_space.hpp"
#include "engine/with_arithmetic.hpp"
#include "kernel/host_tile.hpp"

namespace prismfield {

/// Of kokkos_engine.hpp, instantiated in sources of their own.
template <class Space, class Arithmetic>
std::unique_ptr<FieldEngine> make_kokkos_engine(const Space& space, const EngineSettings& settings);
template <class Space, class Arithmetic>
EngineMemory kokkos_engine_memory(FieldSet set);

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
        traits.memory = sum_of(traits.memory, kokkos_engine_memory<Exec, A>(set));
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
        return make_kokkos_engine<decltype(exec), decltype(arithmetic)>(exec, of_set);
      });
    });
  };
  const std::vector<FieldSet> sets = sets_of(fields);
  std::unique_ptr<FieldEngine> first = engine_of(sets.front());
  if (sets.size() == 1) return first;
  return std::make_unique<TwoEngines>(std::move(first), engine_of(sets.back()), fields_of(sets.front()).size());
}

}  // namespace prismfield
