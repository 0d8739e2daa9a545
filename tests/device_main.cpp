// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

#include <gtest/gtest.h>

#include "kokkos_session.hpp"
#include "parallel.hpp"

/// For tests that launch kernels: MPI, where a launcher started the test, and Kokkos last for all of them.
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const prismfield::MpiSession mpi(argc, argv);
  const prismfield::KokkosSession kokkos(argc, argv);
  return RUN_ALL_TESTS();
}
