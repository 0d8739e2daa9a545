// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <exception>
#include <functional>
#include <string>

#include <prismfield/error.hpp>

namespace prismfield {

class Communicator;

/// The message of an exception for users, and its kind.
struct Explanation {
  std::string message;
  ErrorKind kind;
};
[[nodiscard]] Explanation explain(const std::exception_ptr& error);

/// Runs a step on every rank and throws AgreedFailure on all when it failed on any; otherwise ranks would wait for the
/// failed one forever. `step` must not communicate unless all ranks fail together in that. Collective.
void agree(const Communicator& communicator, const std::function<void()>& step);

/// Like agree(), but a single rank throws the step's own exception. Collective.
void agree_unless_alone(const Communicator& communicator, const std::function<void()>& step);

/// Like agree(), but throws the InputError of the lowest rank that has one on every rank, so that callers can collect
/// it with others. A step that reads a file reads it on rank 0 and does nothing on others. Collective.
void agree_on_input(const Communicator& communicator, const std::function<void()>& step);

}  // namespace prismfield
