// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include <prismfield/demagnetize.hpp>
#include <prismfield/error.hpp>

#include "app/commands.hpp"
#include "app/finish_result.hpp"
#include "app/run_inputs.hpp"
#include "app/start.hpp"
#include "app/terminal.hpp"
#include "base/checksum.hpp"
#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "case/case.hpp"
#include "case/make_model.hpp"
#include "case/make_points.hpp"
#include "case/output_check.hpp"
#include "compute/checked_forward.hpp"
#include "compute/checkpoint.hpp"
#include "compute/method.hpp"
#include "compute/plan.hpp"
#include "engine/kokkos_facts.hpp"
#include "model/choices.hpp"
#include "model/extents.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "parallel/placement.hpp"
#include "writers/result_file.hpp"

namespace prismfield {
namespace {

std::string points_text(const Points& points) {
  const std::string count = counted(points.size(), points.is_grid() ? "point" : "station");
  if (!points.is_grid()) return count;
  return fmt::format("grid {} x {}, {}", points.grid_easting.size(), points.grid_northing.size(), count);
}

std::string space_text(const Plan& plan) {
  return name(plan.space) + (", " + (is_device(plan.space) ? plan.device : counted(plan.threads, "thread")));
}

/// `ranks`: what placement_text says of them.
std::string partition_text(const Plan& plan, const std::string& ranks) {
  const std::string kind =
      plan.partition == Partition::rank_grid
          ? fmt::format("{} of prisms x {} of points", counted(plan.prism_parts, "part"), plan.point_parts)
          : std::string("by ") + name(plan.partition);
  return fmt::format("{}{}, {}", kind, plan.partition_is_auto ? " (auto)" : "", ranks);
}

std::string overlap_text(const Inputs& inputs) {
  const std::int64_t within = points_within_outline(inputs.points, inputs.model->source().bounds());
  const std::string count = within == 0 ? "none" : within == inputs.points.size() ? "all" : grouped(within);
  return count + " within the model's outline";
}

/// "tree (auto: about 2.1 s; direct 170 s)"
std::string method_text(const Plan& plan) {
  return name(plan.method) + (plan.method_reason.empty() ? "" : " (auto: " + plan.method_reason + ")");
}

/// "0 to 300 kg/m3; susceptibility 0 to 0.05 SI", without a density that is 0 everywhere beside others
std::string model_text(const PropertyRanges& ranges) {
  const std::string magnetic = magnetic_text(ranges);
  const bool has_density = ranges.density.min < 0 || ranges.density.max > 0;
  if (magnetic.empty()) return density_text(ranges.density);
  return has_density ? density_text(ranges.density) + "; " + magnetic : magnetic;
}

/// The lines with which a run begins. `ranks`: what placement_text says of them.
std::string run_heading(const Inputs& inputs, const Plan& plan, const std::string& ranks) {
  const bool is_vector = inputs.run.fields == FieldList::vector();
  return fmt::format("{}\n{}\n{}, {} pairs{}\nmodel: {}; {}\npoints: {}; {}\n{}; {}; {}{}\n", shown(inputs.run.title),
                     shown(inputs.model->description()), points_text(inputs.points), pairs_text(plan),
                     is_vector ? "; fields: " + fields_text(inputs.run.fields) : "",
                     extent_text(inputs.model->source().bounds()), model_text(inputs.model->ranges()),
                     extent_text(bounds_of(inputs.points)), overlap_text(inputs), space_text(plan),
                     partition_text(plan, ranks), name(plan.precision),
                     plan.tolerance > default_tolerance ? "; " + method_text(plan) : "");
}

/// What a run takes by a method, or why that cannot serve.
std::string cost_text(const MethodCost& cost) {
  if (!cost.problem.empty()) return cost.problem;
  std::string text = duration_text(cost.seconds) + ", " + size_text(cost.host_bytes);
  if (cost.device_bytes > 0) text += ", on the device " + size_text(cost.device_bytes);
  return text;
}

/// Share and memory of every rank, for --dry-run.
struct RankSizes {
  std::vector<std::int64_t> prisms, points, host, device;
};

/// What --dry-run prints. `need`: the tightest of memory. `ranks_text`: what placement_text says of the ranks.
/// `seconds`: that the run takes before it computes.
std::string dry_run_table(const Inputs& inputs, const Plan& plan, const RankSizes& ranks, const MemoryNeed& need,
                          const std::string& ranks_text, const std::vector<MethodCost>& costs, double seconds) {
  std::string text = shown(inputs.run.title) + "\n";
  const auto row = [&](const char* label, const std::string& content) {
    text += fmt::format("  {:<18}{}\n", label, shown(content));
  };
  row("model", inputs.model->description());
  row("model's extent", extent_text(inputs.model->source().bounds()));
  row("densities", density_text(inputs.model->ranges().density));
  if (const std::string magnetic = magnetic_text(inputs.model->ranges()); !magnetic.empty()) row("magnetic", magnetic);
  row("points", points_text(inputs.points));
  row("points' extent", fmt::format("{}; {}", extent_text(bounds_of(inputs.points)), overlap_text(inputs)));
  row("fields", fields_text(inputs.run.fields));
  row("pairs", pairs_text(plan));
  row("space",
      fmt::format("{}, {}", space_text(plan),
                  is_device(plan.space) ? fmt::format("blocks of {}", plan.block) : counted(plan.lanes, "lane")));
  row("precision", fmt::format("{}, kernel {}", name(plan.precision), name(plan.kernel)));
  row("partition", partition_text(plan, ranks_text));
  row("method", method_text(plan));
  if (plan.tolerance > default_tolerance) {
    row("tolerance",
        fmt::format("{}, checked at {} points", short_number(plan.tolerance), inputs.run.execution.check_points));
  }
  for (const MethodCost& cost : costs) {
    row(fmt::format("  {}", name(cost.method)).c_str(), cost_text(cost));
    if (cost.method == plan.method) seconds += cost.seconds;
  }
  for (const auto& [label, content] : method_of(plan).text(plan).rows) row(label.c_str(), content);
  const bool on_device = std::any_of(ranks.device.begin(), ranks.device.end(), [](std::int64_t n) { return n > 0; });
  if (ranks.prisms.size() == 1) {
    row("memory", size_text(ranks.host[0]) + (on_device ? ", on the device " + size_text(ranks.device[0]) : ""));
  } else {
    text += fmt::format("  {:<18}{:>14} {:>14} {:>10}{}\n", "rank", "prisms", "points", "memory",
                        on_device ? fmt::format(" {:>10}", "device") : "");
    for (std::size_t i = 0; i < ranks.prisms.size(); ++i) {
      text +=
          fmt::format("  {:<18}{:>14} {:>14} {:>10}{}\n", i, grouped(ranks.prisms[i]), grouped(ranks.points[i]),
                      size_text(ranks.host[i]), on_device ? fmt::format(" {:>10}", size_text(ranks.device[i])) : "");
    }
  }
  const auto n_ranks = static_cast<int>(ranks.prisms.size());
  if (need.ranks > 0) row("available", available_text(need, n_ranks));
  const ResultHeader header = header_of(inputs);
  const std::int64_t bytes = result_bytes(header, inputs.points, inputs.run.fields);
  row("result", fmt::format("{}, about {}", header.file.string(), size_text(bytes)));
  // a file's beginning and end on its disk, and bytes a second
  constexpr double file_seconds = 0.02, writing_rate = 1e8;
  row("estimated time",
      costs.empty() ? "not known" : duration_text(seconds + file_seconds + static_cast<double>(bytes) / writing_rate));
  return text;
}

/// What the plan has to know of the model and the points.
ProblemSize size_of(const Inputs& inputs) {
  ProblemSize problem = problem_size(inputs.model->source(), inputs.points);
  problem.checkpoints = inputs.run.output.checkpoint.has_value();
  problem.model = {inputs.model->memory_bytes(), inputs.model->peak_memory_bytes()};
  return problem;
}

/// The plan of the run. Errors carry the lines of the case. Collective.
Plan plan_of(const Inputs& inputs, const PrismSource& prisms, const Communicator& communicator) {
  try {
    return plan_on_ranks(inputs.run.request(), prisms, inputs.points, size_of(inputs), communicator);
  } catch (const InputError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) problem.where = inputs.run.where(problem.key);
    throw InputError(std::move(problems), error.more());
  }
}

/// "execution.tolerance: 1e-9 would take about 0.5 s instead of 25 s\n" of a run that takes every pair and would take
/// much less by another method; "" of others. Collective.
std::string tolerance_hint(const Inputs& inputs, const PrismSource& prisms, const Plan& plan,
                           const Communicator& communicator) {
  constexpr double long_seconds = 10, much_less = 0.3, tolerance = 1e-9;
  if (plan.method != Method::direct || plan.tolerance != default_tolerance || plan.kernel == KernelKind::corners ||
      plan.precision != Precision::double_) {
    return "";
  }
  // to measure what others take takes about a second on a device
  const auto pairs = static_cast<double>(plan.prisms().size()) * static_cast<double>(plan.points().size());
  if (!any(communicator, pairs * plan.direct.pair_seconds > 0.5 * long_seconds)) return "";
  Request request = inputs.run.request();
  const double seconds = estimated_seconds(request, prisms, inputs.points, plan, communicator);
  if (seconds < long_seconds) return "";
  request.execution.tolerance = tolerance;
  double least = seconds;
  for (const MethodCost& cost : method_costs(request, prisms, inputs.points, size_of(inputs), communicator)) {
    if (cost.problem.empty()) least = std::min(least, cost.seconds);
  }
  if (least > much_less * seconds) return "";
  return fmt::format("execution.tolerance: {} would take about {} instead of {}\n", short_number(tolerance),
                     duration_text(least), duration_text(seconds));
}

/// Throws InputError when the case asks for another number of ranks than there are.
void check_rank_grid(const Case& run, const Communicator& communicator) {
  if (run.execution.partition != Partition::rank_grid) return;
  const int prism_parts = run.execution.rank_grid[0];
  const int point_parts = run.execution.rank_grid[1];
  if (prism_parts * point_parts == communicator.size()) return;
  throw InputError(run.where("execution.partition"), "execution.partition",
                   fmt::format("{} x {} ranks asked for, but the run has {}; start it with mpirun -n {}", prism_parts,
                               point_parts, communicator.size(), prism_parts * point_parts));
}

/// Gathers the threads or device of every rank's plan into `places`. Collective.
void gather_plan_workers(const Plan& plan, const Communicator& communicator, std::vector<RankPlace>& places) {
  const KokkosFacts facts = kokkos_facts();
  const bool on_device = is_device(plan.space);
  gather_workers(communicator, on_device ? facts.host_threads : plan.threads, on_device ? facts.device_key : 0,
                 static_cast<std::int64_t>(facts.devices.size()), places);
}

RankSizes gather_sizes(const Plan& plan, const Communicator& communicator) {
  return {gather(communicator, plan.prism_end - plan.prism_begin),
          gather(communicator, plan.point_end - plan.point_begin), gather(communicator, plan.host_bytes),
          gather(communicator, plan.device_bytes)};
}

/// The guard that writes a run's checkpoints; the work is put where the run goes on from. Collective.
std::unique_ptr<CheckpointGuard> make_guard(const RunOptions& options, const Case& run, const Digest& hash,
                                            RankWork& work, const Communicator& communicator) {
  const CheckpointSpec& checkpoint = *run.output.checkpoint;
  auto guard = std::make_unique<CheckpointGuard>(CheckpointSettings{checkpoint.file, checkpoint.every_seconds}, hash,
                                                 communicator);
  const bool found = go_on(options, run, hash, communicator.size(), communicator, [&] { return guard->read(work); });
  guard->settle(work);
  double done = work.pairs_done();
  sum_to_root(communicator, &done, 1);
  if (communicator.rank() == 0) {
    const double all = static_cast<double>(work.plan().n_prisms) * static_cast<double>(work.plan().n_points);
    tell_checkpoint(options, checkpoint.file,
                    found ? fmt::format("goes on, {:.1f} % of the pairs are done", all > 0 ? 100 * done / all : 0.0)
                          : "no checkpoint yet, the run begins at its start");
  }
  return guard;
}

/// Shows the progress of a run, looks at signals and says when checkpoints fail.
class RunObserver final : public Observer {
public:
  /// `guard` looks at signals itself; may be null.
  RunObserver(ProgressStyle style, const CheckpointGuard* guard) : m_progress(style, std::cerr), m_guard(guard) {}

