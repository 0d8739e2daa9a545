// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

namespace prismfield {

/// How a Runtime starts Kokkos; unused where Kokkos runs already.
struct RuntimeOptions {
  /// host threads, at most 512 with OpenMP, a limit of Kokkos; 0: OMP_NUM_THREADS, otherwise the cores of this process
  /// divided by `sharing`
  int threads = 0;
  /// device that computes; -1: `local_rank` modulo the number of devices
  int device = -1;
  /// number of this rank among those of its node
  int local_rank = 0;
  /// number of ranks, with this one, that may run on the same cores
  int sharing = 1;
  /// Kokkos' own options, e.g. "--kokkos-num-threads=4"; they take precedence
  std::vector<std::string> kokkos_options;
};

/// Keeps Kokkos running during its lifetime, for callers that do not include Kokkos. It starts and ends Kokkos, unless
/// Kokkos runs already; then it leaves Kokkos as it is. A program that runs Kokkos itself needs no Runtime. Under MPI
/// set `local_rank` to the communicator's local_rank() and, unless ranks are bound to their own cores, `sharing` to its
/// local_size().
class Runtime {
public:
  /// Starts Kokkos and tests this build by a small kernel in every execution space. Throws InputError for an error in
  /// `kokkos_options`, OMP_NUM_THREADS or an environment variable of Kokkos; RunError when Kokkos cannot start, has
  /// ended before (it starts once per process) or fails the test.
  explicit Runtime(RuntimeOptions options = {});
  /// The same with --kokkos-* options from a command line, which it removes from there.
  Runtime(int& argc, char** argv, RuntimeOptions options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Whether Kokkos ran before this object and continues after it.
  [[nodiscard]] bool adopted() const noexcept { return m_adopted; }

private:
  bool m_adopted = false;
};

}  // namespace prismfield
