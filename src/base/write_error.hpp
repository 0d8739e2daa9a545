// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>

#include <prismfield/error.hpp>

namespace prismfield {

/// A disk or a quota has no room for a file: it may have some later, and another folder may have it now.
class NoRoomError : public RunError {
public:
  using RunError::RunError;
};

/// Throws what a failed system call on a file means: NoRoomError or RunError, "WHAT: No space left on device".
/// `reason`: errno.
[[noreturn]] void throw_write_error(const std::string& what, int reason);

}  // namespace prismfield
