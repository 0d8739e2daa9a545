// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace prismfield {
namespace {

/// An empty file: one that holds anything is somebody else's.
bool is_lock(const struct stat& file) { return S_ISREG(file.st_mode) && file.st_size == 0; }

}  // namespace

FileLock::FileLock(std::filesystem::path name) : m_name(std::move(name)) {
  constexpr int most_tries = 100;
  for (int i = 0; i < most_tries && !take(); ++i) continue;
}

FileLock::~FileLock() {
  if (m_descriptor < 0) return;
  ::unlink(m_name.c_str());
  ::close(m_descriptor);
}

bool FileLock::take() {
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
    m_is_anothers = errno == EWOULDBLOCK;
    ::close(descriptor);
    return true;
  }
  if (::lstat(m_name.c_str(), &named) != 0 || named.st_dev != opened.st_dev || named.st_ino != opened.st_ino) {
    ::close(descriptor);
    return false;
  }
  m_descriptor = descriptor;
  return true;
}

}  // namespace prismfield
