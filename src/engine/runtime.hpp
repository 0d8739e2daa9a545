// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace prismfield {

/// Kokkos for the time of a run, for callers that do not include its headers.
class KokkosSession {
public:
  /// Initialises Kokkos with its own --kokkos-* options, removed from argv; rank `local_rank` of a node takes device
  /// local_rank modulo the number of devices. Without an option or OMP_NUM_THREADS the host threads are the cores that
  /// this process may run on, divided by `sharing`, the ranks that may run on them. Throws RunError when Kokkos
  /// refuses, or when the start-up check finds that this build computes wrongly.
  KokkosSession(int& argc, char** argv, int local_rank = 0, int sharing = 1);
  ~KokkosSession();
  KokkosSession(const KokkosSession&) = delete;
  KokkosSession& operator=(const KokkosSession&) = delete;
};

/// What `prismfield info` tells of Kokkos; needs a KokkosSession for devices and threads.
struct KokkosFacts {
  std::string kokkos_version;
  std::string kokkos_kernels_version;
  /// serial, openmp, cuda: what was built in
  std::vector<std::string> spaces;
  std::string default_space;
  int host_threads = 1;
  /// values of a double in one host vector instruction
  int simd_doubles = 1;
  std::string host_vector_instructions;
  /// names of the devices that this process may use, "" without one
  std::vector<std::string> devices;
  /// the device that this process computes on, a number that no other device has; 0 without one
  std::int64_t device_key = 0;
  std::string compiler;
};
[[nodiscard]] KokkosFacts kokkos_facts();

/// True when this string is an option that Kokkos itself reads.
[[nodiscard]] bool is_kokkos_option(const std::string& argument);

}  // namespace prismfield
