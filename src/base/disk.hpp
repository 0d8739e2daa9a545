// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <prismfield/error.hpp>

namespace prismfield {

/// A disk or a quota has no room for a file: it may have some later, and another folder may have it now.
class NoRoomError : public RunError {
public:
  using RunError::RunError;
};

/// Throws what a failed system call on a file that is written means: NoRoomError or RunError, "WHAT: No space left on
/// device". `reason`: errno.
[[noreturn]] void throw_write_error(const std::string& what, int reason);

/// Bytes that this user can still write to the disk of a folder; nothing where the system does not tell. Quotas are not
/// known.
[[nodiscard]] std::optional<std::int64_t> free_bytes(const std::filesystem::path& folder);

/// Whether two folders are on one disk; false where the system does not tell.
[[nodiscard]] bool on_one_disk(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace prismfield
