// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "app/cli.hpp"
#include "app/exit_codes.hpp"

namespace prismfield {

class Communicator;

/// `prismfield study`: the command line of the Python tool that runs the study, or joins reports, in the place of this
/// process. Throws AgreedFailure, also for more than one rank and where no Python can do it. Collective.
[[nodiscard]] std::vector<std::string> study_command(const StudyOptions& options,
                                                     const std::vector<std::string>& kokkos_options,
                                                     const Communicator& communicator);

}  // namespace prismfield
