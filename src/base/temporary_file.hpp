// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace prismfield {

/// The file behind a name: the target of symbolic links, so that a write follows a link instead of replacing it. A link
/// of another user in a sticky folder that all may write, such as /tmp, is not followed.
[[nodiscard]] std::filesystem::path followed(std::filesystem::path file);

/// The folder that holds a file, "." for a bare name.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& file);

/// A new file next to its target, so that the rename stays within one file system. It is removed unless moved there.
/// Its name, .NAME.part- and six random letters, is new: no existing file or link is opened or followed. It gets the
/// permissions of the file that it replaces, otherwise the usual ones. It is locked (flock) while it lives.
class TemporaryFile {
public:
  /// Makes the file, and removes leftovers of killed runs for this target. Throws RunError, by the target's name.
  explicit TemporaryFile(const std::filesystem::path& target);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::filesystem::path& name() const noexcept { return m_name; }

  /// Appends bytes. Throws RunError.
  void write(const void* bytes, std::size_t n) const;
  /// Brings the content to the disk, then renames the file: a crash leaves the old file or the new one. Throws
  /// RunError.
  void move_to_target();

private:
  /// Throws RunError, with the reason in errno.
  [[noreturn]] void fail(const std::string& what) const;

  std::filesystem::path m_target;
  std::filesystem::path m_name;
  int m_descriptor = -1;
  bool m_moved = false;
};

/// Removes leftovers of killed processes of this user for `target`: temporary files that are not locked.
void remove_leftovers(const std::filesystem::path& target) noexcept;

/// Whether a name can be that of a leftover of a TemporaryFile for `target`, both without folders.
[[nodiscard]] bool is_temporary_of(std::string_view name, std::string_view target);

}  // namespace prismfield
