// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/interrupt.hpp"

#include <signal.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

#include <prismfield/error.hpp>

namespace prismfield {
namespace {

// A handler may touch lock-free atomics and nothing else.
std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

extern "C" {
static void prismfield_request_stop(int /*signal*/) { stop_requested.store(true); }
}

void catch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    struct sigaction action {};
    action.sa_handler = prismfield_request_stop;
    sigemptyset(&action.sa_mask);
    // Reading and writing go on after the signal; the run stops between two steps.
    action.sa_flags = SA_RESTART;
    // The default comes back with the first SIGINT, so that the second ends the process.
    if (signal == SIGINT) action.sa_flags |= static_cast<int>(SA_RESETHAND);
    if (sigaction(signal, &action, nullptr) != 0) {
      throw RunError("cannot handle signals: " + std::generic_category().message(errno));
    }
  }
}

bool interrupted() noexcept { return stop_requested.load(); }

void throw_if_interrupted() {
  if (interrupted()) throw Stopped();
}

}  // namespace prismfield
