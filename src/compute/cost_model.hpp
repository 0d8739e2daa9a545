// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <prismfield/forms.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

namespace prismfield {

/// Nanoseconds of a pair by form on one host thread with vectors of points, or on a device: measured with perf/.
using FormWeights = std::array<double, n_forms>;
[[nodiscard]] FormWeights form_weights(bool is_device);

/// Nanoseconds to read, stage and prepare a prism on one host thread, with the ensemble's shape or one of its own, as
/// measured; on a device that is done while it computes.
[[nodiscard]] double prism_weight(bool is_device, bool uniform_shape);

/// Cost of counted pairs, ns.
[[nodiscard]] double cost_of_pairs(const FormWeights& weights, const std::array<std::int64_t, n_forms>& pairs_by_form);

/// What decides the form of a pair, and what the forms cost.
struct CostSettings {
  Precision precision = Precision::double_;
  KernelKind kernel = KernelKind::automatic;
  /// points that one thread works on side by side
  int lanes = 1;
  FormWeights weights{};
  /// see EngineSettings::truncation
  double truncation = default_truncation;
  /// whose kernels take orders up to 8 only
  bool on_device = false;
  /// magnetic gradients are computed
  bool of_gradient = false;
};

/// Points as costs are estimated at them: groups of `lanes`, as the kernel works on them.
struct CostPoints {
  /// each of length groups * lanes, metres; the last group is filled up with copies
  std::vector<double> easting, northing, upward;
  std::int64_t groups = 0;
};

/// The estimated cost, ns, of the prisms of a block at all points. Each prism is taken at one group in `stride`, and
/// the groups change from prism to prism (first_number: the number of the block's first prism in its ensemble), so that
/// prisms side by side see all groups together. The form is the one that the kernel takes by the distance in units of
/// the prism's shape. A group that the kernel takes together costs all its lanes: the lowest multipole that is exact
/// enough for every lane, and beyond a multipole's range each form that any of its lanes takes. With stride 1 nothing
/// is left out.
[[nodiscard]] double cost_of_block(const CostSettings& settings, const PrismBlock& block, std::int64_t first_number,
                                   const CostPoints& points, std::int64_t stride);

}  // namespace prismfield
