// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "app/cli.hpp"

namespace prismfield {

class Communicator;

/// `prismfield sensitivity`: makes the matrix G of a case as its section sensitivity asks for, tells what it takes and
/// what products take, writes G to sensitivity.file and the fields G m to output.file: results to standard output,
/// warnings to standard error, by rank 0. Collective over `communicator`. Throws AgreedFailure when a step failed, on
/// all ranks alike; anything else comes from one rank alone and the others must be aborted.
void sensitivity_command(const SensitivityOptions& options, const std::vector<std::string>& kokkos_options,
                         const Communicator& communicator);

}  // namespace prismfield
