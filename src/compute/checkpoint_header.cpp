// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/checkpoint_header.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace prismfield {
namespace {

constexpr std::array<char, 16> our_mark = {'\x89', 'P', 'F', 'c', 'h', 'e',  'c',  'k',
                                           'p',    'o', 'i', 'n', 't', '\r', '\n', '\x1a'};
/// The end of a checkpoint of version 2, which began with HDF5's own bytes.
constexpr std::string_view mark_of_version_2("\x89PFseal\n", 8);
constexpr std::int64_t end_of_version_2 = 16;

constexpr std::int64_t header_bytes = sizeof(CheckpointHeader);
constexpr const char* no_checkpoint = "is no checkpoint of prismfield";
constexpr const char* other_version = "was written by another version of prismfield";

Digest digest_of(const CheckpointHeader& header) { return digest_of(&header, offsetof(CheckpointHeader, header)); }

/// What a file that is no regular one is, or "".
std::string special(mode_t mode) {
  if (S_ISREG(mode)) return "";
  if (S_ISLNK(mode)) return "is a symbolic link";
  if (S_ISDIR(mode)) return "is a folder";
  if (S_ISFIFO(mode)) return "is a pipe";
  return "is a device";
}

}  // namespace

void sign(CheckpointHeader& header, const void* content, std::size_t n) {
  header.mark = our_mark;
  header.version = checkpoint_version;
  header.file_bytes = header_bytes + static_cast<std::int64_t>(n);
  header.content = digest_of(content, n);
  header.header = digest_of(header);
}

CheckpointReader::CheckpointReader(const std::filesystem::path& file) {
  try {
    look(file);
  } catch (const Unusable& why) {
    m_what = why.what();
  }
}

CheckpointReader::~CheckpointReader() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

void CheckpointReader::look(const std::filesystem::path& file) {
  struct stat status {};
  // opening some devices does something to them
  if (::lstat(file.c_str(), &status) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) throw Unusable(fmt::format("cannot be read: {}", std::strerror(errno)));
    m_kind = CheckpointKind::absent;
    return;
  }
  if (const std::string what = special(status.st_mode); !what.empty()) throw Unusable(what);
  m_descriptor = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (m_descriptor < 0 || ::fstat(m_descriptor, &status) != 0) {
    throw Unusable(fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  if (const std::string what = special(status.st_mode); !what.empty()) throw Unusable(what);
  m_size = status.st_size;

  CheckpointHeader header;
  if (m_size >= static_cast<std::int64_t>(our_mark.size())) {
    read_bytes(header.mark.data(), header.mark.size(), 0);
    if (header.mark == our_mark) {
      m_kind = CheckpointKind::useless;
      if (m_size < header_bytes) throw Unusable("is damaged");
      read_bytes(&header, sizeof header, 0);
      if (header.version != checkpoint_version) throw Unusable(other_version);
      if (header.header != digest_of(header)) throw Unusable("is damaged");
      m_header = header;
      m_is_signed = true;
      if (header.file_bytes != m_size) throw Unusable("is damaged");
      m_kind = CheckpointKind::ours;
      return;
    }
  }
  if (m_size >= end_of_version_2) {
    std::array<char, mark_of_version_2.size()> end{};
    read_bytes(end.data(), end.size(), m_size - end_of_version_2);
    if (std::string_view(end.data(), end.size()) == mark_of_version_2) {
      m_kind = CheckpointKind::useless;
      throw Unusable(other_version);
    }
  }
  throw Unusable(no_checkpoint);
}

bool CheckpointReader::is_still_at(const std::filesystem::path& file) const {
  struct stat named {};
  struct stat opened {};
  return m_descriptor >= 0 && ::lstat(file.c_str(), &named) == 0 && ::fstat(m_descriptor, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

void CheckpointReader::read_bytes(void* to, std::size_t n, std::int64_t offset) const {
  auto* at = static_cast<char*>(to);
  while (n > 0) {
    const ssize_t got = ::pread(m_descriptor, at, std::min(n, std::size_t{1} << 30), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Unusable(fmt::format("cannot be read: {}", std::strerror(errno)));
    if (got == 0) throw Unusable("is damaged");
    at += got;
    offset += got;
    n -= static_cast<std::size_t>(got);
  }
}

void CheckpointReader::require_within(const KeptArray& array) const {
  constexpr std::int64_t number = 8;
  const bool within = array.count >= 0 && header_bytes <= array.offset && array.offset <= m_size &&
                      array.count <= (m_size - array.offset) / number;
  if (array.count != 0 && !within) throw Unusable("is damaged");
}

std::vector<std::int64_t> CheckpointReader::read(const KeptArray& array) const {
  require_within(array);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(array.count));
  read_bytes(numbers.data(), numbers.size() * sizeof(std::int64_t), array.offset);
  return numbers;
}

void CheckpointReader::read_checked(const std::vector<std::pair<KeptArray, std::vector<double>*>>& arrays) const {
  for (const auto& [array, values] : arrays) {
    require_within(array);
    values->resize(static_cast<std::size_t>(array.count));
  }
  Checksum checksum;
  std::vector<char> buffer(std::size_t{1} << 20);
  for (std::int64_t begin = header_bytes; begin < m_size;) {
    const std::int64_t end = std::min(begin + static_cast<std::int64_t>(buffer.size()), m_size);
    const auto n = static_cast<std::size_t>(end - begin);
    read_bytes(buffer.data(), n, begin);
    checksum.add_bytes(buffer.data(), n);
    for (const auto& [array, values] : arrays) {
      const std::int64_t from = std::max(begin, array.offset);
      const std::int64_t to = std::min(end, array.offset + array.count * static_cast<std::int64_t>(sizeof(double)));
      if (from >= to) continue;
      std::memcpy(reinterpret_cast<char*>(values->data()) + (from - array.offset), buffer.data() + (from - begin),
                  static_cast<std::size_t>(to - from));
    }
    begin = end;
  }
  if (checksum.digest() != m_header.content) throw Unusable("is damaged");
  for (const auto& [array, values] : arrays) {
    if (!std::all_of(values->begin(), values->end(), [](double value) { return std::isfinite(value); })) {
      throw Unusable("is damaged: it holds values that are not finite");
    }
  }
}

}  // namespace prismfield
