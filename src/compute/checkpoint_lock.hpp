// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>

#include "base/file_lock.hpp"

namespace prismfield {

/// Keeps a checkpoint for one run while it lives, by a lock on an empty file beside it, .NAME.lock.
class CheckpointLock {
public:
  /// Throws InputError by the key output.checkpoint.file, without a place, when another run has it.
  explicit CheckpointLock(const std::filesystem::path& checkpoint);

private:
  FileLock m_lock;
};

}  // namespace prismfield
