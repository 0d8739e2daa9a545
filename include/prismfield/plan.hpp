// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include <prismfield/fields.hpp>
#include <prismfield/ranges.hpp>
#include <prismfield/request.hpp>

namespace prismfield {

struct Shares;

/// Bytes that an engine takes, for planning before it exists.
struct EngineMemory {
  /// of the space that computes, a point and slot of scratch
  std::int64_t per_slot_point = 0;
  /// a point, and a prism of a chunk without and with a shape of its own
  std::int64_t per_point = 0;
  std::int64_t per_prism = 0;
  std::int64_t per_shape = 0;
  /// on the host beside a device: a point and a prism of a chunk
  std::int64_t host_per_point = 0;
  std::int64_t host_per_prism = 0;
};

/// What a space offers.
struct EngineTraits {
  std::string device;
  int threads = 1;
  /// points that one thread works on side by side
  int lanes = 1;
  bool is_device = false;
  std::int64_t max_block = 1;
  /// bytes that are free now, for all processes
  std::int64_t free_memory = 0;
  EngineMemory memory;
};

/// Where a run is planned for: what its space offers and how many ranks there are.
struct Machine {
  Space space = Space::serial;
  EngineTraits engine;
  int ranks = 1, rank = 0;
  /// ranks that share the node's memory, and devices that those of a node may use
  int ranks_on_node = 1;
  std::int64_t devices = 0;
  /// bytes of the host's memory that this rank may still take as its part of what there is
  std::int64_t host_memory = std::numeric_limits<std::int64_t>::max();
};

/// Host memory that an ensemble occupies, bytes: once a rank has the prisms it computes, at most on the way there, at
/// most while it was made, and now.
struct ModelMemory {
  std::int64_t after = 0, during = 0, peak = 0, now = 0;
};

/// How much there is to compute.
struct ProblemSize {
  std::int64_t n_prisms = 0;
  std::int64_t n_points = 0;
  /// all prisms have one shape
  bool uniform_shape = false;
  /// the run keeps checkpoints, which take memory too
  bool checkpoints = false;
  /// of a rank that computes these prisms; empty: none
  std::function<ModelMemory(IndexRange)> model_memory;
};

/// Every choice of a launch, decided: what `--dry-run` prints and `/performance` records.
struct Plan {
  Space space = Space::serial;
  std::string device;
  FieldSet set = FieldSet::all;
  Precision precision = Precision::double_;
  KernelKind kernel = KernelKind::automatic;
  /// prisms, points, points_per_prism or rank_grid: `auto` is decided here
  Partition partition = Partition::prisms;
  bool partition_is_auto = false;
  /// the grid of ranks
  int prism_parts = 1, point_parts = 1;
  Balance balance = Balance::count;
  std::int64_t n_prisms = 0;
  std::int64_t n_points = 0;
  /// this rank's share, [begin, end)
  std::int64_t prism_begin = 0, prism_end = 0;
  std::int64_t point_begin = 0, point_end = 0;
  int threads = 1;
  std::int64_t slots = 1;
  std::int64_t batch = 1;
  std::int64_t block = 1;
  int lanes = 1;
  /// points of one tile; fewer than the rank's points when scratch would pass the memory limit
  std::int64_t tile_points = 0;
  /// prisms after which the slots are reduced into the result, and a checkpoint may be taken
  std::int64_t chunk_prisms = 0;
  /// prisms staged and launched at once, a chunk at most
  std::int64_t launch_prisms = 0;
  /// bytes: scratch, everything on the device, everything on the host (model and points included), of this rank
  std::int64_t scratch_bytes = 0;
  std::int64_t device_bytes = 0;
  std::int64_t host_bytes = 0;
  /// of the host's, what model and points take already when the plan is made, and what the run takes beside that
  std::int64_t host_bytes_held = 0;
  std::int64_t host_bytes_to_come = 0;
  std::int64_t memory_limit = 0;
  /// of one pair on this rank, and bytes of scratch a slot and point: what `auto` reckons with
  double pair_seconds = 0;
  std::int64_t slot_point_bytes = 0;

  [[nodiscard]] IndexRange prisms() const noexcept { return {prism_begin, prism_end}; }
  [[nodiscard]] IndexRange points() const noexcept { return {point_begin, point_end}; }
};

/// Decides slots, batch, block, tiles and memory of one rank's run. Pure arithmetic: nothing is asked of a device.
/// `shares`: what ranks decided together; without it `partition: auto` is by prisms and shares are of equal count.
/// Throws InputError, by key, for a grid of ranks that is not the machine's.
[[nodiscard]] Plan make_plan(const Request& request, const ProblemSize& problem, const Machine& machine,
                             const Shares* shares = nullptr);

}  // namespace prismfield
