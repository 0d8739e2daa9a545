// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "compute/checkpoint.hpp"
#include "compute/direct_work.hpp"

/// Checkpoints of the direct method, rank by rank.
namespace prismfield::testing {

/// Work whose states can be looked at and set.
struct OpenWork : DirectWork {
  explicit OpenWork(const Plan& plan, int rank = 0) : DirectWork(plan, rank) {}
  using DirectWork::m_before;
  using DirectWork::m_state;
};

/// Work that keeps what it is restored from.
struct ReadingWork final : OpenWork {
  using OpenWork::OpenWork;
  bool restore(KeptRun& kept, int n_ranks) override {
    states = read_states(kept, plan(), m_rank, n_ranks);
    return true;
  }
  KeptStates states;
};

struct CheckpointLayout {
  Digest case_hash;
  std::vector<WorkLayout> ranks;

  [[nodiscard]] CheckpointRun run() const { return {"direct", case_hash, numbers_of(ranks)}; }
};

/// The checkpoint, with rank 0's state.
inline void write_checkpoint(const std::filesystem::path& file, const CheckpointLayout& layout, const RankState& before,
                             const RankState& state) {
  prismfield::write_checkpoint(file, layout.run(), 0, kept_state(state, &before));
}
inline void write_rank(const std::filesystem::path& file, int rank, const CheckpointLayout& layout,
                       const RankState& state) {
  prismfield::write_checkpoint(file, layout.run(), rank, kept_state(state, nullptr));
}

inline std::optional<KeptStates> read_checkpoint(const std::filesystem::path& file, const Digest& case_hash,
                                                 const Plan& plan, int rank, int n_ranks) {
  ReadingWork work(plan, rank);
  const auto found = prismfield::read_checkpoint(file, case_hash, work, n_ranks);
  return found ? std::optional(work.states) : std::nullopt;
}

}  // namespace prismfield::testing
