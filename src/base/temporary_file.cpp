// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/temporary_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/crash_guard.hpp"
#include "base/disk.hpp"

namespace prismfield {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view mark = ".part-";
constexpr std::string_view letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t n_letters = 6;

std::string word_of(const std::array<std::uint8_t, n_letters>& bytes) {
  std::string word;
  for (const std::uint8_t byte : bytes) word += letters[byte % letters.size()];
  return word;
}

/// Marks a new file as one in use. False where another process has just taken it for one that was left. Where there
/// are no locks nothing is taken so.
bool lock(int descriptor) noexcept {
  struct stat status {};
  const bool refused = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return !refused && ::fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

/// Makes a new file and nothing else: no file of that name is opened, no link followed. It is unfinished from before it
/// is there.
int make_new(const fs::path& target, mode_t mode, fs::path& name) {
  constexpr int most_tries = 100;
  for (int i = 0; i < most_tries; ++i) {
    std::array<std::uint8_t, n_letters> random{};
    if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) return -1;
    name = folder_of(target) / fmt::format(".{}{}{}", target.filename().string(), mark, word_of(random));
    add_unfinished_file(name.c_str());
    const int descriptor = ::open(name.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, mode);
    if (descriptor >= 0 && lock(descriptor)) return descriptor;
    const int reason = errno;
    forget_unfinished_file(name.c_str());
    if (descriptor >= 0) {
      ::close(descriptor);
      ::unlink(name.c_str());
    } else if (reason != EEXIST) {
      errno = reason;
      return -1;
    }
  }
  return -1;
}

/// Removes a file of this user's that nobody has locked: its writer is dead.
void remove_if_left(const fs::path& name) noexcept {
  int descriptor = -1;
  // some file systems lock only what may be written
  for (const int access : {O_RDWR, O_RDONLY}) {
    if (descriptor < 0) descriptor = ::open(name.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  }
  if (descriptor < 0) return;
  struct stat status {};
  const bool is_left = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
                       ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  if (is_left) ::unlink(name.c_str());
  ::close(descriptor);
}

/// Gives a file the permissions of the one that it will replace, those for a group only where it can have the same.
bool take_permissions(int descriptor, const struct stat& of) {
  struct stat mine {};
  if (::fstat(descriptor, &mine) != 0) return false;
  mode_t mode = of.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  if (mine.st_gid != of.st_gid && ::fchown(descriptor, static_cast<uid_t>(-1), of.st_gid) != 0) {
    mode &= ~static_cast<mode_t>(S_IRWXG);
  }
  return ::fchmod(descriptor, mode) == 0;
}

/// Not every file system can sync a folder; the file itself is complete by then.
void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

/// Whether the rule of Linux' fs.protected_symlinks lets this process follow a link, whatever the machine's setting is:
/// not that of another user in a sticky folder of all, unless the folder's owner made it.
bool may_follow(const fs::path& link) {
  struct stat own {};
  struct stat folder {};
  if (::lstat(link.c_str(), &own) != 0 || ::stat(folder_of(link).c_str(), &folder) != 0) return false;
  constexpr mode_t of_all = S_ISVTX | S_IWOTH;
  return (folder.st_mode & of_all) != of_all || own.st_uid == ::geteuid() || own.st_uid == folder.st_uid;
}

}  // namespace

fs::path followed(fs::path file) {
  constexpr int most_links = 40;
  std::error_code error;
  for (int i = 0; i < most_links && fs::is_symlink(file, error) && may_follow(file); ++i) {
    const fs::path target = fs::read_symlink(file, error);
    if (error) break;
    file = target.is_absolute() ? target : file.parent_path() / target;
  }
  return file;
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

TemporaryFile::TemporaryFile(const fs::path& target) : m_target(target) {
  remove_leftovers(target);
  struct stat old {};
  const bool replaces = ::lstat(target.c_str(), &old) == 0 && S_ISREG(old.st_mode);
  // what replaces a private file is private from its first byte
  m_descriptor = make_new(target, replaces ? 0600 : 0666, m_name);
  if (m_descriptor < 0) fail(fmt::format("no file can be made in the folder {}", folder_of(target).string()));
  if (replaces && !take_permissions(m_descriptor, old)) {
    const int reason = errno;
    ::close(m_descriptor);
    ::unlink(m_name.c_str());
    forget_unfinished_file(m_name.c_str());
    errno = reason;
    fail("no other file can have its permissions");
  }
}

TemporaryFile::~TemporaryFile() {
  if (!m_moved) ::unlink(m_name.c_str());
  forget_unfinished_file(m_name.c_str());
  ::close(m_descriptor);
}

void TemporaryFile::fail(const std::string& what) const {
  throw_write_error(fmt::format("{}: {}", m_target.string(), what), errno);
}

void TemporaryFile::write(const void* bytes, std::size_t n) const {
  // Linux moves at most 2 GiB a call.
  constexpr std::size_t most = std::size_t{1} << 30;
  const auto* at = static_cast<const char*>(bytes);
  while (n > 0) {
    const ssize_t written = ::write(m_descriptor, at, std::min(most, n));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write");
    at += written;
    n -= static_cast<std::size_t>(written);
  }
}

void TemporaryFile::move_to_target() {
  // some file systems report a full disk or a quota only here or on closing
  const int copy = ::fsync(m_descriptor) == 0 ? ::dup(m_descriptor) : -1;
  if (copy < 0 || ::close(copy) != 0) fail("cannot write");
  if (std::rename(m_name.c_str(), m_target.c_str()) != 0) fail("cannot rename");
  m_moved = true;
  forget_unfinished_file(m_name.c_str());
  sync_folder(folder_of(m_target));
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

bool is_temporary_of(std::string_view name, std::string_view target) {
  if (name.size() != 1 + target.size() + mark.size() + n_letters) return false;
  return name.front() == '.' && name.substr(1, target.size()) == target &&
         name.substr(1 + target.size(), mark.size()) == mark &&
         name.find_first_not_of(letters, 1 + target.size() + mark.size()) == std::string_view::npos;
}

}  // namespace prismfield
