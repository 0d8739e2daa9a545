// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>
#include <prismfield/runtime.hpp>

#include "app/cli.hpp"
#include "app/info.hpp"
#include "app/run.hpp"
#include "engine/kokkos_facts.hpp"
#include "parallel/agreement.hpp"
#include "parallel/mpi_session.hpp"
#include "parallel/placement.hpp"
#include "study/compare.hpp"

namespace prismfield {
namespace {

void print(const Communicator& communicator, const std::string& text) {
  if (communicator.rank() == 0) std::cout << text;
}

ExitCode compare_command(const CompareOptions& options, const Communicator& communicator) {
  ExitCode code = exit_done;
  agree(communicator, [&] {
    const Comparison comparison = compare_results(options.a, options.b);
    if (options.tolerance && !within(comparison, *options.tolerance)) code = exit_outside;
    if (!options.quiet) print(communicator, report(comparison, options.tolerance));
  });
  return code;
}

void info_command(const std::vector<std::string>& kokkos_options, const Communicator& communicator) {
  std::vector<RankPlace> places = gather_places(communicator);
  std::optional<Runtime> runtime;
  agree(communicator, [&] {
    RuntimeOptions wanted;
    wanted.local_rank = communicator.local_rank();
    wanted.sharing = ranks_sharing(places, communicator.rank());
    wanted.kokkos_options = kokkos_options;
    runtime.emplace(wanted);
  });
  const KokkosFacts facts = kokkos_facts();
  gather_workers(communicator, facts.host_threads, facts.device_key, static_cast<std::int64_t>(facts.devices.size()),
                 places);
  print(communicator, info_text() + placement_table(places));
}

ExitCode execute(const CommandLine& line, const Communicator& communicator) {
  if (const auto* help = std::get_if<HelpText>(&line.command)) print(communicator, help->text);
  if (const auto* run = std::get_if<RunOptions>(&line.command)) run_command(*run, line.kokkos_options, communicator);
  if (std::holds_alternative<InfoOptions>(line.command)) info_command(line.kokkos_options, communicator);
  if (const auto* compare = std::get_if<CompareOptions>(&line.command)) return compare_command(*compare, communicator);
  return exit_done;
}

/// Ends the whole run after a failure that the other ranks may not share.
ExitCode end_all_ranks(const Communicator& communicator, const Explanation& failure) {
  const bool is_root = communicator.rank() == 0;
  // A failure of all ranks is told once: rank 0 speaks and ends the others while they wait.
  if (!is_root) std::this_thread::sleep_for(std::chrono::seconds(2));
  std::cerr << (is_root ? "" : "rank " + std::to_string(communicator.rank()) + ": ") << failure.message << std::endl;
  if (communicator.size() > 1) communicator.abort(failure.code);
  return failure.code;
}

ExitCode run_program(int& argc, char**& argv) {
  const MpiSession session(argc, argv);
  const Communicator communicator = session.communicator();
  try {
    CommandLine line;
    agree(communicator, [&] { line = parse_command_line({argv + 1, argv + argc}); });
    const ExitCode code = execute(line, communicator);
    if (!std::cout.flush()) throw RunError("standard output cannot be written");
    return code;
  } catch (const AgreedFailure& failure) {
    std::cout << std::flush;
    if (!failure.message.empty()) std::cerr << failure.message << std::endl;
    return failure.code;
  } catch (...) {
    std::cout << std::flush;
    return end_all_ranks(communicator, explain(std::current_exception()));
  }
}

}  // namespace
}  // namespace prismfield

int main(int argc, char** argv) {
  try {
    return prismfield::run_program(argc, argv);
  } catch (...) {
    // MPI itself could not begin or end.
    const prismfield::Explanation failure = prismfield::explain(std::current_exception());
    if (!failure.message.empty()) std::cerr << failure.message << std::endl;
    return failure.code;
  }
}
