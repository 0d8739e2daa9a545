// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/python_tool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include <prismfield/error.hpp>

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// A tool's exit code when its Python cannot import what it needs.
constexpr int missing_module = 77;

/// The folder of the package, installed beside the program.
fs::path package_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  // From the root, so that without a /proc nothing of the working folder is run.
  return ("/" / program.parent_path() / "../share/prismfield/python").lexically_normal();
}

/// The last line of what a child wrote that is not blank, at most 300 characters of it. The place where the child
/// writes, which both share, stays.
std::string last_line(int file) {
  struct stat status {};
  std::string text(std::size_t{1} << 14, '\0');
  if (::fstat(file, &status) != 0) return "";
  const off_t begin_of_end = std::max<off_t>(0, status.st_size - static_cast<off_t>(text.size()));
  const ssize_t n = ::pread(file, text.data(), text.size(), begin_of_end);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  text.resize(end + 1);
  const auto begin = text.find_last_of('\n');
  return text.substr(begin == std::string::npos ? 0 : begin + 1, 300);
}

/// What the new process does before it becomes the program.
class Preparation {
public:
  Preparation(int output, int error) {
    ::posix_spawn_file_actions_init(&m_files);
    ::posix_spawn_file_actions_addopen(&m_files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&m_files, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&m_files, error, STDERR_FILENO);
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

  [[nodiscard]] const posix_spawn_file_actions_t* files() const noexcept { return &m_files; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const noexcept { return &m_attributes; }

private:
  posix_spawn_file_actions_t m_files{};
  posix_spawnattr_t m_attributes{};
};

/// Runs a command, its first word a Python.
ToolOutcome run_command(const std::vector<std::string>& words) {
  // nameless, gone when closed; unlike a pipe they never block the child
  using ScratchFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  const ScratchFile output(std::tmpfile(), &std::fclose), errors(std::tmpfile(), &std::fclose);
  ToolOutcome result;
  result.words = words;
  if (!output || !errors) {
    result.why = fmt::format("no temporary file: {}", std::strerror(errno));
    return result;
  }
  const ChildOutcome outcome = run_child(words, ::fileno(output.get()), ::fileno(errors.get()));
  result.exited = outcome.end == ChildOutcome::End::exited;
  result.code = outcome.code;
  if (outcome.end == ChildOutcome::End::not_started) {
    result.why = outcome.reason;
  } else if (!outcome.succeeded()) {
    if (result.exited) result.why = last_line(::fileno(errors.get()));
    if (result.exited && result.why.empty()) result.why = last_line(::fileno(output.get()));
    if (result.why.empty()) result.why = words.front() + " " + outcome.text();
  }
  return result;
}

}  // namespace

ToolOutcome run_python_tool(const PythonTool& tool, const std::vector<std::string>& arguments) {
  const fs::path folder = package_folder();
  std::error_code error;
  ToolOutcome outcome;
  if (!fs::exists(folder / "__main__.py", error)) {
    outcome.why = fmt::format("the Python package is not in {}; 'cmake --install' puts it there with the program",
                              folder.string());
    return outcome;
  }
  std::vector<std::string> programs;
  const char* chosen = std::getenv("PRISMFIELD_PYTHON");
  if (chosen != nullptr && *chosen != '\0') programs.emplace_back(chosen);
  programs.insert(programs.end(), {"python3", "/usr/bin/python3"});

  std::string why;
  for (const std::string& program : programs) {
    // Without -B Python would write into the folder.
    std::vector<std::string> words = {program, "-B", folder.string(), tool.name};
    words.insert(words.end(), arguments.begin(), arguments.end());
    outcome = run_command(words);
    // 126 and 127 are what env and version managers return for a Python that is not there.
    const bool next = outcome.code == missing_module || outcome.code == 126 || outcome.code == 127;
    if (!next) return outcome;
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", program, outcome.why);
  }
  outcome.lacks_module = true;
  outcome.why = fmt::format("no Python with {} ({}); name one in PRISMFIELD_PYTHON or install {}", tool.modules, why,
                            tool.packages);
  return outcome;
}

std::string ChildOutcome::text() const {
  switch (end) {
    case End::not_started: return "cannot be started: " + reason;
    case End::exited: return fmt::format("ended with {}", code);
    case End::by_signal: break;
  }
  return fmt::format("was ended by signal {} ({})", code, ::strsignal(code));
}

ChildOutcome run_child(std::vector<std::string> words, int output, int error) {
  std::vector<std::string> variables = variables_without_launcher();
  const std::vector<char*> arguments = pointers_to(words), environment = pointers_to(variables);
  const Preparation preparation(output, error);
  pid_t child = 0;
  ChildOutcome outcome;
  if (const int reason = ::posix_spawnp(&child, arguments[0], preparation.files(), preparation.attributes(),
                                        arguments.data(), environment.data())) {
    constexpr int no_program = 127, no_execution = 126;
    outcome.code = reason == ENOENT ? no_program : no_execution;
    outcome.reason = std::strerror(reason);
    return outcome;
  }
  int status = 0;
  pid_t ended = 0;
  do ended = ::waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended < 0) throw RunError(fmt::format("cannot wait for a program: {}", std::strerror(errno)));
  outcome.end = WIFSIGNALED(status) ? ChildOutcome::End::by_signal : ChildOutcome::End::exited;
  outcome.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return outcome;
}

std::vector<std::string> variables_without_launcher() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  std::erase_if(variables, [](const std::string& variable) {
    constexpr std::array prefixes = {"OMPI_", "PMIX_", "PMI_", "PRTE_", "MPI_LOCALNRANKS=", "MPI_LOCALRANKID="};
    return !variable.starts_with("OMPI_ALLOW_RUN_AS_ROOT") &&
           std::any_of(prefixes.begin(), prefixes.end(),
                       [&](const char* prefix) { return variable.starts_with(prefix); });
  });
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace prismfield
