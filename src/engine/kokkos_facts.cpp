// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/kokkos_facts.hpp"

#include <KokkosKernels_config.h>

#include <Kokkos_Core.hpp>
#include <algorithm>

#include "base/machine.hpp"
#include "engine/devices.hpp"
#include "engine/engine.hpp"
#include "kernel/host_tile.hpp"

namespace prismfield {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace

KokkosFacts kokkos_facts() {
  KokkosFacts facts;
  facts.kokkos_version = version_text(KOKKOS_VERSION);
#if defined(KOKKOSKERNELS_VERSION)
  facts.kokkos_kernels_version = version_text(KOKKOSKERNELS_VERSION);
#endif
  for (const Space space : built_spaces()) facts.spaces.emplace_back(name(space));
  for (const Space space : {Space::hip, Space::cuda, Space::openmp, Space::serial}) {
    const bool built = std::find(facts.spaces.begin(), facts.spaces.end(), name(space)) != facts.spaces.end();
    if (!built) facts.spaces_not_compiled.emplace_back(name(space));
  }
  facts.default_space = facts.spaces.front();
  facts.architecture = PRISMFIELD_KOKKOS_ARCH;
  facts.host_threads = Kokkos::is_initialized() ? Kokkos::num_threads() : static_cast<int>(usable_cores().size());
  facts.simd_doubles = kernel::native_lanes<double>;
#if defined(KOKKOS_ARCH_AVX512XEON)
  facts.host_vector_instructions = "AVX-512";
#elif defined(KOKKOS_ARCH_AVX2)
  facts.host_vector_instructions = "AVX2";
#elif defined(KOKKOS_ARCH_ARM_NEON)
  facts.host_vector_instructions = "NEON";
#else
  facts.host_vector_instructions = "none known to Kokkos";
#endif
  facts.devices = device_names();
  if (Kokkos::is_initialized()) facts.device_key = chosen_device_key();
#if defined(__clang__)
  facts.compiler = std::string("clang ") + __clang_version__;
#elif defined(__GNUC__)
  facts.compiler = std::string("g++ ") + __VERSION__;
#endif
#if defined(__CUDACC_VER_MAJOR__)
  facts.compiler += " with nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." + std::to_string(__CUDACC_VER_MINOR__);
#endif
  return facts;
}

}  // namespace prismfield
