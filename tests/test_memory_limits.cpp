// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/memory_limits.hpp"
#include "folder_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismfield::test_memory_limits {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

constexpr std::int64_t mib = 1024 * 1024;

auto limit(MemoryBound bound, std::int64_t bytes) {
  return AllOf(Field(&MemoryLimit::bound, bound), Field(&MemoryLimit::bytes, bytes));
}
auto group(std::int64_t bytes) { return limit(MemoryBound::control_group, bytes); }

/// A root folder whose proc and sys are files of the test's.
class MemoryLimits : public testing_samples::FolderTest {
protected:
  [[nodiscard]] std::vector<MemoryLimit> found(const ProcessLimits& limits = {}) const {
    return memory_limits(path(""), limits);
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(path(name).parent_path());
    std::ofstream(path(name)) << text;
  }
  /// A group of version 2.
  void write_group(const std::string& folder, const std::string& most, std::int64_t taken,
                   std::int64_t cache = 0) const {
    write(folder + "/memory.max", most + "\n");
    write(folder + "/memory.current", std::to_string(taken) + "\n");
    write(folder + "/memory.stat", "anon 5\ninactive_file " + std::to_string(cache) + "\nactive_file 0\n");
  }
  void mount_version_2(const std::string& top = "/") const {
    write("proc/self/mountinfo",
          "24 1 0:22 / /proc rw - proc proc rw\n"
          "30 24 0:26 " +
              top + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
};

TEST_F(MemoryLimits, AreNoneWhereTheSystemDoesNotTell) { EXPECT_THAT(found(), IsEmpty()); }

TEST_F(MemoryLimits, OfTheMachine) {
  write("proc/meminfo", "MemTotal:       24684112 kB\nMemFree: 5 kB\nMemAvailable:    2048 kB\nBuffers: 1 kB\n");
  EXPECT_THAT(found(), ElementsAre(limit(MemoryBound::machine, 2 * mib)));
}

TEST_F(MemoryLimits, OfAGroupAndOfAllAboveIt) {
  mount_version_2();
  write("proc/self/cgroup", "0::/system.slice/job_7/step_0\n");
  write_group("sys/fs/cgroup/system.slice", "max", 900 * mib);
  write_group("sys/fs/cgroup/system.slice/job_7", std::to_string(300 * mib), 120 * mib, 20 * mib);
  write_group("sys/fs/cgroup/system.slice/job_7/step_0", std::to_string(250 * mib), 10 * mib);
  EXPECT_THAT(found(), ElementsAre(group(200 * mib), group(240 * mib)));
  EXPECT_NE(found()[0].group, found()[1].group);
  EXPECT_GT(found()[0].group, 1);
}

TEST_F(MemoryLimits, OfAGroupThatIsSlowedDownBeforeItsEnd) {
  mount_version_2();
  write("proc/self/cgroup", "0::/job\n");
  write_group("sys/fs/cgroup/job", "max", 10 * mib);
  write("sys/fs/cgroup/job/memory.high", std::to_string(30 * mib) + "\n");
  EXPECT_THAT(found(), ElementsAre(group(20 * mib)));
}

TEST_F(MemoryLimits, OfAFullGroupAreNotNegative) {
  mount_version_2();
  write("proc/self/cgroup", "0::/job\n");
  write_group("sys/fs/cgroup/job", std::to_string(30 * mib), 31 * mib);
  EXPECT_THAT(found(), ElementsAre(group(0)));
  write_group("sys/fs/cgroup/job", std::to_string(30 * mib), 3 * mib, 5 * mib);
  EXPECT_THAT(found(), ElementsAre(group(30 * mib)));
}

TEST_F(MemoryLimits, OfAContainer) {
  // the path is the machine's, the folder shows the container's own group
  mount_version_2("/docker/f00");
  write("proc/self/cgroup", "0::/docker/f00/inner\n");
  write_group("sys/fs/cgroup", std::to_string(90 * mib), 40 * mib);
  write_group("sys/fs/cgroup/inner", std::to_string(70 * mib), 10 * mib);
  EXPECT_THAT(found(), ElementsAre(group(50 * mib), group(60 * mib)));
}

TEST_F(MemoryLimits, OfAContainerWhoseGroupIsElsewhere) {
  mount_version_2();
  write("proc/self/cgroup", "0::/../other\n");
  write_group("sys/fs/cgroup", std::to_string(90 * mib), 40 * mib);
  write_group("sys/fs/other", std::to_string(mib), 0);
  EXPECT_THAT(found(), ElementsAre(group(50 * mib)));
}

TEST_F(MemoryLimits, OfVersion1) {
  write("proc/self/mountinfo",
        "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write("proc/self/cgroup", "4:memory:/slurm/job_7\n1:cpu,cpuacct:/elsewhere\n0::/\n");
  const std::string top = "sys/fs/cgroup/memory";
  write(top + "/memory.limit_in_bytes", "9223372036854771712\n");
  write(top + "/memory.usage_in_bytes", "1000\n");
  write(top + "/slurm/job_7/memory.limit_in_bytes", std::to_string(100 * mib) + "\n");
  write(top + "/slurm/job_7/memory.usage_in_bytes", std::to_string(50 * mib) + "\n");
  write(top + "/slurm/job_7/memory.stat", "inactive_file 7\ntotal_inactive_file " + std::to_string(8 * mib) +
                                              "\ntotal_active_file " + std::to_string(2 * mib) + "\n");
  EXPECT_THAT(found(), ElementsAre(group(60 * mib)));
}

TEST_F(MemoryLimits, OfFilesThatAreNotAsExpected) {
  mount_version_2();
  write("proc/meminfo", "MemAvailable: plenty\n");
  write("proc/self/cgroup", "nonsense\n0::/job\n");
  write("sys/fs/cgroup/job/memory.max", "12 bytes");
  write("sys/fs/cgroup/job/memory.current", "-5");
  EXPECT_THAT(found(), ElementsAre(group(12)));
  write("sys/fs/cgroup/job/memory.max", "123456789012345678901234567890\n");
  EXPECT_THAT(found(), IsEmpty());
  write("sys/fs/cgroup/job/memory.max", "-1\n");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(MemoryLimits, OfTheProcessAreItsOwn) {
  write("proc/self/status", "Name:\tprismfield\nVmSize:\t  3072 kB\nVmData:\t  1024 kB\n");
  ProcessLimits limits;
  limits.address_space = 10 * mib;
  EXPECT_THAT(found(limits), ElementsAre(limit(MemoryBound::address_space, 7 * mib)));
  limits.data = mib / 2;
  EXPECT_THAT(found(limits), ElementsAre(limit(MemoryBound::address_space, 7 * mib), limit(MemoryBound::data, 0)));
  EXPECT_EQ(found(limits)[0].group, 0);
}

}  // namespace
}  // namespace prismfield::test_memory_limits
