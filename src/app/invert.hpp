// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "app/cli.hpp"

namespace prismfield {

class Communicator;

/// `prismfield invert`: reads the case, inverts its data for densities and writes the model, with a line a solution on
/// the way: results to standard output, progress and warnings to standard error, by rank 0. A model that misses the
/// target is written too, and RunError then says why. Collective over `communicator`. Throws AgreedFailure when a step
/// failed, on all ranks alike; anything else comes from one rank alone and the others must be aborted.
void invert_command(const InvertOptions& options, const std::vector<std::string>& kokkos_options,
                    const Communicator& communicator);

}  // namespace prismfield
