// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/crash_guard.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

namespace prismfield {
namespace {

// Null: nobody wants crashes to end clearly.
std::atomic<int (*)(ErrorKind)> exit_code_of{nullptr};
// A handler reads it: what it points to is complete before and alive after.
std::atomic<const CrashGuard*> watching{nullptr};
std::array<std::atomic<const char*>, 4> unfinished{};
static_assert(decltype(exit_code_of)::is_always_lock_free);
static_assert(std::atomic<const CrashGuard*>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

// the last one is that of a LoopGuard's timer
constexpr std::array<int, 6> crash_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGVTALRM};
std::array<struct sigaction, crash_signals.size()> handlers_before;
int living_guards = 0;

void tell(const char* text) noexcept {
  // nothing else can be done when this fails
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

/// Removes the unfinished files too.
void last_words(const char* message) noexcept {
  for (const auto& place : unfinished) {
    if (const char* const file = place) ::unlink(file);
  }
  tell(message);
  tell("\n");
}

bool core_is_asked_for() noexcept {
  struct rlimit core {};
  return ::getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur > 0;
}

}  // namespace

[[noreturn]] void end_with(const char* message, ErrorKind kind) noexcept {
  last_words(message);
  const auto exit_code = exit_code_of.load();
  ::_exit(exit_code != nullptr ? exit_code(kind) : EXIT_FAILURE);
}

/// Touches only what a signal handler may. Comes back where no guard watches, and from a crash whose core is asked for.
void end_watched_process(bool is_crash) noexcept {
  const CrashGuard* const guard = watching.exchange(nullptr);
  if (guard == nullptr) return;
  if (!is_crash || !core_is_asked_for()) end_with(guard->m_message.c_str(), guard->m_kind);
  last_words(guard->m_message.c_str());
}

extern "C" {
static void prismfield_end_crash(int signal) {
  // a loop leaves no core
  end_watched_process(signal != SIGVTALRM);
  // this handler is gone: the process ends as it would have
  ::raise(signal);
}
static void prismfield_end_exit() { end_watched_process(false); }
}

namespace {

[[noreturn]] void end_terminated() {
  // what is thrown says more than a guard does of the library's call
  watching = nullptr;
  const std::exception_ptr error = std::current_exception();
  // as libstdc++ does where it gets no memory to step through a folder
  if (error == nullptr) end_with("error: a library gave up; there may be too little memory", ErrorKind::failure);
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    // thrown where a destructor or a library's noexcept function lets nothing through
    end_with(no_memory_message, ErrorKind::failure);
  } catch (const std::exception& other) {
    tell("error: ");
    tell(other.what());
    tell("\n");
  } catch (...) {
    tell("error: a library failed and does not say why\n");
  }
  std::abort();
}

void install_handlers() {
  for (std::size_t i = 0; i < crash_signals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = prismfield_end_crash;
    sigemptyset(&action.sa_mask);
    // a stack of its own, because the other may be full; and once only
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
    ::sigaction(crash_signals[i], &action, &handlers_before[i]);
  }
}

void restore_handlers() {
  for (std::size_t i = 0; i < crash_signals.size(); ++i) {
    ::sigaction(crash_signals[i], &handlers_before[i], nullptr);
  }
}

/// 0: never. Without a timer a loop is not noticed, which is no reason to fail.
void end_loops_after(int seconds) noexcept {
  const itimerval limit = {{0, 0}, {seconds, 0}};
  static_cast<void>(::setitimer(ITIMER_VIRTUAL, &limit, nullptr));
}

}  // namespace

void end_crashes_clearly(int (*exit_code)(ErrorKind)) {
  if (exit_code_of.exchange(exit_code) != nullptr) return;
  static std::array<char, std::size_t{1} << 16> stack;
  stack_t handler_stack{};
  handler_stack.ss_sp = stack.data();
  handler_stack.ss_size = stack.size();
  ::sigaltstack(&handler_stack, nullptr);
  std::set_terminate(end_terminated);
  static_cast<void>(std::atexit(prismfield_end_exit));
}

bool crashes_end_clearly() noexcept { return exit_code_of != nullptr; }

void add_unfinished_file(const char* name) noexcept {
  for (auto& place : unfinished) {
    const char* empty = nullptr;
    if (place.compare_exchange_strong(empty, name)) return;
  }
}

void forget_unfinished_file(const char* name) noexcept {
  for (auto& place : unfinished) {
    const char* its = name;
    if (place.compare_exchange_strong(its, nullptr)) return;
  }
}

CrashGuard::CrashGuard(std::string message, ErrorKind kind) : m_message(std::move(message)), m_kind(kind) {
  if (!crashes_end_clearly()) return;
  if (living_guards++ == 0) install_handlers();
  watch();
}

CrashGuard::~CrashGuard() {
  const CrashGuard* own = this;
  watching.compare_exchange_strong(own, nullptr);
  if (!crashes_end_clearly()) return;
  if (--living_guards == 0) restore_handlers();
}

void CrashGuard::say(std::string message, ErrorKind kind) {
  m_message.swap(message);
  m_kind = kind;
}

void CrashGuard::watch() const noexcept {
  if (crashes_end_clearly()) watching = this;
}

LoopGuard::LoopGuard() noexcept {
  constexpr int seconds = 5;
  // the signal's handler is that of the guards that live
  if (living_guards > 0) end_loops_after(seconds);
}

LoopGuard::~LoopGuard() {
  if (living_guards > 0) end_loops_after(0);
}

}  // namespace prismfield
