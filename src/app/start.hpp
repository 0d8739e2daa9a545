// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <prismfield/runtime.hpp>

#include "parallel/placement.hpp"

namespace prismfield {

class Communicator;

/// Tells what went wrong though the program goes on, on standard error.
void warn(const std::string& message);

/// Kokkos on this rank, with its share of the node's cores or devices. Throws AgreedFailure. Collective.
[[nodiscard]] std::unique_ptr<Runtime> start_runtime(const std::vector<std::string>& kokkos_options,
                                                     const std::vector<RankPlace>& places,
                                                     const Communicator& communicator);

}  // namespace prismfield
