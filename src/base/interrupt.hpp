// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <csignal>

namespace prismfield {

/// From here on SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1 and SIGUSR2 ask the run to stop instead of ending the
/// process; a second SIGINT ends it at once. A SIGHUP that is ignored, as under nohup, stays so; SIGPIPE and SIGXFSZ
/// are ignored. Throws RunError when the system refuses.
void catch_interrupts();

/// Called after catch_interrupts() by commands that work for minutes. If `prints`, the first SIGINT prints at once, on
/// standard error, that the work stops. On a single rank each of the signals makes throw_between_launches() throw;
/// several ranks have to agree after a product.
void stop_between_products(bool prints, bool is_single_rank) noexcept;

/// From here on SIGINT, SIGTERM and SIGHUP, which stays ignored where it is, end the process at once: unfinished files
/// (crash_guard.hpp) are removed, and the exit code is that of a stopped run. SIGPIPE and SIGXFSZ are ignored.
/// Throws RunError when the system refuses.
void end_at_interrupts();

/// While one of these lives, nothing is lost when the process ends: the first signal of any kind ends it as
/// end_at_interrupts() does, even in the midst of a read that waits for ever.
class NothingToLose {
public:
  NothingToLose() noexcept;
  ~NothingToLose();
  NothingToLose(const NothingToLose&) = delete;
  NothingToLose& operator=(const NothingToLose&) = delete;
};

/// True once one of the signals has arrived. May be called from any thread.
[[nodiscard]] bool interrupted() noexcept;

/// Throws Stopped when one of the signals has arrived.
void throw_if_interrupted();

/// For a caller with signal handlers of its own: while one of these lives SIGINT makes throw_between_launches() throw
/// and does nothing else. Then the caller's handler is back; it has a signal that came too late to stop anything. One
/// at a time, in the thread that handles the process' signals.
class Interruptible {
public:
  Interruptible() noexcept;
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

private:
  struct sigaction m_before {};
};

/// Called where work can be left: between launches and blocks, by any of its threads. Throws Stopped after SIGINT came
/// to an Interruptible, and after any of the signals that stop_between_products() is for.
void throw_between_launches();

}  // namespace prismfield
