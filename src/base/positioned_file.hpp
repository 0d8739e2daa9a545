// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace prismfield {

/// A file that is there already, read or written at places of one's own choice: by several processes side by side, and
/// from several threads. Messages call it `told`, the name that it has or will have.
class PositionedFile {
public:
  enum class Access { read, write };

  /// Opens it. Throws RunError.
  PositionedFile(const std::filesystem::path& name, Access access, std::filesystem::path told);
  ~PositionedFile();
  PositionedFile(const PositionedFile&) = delete;
  PositionedFile& operator=(const PositionedFile&) = delete;

  /// Bytes [offset, offset + n). Throws RunError where the file ends before.
  void read_at(std::int64_t offset, void* bytes, std::size_t n) const;
  /// Throws RunError.
  void write_at(std::int64_t offset, const void* bytes, std::size_t n) const;
  /// Makes it so many bytes long, and asks the disk for the room where the file system can be asked. Throws RunError.
  void resize(std::int64_t n) const;
  /// Brings what was written to the disk. Throws RunError.
  void sync() const;

private:
  [[noreturn]] void fail(const char* what, int reason) const;

  std::filesystem::path m_told;
  int m_descriptor = -1;
};

}  // namespace prismfield
