// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

#include <gtest/gtest.h>

#include <prismfield/communicator.hpp>
#include <prismfield/runtime.hpp>

#include "ranks.hpp"

namespace prismfield::testing {
namespace {

const Communicator* all_ranks = nullptr;

}  // namespace

const Communicator& ranks() { return *all_ranks; }

}  // namespace prismfield::testing

/// For tests that launch kernels: MPI, where a launcher started the test, and Kokkos last for all of them.
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const prismfield::MpiSession session(argc, argv);
  const prismfield::Communicator communicator(session);
  prismfield::testing::all_ranks = &communicator;
  prismfield::RuntimeOptions options;
  options.local_rank = communicator.local_rank();
  options.sharing = communicator.local_size();
  const prismfield::Runtime runtime(argc, argv, options);
  const int failed = RUN_ALL_TESTS();
  return communicator.any(failed != 0) ? 1 : 0;
}
