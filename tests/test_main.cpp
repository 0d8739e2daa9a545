// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <gtest/gtest.h>

#include <optional>

#include <prismfield/runtime.hpp>

#include "parallel/collectives.hpp"
#include "parallel/mpi_session.hpp"
#include "ranks.hpp"

namespace prismfield::testing {
namespace {

const Communicator* all_ranks = nullptr;

int run_tests(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const MpiSession session(argc, argv);
  const Communicator communicator = session.communicator();
  all_ranks = &communicator;
  std::optional<Runtime> runtime;
  if constexpr (PRISMFIELD_TEST_LAUNCHES_KERNELS) {
    RuntimeOptions options;
    options.local_rank = communicator.local_rank();
    options.sharing = communicator.local_size();
    runtime.emplace(argc, argv, options);
  }
  const int failed = RUN_ALL_TESTS();
  return any(communicator, failed != 0) ? 1 : 0;
}

}  // namespace

const Communicator& ranks() { return *all_ranks; }

}  // namespace prismfield::testing

/// For tests of ranks and of kernels: MPI, where a launcher started the test, and Kokkos for those that launch kernels.
int main(int argc, char** argv) { return prismfield::testing::run_tests(argc, argv); }
