// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "compute/forward.hpp"

namespace prismfield {

class Communicator;

/// Hash of all that a case's fields depend on: its identity and the bytes of every file that it reads.
/// Throws InputError when one cannot be read.
[[nodiscard]] std::uint64_t case_hash(const Case& run);

/// How a run's work is shared out: of each rank its state without what it has done.
struct CheckpointLayout {
  std::uint64_t case_hash = 0;
  std::vector<RankState> ranks;

  /// Tells this layout from any other of the same case.
  [[nodiscard]] std::uint64_t id() const;
};

/// What a checkpoint holds.
struct Checkpoint {
  CheckpointLayout layout;
  /// what ranks of earlier layouts did, at all points; empty values: nothing
  RankState before;
  /// one a rank: as far as it came, at the start of its share when it kept nothing yet; values only where asked for
  std::vector<RankState> states;

  /// Tells this checkpoint from an earlier or later one of the same layout.
  [[nodiscard]] std::uint64_t id() const;
};

/// Work that the states of a checkpoint leave to do.
[[nodiscard]] std::vector<WorkItem> remaining_work(const std::vector<RankState>& states);
/// Part `part` of `parts` of each item: its prisms are shared out, its points stay.
[[nodiscard]] std::vector<WorkItem> part_of_work(const std::vector<WorkItem>& work, std::int64_t part,
                                                 std::int64_t parts);

/// The file of a rank's state: the checkpoint itself for rank 0, one beside it for each other rank. Every rank keeps
/// its state by itself; the checkpoint names the layout, and a state of another layout is passed over, so that whatever
/// files a crash leaves behind fit together.
[[nodiscard]] std::filesystem::path rank_file(const std::filesystem::path& checkpoint, int rank);

/// Writes the checkpoint with rank 0's state, replacing the old one when it is complete. Throws RunError.
void write_checkpoint(const std::filesystem::path& file, const CheckpointLayout& layout, const RankState& before,
                      const RankState& state);
/// Writes the state of another rank, likewise.
void write_rank_state(const std::filesystem::path& file, int rank, std::uint64_t layout_id, const RankState& state);

/// Reads a checkpoint for one of n_ranks ranks; nothing when there is none. The values that are read are the rank's
/// own, or, when the checkpoint is of another number of ranks, all of them on rank 0. Throws InputError, naming `where`
/// and the key output.checkpoint.file, for a file that is no checkpoint or one of another case.
[[nodiscard]] std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& file, std::uint64_t hash,
                                                        const std::string& where, int rank, int n_ranks);

/// Removes a checkpoint with the states of all ranks.
void remove_checkpoint(const std::filesystem::path& file);

/// Guards a run by checkpoints at an interval and at the next chunk's end after a signal.
class CheckpointGuard final : public RunGuard {
public:
  /// Of a new run. `plan`: of this rank. Collective.
  CheckpointGuard(const Case& run, const Plan& plan, std::uint64_t hash, const Communicator& communicator);

  /// Goes on from `checkpoint`, which was read for this rank. On another number of ranks what is left is shared out
  /// anew. Collective.
  void resume(Checkpoint checkpoint, const Plan& plan);

  /// Fraction of all pairs that were done when the run began.
  [[nodiscard]] double done_fraction() const noexcept { return m_done_fraction; }
  /// The prisms that this rank reads.
  [[nodiscard]] IndexRange prisms() const;

  [[nodiscard]] std::optional<RankState> begin() override;
  [[nodiscard]] bool wants_state() override;
  [[nodiscard]] bool wants_stop() override;
  void keep(const RankState& state) override;
  [[nodiscard]] const RankState* done_before() const override;

  /// Why a checkpoint could not be written, or "": the run goes on without.
  [[nodiscard]] const std::string& failure() const noexcept { return m_failure; }

private:
  /// Gathers the ranks' shares on rank 0.
  void set_layout(const RankState& mine);

  std::filesystem::path m_file;
  double m_every_seconds = 0;
  const Communicator& m_communicator;
  CheckpointLayout m_layout;
  std::uint64_t m_layout_id = 0;
  RankState m_before;
  std::optional<RankState> m_begin;
  IndexRange m_prisms;
  double m_done_fraction = 0;
  bool m_resumed = false;
  bool m_stopping = false;
  std::string m_failure;
  std::chrono::steady_clock::time_point m_last;
};

}  // namespace prismfield
