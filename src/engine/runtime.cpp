// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/runtime.hpp"

#include <KokkosKernels_config.h>
#include <sched.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <prismfield/error.hpp>

#include "engine/engine.hpp"
#include "engine/start_check.hpp"
#include "kernel/host_tile.hpp"

namespace prismfield {
namespace {

/// Cores that this process may run on, as taskset, a batch system or mpirun's binding left them.
int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

bool names_option(int argc, char** argv, const std::string& name) {
  return std::any_of(argv, argv + argc,
                     [&](const char* argument) { return std::string(argument).rfind(name, 0) == 0; });
}

/// CUDA devices that this process may use.
int device_count() {
#if defined(KOKKOS_ENABLE_CUDA)
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess ? devices : 0;
#else
  return 0;
#endif
}

std::string version_text(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace

KokkosSession::KokkosSession(int& argc, char** argv, int local_rank, int sharing) {
  const bool threads_given = names_option(argc, argv, "--kokkos-num-threads") ||
                             std::getenv("KOKKOS_NUM_THREADS") != nullptr || std::getenv("OMP_NUM_THREADS") != nullptr;
  const bool device_given =
      names_option(argc, argv, "--kokkos-device-id") || names_option(argc, argv, "--kokkos-map-device") ||
      std::getenv("KOKKOS_DEVICE_ID") != nullptr || std::getenv("KOKKOS_MAP_DEVICE_ID_BY") != nullptr;
  std::vector<std::string> added;
  if (!threads_given) {
    added.push_back("--kokkos-num-threads=" + std::to_string(std::max(1, usable_cores() / std::max(1, sharing))));
  }
  const int devices = device_count();
#if defined(KOKKOS_ENABLE_CUDA)
  if (devices == 0) {
    throw RunError(
        "this program was built for CUDA, but no CUDA device can be used here: see nvidia-smi, or build with "
        "--backend openmp");
  }
#endif
  if (!device_given && devices > 0) added.push_back("--kokkos-device-id=" + std::to_string(local_rank % devices));
  // Kokkos advises on OMP_PROC_BIND at every start; threads that share nothing but read-only prisms need no pinning
  added.emplace_back("--kokkos-disable-warnings");
  std::vector<char*> arguments(argv, argv + argc);
  for (std::string& option : added) arguments.push_back(option.data());
  int n_arguments = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  try {
    Kokkos::initialize(n_arguments, arguments.data());
  } catch (const std::exception& error) {
    throw RunError(std::string("Kokkos does not start: ") + error.what());
  }
  // Kokkos took its own options out
  std::copy(arguments.begin(), arguments.begin() + n_arguments, argv);
  argc = n_arguments;
  try {
    check_start();
  } catch (...) {
    Kokkos::finalize();
    throw;
  }
}

KokkosSession::~KokkosSession() { Kokkos::finalize(); }

KokkosFacts kokkos_facts() {
  KokkosFacts facts;
  facts.kokkos_version = version_text(KOKKOS_VERSION);
#if defined(KOKKOSKERNELS_VERSION)
  facts.kokkos_kernels_version = version_text(KOKKOSKERNELS_VERSION);
#endif
  for (const Space space : built_spaces()) {
    facts.spaces.emplace_back(space == Space::cuda ? "cuda" : space == Space::openmp ? "openmp" : "serial");
  }
  facts.default_space = facts.spaces.front();
  facts.host_threads = Kokkos::is_initialized() ? Kokkos::num_threads() : usable_cores();
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
#if defined(KOKKOS_ENABLE_CUDA)
  for (int d = 0; d < device_count(); ++d) {
    cudaDeviceProp device{};
    if (cudaGetDeviceProperties(&device, d) == cudaSuccess) facts.devices.emplace_back(device.name);
  }
#endif
#if defined(KOKKOS_ENABLE_CUDA)
  int current = 0;
  cudaDeviceProp chosen{};
  if (Kokkos::is_initialized() && cudaGetDevice(&current) == cudaSuccess &&
      cudaGetDeviceProperties(&chosen, current) == cudaSuccess) {
    // ranks may see the same device under different numbers, but never under different identifiers
    std::int64_t halves[2] = {0, 0};
    static_assert(sizeof(halves) == sizeof(chosen.uuid));
    std::memcpy(halves, &chosen.uuid, sizeof(halves));
    facts.device_key = (halves[0] ^ halves[1]) | 1;
  }
#endif
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

bool is_kokkos_option(const std::string& argument) { return argument.rfind("--kokkos-", 0) == 0; }

}  // namespace prismfield
