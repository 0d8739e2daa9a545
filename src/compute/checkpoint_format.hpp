// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/checksum.hpp"
#include "base/disk.hpp"

namespace prismfield {

// A file of a checkpoint: one per rank, written by that rank alone. Every number has eight bytes, the lowest first on a
// little-endian machine; one of the other order takes it for a file of another version.
//
//   header  136 bytes: mark (16), version, rank, digest of the case (16), then of each section its length in bytes and
//           its digest (8 + 16), and the digest of the header before this (16)
//   layout  integers: how all ranks share the work. In the file of rank 0 alone; its digest is in all, so that files of
//           one layout know each other
//   state   integers: how far the rank has come
//   sums    doubles: the partial sums
//
// A digest is XXH3 of 128 bits, so that a changed bit, a cut, an exchanged section or file is refused; the length of
// the file is that of its header and sections. What layout, state and sums mean is known to the method that computes
// alone (checkpoint_file.cpp for the direct one). The digest of the case stands for all keys that change the result and
// for the numbers that were read from its files. A file is written under a temporary name, brought to the disk and
// renamed: a kill at any moment leaves the old file or the new one. Mark and place of the version are the same in all
// versions; up to version 3 HDF5 followed the header.

/// Changes with every change of what the files hold.
inline constexpr std::int64_t checkpoint_version = 4;

struct CheckpointSection {
  std::int64_t bytes = 0;
  Digest digest;
};

struct CheckpointHeader {
  std::array<char, 16> mark{};
  std::int64_t version = 0;
  std::int64_t rank = 0;
  Digest case_hash;
  CheckpointSection layout, state, sums;
  /// of the header before this
  Digest header;
};
static_assert(sizeof(CheckpointHeader) == 136 && std::is_trivially_copyable_v<CheckpointHeader>);

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

/// What keeps a run from going on from a file; follows the file's name.
class Unusable : public std::runtime_error {
public:
  explicit Unusable(const std::string& what, CheckpointKind of = CheckpointKind::useless)
      : std::runtime_error(what), kind(of) {}
  CheckpointKind kind;
};

/// Fills in mark, version and the header's own digest.
void sign(CheckpointHeader& header);

/// A file at a checkpoint's place. Neither waits for a pipe nor opens a device or what a symbolic link leads to.
class CheckpointReader {
public:
  explicit CheckpointReader(const std::filesystem::path& file);

  [[nodiscard]] CheckpointKind kind() const noexcept { return m_kind; }
  [[nodiscard]] const CheckpointHeader& header() const noexcept { return m_header; }
  /// Whether it is a checkpoint of this case, or the whole beginning of one.
  [[nodiscard]] bool is_of(const Digest& case_hash) const noexcept {
    return m_is_signed && m_header.case_hash == case_hash;
  }
  /// Throws Unusable for what is not to be replaced: what is no checkpoint, and one of another case.
  void require_replaceable(const Digest* case_hash) const;
  /// Throws Unusable for what is not of kind `ours`.
  void require_ours() const;

  /// The sections of a file of kind `ours`, in this order. They throw Unusable for other bytes than those that were
  /// written, and for more numbers than any layout has.
  [[nodiscard]] std::vector<std::int64_t> layout() { return integers(m_header.layout); }
  [[nodiscard]] std::vector<std::int64_t> state() { return integers(m_header.state); }
  /// Fills vectors, which have the section's length together.
  void read_sums(const std::vector<std::vector<double>*>& sums);

private:
  /// What the file is, following its name: "is a folder", "is damaged"; of kind `ours` "".
  [[nodiscard]] std::string look(const std::filesystem::path& file);
  [[nodiscard]] std::vector<std::int64_t> integers(const CheckpointSection& section);

  std::ifstream m_in;
  CheckpointHeader m_header;
  CheckpointKind m_kind = CheckpointKind::foreign;
  bool m_is_signed = false;
  std::string m_what;
};

/// Writes a file whole, replacing the one before. `layout_id`: the digest of the layout, also where `layout` is empty.
/// Throws RunError, also where it would replace what is no checkpoint or one of another case.
void write_checkpoint_file(const std::filesystem::path& file, const Digest& case_hash, std::int64_t rank,
                           const Digest& layout_id, std::span<const std::int64_t> layout,
                           std::span<const std::int64_t> state, const std::vector<std::span<const double>>& sums);

/// Removes a case's file and all files of ranks beside it, with what a kill left half-written of them, and nothing that
/// is something else.
void remove_checkpoint(const std::filesystem::path& file, const Digest& case_hash);

/// Keeps a checkpoint for one run while it lives, by a lock on an empty file beside it, .NAME.lock.
class CheckpointLock {
public:
  /// Throws InputError by the key output.checkpoint.file, without a place, when another run has it.
  explicit CheckpointLock(const std::filesystem::path& checkpoint);

private:
  FileLock m_lock;
};

/// The file of a rank's state: the checkpoint itself for rank 0, one beside it for each other rank. Where the
/// checkpoint is a symbolic link, all of them are where it leads to.
[[nodiscard]] std::filesystem::path rank_file(const std::filesystem::path& checkpoint, int rank);

}  // namespace prismfield
