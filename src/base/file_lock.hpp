// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>

namespace prismfield {

/// Keeps a name for one process while it lives, by a lock on an empty file of that name, which is removed behind it.
/// The lock goes with the process, however that ends. Where a file system has no locks, or no file can be made, there
/// is none.
class FileLock {
public:
  explicit FileLock(std::filesystem::path name);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Whether another process has it.
  [[nodiscard]] bool is_anothers() const noexcept { return m_is_anothers; }

private:
  /// Whether it is settled who has the lock; otherwise the file was removed by who had it.
  [[nodiscard]] bool take();

  std::filesystem::path m_name;
  int m_descriptor = -1;
  bool m_is_anothers = false;
};

}  // namespace prismfield
