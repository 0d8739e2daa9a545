// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <exception>
#include <functional>
#include <string>

#include <prismfield/error.hpp>

namespace prismfield {

class Communicator;

/// What a user reads about an exception, and its kind.
struct Explanation {
  std::string message;
  ErrorKind kind;
};
[[nodiscard]] Explanation explain(const std::exception_ptr& error);

/// Does the same step on every rank and throws AgreedFailure everywhere when it failed anywhere; without it the others
/// would wait for the failed rank for ever. `step` must not communicate, unless all ranks fail in that together.
/// Collective.
void agree(const Communicator& communicator, const std::function<void()>& step);

/// As agree, but one rank by itself throws what the step threw. Collective.
void agree_unless_alone(const Communicator& communicator, const std::function<void()>& step);

/// As agree, but errors in the input of the lowest rank that found some are thrown as InputError on every rank, so
/// that they can be collected with those of other steps. A step that reads a file does so on rank 0 and nothing on
/// others. Collective.
void agree_on_input(const Communicator& communicator, const std::function<void()>& step);

}  // namespace prismfield
