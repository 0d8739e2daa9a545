// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

#include <prismfield/ranges.hpp>

namespace prismfield {

/// A rank's shares of prisms and points on a grid of ranks; ranks of one part of points are consecutive.
struct RankShare {
  IndexRange prisms;
  IndexRange points;
};

/// Shares of `rank` on a grid of prism_parts x point_parts ranks.
[[nodiscard]] RankShare rank_share(std::int64_t n_prisms, std::int64_t n_points, int rank, int prism_parts,
                                   int point_parts) noexcept;

/// Ranks as prism_parts parts of prisms x point_parts parts of points.
struct RankGrid {
  int prism_parts = 1;
  int point_parts = 1;
};

/// A partition that is not the plan's own: decided with other ranks.
struct Shares {
  RankGrid grid;
  RankShare mine;
};

/// What `partition: auto` knows of a run; the defaults are those of a cluster of our time.
struct PartitionFacts {
  std::int64_t n_prisms = 0;
  std::int64_t n_points = 0;
  int ranks = 1;
  /// doubles that a rank hands on of a point: fields and contacts
  int values_of_point = 1;
  /// grids of one rank, also where it owns its points, and points that it works on side by side
  std::int64_t slots = 1, slots_by_points = 1;
  std::int64_t lanes = 1;
  /// bytes of scratch a point and slot, and of all scratch of a rank at most
  std::int64_t slot_point_bytes = 8;
  std::int64_t memory_limit = std::int64_t{1} << 40;
  /// seconds that a rank takes for a pair and to read, prepare and stage a prism
  double pair_seconds = 1e-9;
  double prism_seconds = 1e-7;
  /// seconds that a rank takes for a point, whatever its prisms: to put it in order, its values and contacts to the
  /// engine and back
  double point_seconds = 5e-7;
  /// bytes a second to and from a rank's memory, and from rank to rank with the additions there; seconds of a message
  double memory_rate = 1e10;
  double network_rate = 1e9;
  double message_seconds = 2e-5;
};

/// Seconds to zero and sum up the grids of so many slots, by bytes of one grid and bytes a second.
[[nodiscard]] inline double grids_seconds(double slots, double slot_bytes,
                                          double memory_rate = PartitionFacts{}.memory_rate) noexcept {
  return 2.0 * slots * slot_bytes / memory_rate;
}

/// Seconds that a run takes on a grid of P x Q ranks by this model, m = ceil(n_prisms/P), n = ceil(n_points/Q) rounded
/// up to whole lanes:
///   m n pair_seconds                                                 the pairs of the largest share
/// + m tiles prism_seconds                                            every tile of points takes all prisms of the rank
/// + n point_seconds                                                  every rank handles its points once
/// + 2 slots n slot_point_bytes / memory_rate                         scratch zeroed and reduced
/// + ceil(log2 P) message                                             the sum over the parts of prisms, along a tree
/// + (Q - 1) message                                                  the parts of points on their way to rank 0
/// message: 8 values_of_point n / network_rate + message_seconds;
/// slots: those of a rank, by points when Q is all ranks, but no more than m and than memory_limit holds; tiles: how
/// often one slot's grid passes memory_limit.
[[nodiscard]] double partition_seconds(const PartitionFacts& facts, RankGrid grid) noexcept;

/// The grid of ranks for `partition: auto`: all ranks over prisms, unless another grid takes less than 0.9 of the
/// modelled time; then the fastest, of equals the one with the most parts of prisms.
[[nodiscard]] RankGrid choose_partition(const PartitionFacts& facts) noexcept;

}  // namespace prismfield
