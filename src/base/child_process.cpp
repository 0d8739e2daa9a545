// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include <prismfield/error.hpp>

namespace prismfield {
namespace {

bool names(std::string_view variable, std::string_view name) {
  return variable.size() > name.size() && variable[name.size()] == '=' && variable.starts_with(name);
}

/// A copy of an open file, or /dev/null for none, with a number above those of the standard streams.
class Stream {
public:
  explicit Stream(int given) {
    const int null = given >= 0 ? -1 : ::open("/dev/null", O_RDWR | O_CLOEXEC);
    m_number = ::fcntl(given >= 0 ? given : null, F_DUPFD_CLOEXEC, 3);
    const int reason = errno;
    if (null >= 0) ::close(null);
    if (m_number < 0) throw RunError(fmt::format("a program cannot be started: {}", std::strerror(reason)));
  }
  ~Stream() { ::close(m_number); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  [[nodiscard]] int number() const noexcept { return m_number; }

private:
  int m_number = -1;
};

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// What the new process does before it becomes the program.
class Preparation {
public:
  Preparation() {
    ::posix_spawn_file_actions_init(&m_files);
    ::posix_spawnattr_init(&m_attributes);
    // The program decides for itself what a signal does, whatever this one blocks, ignores or handles; but nohup stays.
    sigset_t none, handled;
    ::sigemptyset(&none);
    ::sigemptyset(&handled);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ, SIGXCPU, SIGUSR1, SIGUSR2}) {
      ::sigaddset(&handled, signal);
    }
    ::posix_spawnattr_setsigmask(&m_attributes, &none);
    ::posix_spawnattr_setsigdefault(&m_attributes, &handled);
    ::posix_spawnattr_setflags(&m_attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Preparation() {
    ::posix_spawn_file_actions_destroy(&m_files);
    ::posix_spawnattr_destroy(&m_attributes);
  }
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;

  void give(const Stream& stream, int as) { ::posix_spawn_file_actions_adddup2(&m_files, stream.number(), as); }
  [[nodiscard]] const posix_spawn_file_actions_t* files() const noexcept { return &m_files; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const noexcept { return &m_attributes; }

private:
  posix_spawn_file_actions_t m_files{};
  posix_spawnattr_t m_attributes{};
};

/// A started child, which ends with this object.
class Child {
public:
  explicit Child(pid_t number) : m_number(number) {}
  ~Child() {
    if (m_reaped) return;
    ::kill(m_number, SIGKILL);
    ::waitpid(m_number, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Its status as wait() gives it; with WNOHANG nothing while it goes on.
  std::optional<int> wait(int options) {
    int status = 0;
    pid_t ended = 0;
    do ended = ::waitpid(m_number, &status, options);
    while (ended < 0 && errno == EINTR);
    if (ended < 0) throw RunError(fmt::format("cannot wait for a program: {}", std::strerror(errno)));
    m_reaped = ended == m_number;
    return m_reaped ? std::optional(status) : std::nullopt;
  }

private:
  pid_t m_number;
  bool m_reaped = false;
};

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

std::string ChildOutcome::text() const {
  switch (end) {
    case End::not_started: return "cannot be started: " + reason;
    case End::exited: return fmt::format("ended with {}", code);
    case End::by_signal: break;
  }
  return fmt::format("was ended by signal {} ({})", code, ::strsignal(code));
}

ChildOutcome run_child(const ChildCommand& command) {
  if (command.words.empty()) throw RunError("no program is named");
  std::vector<std::string> words = command.words;
  std::vector<std::string> variables = command.environment.variables();
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> environment = pointers_to(variables);
  const Stream input(-1), output(command.output), error(command.error < 0 ? command.output : command.error);
  Preparation preparation;
  preparation.give(input, STDIN_FILENO);
  preparation.give(output, STDOUT_FILENO);
  preparation.give(error, STDERR_FILENO);
  pid_t number = 0;
  ChildOutcome outcome;
  if (const int reason = ::posix_spawnp(&number, arguments[0], preparation.files(), preparation.attributes(),
                                        arguments.data(), environment.data())) {
    constexpr int no_program = 127, no_execution = 126;
    outcome.code = reason == ENOENT ? no_program : no_execution;
    outcome.reason = std::strerror(reason);
    return outcome;
  }
  Child child(number);
  std::optional<int> status = child.wait(command.watch ? WNOHANG : 0);
  while (!status) {
    constexpr useconds_t nap = 50'000;
    ::usleep(nap);
    command.watch();
    status = child.wait(WNOHANG);
  }
  outcome.end = WIFSIGNALED(*status) ? ChildOutcome::End::by_signal : ChildOutcome::End::exited;
  outcome.code = WIFSIGNALED(*status) ? WTERMSIG(*status) : WEXITSTATUS(*status);
  return outcome;
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

}  // namespace prismfield
