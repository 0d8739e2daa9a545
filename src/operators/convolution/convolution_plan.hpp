// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <memory>

#include <prismfield/communicator.hpp>
#include <prismfield/fields.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "engine/engine.hpp"
#include "operators/convolution/convolution_layout.hpp"
#include "operators/convolution/fft_shape.hpp"

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

/// What a convolution is of: transforms of so many bytes.
struct ConvolutionSize {
  std::int64_t transform_bytes = 0;
  std::int64_t fields = 1, layers = 1, planes = 1;
};

/// Kernels of one product are made as they are wanted; those of several are kept where there is room.
enum class Products { one, many };

/// Divides `limit` bytes among what a product works with and what is kept. Throws InputError, by execution.method,
/// which says what is needed, where not even one layer at a time fits.
[[nodiscard]] ConvolutionBuffers choose_buffers(std::int64_t limit, const ConvolutionSize& size, Products products);

/// Prisms whose entries are computed in one launch, at most.
inline constexpr std::int64_t prisms_of_entries = 1024;

/// How a rank computes products by convolution.
struct ConvolutionPlan {
  Plan plan;
  EngineSettings engine;
  FieldList fields;
  double constant = 0;
  double error_bound = 0;
  std::shared_ptr<const ConvolutionLayout> layout;
  ConvolutionBuffers buffers;
  /// the rank's
  Points points;
};

/// Points at which kernels, and entries at `n_points` points, are computed in one launch.
[[nodiscard]] std::int64_t tile_points_of(const ConvolutionLayout& layout, std::int64_t n_points,
                                          const EngineTraits& traits) noexcept;

/// Bytes of what the engine holds at such a tile, and of prisms: layers, or those of a block of entries; on a device
/// with the transforms' work areas.
[[nodiscard]] std::int64_t engine_bytes(const FftShape& shape, std::int64_t tile_points,
                                        const EngineTraits& traits) noexcept;

/// Bytes of the lists of prisms and points.
[[nodiscard]] std::int64_t list_bytes(const ConvolutionLayout& layout) noexcept;

/// Chooses engine and buffers of a plan that has all but these. Throws as choose_buffers().
void choose_sizes(ConvolutionPlan& all, const PrismSource& prisms, const PointColumns& points,
                  const EngineTraits& traits, Products products);

/// Moves the ends of a rank's prisms to those of layers, where all ranks can read all prisms. Collective.
void cut_between_layers(const PrismSource& prisms, IndexRange& range, const Communicator& communicator);

/// The plan of a convolution in this space: each rank has a part of the layers where prisms are numbered layer by
/// layer, of the prisms otherwise; or what else execution.partition asks for. In double, whatever the request's
/// precision. Throws InputError, the same on every rank, also where a convolution cannot serve, and RunError where
/// memory is too short. Collective.
[[nodiscard]] ConvolutionPlan plan_convolution(Space space, const PrismSource& prisms, const PointColumns& points,
                                               const Request& request, const Communicator& communicator);

}  // namespace prismfield
