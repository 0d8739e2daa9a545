// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// For what is compiled with the address sanitizer: which leaks it is silent about.
#include <cstdlib>

extern "C" {

// The runtime library's name.
int __lsan_is_turned_off();  // NOLINT(bugprone-reserved-identifier)

// Those of ranks: what MPI libraries leave behind at the end is not ours.
int __lsan_is_turned_off() {  // NOLINT
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMI_SIZE") != nullptr ? 1 : 0;
}
}
