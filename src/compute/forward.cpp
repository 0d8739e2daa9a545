// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/forward.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include <prismfield/error.hpp>

#include "base/counts.hpp"
#include "compute/balance.hpp"
#include "compute/cost_model.hpp"
#include "compute/fitting.hpp"
#include "compute/gather.hpp"
#include "compute/memory_check.hpp"
#include "compute/plan.hpp"
#include "compute/work.hpp"
#include "engine/engine.hpp"
#include "model/points.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// What this rank begins with: the guard's state, which also decides what the order of additions depends on, or its
/// share of the plan.
RankState begin_work(Plan& plan, RunGuard* guard) {
  if (auto begun = guard != nullptr ? guard->begin() : std::nullopt) {
    plan.slots = begun->layout.slots;
    plan.batch = begun->layout.batch;
    plan.tile_points = begun->layout.tile_points;
    plan.chunk_prisms = begun->layout.chunk_prisms;
    // whole batches, as in the run that it goes on from
    plan.launch_prisms = std::max<std::int64_t>(plan.launch_prisms / plan.batch, 1) * plan.batch;
    plan.launch_prisms = std::min(plan.launch_prisms, plan.chunk_prisms);
    return std::move(*begun);
  }
  RankState state;
  state.layout.work = work_of(plan);
  state.layout.points = plan.points();
  state.payload.values.resize(static_cast<std::size_t>(fields_of(plan.set).size() * state.layout.points.size()));
  state.payload.contact.resize(static_cast<std::size_t>(n_contact_columns * state.layout.points.size()));
  return state;
}

/// The engine of a plan; where memory is short, of a smaller one, which `plan` then is.
std::unique_ptr<FieldEngine> make_fitting_engine(Plan& plan, const EngineTraits& traits, const PrismSource& prisms,
                                                 const Points& points, bool in_a_tile) {
  std::unique_ptr<FieldEngine> engine;
  make_fitting(plan, traits, in_a_tile, [&](const Plan& fitting) {
    engine = make_engine(fitting.space, fitting.precision, engine_settings(fitting, prisms, points));
  });
  return engine;
}

/// Whether a rank's work is its share of the plan.
bool is_share_of(const std::vector<WorkItem>& work, const Plan& plan) { return work == work_of(plan); }

/// Cost of a rank's prisms and of its pairs as counted by form, by the cost model, ns.
double cost_of_work(const RankState& state, const Plan& plan, const EngineTraits& traits, bool uniform_shape) {
  double prisms_staged = 0;
  const std::int64_t tile = std::max<std::int64_t>(plan.tile_points, 1);
  for (const WorkItem& item : state.layout.work) {
    const std::int64_t tiles = (item.ordered.size() + tile - 1) / tile;
    prisms_staged += static_cast<double>(item.prisms.size()) * static_cast<double>(tiles);
  }
  return cost_of_pairs(form_weights(traits.is_device), state.progress.pairs_by_form) +
         prism_weight(traits.is_device, uniform_shape) * prisms_staged;
}

/// The plan of a run that has the memory it needs.
Plan checked_plan(const PrismSource& prisms, const Points& points, const Request& request,
                  const Communicator& communicator) {
  check_points(points);
  Plan plan = plan_on_ranks(request, prisms, points, problem_size(prisms, points), communicator);
  // less is not worth the question
  constexpr std::int64_t much = std::int64_t{1} << 28;
  if (any(communicator, plan.host_bytes_to_come > much)) {
    const MemoryNeed need = tightest_need(plan, communicator);
    agree_on_input(communicator, [&] {
      const std::string shortage =
          memory_shortage(need, communicator.size(), request.execution.memory_limit.has_value());
      if (!shortage.empty()) throw InputError("", "", shortage);
    });
  }
  return plan;
}

}  // namespace

Fields forward(const PrismSource& prisms, const Points& points, const Request& request, Plan plan,
               const Communicator& communicator, Observer* observer, RunGuard* guard, std::span<double> values) {
  const auto start = Clock::now();
  const EngineTraits traits = engine_traits(plan.space, plan.precision, plan.set, plan.kernel);
  RankState state;
  std::unique_ptr<FieldEngine> engine;
  agree_unless_alone(communicator, [&] {
    state = begin_work(plan, guard);
    engine = make_fitting_engine(plan, traits, prisms, points, state.progress.prisms > 0);
  });
  state.layout.slots = plan.slots;
  state.layout.batch = plan.batch;
  state.layout.tile_points = plan.tile_points;
  state.layout.chunk_prisms = plan.chunk_prisms;
  Fields result;
  result.fields = request.fields;
  result.setup_seconds = seconds_since(start);

  // so that the ranks' times have one beginning
  barrier(communicator);
  const auto field_start = Clock::now();
  Worker worker(prisms, points, plan, communicator, *engine, state, observer, guard);
  std::exception_ptr failure;
  try {
    worker.work();
  } catch (...) {
    failure = std::current_exception();
    // the others need not compute to their end
    announce_stop(communicator);
  }
  const double busy = seconds_since(field_start);
  end_announcements(communicator);
  agree_unless_alone(communicator, [&] {
    if (failure) std::rethrow_exception(failure);
  });
  if (any(communicator, !state.finished())) {
    if (state.finished()) guard->keep(state);
    throw Stopped();
  }
  const std::int64_t field_start_time =
      std::chrono::duration_cast<std::chrono::nanoseconds>(field_start.time_since_epoch()).count();
  result.busy = gather_busy(engine->busy(), field_start_time, communicator);
  engine.reset();

  const RankState* const before = guard != nullptr ? guard->done_before() : nullptr;
  const bool as_planned = before == nullptr && is_share_of(state.layout.work, plan);
  result.rank_cost = gather(communicator, cost_of_work(state, plan, traits, prisms.uniform_shape()));
  gather_fields(state, before, as_planned, request.gravitational_constant, plan, communicator, values, result);
  result.pairs = product_or_most(plan.n_prisms, plan.n_points);
  result.rank_pairs = gather(communicator, worker.pairs());
  result.pairs_now = worker.pairs_done();
  sum_to_root(communicator, &result.pairs_now, 1);
  result.rank_busy_seconds = gather(communicator, busy);
  const double offset = std::chrono::duration<double>(field_start - start).count();
  result.rank_begin = gather(communicator, offset);
  result.rank_end = gather(communicator, offset + busy);
  result.field_seconds = seconds_since(field_start);
  result.plan = plan;
  return result;
}

Fields forward(const PrismSource& prisms, const Points& points, const Request& request,
               const Communicator& communicator, Observer* observer) {
  const Plan plan = checked_plan(prisms, points, request, communicator);
  return forward(prisms, points, request, plan, communicator, observer);
}

Fields forward_into(std::span<double> values, const PrismSource& prisms, const Points& points, const Request& request,
                    const Communicator& communicator, Observer* observer) {
  const Plan plan = checked_plan(prisms, points, request, communicator);
  const bool is_root = communicator.rank() == 0;
  agree_on_input(communicator, [&] {
    const std::int64_t n = request.fields.size() * plan.n_points;
    if (is_root && values.size() != static_cast<std::size_t>(n)) {
      throw InputError("", "values",
                       "has " + std::to_string(values.size()) + " numbers, the fields are " + std::to_string(n));
    }
  });
  return forward(prisms, points, request, plan, communicator, observer, nullptr,
                 is_root ? values : std::span<double>());
}

}  // namespace prismfield
