// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/partition.hpp"

#include <algorithm>
#include <cmath>

namespace prismfield {

RankShare rank_share(std::int64_t n_prisms, std::int64_t n_points, int rank, int prism_parts,
                     int point_parts) noexcept {
  return {balanced_part(n_prisms, rank % prism_parts, prism_parts),
          balanced_part(n_points, rank / prism_parts, point_parts)};
}

double partition_seconds(const PartitionFacts& facts, RankGrid grid) noexcept {
  const auto share = [](std::int64_t n, std::int64_t parts) {
    return static_cast<double>(n / parts + (n % parts > 0));
  };
  const double prisms = share(facts.n_prisms, grid.prism_parts);
  const auto lanes = static_cast<double>(std::max<std::int64_t>(facts.lanes, 1));
  const double points = std::ceil(share(facts.n_points, grid.point_parts) / lanes) * lanes;
  const double slot_bytes = std::max(1.0, points * static_cast<double>(facts.slot_point_bytes));
  const auto limit = static_cast<double>(std::max<std::int64_t>(facts.memory_limit, 1));
  const bool by_points = grid.point_parts == facts.ranks && facts.ranks > 1;
  const auto wanted = static_cast<double>(by_points ? facts.slots_by_points : facts.slots);
  const double slots = std::max(1.0, std::min({wanted, prisms, std::floor(limit / slot_bytes)}));
  const double tiles = std::ceil(slot_bytes / limit);
  const double message = 8.0 * facts.values_of_point * points / facts.network_rate + facts.message_seconds;
  const double messages = std::ceil(std::log2(static_cast<double>(grid.prism_parts))) + (grid.point_parts - 1);
  return prisms * points * facts.pair_seconds + prisms * tiles * facts.prism_seconds + points * facts.point_seconds +
         grids_seconds(slots, slot_bytes, facts.memory_rate) + messages * message;
}

RankGrid choose_partition(const PartitionFacts& facts) noexcept {
  constexpr double clearly_faster = 0.9;
  const RankGrid by_prisms{facts.ranks, 1};
  const double by_prisms_seconds = partition_seconds(facts, by_prisms);
  RankGrid best = by_prisms;
  double best_seconds = by_prisms_seconds;
  for (int point_parts = 2; point_parts <= facts.ranks; ++point_parts) {
    if (facts.ranks % point_parts != 0) continue;
    const RankGrid grid{facts.ranks / point_parts, point_parts};
    const double seconds = partition_seconds(facts, grid);
    if (seconds < best_seconds) {
      best = grid;
      best_seconds = seconds;
    }
  }
  return best_seconds < clearly_faster * by_prisms_seconds ? best : by_prisms;
}

}  // namespace prismfield
