// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "app/exit_codes.hpp"

namespace prismfield {

class Communicator;

/// How the program ends.
struct ProgramEnd {
  ExitCode code = exit_done;
  /// the program, with its arguments, that takes the place of this process; none: empty
  std::vector<std::string> successor;
};

/// Does what the arguments that follow the program's name ask for, and returns how it ends. Throws AgreedFailure when
/// all ranks know of a failure, any other exception when this one alone may. Collective.
[[nodiscard]] ProgramEnd run_program(const std::vector<std::string>& arguments, const Communicator& communicator);

}  // namespace prismfield
