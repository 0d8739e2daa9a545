// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/write_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace prismfield {

void throw_write_error(const std::filesystem::path& file, int reason) {
  const std::string what = fmt::format("{}: cannot write: {}", file.string(), std::strerror(reason));
  if (reason == ENOSPC || reason == EDQUOT) throw NoRoomError(what);
  throw RunError(what);
}

}  // namespace prismfield
