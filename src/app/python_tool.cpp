// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/python_tool.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/child_process.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// A tool's exit code when its Python cannot import what it needs.
constexpr int missing_module = 77;

/// The folder of the package, installed beside the program.
fs::path package_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  // From the root, so that without a /proc nothing of the working folder is run.
  return ("/" / program.parent_path() / "../share/prismfield/python").lexically_normal();
}

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

/// Runs a command, its first word a Python.
ToolOutcome run_command(std::vector<std::string> words, const std::function<void(const std::string&)>& watch) {
  const ScratchFile output = scratch_file();
  const ScratchFile errors = scratch_file();
  ToolOutcome result;
  if (!output || !errors) {
    result.why = fmt::format("no temporary file: {}", std::strerror(errno));
    return result;
  }
  ChildCommand command;
  command.words = std::move(words);
  // Python's HDF5 would take itself for a rank.
  command.environment.remove_launcher();
  command.output = ::fileno(output.get());
  command.error = ::fileno(errors.get());
  if (watch) command.watch = [&] { watch(last_line(command.error)); };
  const ChildOutcome outcome = run_child(command);
  result.exited = outcome.end == ChildOutcome::End::exited;
  result.code = outcome.code;
  result.output = text_of(output);
  result.errors = text_of(errors);
  const std::string& program = command.words.front();
  if (outcome.end == ChildOutcome::End::not_started) {
    result.why = outcome.reason.empty() ? "not found" : outcome.reason;
  } else if (!outcome.succeeded()) {
    if (result.exited) result.why = last_line(result.errors.empty() ? command.output : command.error);
    if (result.why.empty()) result.why = program + " " + outcome.text();
  }
  return result;
}

}  // namespace

ToolOutcome run_python_tool(const PythonTool& tool, const std::vector<std::string>& arguments,
                            const std::function<void(const std::string&)>& watch) {
  const fs::path folder = package_folder();
  std::error_code error;
  ToolOutcome outcome;
  if (!fs::exists(folder / "__main__.py", error)) {
    outcome.why = fmt::format("the Python package is not in {}; 'cmake --install' puts it there with the program",
                              folder.string());
    return outcome;
  }
  std::vector<std::string> programs;
  const char* chosen = std::getenv("PRISMFIELD_PYTHON");
  if (chosen != nullptr && *chosen != '\0') programs.emplace_back(chosen);
  programs.insert(programs.end(), {"python3", "/usr/bin/python3"});

  std::string why;
  for (const std::string& program : programs) {
    // Without -B Python would write into the folder.
    std::vector<std::string> words = {program, "-B", folder.string(), tool.name};
    words.insert(words.end(), arguments.begin(), arguments.end());
    outcome = run_command(words, watch);
    outcome.words = std::move(words);
    // 126 and 127 are what env and version managers return for a Python that is not there.
    const bool next = outcome.code == missing_module || outcome.code == 126 || outcome.code == 127;
    if (!next) return outcome;
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", program, outcome.why);
  }
  outcome.lacks_module = true;
  outcome.why = fmt::format("no Python with {} ({}); name one in PRISMFIELD_PYTHON or install {}", tool.modules, why,
                            tool.packages);
  return outcome;
}

}  // namespace prismfield
