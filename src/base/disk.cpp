// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/disk.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstring>

#include <prismfield/error.hpp>

namespace prismfield {

void throw_write_error(const std::string& what, int reason) {
  throw RunError(fmt::format("{}: {}", what, std::strerror(reason)));
}

std::optional<std::int64_t> free_bytes(const std::filesystem::path& folder) {
  struct statvfs disk {};
  // a file system that knows nothing of its size says 0 blocks
  if (::statvfs(folder.c_str(), &disk) != 0 || disk.f_blocks == 0) return std::nullopt;
  const double bytes = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  constexpr double most = 9e18;
  return static_cast<std::int64_t>(std::min(bytes, most));
}

bool on_one_disk(const std::filesystem::path& a, const std::filesystem::path& b) {
  struct stat of_a {};
  struct stat of_b {};
  return ::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0 && of_a.st_dev == of_b.st_dev;
}

}  // namespace prismfield
