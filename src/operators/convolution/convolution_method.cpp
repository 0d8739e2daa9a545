// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "compute/cost_model.hpp"
#include "compute/direct_plan.hpp"
#include "compute/method.hpp"
#include "compute/operator_work.hpp"
#include "compute/time_estimate.hpp"
#include "operators/convolution/convolution_layout.hpp"
#include "operators/convolution/convolution_plan.hpp"
#include "operators/convolution/evaluate_convolution.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

void check_fft(const Request& request, const PrismSource& ensemble, const PointColumns& points, ProblemSize& problem) {
  const Execution& wanted = request.execution;
  check_transforms(wanted.space);
  if (wanted.kernel != KernelKind::automatic) refuse_fft("execution.kernel corners is for every pair; leave it out");
  if (wanted.precision != Precision::double_) {
    refuse_fft(fmt::format("it computes in double; leave out execution.precision {}", name(wanted.precision)));
  }
  problem.mesh = std::make_shared<const ConvolutionLayout>(
      find_convolution(ensemble, problem.looked_at, points, wanted.tolerance, computed_fields(request.fields)));
}

/// Number of layers in a share of prisms, estimated from the prisms that were looked at.
std::int64_t layers_of_share(const ConvolutionLayout& layout, IndexRange share) {
  if (layout.range.size() == 0 || layout.range == share) return layout.n_layers();
  const double shares = static_cast<double>(share.size()) / static_cast<double>(layout.range.size());
  return static_cast<std::int64_t>(std::ceil(shares * static_cast<double>(layout.n_layers())));
}

void plan_fft(Plan& plan, const Request& request, const ProblemSize& problem, const Machine& machine) {
  const EngineTraits& traits = machine.engine;
  ConvolutionPart& part = plan.fft;
  // nothing to compute where nobody looked at prisms and points
  part.layout = problem.mesh ? problem.mesh : std::make_shared<const ConvolutionLayout>();
  const ConvolutionLayout& layout = *part.layout;
  part.rows = layout.shape.rows;
  part.columns = layout.shape.columns;
  part.layers = layers_of_share(layout, plan.prisms());
  part.planes = layout.n_planes();
  std::int64_t lists = 0;
  if (part.layers > 0 && plan.points().size() > 0) {
    const std::int64_t engine = engine_bytes(layout.shape, tile_points_of(layout, 0, traits), traits);
    const ConvolutionBuffers buffers =
        choose_buffers(plan.memory_limit - engine,
                       {layout.shape.reals() * 8, plan.computed.size(), part.layers, part.planes}, Products::one);
    part.layers_at_once = buffers.layers_at_once;
    part.planes_at_once = buffers.planes_at_once;
    part.scratch_bytes = engine + buffers.bytes;
    lists = list_bytes(layout);
  }
  const std::int64_t densities = plan.prisms().size() * 8;
  MethodMemory memory;
  memory.on_device = traits.is_device ? part.scratch_bytes + densities + lists : 0;
  memory.while_computing = traits.is_device ? 0 : part.scratch_bytes + densities;
  memory.always = lists;
  count_memory(plan, problem, memory, request.fields.size(), machine.rank);
}

/// Layers over ranks; where there are more ranks than layers, points over the others.
Shares fft_shares(const Plan& plan, const Request& /*request*/, const PrismSource& ensemble,
                  const Communicator& communicator) {
  const int ranks = communicator.size();
  // ranks look at parts of the same layers
  std::set<std::array<double, 2>> layers;
  for (const auto& of_rank : gather(communicator, plan.fft.layout->layers))
    layers.insert(of_rank.begin(), of_rank.end());
  std::int64_t most = std::max<std::int64_t>(std::ssize(layers), 1);
  broadcast(communicator, most);
  int prism_parts = ranks;
  while (prism_parts > most || ranks % prism_parts != 0) --prism_parts;
  Shares shares{{prism_parts, ranks / prism_parts}, {}};
  shares.mine =
      rank_share(plan.n_prisms, plan.n_points, communicator.rank(), shares.grid.prism_parts, shares.grid.point_parts);
  cut_between_layers(ensemble, shares.mine.prisms, communicator);
  return shares;
}

/// ns of a pair of a layer's cell and one of the points at which kernels are computed, of both a sample.
double kernel_weight(const Plan& plan, const FormWeights& weights) {
  constexpr std::int64_t most_cells = 16, most_points = 2048;
  const ConvolutionLayout& layout = *plan.fft.layout;
  const std::int64_t n_cells = std::min(most_cells, layout.n_layers());
  PrismBlock cells;
  for (std::int64_t i = 0; i < n_cells; ++i) {
    const std::int64_t layer = balanced_part(layout.n_layers(), i, n_cells).begin;
    const auto [bottom, top] = layout.layers[static_cast<std::size_t>(layer)];
    cells.west.push_back(0);
    cells.east.push_back(layout.edge[0]);
    cells.south.push_back(0);
    cells.north.push_back(layout.edge[1]);
    cells.bottom.push_back(bottom);
    cells.top.push_back(top);
    cells.density.push_back(1);
  }
  const std::int64_t numbers = layout.kernel_rows().size() * layout.shape.columns;
  CostPoints points;
  points.groups = std::min(most_points, numbers) / plan.lanes;
  for (std::int64_t group = 0; group < points.groups; ++group) {
    for (int lane = 0; lane < plan.lanes; ++lane) {
      const std::int64_t number = balanced_part(numbers, group, points.groups).begin + lane;
      const ConvolutionPlane& plane = layout.planes[static_cast<std::size_t>(group % layout.n_planes())];
      const std::int64_t column = layout.first[0] - (layout.cells[0] - 1) + number % layout.shape.columns;
      const std::int64_t row = layout.first[1] - (layout.cells[1] - 1) + number / layout.shape.columns;
      points.easting.push_back((static_cast<double>(column) + plane.easting) * layout.edge[0]);
      points.northing.push_back((static_cast<double>(row) + plane.northing) * layout.edge[1]);
      points.upward.push_back(plane.upward);
    }
  }
  const CostSettings settings{
      plan.precision, plan.kernel, plan.lanes, weights, 0, is_device(plan.space), has_magnetic_gradient(plan.computed)};
  return cost_of_block(settings, cells, 0, points, 1) / static_cast<double>(cells.west.size() * points.easting.size());
}