  void progress(double done_fraction, std::int64_t pairs_done) override {
    if (m_guard == nullptr) throw_if_interrupted();
    m_progress.update(done_fraction, pairs_done);
    if (m_guard == nullptr || m_guard->failure() == m_last_failure) return;
    m_last_failure = m_guard->failure();
    if (!m_last_failure.empty()) warn(m_last_failure + "; the run goes on without it");
  }

private:
  Progress m_progress;
  const CheckpointGuard* m_guard;
  std::string m_last_failure;
};

/// "tolerance 1e-06: within 3.1e-08 of the largest values at 100 points\n"; "" where nothing was checked.
std::string check_text(const Fields& result) {
  const ToleranceCheck& check = result.check;
  if (check.points == 0) return "";
  std::string text = fmt::format("tolerance {}: within {:.2g} of the largest values at {} points",
                                 short_number(check.tolerance), check.largest(), check.points);
  if (check.repeats > 0) {
    text += fmt::format("; computed again {}, at last to {}", counted(check.repeats, "time"),
                        short_number(result.plan.tolerance));
  }
  for (const FieldInfo& field : result.fields) {
    // a tolerance of the largest says little of the others
    constexpr double many = 1e3;
    const double times = check.over_median[static_cast<std::size_t>(result.fields.index_of(field.field))];
    if (times > many) text += fmt::format("\n  the largest {} is {:.1e} times the median", field.name, times);
  }
  return text + "\n";
}

/// Writes, shows and draws the result; on rank 0 only.
void finish(const Inputs& inputs, const Fields& result, bool quiet, double setup_seconds, Moment begin) {
  if (!inputs.run.output.checkpoint) throw_if_interrupted();
  ResultEnd end{header_of(inputs), setup_seconds, {}, {}};
  if (end.header.n_variables > 0) {
    end.header.variables = terrain_variables(end.header, inputs.points, result, *inputs.model->terrain());
  }
  if (inputs.run.output.checkpoint) end.checkpoint = inputs.run.output.checkpoint->file;
  end.heading = check_text(result);
  if (result.check.largest() > result.check.tolerance) {
    warn(
        fmt::format("errors may be larger than execution.tolerance {}: up to {:.1e} of a field's largest value; the "
                    "prisms' fields cancel each other to fewer digits than double precision has",
                    short_number(result.check.tolerance), result.check.largest()));
  }
  end_with_result(inputs, end, result, quiet, begin);
}

/// The fields, with progress on the way; none when a guard stopped the run and holds what was done. Collective.
std::optional<Fields> compute(const Inputs& inputs, const PrismSource& prisms, RankWork& work,
                              const Communicator& communicator, CheckpointGuard* guard, bool quiet) {
  try {
    RunObserver observer(communicator.rank() == 0 ? progress_style(quiet) : ProgressStyle::silent, guard);
    return checked_forward(prisms, inputs.points, inputs.run.request(), work, communicator, &observer, guard);
  } catch (const Stopped&) {
    if (guard == nullptr) throw;
    return std::nullopt;
  }
}

/// Prisms with magnetisations of their own, and by how much these may be wrong, relative.
struct Magnetized {
  std::unique_ptr<MagnetizedPrisms> prisms;
  double error = 0;

