// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "operators/convolution/convolution_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/human_text.hpp"
#include "compute/direct_plan.hpp"
#include "compute/method.hpp"
#include "compute/operator_plan.hpp"
#include "compute/plan.hpp"
#include "kernel/field_rows.hpp"
#include "model/points.hpp"
#include "operators/convolution/fft_shape.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// Points at which kernels, and entries, are computed in one launch, at most.
constexpr std::int64_t tile_points_host = std::int64_t{1} << 14, tile_points_device = std::int64_t{1} << 18;
constexpr std::int64_t batch = 64, block_device = 128;

/// The request as the direct method has it, in which kernels and entries are computed.
Request direct_request(Space space, const Request& asked) {
  Request request = request_in(space, asked);
  Execution& execution = request.execution;
  // the kernels' error may be as large as that of fields
  execution.tolerance = asked.execution.tolerance;
  // layers, where nothing else is asked for
  if (execution.partition == Partition::automatic) execution.partition = Partition::prisms;
  execution.precision = Precision::double_;
  return request;
}

/// The first prism from `cut` on that has another bottom or top than the one before it; the number of prisms where none
/// has.
std::int64_t next_layer(const PrismSource& prisms, std::int64_t cut) {
  constexpr std::int64_t at_once = 65536;
  if (cut == 0) return 0;
  PrismBlock block;
  for (std::int64_t begin = cut; begin < prisms.size(); begin += at_once) {
    prisms.read({begin - 1, std::min(begin + at_once, prisms.size())}, block);
    for (std::size_t i = 1; i < block.top.size(); ++i) {
      if (block.top[i] != block.top[i - 1] || block.bottom[i] != block.bottom[i - 1]) {
        return begin - 1 + static_cast<std::int64_t>(i);
      }
    }
  }
  return prisms.size();
}

void count_bytes(ConvolutionPlan& all, const EngineTraits& traits, const PrismSource& prisms,
                 const PointColumns& points, int rank) {
  const std::int64_t computing = engine_bytes(all.layout->shape, all.engine.tile_points, traits) + all.buffers.bytes;
  MethodMemory memory;
  memory.on_device = traits.is_device ? computing + list_bytes(*all.layout) : 0;
  memory.while_computing = traits.is_device ? 0 : computing;
  // coordinates once more, and the lists, which a device has instead once they are made
  memory.always = all.points.size() * 3 * 8 + list_bytes(*all.layout);
  count_memory(all.plan, problem_size(prisms, points), memory, all.fields.size(), rank);
}

}  // namespace

void cut_between_layers(const PrismSource& prisms, IndexRange& range, const Communicator& communicator) {
  if (communicator.size() == 1) return;
  agree(communicator, [&] { range = {next_layer(prisms, range.begin), next_layer(prisms, range.end)}; });
}

ConvolutionBuffers choose_buffers(std::int64_t limit, const ConvolutionSize& size, Products products) {
  // Made together, layers share the launches of their kernels. More than these do not share more.
  constexpr std::int64_t most_layers = 16, enough_bytes = std::int64_t{1} << 26;
  const auto [transform_bytes, fields, layers, planes] = size;
  const std::int64_t of_fields = fields * transform_bytes;
  // of a layer at work: its density and its kernels; of a plane: its fields
  const std::int64_t of_layer = transform_bytes + of_fields;
  const std::int64_t least = of_layer + of_fields;
  if (least > limit) {
    refuse_fft(fmt::format("a convolution of {} takes {} at least; execution.memory_limit leaves {}",
                           counted(fields, "field"), size_text(least), size_text(std::max<std::int64_t>(limit, 0))));
  }
  ConvolutionBuffers buffers;
  buffers.layers_at_once =
      std::clamp<std::int64_t>(std::min(enough_bytes, limit / 4) / of_layer, 1, std::min(most_layers, layers));
  const std::int64_t room = limit - buffers.layers_at_once * of_layer;
  const bool may_keep = products == Products::many;
  // a product that is alone makes kernels anyway: beside theirs, transforms of densities anew for every few planes cost
  // little, and memory for all planes would be new
  constexpr std::int64_t few_planes = 4;
  const std::int64_t most_planes = may_keep ? planes : std::min(few_planes, planes);
  buffers.planes_at_once = std::clamp<std::int64_t>(room / (may_keep ? 4 : 1) / of_fields, 1, most_planes);
  const std::int64_t of_vector = buffers.planes_at_once * of_fields + buffers.layers_at_once * transform_bytes;
  const std::int64_t all = layers * planes;
  const std::int64_t free = room - buffers.planes_at_once * of_fields;
  buffers.keeps_all = may_keep && all * of_fields <= free;
  if (may_keep) buffers.kept_layers = buffers.keeps_all ? all : free / 2 / of_fields;
  // where kernels are computed anew, several vectors share them
  constexpr std::int64_t most_vectors = 16;
  const std::int64_t left = free - buffers.kept_layers * of_fields;
  if (may_keep && !buffers.keeps_all)
    buffers.vectors_at_once = std::clamp<std::int64_t>(1 + left / of_vector, 1, most_vectors);
  buffers.working_bytes = buffers.layers_at_once * of_fields + of_vector;
  buffers.bytes = buffers.working_bytes + buffers.kept_layers * of_fields;
  return buffers;
}

