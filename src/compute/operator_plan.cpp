// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/operator_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <new>
#include <numeric>
#include <string>

#include <prismfield/error.hpp>

#include "compute/method.hpp"
#include "compute/plan.hpp"
#include "engine/engine.hpp"
#include "model/choices.hpp"
#include "model/points.hpp"
#include "parallel/agreement.hpp"

namespace prismfield {
namespace {

/// Prisms of a block that a device keeps: staged once, beside no kernels, it need not be as small as those of a forward
/// run. Entries of 1e6 prisms at 30 points took 62 launches of 28 us each with blocks of 32,768 on an H200.
std::int64_t kept_block_prisms(const Plan& plan) {
  constexpr std::int64_t pairs_at_once = std::int64_t{1} << 30, most = std::int64_t{1} << 20;
  const std::int64_t wanted = std::min(pairs_at_once / std::max<std::int64_t>(plan.direct.tile_points, 1), most);
  const std::int64_t launches = std::max<std::int64_t>(wanted / plan.direct.launch_prisms, 1);
  return launches * plan.direct.launch_prisms;
}

/// Throws InputError where an operator does not have some of the fields.
void check_linear(FieldList fields) {
  FieldList linear, others;
  for (const FieldInfo& field : fields) (field.is_linear() ? linear : others).add(field.field);
  if (others.empty()) return;
  if (linear.empty()) linear = {Field::bx, Field::by, Field::bz, Field::tmi};
  throw InputError("", "fields",
                   fmt::format("has {}, which an operator cannot have: no linear function of the model; write fields: "
                               "[{}]",
                               fmt::join(names_of(others), " and "), fmt::join(names_of(linear), ", ")));
}

}  // namespace

Request request_in(Space space, Request request) {
  Execution& execution = request.execution;
  if (execution.space != Space::automatic && execution.space != space) {
    throw InputError("", "execution.space", "is not the space that the operator is made for");
  }
  if (execution.kernel == KernelKind::corners) {
    throw InputError("", "execution.kernel", "an operator has automatic forms only; corners is for forward runs");
  }
  check_linear(request.fields);
  if (!request.fields.of_magnetisation().empty() && !request.fields.of_density().empty()) {
    throw InputError("", "fields",
                     "has fields of density and of the magnetisation; an operator multiplies one of the two");
  }
  if (!request.fields.of_magnetisation().empty() && request.magnetic.inside == Inside::nan) {
    throw InputError("", "magnetic.inside", no_nan_in_products);
  }
  execution.space = space;
  // no product is checked
  execution.tolerance = default_tolerance;
  execution.method = Method::direct;
  return request;
}

void OperatorPlan::cut_blocks(std::int64_t block_prisms) {
  const std::int64_t n = n_prisms();
  blocks.clear();
  for (std::int64_t begin = 0; begin < n;) {
    const std::int64_t chunk_end = std::min((begin / plan.direct.chunk_prisms + 1) * plan.direct.chunk_prisms, n);
    const std::int64_t end = std::min(begin + block_prisms, chunk_end);
    blocks.push_back({{begin, end}, end == chunk_end});
    begin = end;
  }
}

void OperatorPlan::choose_blocks() {
  const std::int64_t n = n_prisms();
  cut_blocks(plan.direct.launch_prisms);
  const EngineMemory& m = traits.memory;
  const auto n_blocks = static_cast<std::int64_t>(blocks.size());
  const std::int64_t shapes = uniform_shape ? n_blocks : n;
  const kernel::FieldRows rows = kernel::field_rows(smallest_set(fields), fields, plan.inducing_direction);
  // factors as doubles and as the kernel's numbers, the order of the points, sums over parts of the points
  const std::int64_t beside =
      plan.direct.tile_points * (rows.n_native + rows.n_sums) * 2 * 8 + n_points() * 8 + (n + 4096 * 64) * 8;
  const std::int64_t kept = n * m.per_prism + shapes * m.per_shape;
  keeps_blocks = n_blocks == 1 || kept <= plan.memory_limit - plan.direct.scratch_bytes - beside;
  if (keeps_blocks && traits.is_device) cut_blocks(kept_block_prisms(plan));
  const std::int64_t held = beside + (keeps_blocks ? kept : 0);
  (traits.is_device ? plan.device_bytes : plan.host_bytes) += held;
  // coordinates in two orders, and the order
  plan.host_bytes += n_points() * (2 * 3 + 1) * 8;
}

OperatorPlan plan_operator(Space space, const PrismSource& prisms, const PointColumns& points, const Request& request,
                           const Communicator& communicator) {
  check_points(points);
  const Request mine = request_in(space, request);
  OperatorPlan all;
  all.plan = plan_on_ranks(mine, prisms, points, problem_size(prisms, points), communicator);
  const Plan& plan = all.plan;
  all.traits = engine_traits(plan.space, plan.precision, plan.computed, plan.kernel);
  all.fields = mine.fields;
  all.constant = mine.constant(has_magnetic(plan.computed));
  all.uniform_shape = prisms.uniform_shape();
  all.order = spatial_order(points, plan.points());
  all.ordered = chosen_points(points, all.order);
  std::vector<std::int64_t> numbers(all.order.size());
  std::iota(numbers.begin(), numbers.end(), plan.point_begin);
  all.unordered = chosen_points(points, numbers);
  for (std::int64_t& point : all.order) point -= plan.point_begin;
  return all;
}

void on_all_ranks(const Communicator& ranks, const std::function<void()>& step) {
  agree_unless_alone(ranks, [&] {
    try {
      step();
    } catch (const AllocationFailure& failure) {
      throw RunError(fmt::format("no memory for the operator: {}", failure.what()));
    } catch (const std::bad_alloc& failure) {
      throw RunError(fmt::format("no memory for the operator: {}", failure.what()));
    }
  });
}

double error_bound_of(Precision precision) noexcept { return precision == Precision::double_ ? 1e-12 : 8e-5; }

void check_length(std::string_view key, std::size_t length, std::int64_t needed) {
  if (length == static_cast<std::size_t>(needed)) return;
  throw InputError("", std::string(key), fmt::format("has {} values, the operator needs {}", length, needed));
}

void check_vectors(std::string_view key, std::size_t vectors, std::string_view other_key, std::size_t others) {
  if (vectors == others) return;
  throw InputError("", std::string(key), fmt::format("has {} vectors, {} has {}", vectors, other_key, others));
}

void check_apart(std::string_view key, const double* output, std::size_t n_output, const double* input,
                 std::size_t n_input) {
  const std::less<> before;
  const bool apart =
      n_output == 0 || n_input == 0 || !before(input, output + n_output) || !before(output, input + n_input);
  if (!apart) throw InputError("", std::string(key), "overlaps what it is computed from; give it memory of its own");
}

void check_range(IndexRange points, std::int64_t n_points) {
  if (0 <= points.begin && points.begin <= points.end && points.end <= n_points) return;
  throw InputError("", "points",
                   fmt::format("[{}, {}) is not within this rank's {} points", points.begin, points.end, n_points));
}

}  // namespace prismfield
