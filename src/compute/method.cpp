// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <prismfield/error.hpp>

#include "model/choices.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// Every method that was built; model/choices.hpp lists them for those who read a request.
constexpr std::array methods = {&direct_method};
static_assert(methods.size() == built_methods.size());

std::int64_t memory_limit_of(const Execution& wanted, const Machine& machine) {
  const EngineTraits& traits = machine.engine;
  // ranks of one node share its memory, ranks of one device the device's
  const std::int64_t devices = std::max<std::int64_t>(machine.devices, 1);
  const std::int64_t sharing =
      traits.is_device ? (machine.ranks_on_node + devices - 1) / devices : machine.ranks_on_node;
  std::int64_t share = (traits.is_device ? traits.free_memory / 10 * 8 : traits.free_memory / 2) / sharing;
  if (!traits.is_device) share = std::min(share, machine.host_memory / 2);
  return wanted.memory_limit.value_or(share);
}

/// The grid of ranks and this rank's part of it.
void choose_share(Plan& plan, const Execution& wanted, const Machine& machine, const Shares* shares) {
  plan.partition_is_auto = wanted.partition == Partition::automatic;
  plan.partition = plan.partition_is_auto ? Partition::prisms : wanted.partition;
  plan.balance = wanted.balance;
  RankGrid grid{machine.ranks, 1};
  if (plan.partition == Partition::points) grid = {1, machine.ranks};
  if (plan.partition == Partition::rank_grid) grid = {wanted.rank_grid[0], wanted.rank_grid[1]};
  if (shares != nullptr) grid = shares->grid;
  if (grid.prism_parts * grid.point_parts != machine.ranks) {
    throw InputError(
        "", "execution.partition",
        fmt::format("{} x {} ranks asked for, but the run has {}", grid.prism_parts, grid.point_parts, machine.ranks));
  }
  if (plan.partition_is_auto && grid.point_parts > 1) {
    plan.partition = grid.prism_parts == 1 ? Partition::points : Partition::rank_grid;
  }
  const RankShare share =
      shares != nullptr ? shares->mine
                        : rank_share(plan.n_prisms, plan.n_points, machine.rank, grid.prism_parts, grid.point_parts);
  plan.prism_parts = grid.prism_parts;
  plan.point_parts = grid.point_parts;
  plan.prism_begin = share.prisms.begin;
  plan.prism_end = share.prisms.end;
  plan.point_begin = share.points.begin;
  plan.point_end = share.points.end;
}

/// What the method has to keep to. So few points are computed as a check would compute them.
double tolerance_of(const Request& request, const Plan& plan) {
  const Execution& wanted = request.execution;
  const bool saves = wanted.kernel != KernelKind::corners && plan.n_points > wanted.check_points;
  return saves ? std::max(wanted.tolerance, default_tolerance) : default_tolerance;
}

/// The method that a request asks for, or that `auto` takes.
void choose_method(Plan& plan, const Request& request) {
  plan.method = request.execution.method;
  if (plan.method != Method::automatic) return;
  plan.method = Method::direct;
  plan.method_reason = "the only one of this version";
}

}  // namespace

const ForwardMethod& method_of(const Plan& plan) noexcept {
  return **std::find_if(methods.begin(), methods.end(), [&](const auto* of) { return of->method == plan.method; });
}

Plan make_plan(const Request& request, const ProblemSize& problem, const Machine& machine, const Shares* shares) {
  Plan plan;
  plan.space = machine.space;
  plan.device = machine.engine.device;
  plan.threads = machine.engine.threads;
  plan.lanes = machine.engine.lanes;
  plan.set = smallest_set(request.fields);
  plan.precision = request.execution.precision;
  plan.kernel = request.execution.kernel;
  plan.n_prisms = problem.n_prisms;
  plan.n_points = problem.n_points;
  plan.tolerance = tolerance_of(request, plan);
  choose_method(plan, request);
  choose_share(plan, request.execution, machine, shares);
  plan.memory_limit = memory_limit_of(request.execution, machine);
  method_of(plan).plan(plan, request, problem, machine);
  return plan;
}

Plan plan_on_ranks(const Request& request, const PrismSource& ensemble, const PointColumns& points,
                   const ProblemSize& problem, const Communicator& communicator, PrismCuts cuts) {
  Machine machine;
  Plan plan;
  agree_on_input(communicator, [&] {
    check_request(request);
    machine = machine_here(request, communicator);
    plan = make_plan(request, problem, machine);
  });
  const bool is_chosen = request.execution.partition == Partition::automatic;
  if (communicator.size() == 1 || !(is_chosen || request.execution.balance == Balance::cost)) return plan;
  const Shares shares = method_of(plan).shares(plan, request, ensemble, points, cuts, communicator);
  agree(communicator, [&] { plan = make_plan(request, problem, machine, &shares); });
  return plan;
}

double estimated_seconds(const Request& request, const PrismSource& ensemble, const PointColumns& points,
                         const Plan& plan, const Communicator& communicator) {
  double seconds = 0;
  agree(communicator, [&] { seconds = method_of(plan).seconds(plan, request, ensemble, points); });
  const std::vector<double> all = gather_everywhere(communicator, seconds);
  return *std::max_element(all.begin(), all.end());
}

}  // namespace prismfield
