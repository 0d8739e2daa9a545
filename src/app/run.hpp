// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "app/cli.hpp"

namespace prismfield {

class Communicator;

/// `prismfield run`: reads the case, computes its fields and writes the result, with messages on the way: results to
/// standard output, progress and warnings to standard error, by rank 0. Collective over `communicator`.
/// Throws AgreedFailure when a step failed, on all ranks alike; anything else comes from one rank alone and the
/// others must be aborted.
void run_command(const RunOptions& options, const std::vector<std::string>& kokkos_options,
                 const Communicator& communicator);

}  // namespace prismfield
