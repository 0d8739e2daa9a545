// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/communicator.hpp>

#include "parallel/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace prismfield::test_placement {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<int> cores(int first, int n) {
  std::vector<int> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), first);
  return out;
}

RankPlace host_rank(std::int64_t node, std::vector<int> on, std::int64_t node_cores, std::int64_t threads) {
  return {node, std::move(on), node_cores, threads, 0, 0};
}
RankPlace device_rank(std::int64_t node, std::int64_t device, std::int64_t devices) {
  return {node, cores(0, 1), 64, 8, device, devices};
}

TEST(Binding, EveryThreadWithACoreIsSilent) {
  EXPECT_THAT(placement_warnings({host_rank(0, cores(0, 8), 8, 8)}), IsEmpty());
  EXPECT_THAT(placement_advice({host_rank(0, cores(0, 8), 8, 8)}), IsEmpty());
  const std::vector<RankPlace> two = {host_rank(0, cores(0, 4), 8, 4), host_rank(0, cores(4, 4), 8, 4)};
  EXPECT_THAT(placement_warnings(two), IsEmpty());
  EXPECT_THAT(placement_advice(two), IsEmpty());
  // unbound ranks that share the cores fairly, on two nodes
  const std::vector<RankPlace> four = {host_rank(0, cores(0, 8), 8, 4), host_rank(0, cores(0, 8), 8, 4),
                                       host_rank(2, cores(0, 8), 8, 4), host_rank(2, cores(0, 8), 8, 4)};
  EXPECT_THAT(placement_warnings(four), IsEmpty());
  EXPECT_EQ(placement_text(four), "4 ranks x 4 threads on 2 nodes");
}

TEST(Binding, OneProcessWithMoreThreadsThanCores) {
  const auto warnings = placement_warnings({host_rank(0, cores(0, 2), 2, 8)});
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0], "8 threads share 2 usable cores; set OMP_NUM_THREADS=2");
}

TEST(Binding, RanksBoundToOneCoreEachGetOneWarningThatNamesTheFix) {
  const std::vector<RankPlace> bound = {host_rank(0, {0}, 16, 8), host_rank(0, {1}, 16, 8)};
  const auto warnings = placement_warnings(bound);
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0],
            "rank 0 and 1 more: 8 threads share 1 usable core; start with mpirun --bind-to none or --map-by slot:PE=8 "
            "(Slurm: srun --cpus-per-task=8), or set OMP_NUM_THREADS=1");
  // one rank alone is named alone
  const auto one = placement_warnings({host_rank(0, cores(0, 8), 16, 8), host_rank(0, cores(8, 2), 16, 8)});
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_THAT(one[0], HasSubstr("rank 1: 8 threads share 2 usable cores; "));
}

TEST(Binding, RanksOfANodeThatTogetherHaveMoreThreadsThanCores) {
  const std::vector<RankPlace> unbound(4, host_rank(0, cores(0, 8), 8, 8));
  auto warnings = placement_warnings(unbound);
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0], HasSubstr("4 ranks of one node run 32 threads on 8 usable cores; set OMP_NUM_THREADS=2"));
  warnings = placement_warnings(std::vector<RankPlace>(4, host_rank(0, cores(0, 2), 2, 1)));
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0], "4 ranks of one node run 4 threads on 2 usable cores; start at most 2 ranks a node");
}

TEST(Binding, RanksThatShareADevice) {
  EXPECT_THAT(placement_warnings({device_rank(0, 11, 2), device_rank(0, 13, 2)}), IsEmpty());
  // every rank is shown one device of its own under the number 0
  EXPECT_THAT(placement_warnings({device_rank(0, 11, 1), device_rank(0, 13, 1)}), IsEmpty());
  EXPECT_THAT(placement_advice({device_rank(0, 11, 1), device_rank(0, 13, 1)}), IsEmpty());
  const auto warnings = placement_warnings({device_rank(0, 11, 2), device_rank(0, 13, 2), device_rank(0, 11, 2)});
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0],
            "3 ranks of one node share 2 devices, and those on one take turns; start one rank a device: mpirun "
            "--map-by ppr:2:node (Slurm: srun --ntasks-per-node=2)");
  // the same number on two nodes is two devices
  EXPECT_THAT(placement_warnings({device_rank(0, 11, 1), device_rank(1, 11, 1)}), IsEmpty());
  // four ranks on one node, one of the four devices on the other
  EXPECT_THAT(placement_warnings({device_rank(0, 1, 4), device_rank(0, 3, 4), device_rank(0, 5, 4),
                                  device_rank(0, 7, 4), device_rank(4, 1, 4)}),
              IsEmpty());
}

TEST(Binding, WhatIsLeftUnusedIsAdvice) {
  const std::vector<RankPlace> bound = {host_rank(0, {0}, 64, 1), host_rank(0, {1}, 64, 1)};
  EXPECT_THAT(placement_warnings(bound), IsEmpty());
  auto advice = placement_advice(bound);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_EQ(advice[0],
            "2 ranks may run on 2 of a node's 64 cores; if the others are yours too, start with mpirun --bind-to none "
            "or --map-by slot:PE=32");
  advice = placement_advice({device_rank(0, 11, 4)});
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_EQ(advice[0], "1 of a node's 4 devices is used; start one rank a device: mpirun -n 4");
}

TEST(Binding, CoresAreDividedAmongTheRanksThatMayRunOnThem) {
  const std::vector<RankPlace> apart = {host_rank(0, cores(0, 4), 8, 1), host_rank(0, cores(4, 4), 8, 1)};
  EXPECT_EQ(ranks_sharing(apart, 0), 1);
  EXPECT_EQ(ranks_sharing(apart, 1), 1);
  const std::vector<RankPlace> together = {host_rank(0, cores(0, 8), 8, 1), host_rank(0, cores(0, 8), 8, 1),
                                           host_rank(2, cores(0, 8), 8, 1)};
  EXPECT_EQ(ranks_sharing(together, 0), 2);
  EXPECT_EQ(ranks_sharing(together, 2), 1);
}

TEST(Binding, TextsOfPlaces) {
  EXPECT_EQ(core_list({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(core_list({5}), "5");
  EXPECT_EQ(core_list({}), "");
  EXPECT_EQ(placement_text({host_rank(0, cores(0, 2), 2, 2)}), "1 rank x 2 threads on 1 node");
  EXPECT_EQ(placement_text({host_rank(0, cores(0, 8), 8, 2), host_rank(3, cores(0, 8), 8, 3)}),
            "2 ranks, 5 threads on 2 nodes");
  const std::string table = placement_table({host_rank(0, {0}, 2, 1), host_rank(0, {1}, 2, 1)});
  EXPECT_EQ(table,
            "rank 0            node 0, 1 thread on 1 of 2 cores (0)\n"
            "rank 1            node 0, 1 thread on 1 of 2 cores (1)\n"
            "advice            none: every thread has a core of its own\n");
}

TEST(Binding, ThisProcessHasACoreAndANode) {
  const Communicator alone;
  std::vector<RankPlace> places = gather_places(alone);
  ASSERT_THAT(places, SizeIs(1));
  EXPECT_GE(places[0].cores.size(), 1U);
  EXPECT_LE(static_cast<std::int64_t>(places[0].cores.size()), places[0].node_cores);
  gather_workers(alone, 3, 0, 0, places);
  EXPECT_EQ(places[0].threads, 3);
}

}  // namespace
}  // namespace prismfield::test_placement
