// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "app/cli.hpp"
#include "app/exit_codes.hpp"

namespace prismfield {

class Communicator;

/// `prismfield compare`: the differences of two results to standard output, by rank 0; returns exit_outside when they
/// are outside the tolerance asked for. Throws AgreedFailure. Collective.
[[nodiscard]] ExitCode compare_command(const CompareOptions& options, const Communicator& communicator);

}  // namespace prismfield
