// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
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

/// The file that a command's first word means: itself when it has a '/', else the first of this name on PATH that can
/// be executed; nothing when there is none.
[[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& word);

/// A program to run, and what it is given.
struct ChildCommand {
  /// the program, as find_program() takes it, and its arguments; no shell sees them
  std::vector<std::string> words;
  Environment environment = Environment::current();
  /// open files for standard input and output; -1: none, as /dev/null
  int input = -1, output = -1;
  /// for standard error; -1: that of standard output
  int error = -1;

  /// The child leads a process group of its own, which a terminal's Ctrl-C does not reach: this process ends it, when
  /// itself is interrupted or the time is over.
  bool own_group = false;
  /// for a group of its own: it is ended after so many seconds
  double most_seconds = std::numeric_limits<double>::infinity();
  /// for a group of its own: what it gets when this process is gone, however that ended
  int signal_when_orphaned = 15;
  /// called several times a second while this process waits
  std::function<void()> watch;
};

/// How a child ended, and what it took.
struct ChildOutcome {
  enum class End { not_started, exited, by_signal, out_of_time, interrupted };
  End end = End::not_started;
  /// the exit code; the signal's number; of a program that could not start, 127 when there is none, else 126
  int code = 127;
  /// why it could not start
  std::string reason;
  /// from its start to its end, by the clock; processor time of all its threads and of the children that it waited for
  double seconds = 0, processor_seconds = 0;
  /// most memory that it, or the largest of the children that it waited for, held at a time; of one that held less than
  /// this process does 0: the system does not tell them apart
  std::int64_t peak_memory_bytes = 0;

  [[nodiscard]] bool succeeded() const noexcept { return end == End::exited && code == 0; }
  /// "ended with 2", "was ended by signal 11 (Segmentation fault)", "cannot be started: No such file or directory"
  [[nodiscard]] std::string text() const;
};

/// Runs a program and waits for its end. A child that has a group of its own is ended, SIGTERM first and SIGKILL some
/// seconds later, when this process is interrupted (interrupt.hpp) or its time is over; any other is waited for. Throws
/// RunError when the system can make no process.
[[nodiscard]] ChildOutcome run_child(const ChildCommand& command);

/// A nameless file for what a child prints, gone when closed; unlike a pipe it never blocks the child. Null where none
/// can be made.
using ScratchFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
[[nodiscard]] ScratchFile scratch_file();
/// All that is in it.
[[nodiscard]] std::string text_of(const ScratchFile& file);

/// Runs a program for what it prints; nothing where that fails. Throws RunError, and Stopped when it was ended because
/// this process was interrupted.
[[nodiscard]] std::optional<std::string> output_of_child(ChildCommand command);

}  // namespace prismfield
