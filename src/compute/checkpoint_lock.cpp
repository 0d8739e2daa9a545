// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/checkpoint_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <prismfield/error.hpp>

#include "base/temporary_file.hpp"

namespace prismfield {
namespace {

/// An empty file: one that holds anything is somebody else's.
bool is_lock(const struct stat& file) { return S_ISREG(file.st_mode) && file.st_size == 0; }

}  // namespace

CheckpointLock::CheckpointLock(const std::filesystem::path& checkpoint) {
  const std::filesystem::path file = followed(checkpoint);
  m_name = folder_of(file) / fmt::format(".{}.lock", file.filename().string());
  constexpr int most_tries = 100;
  for (int i = 0; i < most_tries && !take(file); ++i) continue;
}

CheckpointLock::~CheckpointLock() {
  if (m_descriptor < 0) return;
  ::unlink(m_name.c_str());
  ::close(m_descriptor);
}

bool CheckpointLock::take(const std::filesystem::path& checkpoint) {
  const int descriptor =
      ::open(m_name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (descriptor < 0) return true;
  struct stat opened {};
  struct stat named {};
  if (::fstat(descriptor, &opened) != 0 || !is_lock(opened)) {
    ::close(descriptor);
    return true;
  }
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const bool held = errno == EWOULDBLOCK;
    ::close(descriptor);
    if (!held) return true;
    throw InputError("", "output.checkpoint.file",
                     fmt::format("{} is used by another run; wait for its end, or give the checkpoint another name",
                                 checkpoint.string()));
  }
  if (::lstat(m_name.c_str(), &named) != 0 || named.st_dev != opened.st_dev || named.st_ino != opened.st_ino) {
    ::close(descriptor);
    return false;
  }
  m_descriptor = descriptor;
  return true;
}

}  // namespace prismfield
