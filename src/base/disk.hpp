// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace prismfield {

/// Throws RunError for a failed system call on a file that is written: "WHAT: No space left on device". `reason`:
/// errno.
[[noreturn]] void throw_write_error(const std::string& what, int reason);

/// Bytes that this user can still write to a folder's disk, if the system reports them. Quotas are not known.
[[nodiscard]] std::optional<std::int64_t> free_bytes(const std::filesystem::path& folder);

/// Whether two folders are on one disk; false where the system does not report it.
[[nodiscard]] bool on_one_disk(const std::filesystem::path& a, const std::filesystem::path& b);

/// An existing file that several processes and threads read or write at any position. Messages name it `told`, its
/// present or later name.
class PositionedFile {
public:
  enum class Access { read, write };

  /// Opens it. Throws RunError.
  PositionedFile(const std::filesystem::path& name, Access access, std::filesystem::path told);
  ~PositionedFile();
  PositionedFile(const PositionedFile&) = delete;
  PositionedFile& operator=(const PositionedFile&) = delete;

  /// Bytes [offset, offset + n). Throws RunError where the file ends before.
  void read_at(std::int64_t offset, void* bytes, std::size_t n) const;
  /// Throws RunError.
  void write_at(std::int64_t offset, const void* bytes, std::size_t n) const;
  /// Makes it so many bytes long, and asks the disk for the room where the file system can be asked. Throws RunError.
  void resize(std::int64_t n) const;
  /// Brings what was written to the disk. Throws RunError.
  void sync() const;

private:
  [[noreturn]] void fail(const char* what, int reason) const;

  std::filesystem::path m_told;
  int m_descriptor = -1;
};

/// Reserves a name for one process while it lives, by a lock on an empty file of that name, which it removes at the
/// end. The lock ends with the process in any case. Without locks in the file system, or without the file, there is no
/// lock.
class FileLock {
public:
  explicit FileLock(std::filesystem::path name);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Whether another process holds the lock.
  [[nodiscard]] bool is_anothers() const noexcept { return m_is_anothers; }

private:
  /// Whether the lock is decided; otherwise its holder has removed the file meanwhile.
  [[nodiscard]] bool take();

  std::filesystem::path m_name;
  int m_descriptor = -1;
  bool m_is_anothers = false;
};

}  // namespace prismfield
