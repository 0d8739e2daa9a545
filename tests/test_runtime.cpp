// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>
#include <prismfield/runtime.hpp>

#include "engine/devices.hpp"
#include "engine/host_threads.hpp"

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <array>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace prismfield::test_runtime {
namespace {

const bool has_limit = most_host_threads() < std::numeric_limits<int>::max();
const std::string threads_expected =
    has_limit ? "a whole number from 1 to 512 is expected" : "a whole number of at least 1 is expected";
const std::string several_ranks = has_limit ? "; for more threads start several ranks, each with a part of them" : "";

std::string mistake(const std::vector<std::string>& options) {
  try {
    RuntimeOptions wanted;
    wanted.kokkos_options = options;
    const Runtime runtime(wanted);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

std::string failure(const RuntimeOptions& wanted) {
  try {
    const Runtime runtime(wanted);
  } catch (const RunError& error) {
    return error.what();
  }
  return "none";
}

/// Ends a process of its own: 0 where `body` is true. Kokkos starts only once in a process.
template <class Body>
[[noreturn]] void end_with(const Body& body) {
  std::exit(body() ? 0 : 1);
}

TEST(RuntimeDeathTest, StartsAndEndsKokkos) {
  const auto body = [] {
    bool right = true;
    {
      RuntimeOptions wanted;
      wanted.threads = 1;
      const Runtime runtime(wanted);
      right = right && Kokkos::is_initialized() && !runtime.adopted() && Kokkos::num_threads() == 1;
      const Runtime second;
      right = right && second.adopted();
    }
    right = right && Kokkos::is_finalized();
    return right && failure({}).find("cannot start again") != std::string::npos;
  };
  EXPECT_EXIT(end_with(body), ::testing::ExitedWithCode(0), "^$");
}

TEST(RuntimeDeathTest, AdoptsAKokkosThatRuns) {
  const auto body = [] {
    Kokkos::initialize(Kokkos::InitializationSettings().set_num_threads(1).set_disable_warnings(true));
    bool right = true;
    {
      const Runtime runtime;
      right = runtime.adopted();
    }
    right = right && Kokkos::is_initialized();
    Kokkos::finalize();
    return right;
  };
  EXPECT_EXIT(end_with(body), ::testing::ExitedWithCode(0), "^$");
}

TEST(RuntimeDeathTest, TakesKokkosOptionsOutOfACommandLine) {
  const auto body = [] {
    std::array<std::string, 4> words = {"program", "--kokkos-num-threads=1", "file", "--other"};
    std::array<char*, 5> argv = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
    int argc = 4;
    const Runtime runtime(argc, argv.data());
    return argc == 3 && argv[1] == words[2] && argv[2] == words[3] && argv[3] == nullptr && Kokkos::num_threads() == 1;
  };
  EXPECT_EXIT(end_with(body), ::testing::ExitedWithCode(0), "^$");
}

TEST(RuntimeTest, EveryMistakeInAnOptionIsAnException) {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"--kokkos-x", "--kokkos-x: is no option of Kokkos; --kokkos-help lists them"},
      {"--kokkos-num-thread=2", "--kokkos-num-thread=2: is no option of Kokkos; --kokkos-help lists them"},
      {"--kokkos-num-threads", "--kokkos-num-threads: has no value; write --kokkos-num-threads=VALUE"},
      {"--kokkos-num-threads=two", "--kokkos-num-threads: is 'two'; " + threads_expected},
      {"--kokkos-num-threads=0", "--kokkos-num-threads: is '0'; " + threads_expected},
      {"--kokkos-num-threads=-99999999999", "--kokkos-num-threads: is '-99999999999'; " + threads_expected},
      {"--kokkos-num-threads=99999999999",
       "--kokkos-num-threads: is '99999999999'; " + threads_expected + several_ranks},
      {"--kokkos-map-device-id-by=luck", "--kokkos-map-device-id-by: is 'luck'; random or mpi_rank is expected"},
      {"--kokkos-print-configuration=2", "--kokkos-print-configuration: is '2'; yes or no is expected"},
      {"--kokkos-help=1", "--kokkos-help: takes no value"},
  };
  for (const auto& [option, message] : mistakes) EXPECT_EQ(mistake({option}), message);
  EXPECT_EQ(mistake({"--kokkos-x", "--kokkos-y"}),
            "--kokkos-x: is no option of Kokkos; --kokkos-help lists them\n"
            "--kokkos-y: is no option of Kokkos; --kokkos-help lists them");
  const std::string range =
      device_count() > 0 ? "a number from 0 to " + std::to_string(device_count() - 1) : "a whole number of at least 0";
  EXPECT_EQ(mistake({"--kokkos-device-id=-1"}), "--kokkos-device-id: is '-1'; " + range + " is expected");
  EXPECT_FALSE(Kokkos::is_initialized());
}

std::string openmp_mistake(const char* text, bool decides = true) {
  try {
    check_openmp_threads(text, decides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(HostThreads, OfOpenMpsVariable) {
  for (const char* const right : {static_cast<const char*>(nullptr), "", "1", " 4 ", "4,2", "8 , 1"}) {
    EXPECT_EQ(openmp_mistake(right), "");
  }
  for (const std::string wrong : {"abc", "-1", "0", "1e9", "4x", ",4", " ", "2.5", "-99999999999"}) {
    EXPECT_EQ(openmp_mistake(wrong.c_str()), "OMP_NUM_THREADS: is '" + wrong + "'; " + threads_expected);
    EXPECT_NE(openmp_mistake(wrong.c_str(), false), "") << "an error even where it does not matter";
  }
}

TEST(HostThreads, AreNoMoreThanKokkosHasRoomFor) {
  if (!has_limit) GTEST_SKIP() << "there is no limit without OpenMP";
  EXPECT_EQ(openmp_mistake("512"), "");
  for (const std::string many : {"513", "600", "99999999999"}) {
    EXPECT_EQ(openmp_mistake(many.c_str()), "OMP_NUM_THREADS: is '" + many + "'; " + threads_expected + several_ranks);
    EXPECT_EQ(openmp_mistake(many.c_str(), false), "") << "something else decides";
  }
  EXPECT_EQ(mistake({"--kokkos-num-threads=513"}),
            "--kokkos-num-threads: is '513'; " + threads_expected + several_ranks);
  RuntimeOptions wanted;
  wanted.threads = 513;
  EXPECT_EQ(failure(wanted), "Kokkos cannot start with 513 threads; it has room for 512");
  EXPECT_EQ(default_host_threads(600, 1), 512);
  EXPECT_FALSE(Kokkos::is_initialized());
}

TEST(HostThreads, AreNoMoreThanOpenMpStarts) {
  EXPECT_EQ(expected_threads("4", 4), "");
  EXPECT_EQ(expected_threads("4", 3), "OMP_THREAD_LIMIT allows 3: raise it, or ask for fewer threads");
}

TEST(HostThreads, AreTheCoresSharedByTheRanks) {
  EXPECT_EQ(default_host_threads(600, 2), 300);
  EXPECT_EQ(default_host_threads(2, 4), 1);
  EXPECT_EQ(default_host_threads(8, 0), 8);
}

TEST(RuntimeTest, ThoseOfTheEnvironmentToo) {
  ASSERT_EQ(::setenv("KOKKOS_NUM_THREADS", "many", 1), 0);
  EXPECT_EQ(mistake({}), "KOKKOS_NUM_THREADS: is 'many'; " + threads_expected);
  ASSERT_EQ(::unsetenv("KOKKOS_NUM_THREADS"), 0);
  RuntimeOptions wanted;
  wanted.threads = -1;
  EXPECT_EQ(failure(wanted), "Kokkos cannot start with -1 threads");
  if (device_count() > 0) {
    wanted = {};
    wanted.device = device_count();
    EXPECT_NE(failure(wanted).find("there is no device"), std::string::npos);
  }
  EXPECT_FALSE(Kokkos::is_initialized());
}

}  // namespace
}  // namespace prismfield::test_runtime
