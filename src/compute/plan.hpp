// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <prismfield/plan.hpp>
#include <prismfield/ranges.hpp>

#include "base/memory_limits.hpp"
#include "engine/engine.hpp"

namespace prismfield {

class PrismSource;
class Communicator;
struct PointColumns;
namespace fast {
class TreeSample;
}

/// What a plan is for: what the space offers, and the ranks. machine_here() makes it.
struct Machine {
  Space space = Space::serial;
  EngineTraits engine;
  int ranks = 1, rank = 0;
  /// ranks that share the node's memory, and devices that they may use
  int ranks_on_node = 1;
  std::int64_t devices = 0;
  /// this rank's share of the free host memory, bytes
  std::int64_t host_memory = std::numeric_limits<std::int64_t>::max();
};

/// Host memory of an ensemble now and at its peak while it was made, bytes.
struct ModelMemory {
  std::int64_t now = 0, peak = 0;
};

/// The size of a run, which problem_size() makes and checks of methods complete.
struct ProblemSize {
  std::int64_t n_prisms = 0;
  std::int64_t n_points = 0;
  /// whether all prisms have one shape
  bool uniform_shape = false;
  /// whether the run keeps checkpoints, which take memory
  bool checkpoints = false;
  ModelMemory model = {};
  /// prisms that a method's check looks at on this rank; all ranks together look at all
  IndexRange looked_at = {};
  /// the result of the check of the method fft
  std::shared_ptr<const ConvolutionLayout> mesh = {};
  /// results of the method tree: points per prism in equal volumes, and a sample of both if there are any
  double points_per_prism = 1;
  std::shared_ptr<const fast::TreeSample> trees = {};
};

/// Throws InputError with every impossible value of a request, by the key in a case: no fields, numbers out of range,
/// methods that this version lacks.
void check_request(const Request& request);
/// Throws also for magnetic fields of prisms without a magnetisation.
void check_request(const Request& request, const PrismSource& prisms);

/// The machine of this rank as `request` uses it. Kokkos must run. Throws InputError, by key, for a space that was not
/// built or has no device.
[[nodiscard]] Machine machine_here(const Request& request, const Communicator& communicator);

/// The size of a run for an ensemble and points.
[[nodiscard]] ProblemSize problem_size(const PrismSource& prisms, const PointColumns& points);

/// Bytes of a method on this rank, without model, points and fields.
struct MethodMemory {
  std::int64_t on_device = 0;
  /// on the host: for the whole run, and until the ranks gather fields
  std::int64_t always = 0, while_computing = 0;
};

/// Sets the plan's peak memory on device and host, bytes: while the method computes, or while rank 0 then gathers
/// `n_asked` fields of all points.
void count_memory(Plan& plan, const ProblemSize& problem, const MethodMemory& method, std::int64_t n_asked, int rank);

/// The host's memory for one rank, bytes.
struct RankMemory {
  std::int64_t node = 0;
  /// what model and points occupy, and what the run adds
  std::int64_t held = 0, to_come = 0;
  /// what the rank may still take
  std::vector<MemoryLimit> limits;
};

/// The total need of the ranks under one bound, and what the bound allows them, both with what they hold already.
struct MemoryNeed {
  MemoryBound bound = MemoryBound::machine;
  std::int64_t needed = 0, available = 0;
  /// the lowest rank, and the number of ranks
  int first_rank = 0, ranks = 0;

  [[nodiscard]] bool fits() const noexcept { return needed <= available; }
};

/// The need closest to its bound or furthest above it; of 0 ranks where nothing bounds memory.
[[nodiscard]] MemoryNeed tightest_need(const std::vector<RankMemory>& ranks);

/// The tightest need of a run with this rank's plan, on rank 0; of 0 ranks elsewhere. Collective.
[[nodiscard]] MemoryNeed tightest_need(const Plan& plan, const Communicator& communicator);

/// "23.5 GiB, this machine's free memory"; names the ranks that share it where there are several.
[[nodiscard]] std::string available_text(const MemoryNeed& need, int all_ranks);

/// The error, with its remedy, for a need that does not fit; "" for one that fits. `all_ranks`: number of ranks of the
/// run. `limit_given`: the case has a memory_limit. `methods`: others that fit, "direct (641 MiB)"; "": none.
[[nodiscard]] std::string memory_shortage(const MemoryNeed& need, int all_ranks, bool limit_given,
                                          const std::string& methods = {});

}  // namespace prismfield
