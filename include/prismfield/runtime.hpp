// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

namespace prismfield {

/// How Kokkos is started; without meaning where it runs already.
struct RuntimeOptions {
  /// host threads, at most 512 with OpenMP: Kokkos has no room for more; 0: OMP_NUM_THREADS, else the cores that this
  /// process may run on, divided by `sharing`
  int threads = 0;
  /// device that computes; -1: `local_rank` modulo the number of devices
  int device = -1;
  /// number of this rank among those of its node
  int local_rank = 0;
  /// ranks that may run on the same cores as this one, itself included
  int sharing = 1;
  /// Kokkos' own options, e.g. "--kokkos-num-threads=4"; what they say wins
  std::vector<std::string> kokkos_options;
};

/// Kokkos for as long as this object lives, for callers that need not include its headers. A Kokkos that runs already
/// is used as it is and goes on when this object ends; else this object starts it and ends it. A program that runs
/// Kokkos itself needs no Runtime. Under MPI, where this object starts Kokkos, `local_rank` is to be the communicator's
/// local_rank() and `sharing`, unless ranks are bound to cores of their own, its local_size().
class Runtime {
public:
  /// Checks too that this build computes rightly, by a small kernel in every execution space. Throws InputError for an
  /// error in `kokkos_options`, in an environment variable of Kokkos or in OMP_NUM_THREADS; RunError when Kokkos
  /// cannot start, was ended before (it starts once in a process), or when the check fails.
  explicit Runtime(RuntimeOptions options = {});
  /// The same with the --kokkos-* options of a command line too, which are taken out of it.
  Runtime(int& argc, char** argv, RuntimeOptions options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Whether Kokkos ran before this object and goes on after it.
  [[nodiscard]] bool adopted() const noexcept { return m_adopted; }

private:
  bool m_adopted = false;
};

}  // namespace prismfield
