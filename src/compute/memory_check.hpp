// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <prismfield/plan.hpp>

#include "base/memory_limits.hpp"

namespace prismfield {

class Communicator;

/// The host's memory as one rank sees it, bytes.
struct RankMemory {
  std::int64_t node = 0;
  /// what model and points take already, and what the run takes beside that
  std::int64_t held = 0, to_come = 0;
  /// what may still be taken
  std::vector<MemoryLimit> limits;
};

/// What the ranks below one bound need together and what that bound has for them, what they hold already included.
struct MemoryNeed {
  MemoryBound bound = MemoryBound::machine;
  std::int64_t needed = 0, available = 0;
  /// the lowest of the ranks, and how many there are
  int first_rank = 0, ranks = 0;

  [[nodiscard]] bool fits() const noexcept { return needed <= available; }
};

/// The need that comes closest to what there is, or passes it most; of 0 ranks where nothing bounds memory.
[[nodiscard]] MemoryNeed tightest_need(const std::vector<RankMemory>& ranks);

/// The tightest need of a run by this rank's plan, on rank 0; of 0 ranks elsewhere. Collective.
[[nodiscard]] MemoryNeed tightest_need(const Plan& plan, const Communicator& communicator);

/// "23.5 GiB, this machine's free memory"; which ranks share them, where there are several.
[[nodiscard]] std::string available_text(const MemoryNeed& need, int all_ranks);

/// What a user is told, with the remedy, about a need that does not fit; "" for one that does. `all_ranks`: of the run.
/// `limit_given`: the case names a memory_limit.
[[nodiscard]] std::string memory_shortage(const MemoryNeed& need, int all_ranks, bool limit_given);

}  // namespace prismfield
