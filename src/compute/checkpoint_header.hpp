// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <prismfield/forms.hpp>

#include "base/checksum.hpp"

namespace prismfield {

/// Changes with every change of what the files hold.
inline constexpr std::int64_t checkpoint_version = 3;

/// What a file at a checkpoint's place is.
enum class CheckpointKind {
  /// there is none
  absent,
  /// whole as far as its header says, and of this version
  ours,
  /// a checkpoint of prismfield that no run can go on from: damaged, or of another version
  useless,
  /// something else, which is not ours to replace or remove
  foreign
};

/// A state's numbers as they lie in the header.
struct KeptNumbers {
  std::int64_t slots = 1, batch = 1, tile_points = 0, chunk_prisms = 1;
  std::int64_t points_begin = 0, points_end = 0;
  std::int64_t item = 0, tile = 0, prisms = 0;
  std::array<std::int64_t, n_forms> pairs_by_form{};
};

/// Where numbers of eight bytes lie in the file.
struct KeptArray {
  std::int64_t offset = 0, count = 0;
};

/// The first bytes of a checkpoint's file, before those of HDF5, which calls them a user block and passes them over. It
/// tells all that a run needs: of what is read, nothing is looked at by HDF5, which crashes on some files that are not
/// its own.
struct CheckpointHeader {
  std::array<char, 16> mark{};
  std::int64_t version = 0;
  std::int64_t file_bytes = 0;
  Digest case_hash, layout_id;
  std::int64_t rank = 0, n_ranks = 0, n_fields = 0, has_before = 0;
  KeptNumbers state, before;
  KeptArray layout, values, contact, before_values, before_contact;
  std::array<std::int64_t, 4> unused{};
  /// of what follows the header
  Digest content;
  /// of the header before this
  Digest header;
};
static_assert(sizeof(CheckpointHeader) == 512 && std::is_trivially_copyable_v<CheckpointHeader>);

/// What keeps a run from going on from a file; follows the file's name.
class Unusable : public std::exception {
public:
  explicit Unusable(std::string what, CheckpointKind kind = CheckpointKind::useless)
      : m_what(std::move(what)), m_kind(kind) {}
  [[nodiscard]] const char* what() const noexcept override { return m_what.c_str(); }
  [[nodiscard]] CheckpointKind kind() const noexcept { return m_kind; }

private:
  std::string m_what;
  CheckpointKind m_kind;
};

/// Fills in mark, version, length and checksums of a header for this content, the file's bytes behind it.
void sign(CheckpointHeader& header, const void* content, std::size_t n);

/// A file at a checkpoint's place, opened once: what was checked is what is read. Neither waits for a pipe nor opens a
/// device or what a symbolic link leads to.
class CheckpointReader {
public:
  explicit CheckpointReader(const std::filesystem::path& file);
  ~CheckpointReader();
  CheckpointReader(const CheckpointReader&) = delete;
  CheckpointReader& operator=(const CheckpointReader&) = delete;

  [[nodiscard]] CheckpointKind kind() const noexcept { return m_kind; }
  /// What it is, following its name: "is a folder", "is damaged"; of a file of ours and of none "".
  [[nodiscard]] const std::string& what() const noexcept { return m_what; }
  /// Of a file of kind `ours`.
  [[nodiscard]] const CheckpointHeader& header() const noexcept { return m_header; }
  /// Whether it is a checkpoint of this case, or the whole beginning of one.
  [[nodiscard]] bool is_of(const Digest& case_hash) const noexcept {
    return m_is_signed && m_header.case_hash == case_hash;
  }
  [[nodiscard]] bool is_of_another(const Digest& case_hash) const noexcept {
    return m_is_signed && m_header.case_hash != case_hash;
  }
  /// Whether the name still means the file that was opened.
  [[nodiscard]] bool is_still_at(const std::filesystem::path& file) const;

  /// Numbers of a file of kind `ours`, not checked against the content's sum. Takes memory for as many as the file can
  /// hold, which the caller may bound further. Throws Unusable.
  [[nodiscard]] std::vector<std::int64_t> read(const KeptArray& array) const;
  /// The same for arrays of doubles, and reads the whole file for them. Throws Unusable when the content is not what
  /// was signed, or a number is not finite.
  void read_checked(const std::vector<std::pair<KeptArray, std::vector<double>*>>& arrays) const;

private:
  void look(const std::filesystem::path& file);
  void read_bytes(void* to, std::size_t n, std::int64_t offset) const;
  void require_within(const KeptArray& array) const;

  CheckpointKind m_kind = CheckpointKind::foreign;
  std::string m_what;
  CheckpointHeader m_header;
  bool m_is_signed = false;
  std::int64_t m_size = 0;
  int m_descriptor = -1;
};

}  // namespace prismfield
