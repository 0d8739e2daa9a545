// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/value_memory.hpp"

#include <fmt/format.h>

#include "base/human_text.hpp"
#include "base/machine.hpp"

namespace prismfield {

std::string why_no_room(std::uint64_t count, std::size_t bytes) {
  const auto memory = static_cast<std::uint64_t>(available_memory());
  if (memory == 0 || count <= memory / bytes) return "";
  return fmt::format(
      "its {} values do not fit into memory, of which {} is free; use a smaller file or a machine with more", count,
      size_text(static_cast<std::int64_t>(memory)));
}

}  // namespace prismfield
