// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "compute/plan.hpp"
#include "model/choices.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// Every method that was built; model/choices.hpp lists them for those who read a request.
constexpr std::array methods = {&direct_method, &tree_method, &fft_method};
static_assert(methods.size() == built_methods.size());

const ForwardMethod& method_called(Method method) noexcept {
  return **std::find_if(methods.begin(), methods.end(), [&](const auto* of) { return of->method == method; });
}

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

/// Whether a tolerance saves anything. So few points are computed as a check would compute them.
bool saves(const Request& request, const ProblemSize& problem) {
  const Execution& wanted = request.execution;
  return wanted.kernel != KernelKind::corners && problem.n_points > wanted.check_points &&
         wanted.tolerance > default_tolerance;
}

/// The largest value of all ranks. Collective.
template <class T>
T largest(const Communicator& communicator, T mine) {
  const std::vector<T> all = gather_everywhere(communicator, mine);
  return *std::max_element(all.begin(), all.end());
}

/// What the ranks of a run plan it by.
struct Run {
  const PrismSource& ensemble;
  const PointColumns& points;
  const ProblemSize& problem;
  const Communicator& communicator;
};

/// The plan by the method of a request that was checked. Throws and is collective as plan_on_ranks().
Plan plan_by_method(const Request& request, const Run& run) {
  Machine machine;
  Plan plan;
  ProblemSize problem = run.problem;
  problem.looked_at = balanced_part(problem.n_prisms, run.communicator.rank(), run.communicator.size());
  agree_on_input(run.communicator, [&] {
    machine = machine_here(request, run.communicator);
    method_of(request).check(request, run.ensemble, run.points, problem);
    plan = make_plan(request, problem, machine);
  });
  if (run.communicator.size() == 1 || !plan.partition_is_auto) return plan;
  const Shares shares = method_of(plan).shares(plan, request, run.ensemble, run.communicator);
  agree(run.communicator, [&] { plan = make_plan(request, problem, machine, &shares); });
  return plan;
}

Request with_method(Request request, Method method) {
  request.execution.method = method;
  return request;
}

/// "takes 4.8 GiB, but there are 2.1 GiB (this machine's free memory)"; "" where the plan fits. The same on every rank.
/// Collective.
std::string shortage_of(const Plan& plan, const Communicator& communicator) {
  const MemoryNeed need = tightest_need(plan, communicator);
  std::string text;
  if (communicator.rank() == 0 && !need.fits()) {
    text = fmt::format("{} takes {}, but there are {}", name(plan.method), size_text(need.needed),
                       available_text(need, communicator.size()));
  }
  broadcast(communicator, text);
  return text;
}

/// `plan`: by the method, made here where it is not yet and the method can serve.
MethodCost cost_by_method(const Request& asked, Method method, const Run& run, std::optional<Plan>& plan) {
  const Request request = with_method(asked, method);
  MethodCost cost{method, {}, 0, 0, 0};
  try {
    if (!plan) plan = plan_by_method(request, run);
    cost.seconds = estimated_seconds(request, run.ensemble, run.points, *plan, run.communicator);
    cost.host_bytes = largest(run.communicator, plan->host_bytes);
    cost.device_bytes = largest(run.communicator, plan->device_bytes);
    cost.problem = shortage_of(*plan, run.communicator);
  } catch (const InputError& error) {
    if (method == Method::direct) throw;
    cost.problem = error.problems().front().what;
  }
  return cost;
}

using MethodPlans = std::array<std::optional<Plan>, built_methods.size()>;

std::vector<MethodCost> costs_of_run(const Request& request, const Run& run, MethodPlans& plans) {
  std::vector<MethodCost> costs;
  for (const Method method : built_methods) {
    costs.push_back(cost_by_method(request, method, run, plans[costs.size()]));
  }
  return costs;
}

/// "2.1 s; direct 170 s"
std::string reason_of(const MethodCost& chosen, const std::vector<MethodCost>& costs) {
  std::string text = "about " + duration_text(chosen.seconds);
  const char* separator = "; ";
  for (const MethodCost& cost : costs) {
    if (cost.method == chosen.method || !cost.problem.empty()) continue;
    text += fmt::format("{}{} {}", separator, name(cost.method), duration_text(cost.seconds));
    separator = ", ";
  }
  return text;
}

}  // namespace

