// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>
#include <prismfield/request.hpp>
#include <prismfield/runtime.hpp>

#include "base/program_facts.hpp"
#include "parallel/agreement.hpp"
#include "parallel/placement.hpp"

namespace prismfield {

using Moment = std::chrono::steady_clock::time_point;
[[nodiscard]] double seconds_since(Moment begin);

/// Prints a warning to standard error.
void warn(const std::string& message);

/// Returns the result of a diagnosis, hint or estimate. When it fails, prints a warning and returns an empty result, so
/// that the command goes on. `what`: "the trend of the residuals". For one rank.
template <class Diagnose>
auto diagnosed(const char* what, const Diagnose& diagnose) -> decltype(diagnose()) {
  try {
    return diagnose();
  } catch (const Stopped&) {
    throw;
  } catch (const std::exception& error) {
    warn(std::string(what) + " cannot be told: " + error.what());
    return {};
  }
}

/// What `make` returns. Errors in the input and stops, equal on all ranks, are printed by rank 0 and end the run
/// without an abort. Collective.
template <class Make>
auto made_together(const Communicator& communicator, const Make& make) {
  decltype(make()) made;
  std::exception_ptr of_all;
  try {
    made = make();
  } catch (const Stopped&) {
    of_all = std::current_exception();
  } catch (const InputError&) {
    of_all = std::current_exception();
  }
  agree(communicator, [&] {
    if (of_all) std::rethrow_exception(of_all);
  });
  return made;
}

/// The same for a diagnosis of all ranks together. Collective.
template <class Diagnose>
auto diagnosed_together(const Communicator& communicator, const char* what, const Diagnose& diagnose)
    -> decltype(diagnose()) {
  try {
    // what one of several ranks does not survive ends all, as they would wait for it
    return made_together(communicator,
                         [&] { return communicator.size() == 1 ? diagnosed(what, diagnose) : diagnose(); });
  } catch (const AgreedFailure& failure) {
    if (failure.kind == ErrorKind::stopped) throw;
    if (!failure.message.empty()) warn(std::string(what) + " cannot be told: " + failure.message);
    return {};
  }
}

/// Kokkos on this rank, with its share of the node's cores or devices. Throws AgreedFailure. Collective.
[[nodiscard]] std::unique_ptr<Runtime> start_runtime(const std::vector<std::string>& kokkos_options,
                                                     const std::vector<RankPlace>& places,
                                                     const Communicator& communicator);

/// Kokkos on this rank, and the places of all ranks.
struct StartedRanks {
  std::unique_ptr<Runtime> runtime;
  std::vector<RankPlace> places;
};

/// Starts Kokkos for a command that computes with the space's threads or the chosen device. Rank 0 warns about anything
/// that slows it down. Throws AgreedFailure. Collective.
[[nodiscard]] StartedRanks start_ranks(const std::vector<std::string>& kokkos_options,
                                       const Communicator& communicator);

/// Facts about program and machine; needs a Runtime for devices and threads.
[[nodiscard]] ProgramFacts program_facts(const std::vector<std::string>& kokkos_options = {});

/// The space of a case, with the first device where it computes on one.
[[nodiscard]] MachineUse machine_use(const ProgramFacts& facts, Space space, std::int64_t ranks);

}  // namespace prismfield
