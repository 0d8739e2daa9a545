// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <signal.h>

#include <filesystem>

namespace prismfield {

/// The file that a name means: the target of symbolic links, so that a link is written through, not replaced.
[[nodiscard]] std::filesystem::path followed(std::filesystem::path file);

/// The folder that holds a file, "." for a bare name.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& file);

/// Where a file is written before it is complete: beside it, so that the rename stays within one file system.
[[nodiscard]] std::filesystem::path temporary_name(const std::filesystem::path& file);

/// While it lives, a file that grows past the limit of its size fails with EFBIG instead of ending the process.
class FileSizeSignalIgnored {
public:
  FileSizeSignalIgnored();
  ~FileSizeSignalIgnored();
  FileSizeSignalIgnored(const FileSizeSignalIgnored&) = delete;
  FileSizeSignalIgnored& operator=(const FileSizeSignalIgnored&) = delete;

private:
  struct sigaction m_before {};
  bool m_changed = false;
};

/// A file under its temporary name, removed unless it was moved to its own.
class TemporaryFile {
public:
  explicit TemporaryFile(std::filesystem::path name);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::filesystem::path& name() const noexcept { return m_name; }

  /// Brings the content to the disk, then gives the file its name: a crash leaves the old file or the new one. Throws
  /// RunError.
  void move_to(const std::filesystem::path& target);

private:
  std::filesystem::path m_name;
  bool m_moved = false;
};

}  // namespace prismfield
