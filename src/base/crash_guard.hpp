// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>

#include <prismfield/error.hpp>

namespace prismfield {

/// What every command says when memory runs out.
inline constexpr const char* no_memory_message =
    "error: there is not enough memory; run, sensitivity and invert tell by --dry-run how much a case needs";

/// From now on crashes that a CrashGuard watches, and memory that runs out where no error can be thrown, end the
/// process with a message and the exit code of their kind, `exit_code`, which does only what a signal handler may. For
/// programs, not libraries; call it once, in main.
void end_crashes_clearly(int (*exit_code)(ErrorKind));
/// Whether it was called.
[[nodiscard]] bool crashes_end_clearly() noexcept;

/// What is removed when a crash, a lack of memory or a signal ends the process with a message: a few files at a time.
/// The name must live until it is forgotten.
void add_unfinished_file(const char* name) noexcept;
void forget_unfinished_file(const char* name) noexcept;

/// Removes the unfinished files, writes a line to standard error and ends the process, with 1 where nobody called
/// end_crashes_clearly(). Does only what a signal handler may.
[[noreturn]] void end_with(const char* message, ErrorKind kind) noexcept;

/// While it lives, a crash of a library that does not survive damaged files or a lack of memory, and its calling
/// exit(), end the process with this guard's words, in a program that asked for it: with the code of its kind, or,
/// after a crash, by its signal where a core is asked for (ulimit -c). Not for several threads at once.
class CrashGuard {
public:
  /// `message`: what the user reads.
  CrashGuard(std::string message, ErrorKind kind);
  ~CrashGuard();
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

  /// Other words and another kind from now on.
  void say(std::string message, ErrorKind kind);
  /// From now on a crash is this guard's, of several that live.
  void watch() const noexcept;

private:
  friend void end_watched_process(bool is_crash) noexcept;

  std::string m_message;
  ErrorKind m_kind;
};

/// While it lives, more than five seconds of processor time end the process with the words of the guard that watches:
/// for calls of microseconds that come to no end on damaged files. It does nothing where no CrashGuard lives. Not for
/// several threads at once.
class LoopGuard {
public:
  LoopGuard() noexcept;
  ~LoopGuard();
  LoopGuard(const LoopGuard&) = delete;
  LoopGuard& operator=(const LoopGuard&) = delete;
};

}  // namespace prismfield
