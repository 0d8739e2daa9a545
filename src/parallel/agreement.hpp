// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <exception>
#include <functional>
#include <string>

namespace prismfield {

class Communicator;

/// Exit codes, the same for every command.
enum ExitCode : int { exit_done = 0, exit_failure = 1, exit_input = 2, exit_outside = 3, exit_stopped = 130 };

/// What a user reads about an exception, and the code with which the program ends.
struct Explanation {
  std::string message;
  ExitCode code;
};
[[nodiscard]] Explanation explain(const std::exception_ptr& error);

/// Thrown on every rank when a step of the run failed on at least one: all ranks know it and end in order.
struct AgreedFailure {
  ExitCode code;
  /// on the lowest rank that failed; "" on all others, so that one message is printed
  std::string message;
};

/// Does the same step on every rank and throws AgreedFailure everywhere when it failed anywhere; without it the others
/// would wait for the failed rank for ever. `step` must not communicate, unless all ranks fail in that together.
/// Collective.
void agree(const Communicator& communicator, const std::function<void()>& step);

/// As agree, but mistakes in the input of the lowest rank that found some are thrown as InputError on every rank, so
/// that they can be collected with those of other steps. A step that reads a file does so on rank 0 and nothing on
/// others. Collective.
void agree_on_input(const Communicator& communicator, const std::function<void()>& step);

}  // namespace prismfield
