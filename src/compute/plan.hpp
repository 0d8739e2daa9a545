// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include <prismfield/plan.hpp>
#include <prismfield/ranges.hpp>

#include "engine/engine.hpp"

namespace prismfield {

class PrismSource;
class Communicator;
struct Points;
struct Shares;

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

/// Throws InputError with every value that no run can have, by the key of a case that says the same: an empty list of
/// fields, numbers out of their range, methods that this version does not have.
void check_request(const Request& request);

/// The machine that this rank runs on, as `request` uses it. Kokkos must run. Throws InputError, by key, for a space
/// that was not built or has no device.
[[nodiscard]] Machine machine_here(const Request& request, const Communicator& communicator);

/// The size of an ensemble's fields at points.
[[nodiscard]] ProblemSize problem_size(const PrismSource& prisms, const Points& points);

/// Decides slots, batch, block, tiles and memory of one rank's run. Pure arithmetic: nothing is asked of a device.
/// `shares`: what ranks decided together; without it `partition: auto` is by prisms and shares are of equal count.
/// Throws InputError, by key, for a grid of ranks that is not the machine's.
[[nodiscard]] Plan make_plan(const Request& request, const ProblemSize& problem, const Machine& machine,
                             const Shares* shares = nullptr);

/// Fewer slots, then tiles of points, until the scratch fits the limit, bytes.
void fit_scratch(Plan& plan, const EngineTraits& traits, std::int64_t limit);

/// Bytes that the plan takes at its peak, on the device and on the host: while the engine computes, or while rank 0
/// gathers `n_asked` fields of all points after it. Scratch has the plan's own line.
void count_memory(Plan& plan, const EngineTraits& traits, const ProblemSize& problem, std::int64_t n_asked, int rank);

}  // namespace prismfield
