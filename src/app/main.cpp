// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <prismfield/error.hpp>

#include "app/cli.hpp"
#include "app/commands.hpp"
#include "app/python_tool.hpp"
#include "app/terminal.hpp"
#include "base/crash_guard.hpp"
#include "base/machine.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "parallel/mpi_session.hpp"

namespace prismfield {
namespace {

/// Ends the whole run after a failure that the other ranks may not share.
ExitCode end_all_ranks(const Communicator& communicator, const Explanation& failure) {
  const bool is_root = communicator.rank() == 0;
  // When all ranks fail, one message is enough: rank 0 prints it and ends the others while they wait.
  if (!is_root) std::this_thread::sleep_for(std::chrono::seconds(2));
  std::cerr << (is_root ? "" : "rank " + std::to_string(communicator.rank()) + ": ") << failure.message << std::endl;
  const ExitCode code = exit_code(failure.kind);
  if (communicator.size() > 1) abort_all(communicator, code);
  return code;
}

/// --help, --version and the command help.
ProgramEnd execute(const HelpText& help, const std::vector<std::string>& /*kokkos_options*/,
                   const Communicator& communicator) {
  if (communicator.rank() == 0) std::cout << help.text;
  return {};
}

/// Does what the arguments that follow the program's name ask for. Collective.
ProgramEnd run_program(const std::vector<std::string>& arguments, const Communicator& communicator) {
  CommandLine line;
  agree(communicator, [&] { line = parse_command_line(arguments); });
  ProgramEnd end = std::visit([&](const auto& options) { return execute(options, line.kokkos_options, communicator); },
                              line.command);
  if (!std::cout.flush()) throw RunError("standard output cannot be written");
  return end;
}

ProgramEnd run_on_ranks(int& argc, char**& argv) {
  const FittedStream output(std::cout, STDOUT_FILENO);
  const FittedStream errors(std::cerr, STDERR_FILENO);
  const MpiSession session(argc, argv);
  const Communicator communicator = session.communicator();
  try {
    return run_program({argv + 1, argv + argc}, communicator);
  } catch (const AgreedFailure& failure) {
    std::cout << std::flush;
    if (!failure.message.empty()) std::cerr << failure.message << std::endl;
    return {exit_code(failure.kind), {}};
  } catch (...) {
    std::cout << std::flush;
    return {end_all_ranks(communicator, explain(std::current_exception())), {}};
  }
}

/// Replaces this process, whose MPI has ended, by another program.
ExitCode become(std::vector<std::string> words) {
  // variables of a launcher would make that program a rank; those of Open MPI set by hand stay
  constexpr std::array of_launcher = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"};
  const bool is_launched = std::any_of(of_launcher.begin(), of_launcher.end(),
                                       [](const char* variable) { return std::getenv(variable) != nullptr; });
  std::vector<std::string> variables = variables_without_launcher();
  ::execvpe(words[0].c_str(), pointers_to(words).data(), is_launched ? pointers_to(variables).data() : environ);
  throw RunError(words.front() + " cannot be started: " + std::strerror(errno));
}

/// Runs before the libraries' own beginnings.
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)() = remember_usable_cores;

}  // namespace
}  // namespace prismfield

int main(int argc, char** argv) {
  prismfield::return_freed_memory();
  prismfield::end_crashes_clearly([](prismfield::ErrorKind kind) -> int { return prismfield::exit_code(kind); });
  try {
    const prismfield::ProgramEnd end = prismfield::run_on_ranks(argc, argv);
    return end.successor.empty() ? end.code : prismfield::become(end.successor);
  } catch (...) {
    // MPI itself could not begin or end.
    const prismfield::Explanation failure = prismfield::explain(std::current_exception());
    if (!failure.message.empty()) std::cerr << failure.message << std::endl;
    return exit_code(failure.kind);
  }
}
