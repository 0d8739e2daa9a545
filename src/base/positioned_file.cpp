// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/positioned_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <prismfield/error.hpp>

#include "base/disk.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

// Linux moves at most 2 GiB a call.
constexpr std::size_t most_at_once = std::size_t{1} << 30;

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

}  // namespace prismfield
