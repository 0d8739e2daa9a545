// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include <prismfield/plan.hpp>

#include "base/checksum.hpp"
#include "compute/checkpoint_format.hpp"
#include "compute/work_state.hpp"

namespace prismfield {

/// Adds a rank's part of a layout as integers.
void append(const WorkLayout& layout, std::vector<std::int64_t>& numbers);

/// Hands out integers in the order in which they were added.
class NumberReader {
public:
  explicit NumberReader(std::span<const std::int64_t> numbers) : m_left(numbers) {}
  /// These throw Unusable at the end.
  std::int64_t next();
  WorkLayout layout();
  [[nodiscard]] bool is_at_end() const noexcept { return m_left.empty(); }

private:
  std::span<const std::int64_t> m_left;
};

/// How a run's work is shared out, rank by rank.
struct CheckpointLayout {
  Digest case_hash;
  std::vector<WorkLayout> ranks;

  /// Tells this layout from any other of the same case: the digest of its section in a file.
  [[nodiscard]] Digest id() const;
};

/// What a checkpoint holds.
struct Checkpoint {
  CheckpointLayout layout;
  /// what ranks of earlier layouts did, at all points; empty payload: nothing
  RankState before;
  /// one a rank: as far as it came, at the start of its share when it kept nothing yet; payloads only where asked for
  std::vector<RankState> states;

  /// Tells this checkpoint from an earlier or later one of the same layout.
  [[nodiscard]] Digest id() const;
};

/// Throws InputError by the key output.checkpoint.file, without a place, with every file of so many ranks that would
/// replace what is no checkpoint of prismfield or, where the case's hash is known already, one of another case.
void check_checkpoint_place(const std::filesystem::path& checkpoint, int n_ranks, const Digest* case_hash = nullptr);

/// The states of the direct method in the files of checkpoint_format.hpp. Every rank keeps its state by itself; the
/// checkpoint names the layout, and a state of another layout is passed over, so that whatever files a crash leaves
/// behind fit together.
///
/// Writes the checkpoint with rank 0's state, replacing the old one when it is complete. `before` holds all points that
/// any rank's layout has. Throws RunError, also when it would replace what is no checkpoint of prismfield or one of
/// another case.
void write_checkpoint(const std::filesystem::path& file, const CheckpointLayout& layout, const RankState& before,
                      const RankState& state);
/// Writes the state of another rank of a layout, likewise. `layout_id`: layout.id().
void write_rank_state(const std::filesystem::path& file, int rank, const CheckpointLayout& layout,
                      const Digest& layout_id, const RankState& state);

/// Reads a checkpoint for one of n_ranks ranks, whose plan is `plan`; nothing when there is none. The payloads that are
/// read are the rank's own, or, when the checkpoint is of another number of ranks, all of them on rank 0, added up in
/// `before`. Throws InputError by the key output.checkpoint.file, without a place, for a file that is no checkpoint, is
/// one of another case or version, or is damaged anywhere that this rank has to look; and for one that leaves pairs of
/// the plan out, or asks for more than its memory.
[[nodiscard]] std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& file, const Digest& case_hash,
                                                        const Plan& plan, int rank, int n_ranks);

}  // namespace prismfield
