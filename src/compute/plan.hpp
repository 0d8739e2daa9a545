// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
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

/// Host memory that an ensemble occupies, and at most while it was made, bytes.
struct ModelMemory {
  std::int64_t now = 0, peak = 0;
};

/// How much there is to compute.
struct ProblemSize {
  std::int64_t n_prisms = 0;
  std::int64_t n_points = 0;
  /// all prisms have one shape
  bool uniform_shape = false;
  /// the run keeps checkpoints, which take memory too
  bool checkpoints = false;
  ModelMemory model = {};
  /// prisms that a method's check looks at on this rank: all ranks together look at all
  IndexRange looked_at = {};
  /// what the method fft found there
  std::shared_ptr<const ConvolutionLayout> mesh = {};
  /// what the method tree found: points to a prism in equal volumes, and some of both, if there are any
  double points_per_prism = 1;
  std::shared_ptr<const fast::TreeSample> trees = {};
};

/// Throws InputError with every value that no run can have, by the key of a case that says the same: an empty list of
/// fields, numbers out of their range, methods that this version does not have.
void check_request(const Request& request);
/// Those, and magnetic fields of prisms without a magnetisation.
void check_request(const Request& request, const PrismSource& prisms);

/// The machine that this rank runs on, as `request` uses it. Kokkos must run. Throws InputError, by key, for a space
/// that was not built or has no device.
[[nodiscard]] Machine machine_here(const Request& request, const Communicator& communicator);

/// The size of an ensemble's fields at points.
[[nodiscard]] ProblemSize problem_size(const PrismSource& prisms, const PointColumns& points);

/// Bytes that a method takes on this rank beside model, points and fields.
struct MethodMemory {
  std::int64_t on_device = 0;
  /// on the host: from the beginning to the end, and until the ranks' fields are gathered
  std::int64_t always = 0, while_computing = 0;
  /// points that this rank computes, where they are fewer than the plan's
  std::optional<std::int64_t> points = {};
};

/// Bytes that the plan takes at its peak, on the device and on the host: while the method computes, or while rank 0
/// gathers `n_asked` fields of all points after it.
void count_memory(Plan& plan, const ProblemSize& problem, const MethodMemory& method, std::int64_t n_asked, int rank);

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
/// `limit_given`: the case names a memory_limit. `methods`: others that fit, "direct (641 MiB)"; "": none.
[[nodiscard]] std::string memory_shortage(const MemoryNeed& need, int all_ranks, bool limit_given,
                                          const std::string& methods = {});

}  // namespace prismfield
