// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>

namespace prismfield {

/// Keeps a checkpoint for one run while it lives, by a lock on an empty file beside it, .NAME.lock. The lock goes with
/// the process, however that ends. Where a file system has no locks, or no file can be made, there is none.
class CheckpointLock {
public:
  /// Throws InputError by the key output.checkpoint.file, without a place, when another run has it.
  explicit CheckpointLock(const std::filesystem::path& checkpoint);
  ~CheckpointLock();
  CheckpointLock(const CheckpointLock&) = delete;
  CheckpointLock& operator=(const CheckpointLock&) = delete;

private:
  /// Whether the lock is taken or cannot be had; otherwise the file was removed by who had it.
  [[nodiscard]] bool take(const std::filesystem::path& checkpoint);

  std::filesystem::path m_name;
  int m_descriptor = -1;
};

}  // namespace prismfield
