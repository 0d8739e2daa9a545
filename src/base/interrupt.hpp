// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <csignal>

namespace prismfield {

/// Makes SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1 and SIGUSR2 ask the run to stop; a second SIGINT ends the process. A
/// SIGHUP that is ignored, as under nohup, stays ignored; so do SIGPIPE and SIGXFSZ from now on. Throws RunError when
/// the system refuses.
void catch_interrupts();

/// Commands that work for minutes call it after catch_interrupts(). With `prints` the first SIGINT prints to standard
/// error that the work stops. On a single rank each signal makes throw_between_launches() throw; several ranks agree
/// after a product instead.
void stop_between_products(bool prints, bool is_single_rank) noexcept;

/// Makes SIGINT, SIGTERM and SIGHUP (unless ignored) end the process at once: it removes unfinished files
/// (crash_guard.hpp) and exits with the code of a stopped run. SIGPIPE and SIGXFSZ are ignored. Throws RunError when
/// the system refuses.
void end_at_interrupts();

/// While one exists, the process has nothing to lose: the first signal of any kind ends it as end_at_interrupts() does,
/// even during a read that never returns.
class NothingToLose {
public:
  NothingToLose() noexcept;
  ~NothingToLose();
  NothingToLose(const NothingToLose&) = delete;
  NothingToLose& operator=(const NothingToLose&) = delete;
};

/// Whether a signal has arrived. Any thread may call.
[[nodiscard]] bool interrupted() noexcept;

/// Throws Stopped when a signal has arrived.
void throw_if_interrupted();

/// For callers with signal handlers of their own, such as Python. While one exists, SIGINT only makes
/// throw_between_launches() throw. The destructor restores the caller's handler and passes on a signal that came too
/// late. One at a time, in the thread that handles the process' signals.
class Interruptible {
public:
  Interruptible() noexcept;
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

private:
  struct sigaction m_before {};
};

/// A stopping point between launches and blocks, for any thread. Throws Stopped after a SIGINT to an Interruptible and
/// after any signal that stop_between_products() covers.
void throw_between_launches();

}  // namespace prismfield
