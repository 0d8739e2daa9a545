// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/temporary_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>

#include "base/disk.hpp"

namespace prismfield {

namespace fs = std::filesystem;

namespace {

void sync(const fs::path& file, int access) {
  const int descriptor = ::open(file.c_str(), access | O_CLOEXEC);
  const int status = descriptor < 0 ? -1 : ::fsync(descriptor);
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (status != 0) throw_write_error(file, reason);
}

}  // namespace

fs::path followed(fs::path file) {
  constexpr int most_links = 40;
  std::error_code error;
  for (int i = 0; i < most_links && fs::is_symlink(file, error); ++i) {
    const fs::path target = fs::read_symlink(file, error);
    if (error) break;
    file = target.is_absolute() ? target : file.parent_path() / target;
  }
  return file;
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

fs::path temporary_name(const fs::path& file) {
  return folder_of(file) / fmt::format(".{}.part-{}", file.filename().string(), ::getpid());
}

FileSizeSignalIgnored::FileSizeSignalIgnored() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  m_changed = ::sigaction(SIGXFSZ, &ignore, &m_before) == 0;
}

FileSizeSignalIgnored::~FileSizeSignalIgnored() {
  if (m_changed) ::sigaction(SIGXFSZ, &m_before, nullptr);
}

TemporaryFile::TemporaryFile(fs::path name) : m_name(std::move(name)) {}

TemporaryFile::~TemporaryFile() {
  if (!m_moved) ::unlink(m_name.c_str());
}

void TemporaryFile::move_to(const fs::path& target) {
  sync(m_name, O_RDWR);
  if (std::rename(m_name.c_str(), target.c_str()) != 0) {
    throw RunError(fmt::format("{}: cannot rename: {}", target.string(), std::strerror(errno)));
  }
  m_moved = true;
  // Not every file system can sync a folder; the file itself is complete by now.
  try {
    sync(folder_of(target), O_RDONLY);
  } catch (const RunError&) {
    return;
  }
}

}  // namespace prismfield