  /// These prisms, or the model's where there are none.
  [[nodiscard]] const PrismSource& or_those_of(const Model& model) const { return prisms ? *prisms : model.source(); }
};

/// The model's prisms as their fields on each other magnetise them; none where the case does not ask for it. Says what
/// it took. Collective.
Magnetized demagnetized(Inputs& inputs, const Communicator& communicator, bool quiet) {
  if (!inputs.run.demagnetizes || inputs.run.fields.of_magnetisation().empty()) return {};
  Model& model = *inputs.model;
  const std::vector<double> susceptibility = model.susceptibilities();
  if (susceptibility.empty()) return {};
  const bool is_root = communicator.rank() == 0;
  RunObserver observer(ProgressStyle::silent, nullptr);
  SelfConsistentMagnetization found = at_places_of(inputs.run, [&] {
    return demagnetize(model.source(), susceptibility, inputs.run.request(), communicator, &observer);
  });
  if (is_root && !quiet) {
    std::cout << fmt::format("demagnetization: {}, {:.1e} of the equation left\n", counted(found.products, "product"),
                             found.residual);
  }
  return {std::make_unique<MagnetizedPrisms>(model.source(), std::move(found.magnetization)), found.error};
}

/// Adds to the errors that a check has found those of the magnetisation.
void add_error_of(const Magnetized& magnetized, Fields& result) {
  if (result.check.errors.empty()) return;
  for (const FieldInfo& field : result.fields) {
    if (field.is_magnetic)
      result.check.errors[static_cast<std::size_t>(result.fields.index_of(field.field))] += magnetized.error;
  }
}

/// Computes with the case's guard and writes the result. `magnetized`: used instead of the model's prisms where it has
/// prisms. Collective.
void compute_and_write(const RunOptions& options, Inputs& inputs, const Magnetized& magnetized, const Plan& plan,
                       const Communicator& communicator, Moment begin) {
  const bool is_root = communicator.rank() == 0;
  const std::unique_ptr<RankWork> work = make_work(plan, communicator);
  std::unique_ptr<CheckpointGuard> guard;
  std::unique_ptr<CheckpointLock> lock;
  Digest hash;
  if (inputs.run.output.checkpoint) {
    agree(communicator, [&] {
      if (!is_root) return;
      lock = at_places_of(inputs.run,
                          [&] { return std::make_unique<CheckpointLock>(inputs.run.output.checkpoint->file); });
    });
    hash = case_hash(inputs.run, *inputs.model, inputs.points);
    guard = make_guard(options, inputs.run, hash, *work, communicator);
  }
  const PrismSource& prisms = magnetized.or_those_of(*inputs.model);

  const double setup_seconds = seconds_since(begin);
  std::optional<Fields> result = compute(inputs, prisms, *work, communicator, guard.get(), options.quiet);
  agree(communicator, [&] {
    if (!result) {
      if (!guard->failure().empty()) throw RunError(guard->failure());
      throw Stopped(
          fmt::format("{} holds what was done, --resume goes on from it", inputs.run.output.checkpoint->file.string()));
    }
    add_error_of(magnetized, *result);
    if (is_root) finish(inputs, *result, options.quiet, setup_seconds, begin);
  });
  if (lock) remove_checkpoint(inputs.run.output.checkpoint->file, hash);
}

}  // namespace

