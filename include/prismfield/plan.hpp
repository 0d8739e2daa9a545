// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include <prismfield/fields.hpp>
#include <prismfield/ranges.hpp>
#include <prismfield/request.hpp>

namespace prismfield {

/// The direct method's part of a plan.
struct DirectPlan {
  std::int64_t slots = 1;
  std::int64_t batch = 1;
  /// points of one tile; fewer than the rank's points when scratch would pass the memory limit
  std::int64_t tile_points = 0;
  /// prisms after which the slots are reduced into the result, and a checkpoint may be taken
  std::int64_t chunk_prisms = 0;
  /// prisms staged and launched at once, a chunk at most
  std::int64_t launch_prisms = 0;
  /// of all slots at a tile, on this rank
  std::int64_t scratch_bytes = 0;
  /// of one pair on this rank, and bytes of scratch a slot and point: what `partition: auto` reckons with
  double pair_seconds = 0;
  std::int64_t slot_point_bytes = 0;
};

/// How prisms on a mesh and points become convolutions: see fast/convolution_layout.hpp.
struct ConvolutionLayout;

/// The part of a plan of the method fft.
struct ConvolutionPart {
  /// numbers of a transform, padding left out
  std::int64_t rows = 0, columns = 0;
  /// of prisms and of points on this rank
  std::int64_t layers = 0, planes = 0;
  /// that are worked on together
  std::int64_t layers_at_once = 0, planes_at_once = 0;
  /// of transforms and of the kernels' engine, on this rank
  std::int64_t scratch_bytes = 0;
  /// of what the rank looked at when the plan was made
  std::shared_ptr<const ConvolutionLayout> layout;
};

/// The tree method's part of a plan.
struct TreePlan {
  /// of a leaf, at most
  std::int64_t leaf_prisms = 0, leaf_points = 0;
  /// the highest degree of expansions
  int degree = 0;
  /// whether prisms and points are both shared out in space and ranks give one another what they need of their trees,
  /// the grid of ranks notwithstanding
  bool in_parts_of_space = false;
  /// part of the points that lie between the prisms, about
  double part_inside = 0;
  /// about, of the space that computes
  std::int64_t bytes = 0;
};

/// Every choice of a launch, decided: what `--dry-run` prints and `/performance` records. What one method alone has is
/// in a part of its own.
struct Plan {
  Space space = Space::serial;
  std::string device;
  /// the native fields of all products, see sets_of()
  FieldList computed = FieldList::all();
  /// of magnetic fields: the direction of the inducing field, and what B holds inside prisms
  std::array<double, 3> inducing_direction{};
  Inside inside = Inside::flux_density;
  Precision precision = Precision::double_;
  KernelKind kernel = KernelKind::automatic;
  /// `auto` is decided here, for this reason; "": it was asked for
  Method method = Method::direct;
  std::string method_reason;
  /// that the method keeps to: the request's, less where a check asked for it; default_tolerance instead of a larger
  /// one where nothing is saved
  double tolerance = default_tolerance;
  /// prisms, points, points_per_prism or rank_grid: `auto` is decided here
  Partition partition = Partition::prisms;
  bool partition_is_auto = false;
  /// the grid of ranks
  int prism_parts = 1, point_parts = 1;
  std::int64_t n_prisms = 0;
  std::int64_t n_points = 0;
  /// this rank's share, [begin, end)
  std::int64_t prism_begin = 0, prism_end = 0;
  std::int64_t point_begin = 0, point_end = 0;
  int threads = 1;
  /// threads of a device's block, and points that one thread works on side by side
  std::int64_t block = 1;
  int lanes = 1;
  /// bytes: everything on the device, everything on the host (model and points included), of this rank
  std::int64_t device_bytes = 0;
  std::int64_t host_bytes = 0;
  /// of the host's, what model and points take already when the plan is made, and what the run takes beside that
  std::int64_t host_bytes_held = 0;
  std::int64_t host_bytes_to_come = 0;
  /// that the method's scratch may take at most
  std::int64_t memory_limit = 0;
  /// of this rank's file where the run keeps checkpoints
  std::int64_t checkpoint_bytes = 0;
  DirectPlan direct;
  ConvolutionPart fft;
  TreePlan tree;

  [[nodiscard]] IndexRange prisms() const noexcept { return {prism_begin, prism_end}; }
  [[nodiscard]] IndexRange points() const noexcept { return {point_begin, point_end}; }
};

}  // namespace prismfield
