// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include <prismfield/error.hpp>

#include "base/interrupt.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

bool names(std::string_view variable, std::string_view name) {
  return variable.size() > name.size() && variable[name.size()] == '=' && variable.starts_with(name);
}

/// A file descriptor that is closed when it goes out of scope, above those of the standard streams.
class Descriptor {
public:
  /// Takes `number` over. Throws RunError for what could not be opened, with the reason in errno.
  explicit Descriptor(int number) : m_number(number) {
    constexpr int behind_standard_streams = 3;
    if (number >= 0 && number < behind_standard_streams) {
      m_number = ::fcntl(number, F_DUPFD_CLOEXEC, behind_standard_streams);
      ::close(number);
    }
    if (m_number < 0) throw RunError(fmt::format("a program cannot be started: {}", std::strerror(errno)));
  }
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const noexcept { return m_number; }
  void close() noexcept {
    if (m_number >= 0) ::close(m_number);
    m_number = -1;
  }

private:
  int m_number;
};

/// The given file, or /dev/null for none.
Descriptor stream_of(int given) {
  return Descriptor(given >= 0 ? ::fcntl(given, F_DUPFD_CLOEXEC, 3) : ::open("/dev/null", O_RDWR | O_CLOEXEC));
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// What a new process needs to become the program. All of it is ready before vfork(): behind that, it shares the memory
/// of its parent.
struct Start {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int input, output, error, report;
  bool own_group;
  int signal_when_orphaned;
  pid_t parent;
};

constexpr std::array handled_signals = {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ, SIGXCPU, SIGUSR1, SIGUSR2};

/// The new process, up to the program's first instruction; its failure goes to `report`.
[[noreturn]] void become(const Start& start) noexcept {
  // The program decides for itself what a signal does, whatever this one blocks, ignores or handles; but nohup stays.
  for (const int signal : handled_signals) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  bool is_ready = ::dup2(start.input, STDIN_FILENO) >= 0 && ::dup2(start.output, STDOUT_FILENO) >= 0 &&
                  ::dup2(start.error, STDERR_FILENO) >= 0;
  if (is_ready && start.own_group) {
    is_ready = ::setpgid(0, 0) == 0 && ::prctl(PR_SET_PDEATHSIG, start.signal_when_orphaned) == 0;
    // it may have ended before it could be watched
    if (is_ready && ::getppid() != start.parent) ::_exit(127);
  }
  if (is_ready) ::execve(start.program, start.arguments, start.environment);
  const int reason = errno;
  static_cast<void>(!::write(start.report, &reason, sizeof reason));
  ::_exit(127);
}

/// Starts the program. Not by posix_spawn(), which cannot tell a child to end with its parent; not by fork(), which
/// copies the tables of a large memory and may be refused for it.
pid_t new_process(const Start& start) {
  // No handler of this process may run in the other one.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t number = ::vfork();
  if (number == 0) become(start);
  const int reason = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = reason;
  return number;
}

/// A started child, until it is waited for.
class Child {
public:
  explicit Child(pid_t number) : m_number(number) {
#ifdef SYS_pidfd_open
    m_handle = static_cast<int>(::syscall(SYS_pidfd_open, number, 0));
#endif
  }
  ~Child() {
    if (m_handle >= 0) ::close(m_handle);
    if (m_reaped) return;
    ::kill(m_number, SIGKILL);
    ::waitpid(m_number, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// It can still be signalled then, and is waited for by reap().
  [[nodiscard]] bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(m_number), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == m_number;
  }

  /// Sleeps for so long, or until the child ends or a signal arrives.
  void nap(double seconds) const {
    if (m_handle >= 0) {
      pollfd watched{m_handle, POLLIN, 0};
      ::poll(&watched, 1, static_cast<int>(std::ceil(seconds * 1e3)));
    } else {
      constexpr double short_nap = 2e-3;
      ::usleep(static_cast<useconds_t>(std::min(seconds, short_nap) * 1e6));
    }
  }

  /// Asks all of the group to end, and then makes them.
  void end() const {
    constexpr double grace = 10, step = 0.1;
    ::kill(-m_number, SIGTERM);
    for (const auto begin = Clock::now(); !has_ended() && seconds_since(begin) < grace;) nap(step);
    ::kill(-m_number, SIGKILL);
  }

  /// Its status as wait() gives it, and what it took.
  [[nodiscard]] int reap(rusage& usage) {
    int status = 0;
    m_reaped = true;
    while (::wait4(m_number, &status, 0, &usage) < 0) {
      if (errno != EINTR) throw RunError(fmt::format("cannot wait for a program: {}", std::strerror(errno)));
    }
    return status;
  }

private:
  pid_t m_number;
  int m_handle = -1;
  bool m_reaped = false;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Most memory of one process, bytes.
std::int64_t peak_of(const rusage& usage) { return std::int64_t{1024} * usage.ru_maxrss; }

std::int64_t own_peak_memory() {
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? peak_of(usage) : 0;
}

ChildOutcome cannot_start(int reason) {
  constexpr int no_program = 127, no_execution = 126;
  ChildOutcome outcome;
  outcome.code = reason == ENOENT ? no_program : no_execution;
  outcome.reason = std::strerror(reason);
  return outcome;
}

/// Follows a child to its end. `own`: most memory of this process before it made the child.
ChildOutcome follow(Child& child, const ChildCommand& command, Clock::time_point begin, std::int64_t own) {
  ChildOutcome outcome;
  outcome.end = ChildOutcome::End::exited;
  while ((command.own_group || command.watch) && !child.has_ended()) {
    const double left = command.most_seconds - seconds_since(begin);
    if (command.own_group && (interrupted() || left <= 0)) {
      outcome.end = interrupted() ? ChildOutcome::End::interrupted : ChildOutcome::End::out_of_time;
      child.end();
      break;
    }
    constexpr double longest_nap = 0.2;
    child.nap(std::min(left, longest_nap));
    if (command.watch) command.watch();
  }
  rusage usage{};
  const int status = child.reap(usage);
  outcome.seconds = seconds_since(begin);
  outcome.processor_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  // a new process begins with the memory of the one that made it
  outcome.peak_memory_bytes = peak_of(usage) > own ? peak_of(usage) : 0;
  outcome.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  if (WIFSIGNALED(status) && outcome.end == ChildOutcome::End::exited) outcome.end = ChildOutcome::End::by_signal;
  return outcome;
}

}  // namespace

Environment Environment::current() {
  Environment result;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    result.m_variables.emplace_back(*variable);
  }
  return result;
}

std::optional<std::string> Environment::find(std::string_view name) const {
  const auto found = std::find_if(m_variables.begin(), m_variables.end(),
                                  [&](const std::string& variable) { return names(variable, name); });
  if (found == m_variables.end()) return std::nullopt;
  return found->substr(name.size() + 1);
}

void Environment::set(std::string_view name, std::string_view value) {
  remove(name);
  m_variables.push_back(fmt::format("{}={}", name, value));
}

void Environment::remove(std::string_view name) {
  std::erase_if(m_variables, [&](const std::string& variable) { return names(variable, name); });
}

void Environment::remove_launcher() {
  std::erase_if(m_variables, [](const std::string& variable) {
    constexpr std::array prefixes = {"OMPI_", "PMIX_", "PMI_", "PRTE_", "MPI_LOCALNRANKS=", "MPI_LOCALRANKID="};
    return !variable.starts_with("OMPI_ALLOW_RUN_AS_ROOT") &&
           std::any_of(prefixes.begin(), prefixes.end(),
                       [&](const char* prefix) { return variable.starts_with(prefix); });
  });
}

std::optional<fs::path> find_program(const std::string& word) {
  const auto can_run = [](const fs::path& file) {
    struct stat status {};
    return ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(file.c_str(), X_OK) == 0;
  };
  if (word.find('/') != std::string::npos) return can_run(word) ? std::optional<fs::path>(word) : std::nullopt;
  const char* const path = std::getenv("PATH");
  if (path == nullptr || word.empty()) return std::nullopt;
  for (std::string_view rest = path;;) {
    const std::size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    // an empty part is the working folder
    if (const fs::path file = fs::path(folder.empty() ? "." : folder) / word; can_run(file)) return file;
    if (colon == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(colon + 1);
  }
}

std::string ChildOutcome::text() const {
  switch (end) {
    case End::not_started: return "cannot be started: " + reason;
    case End::exited: return fmt::format("ended with {}", code);
    case End::by_signal: return fmt::format("was ended by signal {} ({})", code, ::strsignal(code));
    case End::out_of_time: return "was ended because its time was over";
    case End::interrupted: break;
  }
  return "was ended because this program was asked to stop";
}

ChildOutcome run_child(const ChildCommand& command) {
  if (command.words.empty()) throw RunError("no program is named");
  const std::optional<fs::path> program = find_program(command.words.front());
  if (!program) {
    const bool exists = command.words.front().find('/') != std::string::npos && fs::exists(command.words.front());
    return cannot_start(exists ? EACCES : ENOENT);
  }
  std::vector<std::string> words = command.words;
  std::vector<std::string> variables = command.environment.variables();
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> environment = pointers_to(variables);
  const Descriptor input = stream_of(command.input);
  const Descriptor output = stream_of(command.output);
  const Descriptor error = stream_of(command.error < 0 ? command.output : command.error);
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  const Descriptor report_in(ends[0]);
  Descriptor report_out(ends[1]);
  const Start start{program->c_str(),    arguments.data(),  environment.data(),
                    input.number(),      output.number(),   error.number(),
                    report_out.number(), command.own_group, command.signal_when_orphaned,
                    ::getpid()};
  const std::int64_t own = own_peak_memory();
  const auto begin = Clock::now();
  const pid_t number = new_process(start);
  if (number < 0) throw RunError(fmt::format("no process can be made: {}", std::strerror(errno)));
  report_out.close();
  Child child(number);
  int reason = 0;
  ssize_t told = 0;
  do told = ::read(report_in.number(), &reason, sizeof reason);
  while (told < 0 && errno == EINTR);
  if (told == static_cast<ssize_t>(sizeof reason)) {
    rusage usage{};
    static_cast<void>(child.reap(usage));
    return cannot_start(reason);
  }
  return follow(child, command, begin, own);
}

ScratchFile scratch_file() { return {std::tmpfile(), &std::fclose}; }

std::string text_of(const ScratchFile& file) {
  std::rewind(file.get());
  std::string text;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0;) {
    text.append(buffer.data(), n);
  }
  return text;
}

std::optional<std::string> output_of_child(ChildCommand command) {
  const ScratchFile output = scratch_file();
  if (output == nullptr) return std::nullopt;
  command.output = ::fileno(output.get());
  const ChildOutcome outcome = run_child(command);
  if (outcome.end == ChildOutcome::End::interrupted) throw Stopped();
  if (!outcome.succeeded()) return std::nullopt;
  return text_of(output);
}

}  // namespace prismfield
