// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/inversion_state.hpp>

#include "base/checksum.hpp"
#include "base/disk.hpp"
#include "compute/method.hpp"

namespace prismfield {

// A file of a checkpoint: one per rank of a forward run, written by that rank alone; one of an inversion. Every number
// has eight bytes, the lowest first on a little-endian machine; one of the other order takes it for a file of another
// version.
//
//   header  152 bytes: mark (16), version, rank, digest of the case (16), then of each section its length in bytes and
//           its digest (8 + 16), name of the method (16), and the digest of the header before this (16)
//   layout  integers: how all ranks share the work. In the file of rank 0 alone; its digest is in all, so that files of
//           one layout know each other
//   state   integers: how far the rank has come; of an inversion all that is no double
//   sums    doubles: the partial sums; of an inversion all doubles
//
// A digest is XXH3 of 128 bits, so that a changed bit, a cut, an exchanged section or file is refused; the length of
// the file is that of its header and sections. What layout, state and sums mean is known to the method that computes
// alone (direct_state.cpp for the direct one). The digest of the case stands for all keys that change the result and
// for the numbers that were read from its files. A file is written under a temporary name, brought to the disk and
// renamed: a kill at any moment leaves the old file or the new one. Mark and place of the version are the same in all
// versions; up to version 3 HDF5 followed the header, up to version 5 inversions had files with another mark. Every
// rank keeps its state by itself; a state of another layout than rank 0's is passed over, so that whatever files a
// crash leaves behind fit together.

/// Changes whenever the content of the files changes.
inline constexpr std::int64_t checkpoint_version = 8;

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
  /// see CheckpointRun, filled up with zeros
  std::array<char, 16> method{};
  /// of the header before this
  Digest header;
};
static_assert(sizeof(CheckpointHeader) == 152 && std::is_trivially_copyable_v<CheckpointHeader>);

/// Sets mark, version and the header's own digest.
void sign(CheckpointHeader& header);

/// What all files of a run share.
struct CheckpointRun {
  /// a Method's name or "inversion"; at most 15 characters
  std::string method;
  Digest case_hash;
  /// see RankWork::layout()
  std::vector<std::int64_t> layout;
};

/// Writes the file of a rank as a whole and replaces the previous one. Throws RunError, also for an existing file that
/// is no checkpoint or of another case.
void write_checkpoint(const std::filesystem::path& checkpoint, const CheckpointRun& run, int rank,
                      const WorkState& state);
/// The same for an inversion, in one file for all ranks.
void write_checkpoint(const std::filesystem::path& checkpoint, const Digest& case_hash, const InversionState& state);

/// Throws InputError by the key output.checkpoint.file, without a place, with each of the ranks' files that would
/// replace something else than a checkpoint or, with `case_hash`, the checkpoint of another case.
void check_checkpoint_place(const std::filesystem::path& checkpoint, int n_ranks, const Digest* case_hash = nullptr);

/// Removes a case's file, the files of its ranks, and their half-written leftovers of killed runs; nothing else.
void remove_checkpoint(const std::filesystem::path& file, const Digest& case_hash);

/// Reserves a checkpoint for one run while it lives, by a lock on an empty file next to it, .NAME.lock.
class CheckpointLock {
public:
  /// Throws InputError by the key output.checkpoint.file, without a place, when another run holds the lock.
  explicit CheckpointLock(const std::filesystem::path& checkpoint);

private:
  FileLock m_lock;
};

/// The file of a rank's state: the checkpoint for rank 0, one next to it for other ranks. For a symbolic link all are
/// next to its target.
[[nodiscard]] std::filesystem::path rank_file(const std::filesystem::path& checkpoint, int rank);

/// The checkpoint that a run resumes from.
struct FoundCheckpoint {
  CheckpointRun run;
  /// of rank 0's state; earlier and later states of the run have others
  Digest id;
};

/// Sets a rank's work to the kept state of a run; nothing where there is no checkpoint. Throws InputError by the key
/// output.checkpoint.file, without a place, for a file that is no checkpoint, of another case, version or sharing of
/// work, damaged where this rank reads it, or larger than the memory.
[[nodiscard]] std::optional<FoundCheckpoint> read_checkpoint(const std::filesystem::path& checkpoint,
                                                             const Digest& case_hash, RankWork& work);
/// The same for an inversion, into `state`.
[[nodiscard]] std::optional<FoundCheckpoint> read_checkpoint(const std::filesystem::path& checkpoint,
                                                             const Digest& case_hash, InversionState& state);

/// Where and how often a run keeps its state.
struct CheckpointSettings {
  std::filesystem::path file;
  double every_seconds = 600;
};

/// A guard that writes checkpoints at an interval, and as soon as there is a state after a signal. `run` makes it.
class CheckpointGuard final : public RunGuard {
public:
  CheckpointGuard(CheckpointSettings settings, const Digest& case_hash, const Communicator& communicator)
      : m_settings(std::move(settings)), m_communicator(communicator), m_run{{}, case_hash, {}} {}

  /// Reads the checkpoint as read_checkpoint() does. Not collective.
  [[nodiscard]] std::optional<FoundCheckpoint> read(RankWork& work);
  /// Fixes how the ranks share the work, once all have read the same. Collective.
  void settle(const RankWork& work);

  void begin(const RankWork& work) override;
  [[nodiscard]] bool wants_state() override;
  [[nodiscard]] bool wants_stop() override;
  void keep(const RankWork& work) override;

  /// Why a checkpoint could not be written; the run goes on. "" without a failure.
  [[nodiscard]] const std::string& failure() const noexcept { return m_failure; }

private:
  CheckpointSettings m_settings;
  const Communicator& m_communicator;
  CheckpointRun m_run;
  std::optional<FoundCheckpoint> m_found;
  bool m_stopping = false;
  std::string m_failure;
  std::chrono::steady_clock::time_point m_last;
};

}  // namespace prismfield