std::int64_t tile_points_of(const ConvolutionLayout& layout, std::int64_t n_points,
                            const EngineTraits& traits) noexcept {
  const std::int64_t numbers = std::max(layout.kernel_rows().size() * layout.shape.pitch(), n_points);
  return std::clamp<std::int64_t>(numbers, 1, traits.is_device ? tile_points_device : tile_points_host);
}

std::int64_t engine_bytes(const FftShape& shape, std::int64_t tile_points, const EngineTraits& traits) noexcept {
  const EngineMemory& m = traits.memory;
  return tile_points * (m.per_slot_point + m.per_point) + prisms_of_entries * (m.per_prism + m.per_shape) +
         (traits.is_device ? work_area_bytes(shape) : 0);
}

std::int64_t list_bytes(const ConvolutionLayout& layout) noexcept {
  const std::size_t entries = layout.prisms.number.size() + layout.points.number.size();
  return static_cast<std::int64_t>(entries * (sizeof(std::int32_t) + sizeof(std::int64_t)) +
                                   (layout.on_levels.size() + layout.amounts.size()) * sizeof(double));
}

void choose_sizes(ConvolutionPlan& all, const PrismSource& prisms, const PointColumns& points,
                  const EngineTraits& traits, Products products) {
  const ConvolutionLayout& layout = *all.layout;
  all.engine = engine_settings(all.plan, prisms, points);
  all.engine.rows = kernel::field_rows(smallest_set(all.plan.computed), all.fields, all.plan.inducing_direction);
  all.engine.slots = 1;
  all.engine.batch = batch;
  all.engine.block = traits.is_device ? std::min(block_device, traits.max_block) : 1;
  all.engine.tile_points = tile_points_of(layout, all.plan.points().size(), traits);
  // without levels nothing is saved
  if (layout.levels.empty()) all.engine.truncation = default_truncation;
  if (layout.n_layers() == 0) return;
  all.buffers =
      choose_buffers(all.plan.memory_limit - engine_bytes(layout.shape, all.engine.tile_points, traits),
                     {layout.shape.reals() * 8, all.fields.size(), layout.n_layers(), layout.n_planes()}, products);
}

ConvolutionPlan plan_convolution(Space space, const PrismSource& prisms, const PointColumns& points,
                                 const Request& request, const Communicator& communicator) {
  check_points(points);
  const Request direct = direct_request(space, request);
  ConvolutionPlan all;
  all.fields = request.fields;
  all.constant = request.constant(has_magnetic(request.fields));
  all.plan = plan_on_ranks(direct, prisms, points, problem_size(prisms, points), communicator);
  all.plan.method = Method::fft;
  all.plan.direct = {};
  IndexRange mine = all.plan.prisms();
  cut_between_layers(prisms, mine, communicator);
  all.plan.prism_begin = mine.begin;
  all.plan.prism_end = mine.end;
  agree_on_input(communicator, [&] {
    check_transforms(space);
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(all.plan.points().size()));
    std::iota(numbers.begin(), numbers.end(), all.plan.point_begin);
    all.points = chosen_points(points, numbers);
    all.layout = std::make_shared<const ConvolutionLayout>(
        find_convolution(prisms, all.plan.prisms(), all.points, request.execution.tolerance, all.plan.computed));
    const EngineTraits traits = engine_traits(space, Precision::double_, all.plan.computed, KernelKind::automatic);
    choose_sizes(all, prisms, all.points, traits, Products::many);
    count_bytes(all, traits, prisms, points, communicator.rank());
  });
  const double bound = error_bound_of(Precision::double_);
  all.error_bound = all.layout->levels.empty() ? bound : std::max(bound, request.execution.tolerance);
  return all;
}

}  // namespace prismfield
