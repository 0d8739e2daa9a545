// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/operator_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include <prismfield/error.hpp>

#include "compute/balance.hpp"
#include "compute/plan.hpp"
#include "engine/engine.hpp"
#include "model/points.hpp"
#include "model/spatial_order.hpp"

namespace prismfield {
namespace {

/// The request for one space. Throws InputError for what an operator does not have.
Request request_in(Space space, Request request) {
  Execution& execution = request.execution;
  if (execution.space != Space::automatic && execution.space != space) {
    throw InputError("", "execution.space", "is not the space that the operator is made for");
  }
  if (execution.kernel == KernelKind::corners) {
    throw InputError("", "execution.kernel", "an operator has automatic forms only; corners is for forward runs");
  }
  execution.space = space;
  return request;
}

}  // namespace

void OperatorPlan::keep_what_fits() {
  const std::int64_t n = n_prisms();
  blocks.clear();
  for (std::int64_t begin = 0; begin < n;) {
    const std::int64_t chunk_end = std::min((begin / plan.chunk_prisms + 1) * plan.chunk_prisms, n);
    const std::int64_t end = std::min(begin + plan.launch_prisms, chunk_end);
    blocks.push_back({{begin, end}, end == chunk_end});
    begin = end;
  }
  const auto n_blocks = static_cast<std::int64_t>(blocks.size());
  const std::int64_t shapes = uniform_shape ? n_blocks : n;
  const std::int64_t bytes = n * traits.memory.per_prism + shapes * traits.memory.per_shape;
  keeps_blocks = n_blocks == 1 || bytes <= plan.memory_limit - plan.scratch_bytes;
}

OperatorPlan plan_operator(Space space, const PrismSource& prisms, const Points& points, const Request& request,
                           const Communicator& communicator) {
  check_points(points);
  const Request mine = request_in(space, request);
  OperatorPlan all;
  all.plan = plan_on_ranks(mine, prisms, points, problem_size(prisms, points), communicator);
  const Plan& plan = all.plan;
  all.traits = engine_traits(plan.space, plan.precision, plan.set, plan.kernel, mine.execution.scalar_lanes);
  all.fields = mine.fields;
  all.gravitational_constant = mine.gravitational_constant;
  all.uniform_shape = prisms.uniform_shape();
  all.order = spatial_order(points, plan.points());
  const std::array<const std::vector<double>*, 3> columns = {&points.easting, &points.northing, &points.upward};
  for (std::size_t d = 0; d < 3; ++d) {
    all.unordered[d].assign(columns[d]->begin() + plan.point_begin, columns[d]->begin() + plan.point_end);
    for (const std::int64_t point : all.order) {
      all.coordinates[d].push_back((*columns[d])[static_cast<std::size_t>(point)]);
    }
  }
  for (std::int64_t& point : all.order) point -= plan.point_begin;
  return all;
}

double error_bound_of(Precision precision) noexcept { return precision == Precision::double_ ? 1e-12 : 1e-5; }

void check_length(std::string_view key, std::size_t length, std::int64_t needed) {
  if (length == static_cast<std::size_t>(needed)) return;
  throw InputError("", std::string(key), fmt::format("has {} values, the operator needs {}", length, needed));
}

void check_range(IndexRange points, std::int64_t n_points) {
  if (0 <= points.begin && points.begin <= points.end && points.end <= n_points) return;
  throw InputError("", "points",
                   fmt::format("[{}, {}) is not within this rank's {} points", points.begin, points.end, n_points));
}

}  // namespace prismfield
