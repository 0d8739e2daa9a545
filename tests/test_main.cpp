// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include <prismfield/runtime.hpp>

#include "parallel/collectives.hpp"
#include "parallel/mpi_session.hpp"
#include "ranks.hpp"

namespace prismfield::testing {
namespace test_main {
namespace {

const Communicator* all_ranks = nullptr;

/// Says "test_axis" for each suite of that source. Empty, with a message, where two sources have suites of one name: a
/// filter could not tell them apart.
std::map<std::string, std::string> sources_of_suites() {
  std::map<std::string, std::string> sources;
  const ::testing::UnitTest& program = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const std::string source = std::filesystem::path(suite.GetTestInfo(j)->file()).stem().string();
      const auto [known, is_new] = sources.emplace(suite.name(), source);
      if (!is_new && known->second != source) {
        std::cerr << "The suite " << suite.name() << " is in " << known->second << ".cpp and in " << source
                  << ".cpp: rename one.\n";
        return {};
      }
    }
  }
  return sources;
}

/// Takes --source=test_NAME off the arguments: only its tests run, unless a filter is given too. False, with a message,
/// where there are no tests to run.
bool select_tests(int& argc, char** argv) {
  constexpr std::string_view option = "--source=";
  const auto sources = sources_of_suites();
  if (sources.empty()) return false;
  const auto given = std::find_if(argv, argv + argc, [&](std::string_view word) { return word.starts_with(option); });
  if (given == argv + argc) return true;
  const std::string_view wanted = std::string_view(*given).substr(option.size());
  std::rotate(given, given + 1, argv + argc);
  --argc;
  std::string filter;
  for (const auto& [suite, source] : sources) {
    if (source == wanted) filter += (filter.empty() ? "" : ":") + suite + ".*";
  }
  if (filter.empty()) {
    std::cerr << "This program has no tests of " << wanted << ".cpp.\n";
    return false;
  }
  // A death test calls this program again, with the filter of that one test.
  if (GTEST_FLAG_GET(filter) == "*") GTEST_FLAG_SET(filter, filter);
  return true;
}

int run_all() {
  const int failed = RUN_ALL_TESTS();
  if (::testing::UnitTest::GetInstance()->test_to_run_count() > 0 || GTEST_FLAG_GET(list_tests)) return failed;
  std::cerr << "The filter selects no test.\n";
  return 1;
}

int run_tests(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (!select_tests(argc, argv)) return 1;
  const MpiSession session(argc, argv);
  const Communicator communicator = session.communicator();
  all_ranks = &communicator;
  int failed = 0;
  if constexpr (PRISMFIELD_TEST_LAUNCHES_KERNELS) {
    RuntimeOptions options;
    options.local_rank = communicator.local_rank();
    options.sharing = communicator.local_size();
    const Runtime runtime(argc, argv, options);
    failed = run_all();
  } else {
    failed = run_all();
  }
  return any(communicator, failed != 0) ? 1 : 0;
}

}  // namespace
}  // namespace test_main

const Communicator& ranks() { return *test_main::all_ranks; }

}  // namespace prismfield::testing

/// For all tests: MPI, where a launcher started the test, and Kokkos for those that launch kernels.
int main(int argc, char** argv) { return prismfield::testing::test_main::run_tests(argc, argv); }
