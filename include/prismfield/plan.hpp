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
  /// points of one tile; fewer than the rank's points where scratch would exceed the memory limit
  std::int64_t tile_points = 0;
  /// prisms between two reductions of the slots into the result, after which a checkpoint is possible
  std::int64_t chunk_prisms = 0;
  /// prisms staged and launched at once, at most a chunk
  std::int64_t launch_prisms = 0;
  /// scratch of all slots for one tile on this rank
  std::int64_t scratch_bytes = 0;
  /// seconds of one pair on this rank, and bytes of scratch per slot and point; `partition: auto` uses both
  double pair_seconds = 0;
  std::int64_t slot_point_bytes = 0;
};

/// How prisms on a mesh and points become convolutions: see operators/convolution/convolution_layout.hpp.
struct ConvolutionLayout;

/// The part of a plan for the method fft.
struct ConvolutionPart {
  /// size of a transform without padding
  std::int64_t rows = 0, columns = 0;
  /// layers of prisms and planes of points on this rank
  std::int64_t layers = 0, planes = 0;
  /// how many of them are transformed together
  std::int64_t layers_at_once = 0, planes_at_once = 0;
  /// scratch of transforms and of the kernels' engine on this rank
  std::int64_t scratch_bytes = 0;
  /// the layout that this rank found when it made the plan
  std::shared_ptr<const ConvolutionLayout> layout;
};

/// The tree method's part of a plan.
struct TreePlan {
  /// at most, per leaf
  std::int64_t leaf_prisms = 0, leaf_points = 0;
  /// the highest degree of the expansions
  int degree = 0;
  /// part of the points that lie between the prisms, about
  double part_inside = 0;
  /// approximate memory in the space that computes, bytes
  std::int64_t bytes = 0;
};

/// Every choice of a launch. The plan of a method makes it, `--dry-run` prints it, `/performance` records it. What only
/// one method needs stands in its own part.
struct Plan {
  Space space = Space::serial;
  std::string device;
  /// the native fields of all products, see sets_of()
  FieldList computed = FieldList::all();
  /// for magnetic fields: the direction of the inducing field, and what the output holds inside prisms
  std::array<double, 3> inducing_direction{};
  Inside inside = Inside::flux_density;
  Precision precision = Precision::double_;
  KernelKind kernel = KernelKind::automatic;
  /// the method, decided where the request has `auto`, and the reason; "" where the request names the method
  Method method = Method::direct;
  std::string method_reason;
  /// the tolerance that the method keeps: that of the request, a smaller one after a failed check, or default_tolerance
  /// for a larger one that saves nothing
  double tolerance = default_tolerance;
  /// prisms, points, points_per_prism or rank_grid: decided where the request has `auto`
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
  /// threads of a device's block, and points per thread side by side
  std::int64_t block = 1;
  int lanes = 1;
  /// bytes of this rank on the device and on the host, model and points included
  std::int64_t device_bytes = 0;
  std::int64_t host_bytes = 0;
  /// parts of host_bytes: what model and points occupy when the plan is made, and what the run adds
  std::int64_t host_bytes_held = 0;
  std::int64_t host_bytes_to_come = 0;
  /// the most that the method's scratch may take
  std::int64_t memory_limit = 0;
  /// size of this rank's checkpoint file
  std::int64_t checkpoint_bytes = 0;
  DirectPlan direct;
  ConvolutionPart fft;
  TreePlan tree;

  [[nodiscard]] IndexRange prisms() const noexcept { return {prism_begin, prism_end}; }
  [[nodiscard]] IndexRange points() const noexcept { return {point_begin, point_end}; }
};

}  // namespace prismfield
