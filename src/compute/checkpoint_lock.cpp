// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/checkpoint_lock.hpp"

#include <fmt/format.h>

#include <prismfield/error.hpp>

#include "base/temporary_file.hpp"

namespace prismfield {
namespace {

std::filesystem::path lock_of(const std::filesystem::path& file) {
  return folder_of(file) / fmt::format(".{}.lock", file.filename().string());
}

}  // namespace

CheckpointLock::CheckpointLock(const std::filesystem::path& checkpoint) : m_lock(lock_of(followed(checkpoint))) {
  if (!m_lock.is_anothers()) return;
  throw InputError("", "output.checkpoint.file",
                   fmt::format("{} is used by another run; wait for its end, or give the checkpoint another name",
                               followed(checkpoint).string()));
}

}  // namespace prismfield
