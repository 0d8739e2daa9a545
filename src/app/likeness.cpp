// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/likeness.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "base/checksum.hpp"
#include "base/version.hpp"
#include "case/case.hpp"
#include "parallel/agreement.hpp"
#include "parallel/sameness.hpp"

namespace prismfield {
namespace {

std::uint64_t hash_of(const std::vector<std::string>& words) {
  Checksum sum;
  for (const std::string& word : words) sum.add(word);
  return sum.digest().low;
}

/// What the first of `ranks` has, on every rank.
std::string text_of_first(const std::vector<int>& ranks, std::string text, const Communicator& communicator) {
  broadcast(communicator, text, ranks.front());
  return text;
}

void throw_if_any(const ProblemList& problems, const Communicator& communicator) {
  agree(communicator, [&] {
    if (communicator.rank() == 0) problems.throw_if_any();
  });
}

}  // namespace

void agree_on_program(const std::vector<std::string>& arguments, const Communicator& communicator) {
  if (communicator.size() == 1) return;
  std::vector<std::string> command;
  std::copy_if(arguments.begin(), arguments.end(), std::back_inserter(command),
               [](const std::string& word) { return !word.starts_with("--kokkos-"); });
  const std::string program = fmt::format("{} (git {})", version, git_hash);
  const std::string line = fmt::format("prismfield {}", fmt::join(command, " "));

  ProblemList problems;
  const auto add = [&](const std::string& what) { problems.add("", "", "the ranks of a run need one " + what); };
  const std::vector<int> other_programs = ranks_unlike_root(hash_of({program}), communicator);
  const std::vector<int> other_commands = ranks_unlike_root(hash_of(command), communicator);
  if (!other_programs.empty()) {
    const std::string other = text_of_first(other_programs, program, communicator);
    add(fmt::format("build of prismfield: that of {} is {}, that of rank 0 {}; install one for all nodes",
                    ranks_text(other_programs), other, program));
  }
  if (!other_commands.empty()) {
    const std::string other = text_of_first(other_commands, line, communicator);
    add(fmt::format("command: that of {} is '{}', that of rank 0 '{}'; start each run by an mpirun or srun of its own",
                    ranks_text(other_commands), other, line));
  }
  throw_if_any(problems, communicator);
}

void agree_on_case(const Case& run, const Communicator& communicator) {
  if (communicator.size() == 1) return;
  const std::vector<int> others = ranks_unlike_root(hash_of({run.text}), communicator);
  ProblemList problems;
  if (!others.empty()) {
    problems.add(
        run.file.string(), "",
        fmt::format("is not the same for all ranks: {} {} another case than rank 0; put it where all nodes see "
                    "it, or the same copy on every node",
                    ranks_text(others), others.size() == 1 ? "reads" : "read"));
  }
  throw_if_any(problems, communicator);
}

}  // namespace prismfield
