// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>

#include <prismfield/error.hpp>

namespace prismfield {

/// What every command says when memory runs out.
inline constexpr const char* no_memory_message =
    "error: there is not enough memory; run, sensitivity and invert tell by --dry-run how much a case needs";

/// Makes crashes under a CrashGuard, and lack of memory where no error can be thrown, end the process with a message
/// and the exit code of their kind. `exit_code` may do only what a signal handler may. For programs, not libraries;
/// main calls it once.
void end_crashes_clearly(int (*exit_code)(ErrorKind));
/// Whether end_crashes_clearly() was called.
[[nodiscard]] bool crashes_end_clearly() noexcept;

/// Registers a file to remove when a crash, lack of memory or a signal ends the process with a message; a few files at
/// a time. The name must live until forget_unfinished_file().
void add_unfinished_file(const char* name) noexcept;
void forget_unfinished_file(const char* name) noexcept;

/// Removes unfinished files, writes a line to standard error and ends the process, with exit code 1 in programs without
/// end_crashes_clearly(). Does only what a signal handler may.
[[noreturn]] void end_with(const char* message, ErrorKind kind) noexcept;

/// While it lives, a crash or exit() of a library that cannot cope with damaged files or lack of memory ends the
/// process with this guard's message and the exit code of its kind; where core dumps are on (ulimit -c), a crash ends
/// by its signal. Needs end_crashes_clearly(). Not for several threads at once.
class CrashGuard {
public:
  /// `message`: what the user reads
  CrashGuard(std::string message, ErrorKind kind);
  ~CrashGuard();
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

  /// Replaces message and kind.
  void say(std::string message, ErrorKind kind);
  /// Makes this guard, of several that live, the one for crashes from now on.
  void watch() const noexcept;

private:
  friend void end_watched_process(bool is_crash) noexcept;

  std::string m_message;
  ErrorKind m_kind;
};

/// While it lives, more than five seconds of processor time end the process with the message of the guard that watches,
/// for calls of microseconds that may loop forever on damaged files. Does nothing without a CrashGuard. Not for several
/// threads at once.
class LoopGuard {
public:
  LoopGuard() noexcept;
  ~LoopGuard();
  LoopGuard(const LoopGuard&) = delete;
  LoopGuard& operator=(const LoopGuard&) = delete;
};

}  // namespace prismfield
