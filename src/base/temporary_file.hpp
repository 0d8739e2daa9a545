// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace prismfield {

/// The file that a name means: the target of symbolic links, so that a link is written through, not replaced. A link of
/// another user in a sticky folder that all may write, such as /tmp, is not followed: it stands for itself.
[[nodiscard]] std::filesystem::path followed(std::filesystem::path file);

/// The folder that holds a file, "." for a bare name.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& file);

/// A new file beside the one that it is to become, so that the rename stays within one file system; removed unless it
/// was moved there. Its name, .NAME.part- and six random letters, is nobody else's: no file, and no link that somebody
/// put there, is opened or followed. It has the permissions of the file that it is to replace, else the usual ones. It
/// is locked (flock) while it lives.
class TemporaryFile {
public:
  /// Makes it, and removes what killed runs left of others for this target. Throws RunError, by the target's name.
  explicit TemporaryFile(const std::filesystem::path& target);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::filesystem::path& name() const noexcept { return m_name; }

  /// Appends bytes. Throws RunError.
  void write(const void* bytes, std::size_t n) const;
  /// Brings the content to the disk, then gives the file its name: a crash leaves the old file or the new one. Throws
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

/// Removes what killed processes of this user left of TemporaryFiles for `target`: those that nobody has locked.
void remove_leftovers(const std::filesystem::path& target) noexcept;

/// Whether a file of this name can be what a killed run left of a TemporaryFile for `target`, names without folders.
[[nodiscard]] bool is_temporary_of(std::string_view name, std::string_view target);

}  // namespace prismfield