/// Of a rank's share: finding the mesh, kernels, transforms and their products. Constants are in units of a multipole's
/// pair of order 8, which is measured.
double fft_seconds(const Plan& plan, const Request& /*request*/, const PrismSource& /*ensemble*/,
                   const PointColumns& /*points*/) {
  const ConvolutionPart& part = plan.fft;
  const ConvolutionLayout& layout = *part.layout;
  if (part.layers == 0 || layout.n_planes() == 0) return 0;
  // of a number, for each halving of its transform, and each sum of products; ns of a prism and a point on one thread
  constexpr double of_halving = 0.057, of_sums = 0.6, of_prism = 20, of_point = 300;
  const FormWeights weights = measured_weights(plan);
  const double unit = weights[static_cast<std::size_t>(Form::multipole_8)];
  const auto fields = static_cast<double>(plan.computed.size()), layers = static_cast<double>(part.layers),
             planes = static_cast<double>(part.planes), numbers = static_cast<double>(layout.shape.reals());
  const double passes = std::ceil(planes / static_cast<double>(part.planes_at_once));
  const double offsets = static_cast<double>(layout.kernel_rows().size()) * static_cast<double>(layout.shape.pitch());
  // fitted to one run of 62 layers: beside pairs there is the writing of their fields
  const double kernels = 2 * layers * planes * offsets * kernel_weight(plan, weights);
  const double transforms = layers * passes + layers * planes * fields + planes * fields;
  const double transforming = transforms * numbers * std::log2(numbers) * of_halving * unit;
  const double summing = layers * planes * fields * numbers * of_sums * unit;
  const double finding =
      of_prism * static_cast<double>(plan.prisms().size()) + of_point * static_cast<double>(plan.points().size());
  return 1e-9 * (kernels + transforming + summing + finding);
}

PlanText fft_text(const Plan& plan) {
  const ConvolutionPart& part = plan.fft;
  std::string planes = counted(part.planes, "plane");
  if (!part.layout->levels.empty()) planes += fmt::format(" at {} heights between points", part.layout->levels.size());
  return {
      {{"convolutions", fmt::format("{} of cells, {} of points", counted(part.layers, "layer"), planes)},
       {"transforms", fmt::format("{} x {}, {} and {} at a time", part.columns, part.rows,
                                  counted(part.layers_at_once, "layer"), counted(part.planes_at_once, "plane"))},
       {"scratch", fmt::format("{} (memory limit {})", size_text(part.scratch_bytes), size_text(plan.memory_limit))}},
      {{"layers", part.layers},
       {"planes", part.planes},
       {"transform_columns", part.columns},
       {"transform_rows", part.rows},
       {"scratch_bytes", part.scratch_bytes},
       // results of all methods have them
       {"slots", 0},
       {"batch", 0}}};
}

/// What the rank has of the layout: all of it, where it has all prisms and points.
std::shared_ptr<const ConvolutionLayout> layout_of(const RankProblem& problem) {
  const Plan& plan = problem.plan;
  const std::shared_ptr<const ConvolutionLayout>& found = plan.fft.layout;
  const bool is_all = plan.points() == IndexRange{0, plan.n_points};
  if (is_all && found->range == plan.prisms() && found->magnetizations.empty() != has_magnetic(plan.computed))
    return found;
  return std::make_shared<const ConvolutionLayout>(
      find_convolution(problem.prisms, plan.prisms(), problem.points, found->tolerance, plan.computed));
}

Evaluate make_convolution(const RankProblem& problem) {
  ConvolutionPlan all;
  all.plan = problem.plan;
  all.fields = problem.plan.computed;
  all.constant = 1;
  all.layout = layout_of(problem);
  const EngineTraits traits =
      engine_traits(problem.plan.space, Precision::double_, problem.plan.computed, KernelKind::automatic);
  choose_sizes(all, problem.prisms, problem.points, traits, Products::one);
  return evaluate_convolution(problem, std::move(all));
}

std::unique_ptr<RankWork> fft_work(const Plan& plan, int rank) {
  return std::make_unique<OperatorWork>(plan, rank, make_convolution);
}

}  // namespace

constexpr ForwardMethod fft_method = {Method::fft, check_fft, plan_fft, fft_shares, fft_seconds, fft_text, fft_work};

}  // namespace prismfield
