// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "base/human_text.hpp"
#include "scratch_folder.hpp"

namespace prismfield::test_machine {
namespace {

using ::testing::ElementsAre;

/// The mask of a system of `size` cores, of which `cores` may be used.
std::vector<unsigned char> machine_of(std::size_t size, const std::vector<std::size_t>& cores) {
  std::vector<unsigned char> bits((size + 7) / 8, 0);
  for (const std::size_t core : cores) bits[core / 8] = static_cast<unsigned char>(bits[core / 8] | 1U << core % 8);
  return bits;
}

TEST(ProcessorName, IsThatOfTheSystem) {
  const testing::ScratchFolder root;
  std::filesystem::create_directories(root / "proc");
  EXPECT_FALSE(processor_name(root / "").empty()) << "its architecture";
  std::ofstream(root / "proc/cpuinfo") << "processor\t: 0\nmodel name\t:  Fast 9000\x1b \nmodel name\t: other\n";
  EXPECT_EQ(processor_name(root / ""), shown("Fast 9000\x1b"));
  EXPECT_EQ(value_in(root / "proc/cpuinfo", "flags", ':'), "");
  EXPECT_FALSE(host_name().empty());
}

TEST(UsableCores, AreThoseOfTheMask) {
  EXPECT_THAT(usable_cores(machine_of(64, {0, 3, 63})), ElementsAre(0, 3, 63));
  EXPECT_THAT(usable_cores(machine_of(1024, {1023})), ElementsAre(1023));
}

TEST(UsableCores, OfMachinesBeyondTheUsualMask) {
  EXPECT_THAT(usable_cores(machine_of(1025, {2, 1024})), ElementsAre(2, 1024));
  EXPECT_THAT(usable_cores(machine_of(8192, {7, 5000, 8191})), ElementsAre(7, 5000, 8191));
}

TEST(UsableCores, AreOneWhereTheSystemDoesNotTell) {
  EXPECT_THAT(usable_cores(std::span<const unsigned char>()), ElementsAre(0));
  EXPECT_THAT(usable_cores(machine_of(64, {})), ElementsAre(0));
}

TEST(UsableCores, OfThisMachine) {
  const std::vector<int> cores = usable_cores();
  ASSERT_FALSE(cores.empty());
  EXPECT_LE(static_cast<long>(cores.size()), ::sysconf(_SC_NPROCESSORS_CONF));
  for (std::size_t i = 1; i < cores.size(); ++i) EXPECT_LT(cores[i - 1], cores[i]);
}

TEST(Memory, AvailableIsPartOfAll) {
  EXPECT_GT(available_memory(), 0);
  EXPECT_GT(physical_memory(), available_memory());
}

}  // namespace
}  // namespace prismfield::test_machine
