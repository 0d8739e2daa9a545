// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace prismfield {

/// What the program knows of itself and its machine: made once, for files, studies and `prismfield info`.
struct ProgramFacts {
  std::string version, git_hash, compiler, build_type, kokkos, kokkos_kernels, mpi, hdf5;
  /// "openmp, serial; NATIVE": spaces that were built in, and what Kokkos was built for
  std::string kokkos_configuration;
  /// the versions of PROJ and GDAL, "" without them
  std::string proj, gdal;
  /// the machine, and its processor as in /proc/cpuinfo
  std::string host, processor;
  /// "AVX-512, 8 lanes of double"
  std::string simd;
  /// as execution.space names them: built in, and not
  std::vector<std::string> spaces, spaces_not_compiled;
  std::string default_space;
  /// that this process may use
  std::vector<std::string> devices;
  /// host threads that compute
  int host_threads = 1;
  bool has_mpi = false;
  /// --kokkos-... of the command line, which every run of a study is given too
  std::vector<std::string> kokkos_options;
};

/// Of the machine, what computed.
struct MachineUse {
  std::string space;
  /// "": none
  std::string device;
  std::int64_t ranks = 1, threads = 1;
};

}  // namespace prismfield
