// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
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

EngineTraits engine_traits(Space space, Precision precision, FieldSet set, KernelKind kernel) {
  return with_space(space, [&](auto exec) {
    using Exec = decltype(exec);
    return with_arithmetic(precision, [&](auto arithmetic) {
      using A = decltype(arithmetic);
      EngineTraits traits;
      traits.memory = kokkos_engine_memory<Exec, A>(set);
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

std::unique_ptr<FieldEngine> make_engine(Space space, Precision precision, const EngineSettings& settings) {
  return with_space(space, [&](auto exec) {
    return with_arithmetic(precision, [&](auto arithmetic) {
      return make_kokkos_engine<decltype(exec), decltype(arithmetic)>(exec, settings);
    });
  });
}

}  // namespace prismfield
