// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/complete_file.hpp"

#include <fmt/format.h>

#include <string>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/disk.hpp"
#include "base/human_text.hpp"

namespace prismfield {

namespace fs = std::filesystem;

void write_complete_file(const fs::path& file, const char* what,
                         const std::function<void(TemporaryFile& temporary, const fs::path& target)>& write,
                         std::int64_t about_bytes) {
  const fs::path target = followed(file);
  // Renaming would put the new file in the place of a device, or of a link that is not followed.
  std::error_code none;
  if (const auto there = fs::symlink_status(target, none); fs::exists(there) && !fs::is_regular_file(there)) {
    throw RunError(fmt::format("{}: {} is not written: it is not a regular file", target.string(), what));
  }
  const auto told = [&](std::string why) {
    if (const std::string prefix = target.string() + ": "; why.starts_with(prefix)) why.erase(0, prefix.size());
    return fmt::format("{}: {} is not written: {}", target.string(), what, why);
  };
  try {
    if (const auto room = free_bytes(folder_of(target)); room && *room < about_bytes) {
      throw RunError(
          fmt::format("it takes about {}, and the disk has {} free; make room or name a folder on another disk",
                      size_text(about_bytes), size_text(*room)));
    }
    TemporaryFile temporary(target);
    write(temporary, target);
    temporary.move_to_target();
  } catch (const RunError& error) {
    throw RunError(told(error.what()));
  }
}

}  // namespace prismfield
