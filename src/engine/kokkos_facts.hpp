// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace prismfield {

/// Facts of Kokkos, for `prismfield info` and the placement of ranks; needs a Runtime for devices and threads.
struct KokkosFacts {
  std::string kokkos_version;
  std::string kokkos_kernels_version;
  /// serial, openmp, cuda, hip: what was built in, and what was not
  std::vector<std::string> spaces, spaces_not_compiled;
  std::string default_space;
  /// processors and cards that Kokkos was built for, as its options name them; "" for none
  std::string architecture;
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

}  // namespace prismfield
