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
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>

#include "base/child_process.hpp"

namespace prismfield {
namespace {

/// A tool's exit code when its Python cannot import what it needs.
constexpr int missing_module = 77;

/// The folder of the package, installed beside the program.
std::string package_folder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
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

/// A command's exit code, 127 if there is no such program, and the last line that it wrote or why there is none.
struct Outcome {
  int code;
  std::string message;
};

Outcome run_command(ChildCommand command, const std::function<void(const std::string&)>& watch) {
  // A nameless file that is gone when closed; unlike a pipe it never blocks the child.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output{std::tmpfile(), &std::fclose};
  if (!output) return {1, fmt::format("no temporary file: {}", std::strerror(errno))};
  command.output = ::fileno(output.get());
  // Python's HDF5 would take itself for a rank.
  command.environment.remove_launcher();
  if (watch) command.watch = [&] { watch(last_line(command.output)); };
  const ChildOutcome outcome = run_child(command);
  if (outcome.end == ChildOutcome::End::exited) return {outcome.code, last_line(command.output)};
  if (outcome.end == ChildOutcome::End::not_started) return {outcome.code, outcome.reason};
  return {1, command.words.front() + " " + outcome.text()};
}

}  // namespace

std::string run_python_tool(const PythonTool& tool, const std::vector<std::string>& arguments,
                            const std::function<void(const std::string&)>& watch) {
  const std::string folder = package_folder();
  if (!std::ifstream(folder + "/__main__.py")) {
    return fmt::format("the drawing programs are not in {}; 'cmake --install' puts them there with the program",
                       folder);
  }
  std::vector<std::string> programs;
  const char* chosen = std::getenv("PRISMFIELD_PYTHON");
  if (chosen != nullptr && *chosen != '\0') programs.emplace_back(chosen);
  programs.insert(programs.end(), {"python3", "/usr/bin/python3"});

  std::string why;
  for (const std::string& program : programs) {
    // Without -B Python would write into the folder.
    ChildCommand command;
    command.words = {program, "-B", folder, tool.name};
    command.words.insert(command.words.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run_command(std::move(command), watch);
    if (outcome.code == 0) return "";
    // 126 and 127 are what env and version managers return for a Python that is not there.
    const bool next = outcome.code == missing_module || outcome.code == 126 || outcome.code == 127;
    if (!next)
      return outcome.message.empty() ? fmt::format("{} ended with {}", program, outcome.code) : outcome.message;
    const std::string reason = outcome.message.empty() ? "not found" : outcome.message;
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", program, reason);
  }
  return fmt::format("no Python with {} ({}); name one in PRISMFIELD_PYTHON or install {}", tool.modules, why,
                     tool.packages);
}

}  // namespace prismfield
