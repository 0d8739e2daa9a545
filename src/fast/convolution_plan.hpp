// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

#include <prismfield/communicator.hpp>
#include <prismfield/fields.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "engine/engine.hpp"
#include "fast/convolution_layout.hpp"

namespace prismfield {

/// What a convolution holds at once. A block is the kernels of one plane and of the layers that are made together, one
/// transform a layer and field.
struct ConvolutionBuffers {
  std::int64_t layers_at_once = 1, planes_at_once = 1, vectors_at_once = 1;
  /// layers of all planes together whose transformed kernels are kept from the first product on, and whether these are
  /// all
  std::int64_t kept_layers = 0;
  bool keeps_all = true;
  /// what all that is takes, and what it takes beside what is kept
  std::int64_t bytes = 0, working_bytes = 0;
};

/// Divides `limit` bytes among what a product works with and what is kept, for so many fields, layers and planes and
/// transforms of so many bytes. Throws RunError, which says what is needed, where not even one layer at a time fits.
[[nodiscard]] ConvolutionBuffers choose_buffers(std::int64_t limit, std::int64_t transform_bytes, std::int64_t fields,
                                                std::int64_t layers, std::int64_t planes);

/// Prisms whose entries are computed in one launch, at most.
inline constexpr std::int64_t prisms_of_entries = 1024;

/// How a rank computes products by convolution.
struct ConvolutionPlan {
  Plan plan;
  EngineSettings engine;
  FieldList fields;
  double gravitational_constant = 0;
  double error_bound = 0;
  ConvolutionLayout layout;
  ConvolutionBuffers buffers;
  /// the caller's, all of which every rank has
  Points points;
};

/// The plan of a convolution in this space: each rank has a part of the layers where prisms are numbered layer by
/// layer, of the prisms otherwise. In double, whatever the request's precision. Throws InputError, the same on every
/// rank, also where a convolution cannot serve, and RunError where memory is too short. Collective.
[[nodiscard]] ConvolutionPlan plan_convolution(Space space, const PrismSource& prisms, const PointColumns& points,
                                               const Request& request, const Communicator& communicator);

}  // namespace prismfield
