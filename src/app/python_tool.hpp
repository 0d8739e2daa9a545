// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

namespace prismfield {

/// A tool of the Python package that is installed with this program, and what it needs.
struct PythonTool {
  /// as python/__main__.py knows it: "figures.fields"
  std::string name;
  /// modules by the names in error messages, "matplotlib and h5py"
  std::string modules;
  /// Debian's packages of them, "python3-h5py and python3-matplotlib"
  std::string packages;
};

/// What became of a tool.
struct ToolOutcome {
  /// "", or why it did not do its work
  std::string why;
  /// the command that was tried last
  std::vector<std::string> words;
  /// no Python has the modules
  bool lacks_module = false;
  /// it ran to its end, with this exit code
  bool exited = false;
  int code = 0;
};

/// Runs the tool with these arguments by the first of $PRISMFIELD_PYTHON, python3, /usr/bin/python3 that has its
/// modules: a tool ends with 77 if one is missing. No shell sees the arguments, and nothing is written beside the
/// package. Throws nothing if there is no Python or no package.
[[nodiscard]] ToolOutcome run_python_tool(const PythonTool& tool, const std::vector<std::string>& arguments);

/// How a child ended.
struct ChildOutcome {
  enum class End { not_started, exited, by_signal };
  End end = End::not_started;
  /// the exit code; the signal's number; of a program that could not start, 127 when there is none, else 126
  int code = 127;
  /// why it could not start
  std::string reason;

  [[nodiscard]] bool succeeded() const noexcept { return end == End::exited && code == 0; }
  /// "ended with 2", "was ended by signal 11 (Segmentation fault)", "cannot be started: No such file or directory"
  [[nodiscard]] std::string text() const;
};

/// Runs a program, a file or a name that PATH has, with its arguments, and waits for its end. No shell sees them, it
/// has nothing to read, and is no rank of this one's. `output`, `error`: open files for what it prints. Throws RunError
/// where the system cannot wait for it.
[[nodiscard]] ChildOutcome run_child(std::vector<std::string> words, int output, int error);

/// Variables of this process, NAME=value each, without what an MPI launcher put there, by which a child would take
/// itself for a rank; what lets Open MPI run as root stays.
[[nodiscard]] std::vector<std::string> variables_without_launcher();

/// Words as a system call takes them: where each begins, then null. They must outlive it.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& words);

}  // namespace prismfield