ProgramEnd execute(const RunOptions& options, const std::vector<std::string>& kokkos_options,
                   const Communicator& communicator) {
  const Moment begin = std::chrono::steady_clock::now();
  const bool is_root = communicator.rank() == 0;
  const bool tells = is_root && !options.quiet;
  catch_interrupts();

  Inputs inputs = read_inputs(options, communicator);
  if (is_root) tell_inputs(options, inputs);
  if (options.check && !options.dry_run) {
    if (tells) std::cout << shown(options.file.string()) << ": no errors found\n";
    return {};
  }

  std::vector<RankPlace> places = gather_places(communicator);
  const std::unique_ptr<Runtime> runtime = start_runtime(kokkos_options, places, communicator);
  agree(communicator, [&] { check_rank_grid(inputs.run, communicator); });
  // a plan is of the magnetisation that is computed; --dry-run plans with the model's
  Magnetized magnetized;
  if (!options.dry_run) magnetized = demagnetized(inputs, communicator, options.quiet);
  const PrismSource& prisms = magnetized.or_those_of(*inputs.model);
  const Plan plan = plan_of(inputs, prisms, communicator);
  gather_plan_workers(plan, communicator, places);
  if (is_root) {
    for (const std::string& warning : placement_warnings(places)) warn(warning);
  }
  const MemoryNeed need = tightest_need(plan, communicator);
  const std::string shortage =
      memory_refusal(need, inputs.run.request(), prisms, inputs.points, size_of(inputs), communicator);
  if (options.dry_run) {
    const RankSizes sizes = gather_sizes(plan, communicator);
    // what the run does before it computes has been done here
    const double seconds = seconds_since(begin);
    if (!options.quiet) {
      const std::vector<MethodCost> costs = diagnosed_together(communicator, "the time", [&] {
        return method_costs(inputs.run.request(), prisms, inputs.points, size_of(inputs), communicator);
      });
      if (is_root) {
        std::cout << dry_run_table(inputs, plan, sizes, need, placement_text(places), costs, seconds) << std::flush;
      }
    }
    if (!shortage.empty()) warn(shortage + "; without --dry-run this is refused");
    return {};
  }
  agree(communicator, [&] {
    if (!shortage.empty()) throw InputError(inputs.run.file.string(), "", shortage);
  });
  const std::vector<std::int64_t> checkpoints = gather(communicator, plan.checkpoint_bytes);
  agree(communicator, [&] {
    if (is_root) check_disk(inputs, std::accumulate(checkpoints.begin(), checkpoints.end(), std::int64_t{0}));
  });
  const std::string hint = options.quiet ? "" : diagnosed_together(communicator, "the time by other methods", [&] {
    return tolerance_hint(inputs, prisms, plan, communicator);
  });
  if (tells) std::cout << run_heading(inputs, plan, placement_text(places)) << hint << std::flush;
  compute_and_write(options, inputs, magnetized, plan, communicator, begin);
  return {};
}

}  // namespace prismfield
