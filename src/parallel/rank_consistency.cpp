// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "parallel/rank_consistency.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "parallel/collectives.hpp"

namespace prismfield {

std::vector<int> ranks_unlike_root(std::uint64_t value, const Communicator& communicator) {
  const std::vector<std::uint64_t> all = gather_everywhere(communicator, value);
  std::vector<int> unlike;
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] != all.front()) unlike.push_back(static_cast<int>(rank));
  }
  return unlike;
}

std::string ranks_text(const std::vector<int>& ranks) {
  constexpr std::size_t most_named = 8;
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  const bool all_named = ranks.size() <= most_named;
  const std::size_t listed = all_named ? ranks.size() - 1 : most_named - 1;
  const std::string last = all_named ? std::to_string(ranks.back()) : fmt::format("{} more", ranks.size() - listed);
  return fmt::format("ranks {} and {}",
                     fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(listed), ", "), last);
}

}  // namespace prismfield
