// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prismfield {

/// Variables as a process hands them on, NAME=value each.
class Environment {
public:
  /// Those of this process.
  [[nodiscard]] static Environment current();

  [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
  void set(std::string_view name, std::string_view value);
  void remove(std::string_view name);
  /// Takes out what an MPI launcher put there, by which a child would take itself for a rank; what lets Open MPI run as
  /// root stays.
  void remove_launcher();
  [[nodiscard]] const std::vector<std::string>& variables() const noexcept { return m_variables; }

private:
  std::vector<std::string> m_variables;
};

/// A program to run, and what it is given.
struct ChildCommand {
  /// the program, a file or a name that PATH has, and its arguments; no shell sees them
  std::vector<std::string> words;
  Environment environment = Environment::current();
  /// an open file for standard output; -1: none, as /dev/null, which standard input is
  int output = -1;
  /// for standard error; -1: that of standard output
  int error = -1;
  /// called several times a second while this process waits
  std::function<void()> watch;
};

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

/// Runs a program and waits for its end. Throws RunError when the system has no files or memory for it.
[[nodiscard]] ChildOutcome run_child(const ChildCommand& command);

/// A nameless file for what a child prints, gone when closed; unlike a pipe it never blocks the child. Null where none
/// can be made.
using ScratchFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
[[nodiscard]] ScratchFile scratch_file();
/// All that is in it.
[[nodiscard]] std::string text_of(const ScratchFile& file);

}  // namespace prismfield
