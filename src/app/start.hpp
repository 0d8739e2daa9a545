// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <prismfield/runtime.hpp>

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

}  // namespace prismfield
