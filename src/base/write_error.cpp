// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/write_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace prismfield {

void throw_write_error(const std::string& what, int reason) {
  const std::string message = fmt::format("{}: {}", what, std::strerror(reason));
  if (reason == ENOSPC || reason == EDQUOT) throw NoRoomError(message);
  throw RunError(message);
}

}  // namespace prismfield
