// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "case/case.hpp"
#include "compute/partition.hpp"
#include "kernel/contact.hpp"
#include "kernel/forms.hpp"

namespace prismfield {

class Communicator;
struct Shares;

/// Every choice of a launch, decided: what `--dry-run` prints and `/performance` records.
struct ForwardPlan {
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
  std::int64_t memory_limit = 0;
  double estimated_seconds = 0;
  /// of one pair on this rank, and bytes of scratch a slot and point: what estimates and `auto` reckon with
  double pair_seconds = 0;
  std::int64_t slot_point_bytes = 0;
};

/// A rectangle of work: prisms x points. The points are numbers `ordered` of the spatial order of `points`.
struct WorkItem {
  IndexRange prisms;
  IndexRange points;
  IndexRange ordered;

  bool operator==(const WorkItem&) const noexcept = default;
};

/// What a rank has to do and has done: with it a run goes on as if it had never stopped, bit for bit.
struct RankState {
  std::vector<WorkItem> work;
  /// on these the order of the additions depends
  std::int64_t slots = 1;
  std::int64_t batch = 1;
  std::int64_t tile_points = 0;
  std::int64_t chunk_prisms = 0;
  /// finished: items before `item`, in it the tiles before ordered point `tile`, of this tile the first `prisms` prisms
  std::int64_t item = 0;
  std::int64_t tile = 0;
  std::int64_t prisms = 0;
  /// the points that `values` and `contact` hold
  IndexRange points;
  /// (field of the computed set, point), G = 1
  std::vector<double> values;
  /// (point, n_contact_columns)
  std::vector<double> contact;
  std::array<std::int64_t, n_forms> pairs_by_form{};

  [[nodiscard]] bool finished() const noexcept { return item == static_cast<std::int64_t>(work.size()); }
};

/// What somebody who guards a run against its end is asked at the end of every chunk of prisms, on each rank by itself.
class RunGuard {
public:
  virtual ~RunGuard() = default;
  /// Where this rank begins; nothing: at the start of its share.
  [[nodiscard]] virtual std::optional<RankState> begin() = 0;
  /// Whether to hand over the state now, and whether to stop then.
  [[nodiscard]] virtual bool wants_state() = 0;
  [[nodiscard]] virtual bool wants_stop() = 0;
  virtual void keep(const RankState& state) = 0;
  /// What earlier runs did on other ranks: added to the result on rank 0. Null: nothing.
  [[nodiscard]] virtual const RankState* done_before() const = 0;
};

/// Time in which a slot of a rank (on a device, slot -1, the device) was busy, seconds since the field began.
struct RankBusy {
  int rank = 0;
  std::int64_t slot = -1;
  double begin = 0;
  double end = 0;
};

/// Fields at points and what a user should know about them.
struct ForwardResult {
  FieldList fields;
  /// (field, point) in the order of `fields`, SI units, z up; complete on rank 0
  std::vector<double> values;
  /// points whose gradient tensor has no value (an edge or corner where densities do not cancel), sorted
  std::vector<std::int64_t> singular_points;
  std::int64_t points_inside = 0;
  std::array<std::int64_t, n_forms> pairs_by_form{};
  std::int64_t pairs = 0;
  /// of these, computed by this run and not by one that it goes on from
  std::int64_t pairs_now = 0;
  double setup_seconds = 0;
  double field_seconds = 0;
  /// one value a rank; rank 0 only
  std::vector<std::int64_t> rank_pairs;
  std::vector<double> rank_busy_seconds;
  std::vector<double> rank_begin, rank_end;
  /// when slots and devices were busy, by rank; rank 0 only
  std::vector<RankBusy> busy;
  /// cost of each rank's prisms and of its pairs as counted by form, by the cost model, ns: what `balance: cost` makes
  /// equal
  std::vector<double> rank_cost;
  ForwardPlan plan;
};

/// Called between launches with the fraction of the pairs of this run that are done, and their number; may throw
/// Stopped.
using ProgressCallback = std::function<void(double done_fraction, std::int64_t pairs_done)>;

/// Host memory that an ensemble occupies, bytes: once a rank has the prisms it computes, at most on the way there, and
/// at most while it was made.
struct ModelMemory {
  std::int64_t after = 0, during = 0, peak = 0;
};
/// The same for the prisms of a rank; empty: none.
using MemoryOfRange = std::function<ModelMemory(IndexRange)>;

/// Decides slots, batch, block, tiles and memory for a run on this rank alone; plan_on_ranks() in balance.hpp also does
/// what ranks have to decide together. `shares`: what they decided; without it `auto` is by prisms and shares are of
/// equal count. Throws InputError for a space that was not built or has no device.
[[nodiscard]] ForwardPlan plan_forward(const Case& run, const PrismSource& ensemble, const Points& points,
                                       const Communicator& communicator, const Shares* shares = nullptr,
                                       const MemoryOfRange& model_memory = {});

/// The share of a plan as one piece of work.
[[nodiscard]] std::vector<WorkItem> work_of(const ForwardPlan& plan);

/// Gravity fields of an ensemble at points, G included; each rank must hold the prisms of its plan, or of the work that
/// the guard begins with. Collective over `communicator`. Potential and vector are exact everywhere; the tensor on a
/// face is the mean of both sides, on edges and corners its finite part. Kokkos must be initialised. Throws RunError
/// when even the smallest plan finds no memory, and on every rank Stopped when the guard of one wanted to stop.
[[nodiscard]] ForwardResult forward(const Case& run, const PrismSource& ensemble, const Points& points,
                                    ForwardPlan plan, const Communicator& communicator,
                                    const ProgressCallback& progress, RunGuard* guard = nullptr);

}  // namespace prismfield
