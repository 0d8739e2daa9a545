// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <initializer_list>
#include <string_view>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/crash_guard.hpp"

namespace prismfield {
namespace {

// A handler may touch lock-free atomics and nothing else.
std::atomic<bool> stop_requested{false};
std::atomic<bool> nothing_to_lose{false};
/// SIGINT came to an Interruptible; and something was stopped by it.
std::atomic<bool> leave_work{false}, was_left{false};
/// What a first signal does beside.
std::atomic<bool> prints_at_once{false}, leaves_at_once{false};
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

extern "C" {
static void prismfield_end_at_signal(int) { end_with("stopped by a signal", ErrorKind::stopped); }
static void prismfield_request_stop(int signal) {
  stop_requested.store(true);
  if (nothing_to_lose.load()) prismfield_end_at_signal(signal);
  if (leaves_at_once.load()) leave_work.store(true);
  if (signal != SIGINT || !prints_at_once.exchange(false)) return;
  constexpr std::string_view text = "\nstopping after this product; Ctrl-C again ends at once\n";
  const int before = errno;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  errno = before;
}
static void prismfield_leave_work(int) { leave_work.store(true); }
}

namespace {

/// The handler of these signals from now on, but nohup stays. A pipe that nobody reads any more and a file that passes
/// the limit of its size end nothing: what is written to them fails.
void handle(std::initializer_list<int> signals, void (*handler)(int)) {
  const auto check = [](int status) {
    if (status != 0) throw RunError("cannot handle signals: " + std::generic_category().message(errno));
  };
  for (const int signal : {SIGPIPE, SIGXFSZ}) check(::signal(signal, SIG_IGN) == SIG_ERR ? -1 : 0);
  for (const int signal : signals) {
    struct sigaction before {};
    check(sigaction(signal, nullptr, &before));
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    // Reading and writing go on after the signal; the run stops between two steps.
    action.sa_flags = SA_RESTART;
    // The default comes back with the first SIGINT, so that the second ends the process.
    if (signal == SIGINT) action.sa_flags |= static_cast<int>(SA_RESETHAND);
    check(sigaction(signal, &action, nullptr));
  }
}

}  // namespace

void catch_interrupts() { handle({SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2}, prismfield_request_stop); }
void stop_between_products(bool prints, bool is_single_rank) noexcept {
  prints_at_once.store(prints);
  leaves_at_once.store(is_single_rank);
  if (is_single_rank && interrupted()) leave_work.store(true);
}
void end_at_interrupts() { handle({SIGINT, SIGTERM, SIGHUP}, prismfield_end_at_signal); }

NothingToLose::NothingToLose() noexcept { nothing_to_lose.store(true); }
NothingToLose::~NothingToLose() { nothing_to_lose.store(false); }

bool interrupted() noexcept { return stop_requested.load(); }

void throw_if_interrupted() {
  if (interrupted()) throw Stopped();
}

Interruptible::Interruptible() noexcept {
  leave_work.store(false);
  was_left.store(false);
  struct sigaction action {};
  action.sa_handler = prismfield_leave_work;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &m_before);
}
Interruptible::~Interruptible() {
  sigaction(SIGINT, &m_before, nullptr);
  if (leave_work.exchange(false) && !was_left.load()) raise(SIGINT);
}

void throw_between_launches() {
  if (!leave_work.load(std::memory_order_relaxed)) return;
  was_left.store(true);
  throw Stopped();
}

}  // namespace prismfield
