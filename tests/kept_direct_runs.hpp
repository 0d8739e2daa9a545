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

/// Work whose state can be looked at and set.
struct OpenWork : DirectWork {
  explicit OpenWork(const Plan& plan, int rank = 0) : DirectWork(plan, rank) {}
  using DirectWork::m_state;
};

/// Of a run by prisms, a rank each.
struct CheckpointLayout {
  Digest case_hash;
  std::vector<WorkSettings> ranks;

  [[nodiscard]] CheckpointRun run() const {
    const auto n = static_cast<std::int64_t>(ranks.size());
    CheckpointRun all{"direct", case_hash, {n, n, 1}};
    for (const WorkSettings& rank : ranks) {
      all.layout.insert(all.layout.end(), {rank.slots, rank.batch, rank.tile_points, rank.chunk_prisms});
    }
    return all;
  }
};

inline void write_rank(const std::filesystem::path& file, int rank, const CheckpointLayout& layout,
                       const RankState& state) {
  prismfield::write_checkpoint(file, layout.run(), rank, kept_state(state));
}

/// What rank `rank` of the plan's ranks goes on from.
inline std::optional<RankState> read_checkpoint(const std::filesystem::path& file, const Digest& case_hash,
                                                const Plan& plan, int rank) {
  OpenWork work(plan, rank);
  const auto found = prismfield::read_checkpoint(file, case_hash, work);
  return found ? std::optional(work.m_state) : std::nullopt;
}

}  // namespace prismfield::testing
