// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "app/cli.hpp"
#include "app/exit_codes.hpp"

namespace prismfield {

class Communicator;

/// `prismfield study`: makes the runs of a study, each a process of its own, and its report; or joins reports. Returns
/// exit_failure when a run failed that this machine can make. Throws AgreedFailure, RunError, Stopped. Collective, but
/// one rank only may call it.
[[nodiscard]] ExitCode study_command(const StudyOptions& options, const std::vector<std::string>& kokkos_options,
                                     const Communicator& communicator);

}  // namespace prismfield
