// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/disk.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <cerrno>

#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <utility>

#include <prismfield/error.hpp>

namespace prismfield {
namespace {

// Linux moves at most 2 GiB a call.
constexpr std::size_t most_at_once = std::size_t{1} << 30;

/// An empty file: one that holds anything is somebody else's.
bool is_lock(const struct stat& file) { return S_ISREG(file.st_mode) && file.st_size == 0; }

}  // namespace

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

PositionedFile::PositionedFile(const std::filesystem::path& name, Access access, std::filesystem::path told)
    : m_told(std::move(told)) {
  const int flags = access == Access::read ? O_RDONLY : O_RDWR;
  m_descriptor = ::open(name.c_str(), flags | O_CLOEXEC);
  if (m_descriptor < 0) fail("cannot be opened", errno);
}

PositionedFile::~PositionedFile() { ::close(m_descriptor); }

void PositionedFile::fail(const char* what, int reason) const {
  throw_write_error(m_told.string() + ": " + what, reason);
}

void PositionedFile::read_at(std::int64_t offset, void* bytes, std::size_t n) const {
  auto* at = static_cast<char*>(bytes);
  while (n > 0) {
    const ssize_t done = ::pread(m_descriptor, at, std::min(most_at_once, n), offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw RunError(m_told.string() + ": cannot be read: " + std::strerror(errno));
    if (done == 0) throw RunError(m_told.string() + ": cannot be read: it is shorter than it was");
    at += done;
    offset += done;
    n -= static_cast<std::size_t>(done);
  }
}

void PositionedFile::write_at(std::int64_t offset, const void* bytes, std::size_t n) const {
  const auto* at = static_cast<const char*>(bytes);
  while (n > 0) {
    const ssize_t done = ::pwrite(m_descriptor, at, std::min(most_at_once, n), offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("cannot write", errno);
    at += done;
    offset += done;
    n -= static_cast<std::size_t>(done);
  }
}

void PositionedFile::resize(std::int64_t n) const {
  if (::ftruncate(m_descriptor, n) != 0) fail("cannot write", errno);
  if (n == 0) return;
  while (::fallocate(m_descriptor, 0, 0, n) != 0) {
    if (errno == EINTR) continue;
    // some file systems cannot reserve room; then a write reports the error
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) fail("cannot write", errno);
    return;
  }
}

void PositionedFile::sync() const {
  // some file systems report a full disk or a quota only here or on closing
  const int copy = ::fsync(m_descriptor) == 0 ? ::dup(m_descriptor) : -1;
  if (copy < 0 || ::close(copy) != 0) fail("cannot write", errno);
}

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
