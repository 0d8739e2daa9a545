// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <utility>

#include <prismfield/error.hpp>

namespace prismfield {

/// The same for every command.
enum ExitCode : int { exit_done = 0, exit_failure = 1, exit_input = 2, exit_outside = 3, exit_stopped = 130 };

[[nodiscard]] constexpr ExitCode exit_code(ErrorKind kind) noexcept {
  return kind == ErrorKind::stopped ? exit_stopped : kind == ErrorKind::input ? exit_input : exit_failure;
}

/// What the program's exit codes mean.
inline constexpr std::pair<const char*, const char*> exit_codes[] = {
    {"0", "done"},
    {"1", "a failure while running, or an inversion that cannot reach its target"},
    {"2", "an error in the input or the arguments, and nothing was written"},
    {"3", "compare: outside its tolerance, or too little in common"},
    {"130", "stopped by a signal, with nothing half-written; --resume goes on from the checkpoint where there is one"}};

}  // namespace prismfield
