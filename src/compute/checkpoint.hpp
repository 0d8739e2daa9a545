// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "compute/checkpoint_file.hpp"
#include "compute/run_guard.hpp"

namespace prismfield {

class Communicator;

/// Where a run keeps its state, and how often.
struct CheckpointSettings {
  std::filesystem::path file;
  double every_seconds = 600;
};

/// Guards a run by checkpoints at an interval and at the next chunk's end after a signal.
class CheckpointGuard final : public RunGuard {
public:
  /// Of a new run. `plan`: of this rank. Collective.
  CheckpointGuard(CheckpointSettings settings, const Plan& plan, const Digest& case_hash,
                  const Communicator& communicator);

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
  /// Gathers the ranks' shares on rank 0. Collective.
  void set_layout(const WorkLayout& mine);

  CheckpointSettings m_settings;
  const Communicator& m_communicator;
  CheckpointLayout m_layout;
  Digest m_layout_id;
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
