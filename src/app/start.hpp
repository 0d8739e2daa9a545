// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <prismfield/request.hpp>
#include <prismfield/runtime.hpp>

#include "base/program_facts.hpp"
#include "parallel/placement.hpp"

namespace prismfield {

class Communicator;

using Moment = std::chrono::steady_clock::time_point;
[[nodiscard]] double seconds_since(Moment begin);

/// Tells what went wrong though the program goes on, on standard error.
void warn(const std::string& message);

/// Kokkos on this rank, with its share of the node's cores or devices. Throws AgreedFailure. Collective.
[[nodiscard]] std::unique_ptr<Runtime> start_runtime(const std::vector<std::string>& kokkos_options,
                                                     const std::vector<RankPlace>& places,
                                                     const Communicator& communicator);

/// Kokkos on this rank, and where all ranks compute.
struct StartedRanks {
  std::unique_ptr<Runtime> runtime;
  std::vector<RankPlace> places;
};

/// Starts Kokkos for a command that computes in the space's threads or the chosen device; rank 0 warns of what slows
/// it down. Throws AgreedFailure. Collective.
[[nodiscard]] StartedRanks start_ranks(const std::vector<std::string>& kokkos_options,
                                       const Communicator& communicator);

/// What this program knows of itself and its machine; needs a Runtime for devices and threads.
[[nodiscard]] ProgramFacts program_facts(const std::vector<std::string>& kokkos_options = {});

/// The space that a case asks for, with the first device where it computes on one.
[[nodiscard]] MachineUse machine_use(const ProgramFacts& facts, Space space, std::int64_t ranks);

}  // namespace prismfield
