// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace prismfield {

/// Throws RunError for a failed system call on a file that is written: "WHAT: No space left on device". `reason`:
/// errno.
[[noreturn]] void throw_write_error(const std::string& what, int reason);

/// Bytes that this user can still write to the disk of a folder; nothing where the system does not tell. Quotas are not
/// known.
[[nodiscard]] std::optional<std::int64_t> free_bytes(const std::filesystem::path& folder);

/// Whether two folders are on one disk; false where the system does not tell.
[[nodiscard]] bool on_one_disk(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace prismfield
