// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/positioned_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>

#include "base/disk.hpp"
#include "base/temporary_file.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

// Linux moves at most 2 GiB a call.
constexpr std::size_t most_at_once = std::size_t{1} << 30;

/// Removes a file that is old and has no lock.
void remove_if_left(const fs::path& name) noexcept {
  constexpr std::time_t young = 60;
  const int descriptor = ::open(name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat status {};
  const bool is_left = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                       std::time(nullptr) - status.st_mtime > young && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  if (is_left) ::unlink(name.c_str());
  ::close(descriptor);
}

}  // namespace

PositionedFile::PositionedFile(const fs::path& name, Access access, fs::path told) : m_told(std::move(told)) {
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
    // not every file system can be asked; writing tells
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) fail("cannot write", errno);
    return;
  }
}

void PositionedFile::sync() const {
  // some file systems report a full disk or a quota only here or on closing
  const int copy = ::fsync(m_descriptor) == 0 ? ::dup(m_descriptor) : -1;
  if (copy < 0 || ::close(copy) != 0) fail("cannot write", errno);
}

void PositionedFile::mark_as_in_use() const noexcept {
  // where there are no locks nothing is removed either
  [[maybe_unused]] const int done = ::flock(m_descriptor, LOCK_SH | LOCK_NB);
}

void remove_leftovers(const fs::path& target) noexcept {
  try {
    const std::string name = target.filename().string();
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_of(target), error)) {
      if (is_temporary_of(entry.path().filename().string(), name)) remove_if_left(entry.path());
    }
  } catch (const std::exception&) {
    // a folder that cannot be looked through keeps what it has
    return;
  }
}

}  // namespace prismfield