const ForwardMethod& method_of(const Plan& plan) noexcept { return method_called(plan.method); }

const ForwardMethod& method_of(const Request& request) noexcept {
  const Method asked = request.execution.method;
  return method_called(asked == Method::automatic ? Method::direct : asked);
}

Plan make_plan(const Request& request, const ProblemSize& problem, const Machine& machine, const Shares* shares) {
  Plan plan;
  plan.space = machine.space;
  plan.device = machine.engine.device;
  plan.threads = machine.engine.threads;
  plan.lanes = machine.engine.lanes;
  plan.computed = computed_fields(request.fields);
  plan.inducing_direction = direction_of(request.magnetic.inducing_field);
  plan.inside = request.magnetic.inside;
  plan.precision = request.execution.precision;
  plan.kernel = request.execution.kernel;
  plan.n_prisms = problem.n_prisms;
  plan.n_points = problem.n_points;
  const bool is_finer = request.execution.tolerance < default_tolerance && plan.kernel != KernelKind::corners;
  if (is_finer || saves(request, problem)) plan.tolerance = request.execution.tolerance;
  plan.method = request.execution.method;
  if (plan.method == Method::automatic) {
    plan.method = Method::direct;
    plan.method_reason = fmt::format("no tolerance above {:g} was asked for", default_tolerance);
  }
  choose_share(plan, request.execution, machine, shares);
  plan.memory_limit = memory_limit_of(request.execution, machine);
  method_of(plan).plan(plan, request, problem, machine);
  return plan;
}

std::vector<MethodCost> method_costs(const Request& request, const PrismSource& ensemble, const PointColumns& points,
                                     const ProblemSize& problem, const Communicator& communicator) {
  MethodPlans plans;
  return costs_of_run(request, {ensemble, points, problem, communicator}, plans);
}

Plan plan_on_ranks(const Request& request, const PrismSource& ensemble, const PointColumns& points,
                   const ProblemSize& problem, const Communicator& communicator) {
  agree_on_input(communicator, [&] { check_request(request, ensemble); });
  const Run run{ensemble, points, problem, communicator};
  const bool may_choose = request.execution.method == Method::automatic && saves(request, problem);
  if (!may_choose) return plan_by_method(request, run);
  // so little that to measure what others take would take longer
  constexpr double little_seconds = 0.5;
  MethodPlans plans;
  Plan& direct = plans.front().emplace(plan_by_method(with_method(request, Method::direct), run));
  const auto pairs = static_cast<double>(direct.prisms().size()) * static_cast<double>(direct.points().size());
  if (largest(communicator, pairs * direct.direct.pair_seconds) < little_seconds) {
    direct.method_reason = "it takes little time";
    return std::move(direct);
  }
  const std::vector<MethodCost> costs = costs_of_run(request, run, plans);
  const auto chosen = std::min_element(costs.begin(), costs.end(), [](const MethodCost& a, const MethodCost& b) {
    return a.problem.empty() && (!b.problem.empty() || a.seconds < b.seconds);
  });
  Plan& plan = *plans[static_cast<std::size_t>(chosen - costs.begin())];
  plan.method_reason = reason_of(*chosen, costs);
  return std::move(plan);
}

std::string memory_refusal(const MemoryNeed& need, const Request& request, const PrismSource& ensemble,
                           const PointColumns& points, const ProblemSize& problem, const Communicator& communicator) {
  if (!any(communicator, !need.fits())) return "";
  std::string others;
  // an automatic one is the fastest that fits, where any does
  if (request.execution.method != Method::automatic) {
    for (const MethodCost& cost : method_costs(request, ensemble, points, problem, communicator)) {
      if (!cost.problem.empty()) continue;
      others += fmt::format("{}{} ({})", others.empty() ? "" : " or ", name(cost.method), size_text(cost.host_bytes));
    }
  }
  std::string text = memory_shortage(need, communicator.size(), request.execution.memory_limit.has_value(), others);
  broadcast(communicator, text);
  return text;
}

double estimated_seconds(const Request& request, const PrismSource& ensemble, const PointColumns& points,
                         const Plan& plan, const Communicator& communicator) {
  double seconds = 0;
  agree(communicator, [&] { seconds = method_of(plan).seconds(plan, request, ensemble, points); });
  return largest(communicator, seconds);
}

}  // namespace prismfield
