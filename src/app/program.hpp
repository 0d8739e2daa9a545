// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "app/exit_codes.hpp"

namespace prismfield {

class Communicator;

/// Does what the arguments that follow the program's name ask for, and returns the exit code. Throws AgreedFailure when
/// all ranks know of a failure, any other exception when this one alone may. Collective.
[[nodiscard]] ExitCode run_program(const std::vector<std::string>& arguments, const Communicator& communicator);

}  // namespace prismfield
