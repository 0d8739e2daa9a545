// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/python_script.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/child_process.hpp"

namespace prismfield {
namespace {

/// The script's exit code when its Python cannot import what it needs.
constexpr int missing_module = 77;

/// A nameless file that is gone when closed. Unlike a pipe it neither blocks nor raises SIGPIPE when a child ends
/// early.
using ScratchFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

ScratchFile scratch_file() { return {std::tmpfile(), &std::fclose}; }

/// The last line of what a child wrote that is not blank, at most 300 characters of it. The place where the child
/// writes, which both share, stays.
std::string last_line(int file) {
  struct stat status {};
  std::string text(std::size_t{1} << 14, '\0');
  if (::fstat(file, &status) != 0) return "";
  const off_t begin_of_end = std::max<off_t>(0, status.st_size - static_cast<off_t>(text.size()));
  const ssize_t n = ::pread(file, text.data(), text.size(), begin_of_end);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  text.resize(end + 1);
  const auto begin = text.find_last_of('\n');
  return text.substr(begin == std::string::npos ? 0 : begin + 1, 300);
}

struct Outcome {
  /// the exit code, 127 when the program was not found
  int code = 127;
  std::string message;
};

/// Runs `program - ARGUMENTS` with the script on its standard input.
Outcome run_script(const std::string& program, std::string_view script, const std::vector<std::string>& arguments,
                   const std::function<void(const std::string&)>& watch) {
  const ScratchFile input = scratch_file();
  const ScratchFile output = scratch_file();
  if (!input || !output) return {1, fmt::format("no temporary file: {}", std::strerror(errno))};
  if (std::fwrite(script.data(), 1, script.size(), input.get()) != script.size() || std::fflush(input.get()) != 0) {
    return {1, fmt::format("no temporary file: {}", std::strerror(errno))};
  }
  std::rewind(input.get());

  ChildCommand command;
  command.words = {program, "-"};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  // Python's HDF5 would take itself for a rank.
  command.environment.remove_launcher();
  command.input = ::fileno(input.get());
  command.output = ::fileno(output.get());
  if (watch) command.watch = [&] { watch(last_line(command.output)); };
  const ChildOutcome outcome = run_child(command);
  if (outcome.end == ChildOutcome::End::exited) return {outcome.code, last_line(command.output)};
  return {outcome.end == ChildOutcome::End::not_started ? outcome.code : 1,
          outcome.end == ChildOutcome::End::not_started ? outcome.reason : program + " " + outcome.text()};
}

}  // namespace

std::string run_python_script(const PythonScript& script, const std::vector<std::string>& arguments,
                              const std::function<void(const std::string&)>& watch) {
  std::vector<std::string> programs;
  const char* chosen = std::getenv("PRISMFIELD_PYTHON");
  if (chosen != nullptr && *chosen != '\0') programs.emplace_back(chosen);
  programs.insert(programs.end(), {"python3", "/usr/bin/python3"});

  std::string why;
  for (const std::string& program : programs) {
    const Outcome outcome = run_script(program, script.text, arguments, watch);
    if (outcome.code == 0) return "";
    // 126 and 127 are what env and version managers return for a Python that is not there.
    const bool next = outcome.code == missing_module || outcome.code == 126 || outcome.code == 127;
    if (!next)
      return outcome.message.empty() ? fmt::format("{} ended with {}", program, outcome.code) : outcome.message;
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", program,
                       outcome.message.empty() ? "not found" : outcome.message);
  }
  return fmt::format("no Python with {} ({}); name one in PRISMFIELD_PYTHON or install {}", script.modules, why,
                     script.packages);
}

}  // namespace prismfield
