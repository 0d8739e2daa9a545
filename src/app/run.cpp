// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "app/field_statistics.hpp"
#include "app/figure.hpp"
#include "app/progress.hpp"
#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "case/case.hpp"
#include "case/make_model.hpp"
#include "case/make_points.hpp"
#include "case/output_check.hpp"
#include "compute/balance.hpp"
#include "compute/checkpoint.hpp"
#include "compute/forward.hpp"
#include "engine/runtime.hpp"
#include "io/result_file.hpp"
#include "parallel/agreement.hpp"
#include "parallel/placement.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Everything that a case names, read and validated.
struct Inputs {
  Case run;
  std::optional<Model> model;
  Points points;
};

/// Throws InputError for a space that this build lacks, before anything is read for it.
void check_space(const Case& run) {
  if (run.execution.space == Space::automatic) return;
  const std::vector<std::string> built = kokkos_facts().spaces;
  const std::string wanted = name(run.execution.space);
  if (std::find(built.begin(), built.end(), wanted) != built.end()) return;
  throw InputError(run.where("execution.space"), "execution.space",
                   fmt::format("is {}, which was not built into this prismfield; allowed: default, {}", wanted,
                               fmt::join(built, ", ")));
}

/// Throws InputError when the points alone would not fit into this machine's memory: better than to be killed.
void check_point_memory(const Case& run) {
  double n_points = 0;
  std::string key;
  if (const auto* grid = std::get_if<GridSpec>(&run.observations)) {
    n_points = static_cast<double>(grid->easting.count) * static_cast<double>(grid->northing.count);
    key = "observations.grid";
  } else if (const auto* random = std::get_if<StationsRandom>(&run.observations)) {
    n_points = static_cast<double>(random->count);
    key = "observations.stations.random";
  }
  constexpr double coordinates = 3;
  const double bytes = n_points * (coordinates + run.fields.size()) * sizeof(double);
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (memory <= 0 || bytes <= memory) return;
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  throw InputError(run.where(key), key,
                   fmt::format("has {} points, whose coordinates and fields take {} GiB of this machine's {} GiB; use "
                               "fewer points",
                               short_number(n_points), short_number(bytes / gib), short_number(memory / gib)));
}

/// Reads the case and what it names, large files once. Throws AgreedFailure with the mistakes of all of them.
/// Collective.
Inputs read_inputs(const RunOptions& options, const Communicator& communicator) {
  Inputs inputs;
  ProblemList problems;
  const auto collect = [&](auto&& step) {
    try {
      step();
      return true;
    } catch (const InputError& error) {
      problems.add(error);
      return false;
    }
  };
  bool points_fit = true;
  agree(communicator, [&] {
    inputs.run = read_case(options.file, options.overrides, options.output);
    collect([&] { check_space(inputs.run); });
    collect([&] { check_output(inputs.run); });
    if (options.resume && !inputs.run.output.checkpoint) {
      problems.add("--resume", "", "the case names no checkpoint; give it output.checkpoint.file");
    }
    points_fit = collect([&] { check_point_memory(inputs.run); });
    throw_if_interrupted();
  });
  collect([&] { inputs.model.emplace(make_model(inputs.run, communicator)); });
  agree(communicator, throw_if_interrupted);
  // Without a model, ranges of random stations are unknown, but a file of stations can be read.
  const Bounds bounds = inputs.model ? inputs.model->source().bounds() : Bounds{};
  if (!communicator.any(!points_fit)) {
    collect([&] { inputs.points = make_points(inputs.run, bounds, communicator); });
  }
  agree(communicator, [&] {
    problems.throw_if_any();
    throw_if_interrupted();
  });
  return inputs;
}

std::string points_text(const Points& points) {
  const std::string count = counted(points.size(), points.is_grid() ? "point" : "station");
  if (!points.is_grid()) return count;
  return fmt::format("grid {} x {}, {}", points.grid_easting.size(), points.grid_northing.size(), count);
}

std::string fields_text(FieldList fields) {
  std::vector<std::string_view> names;
  for (const FieldInfo& field : field_infos) {
    if (fields.contains(field.field)) names.push_back(field.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string space_text(const ForwardPlan& plan) {
  if (plan.space == Space::cuda) return fmt::format("cuda, {}, blocks of {}", plan.device, plan.block);
  return fmt::format("{}, {}, {}", name(plan.space), counted(plan.threads, "thread"), counted(plan.lanes, "lane"));
}

/// `ranks`: what placement_text says of them.
std::string partition_text(const ForwardPlan& plan, const std::string& ranks) {
  const std::string kind =
      plan.partition == Partition::rank_grid
          ? fmt::format("{} of prisms x {} of points", counted(plan.prism_parts, "part"), plan.point_parts)
          : std::string("by ") + name(plan.partition);
  return fmt::format("{}{}{}, {}", kind, plan.partition_is_auto ? " (auto)" : "",
                     plan.balance == Balance::cost ? ", balanced by cost" : "", ranks);
}

std::string slots_text(const ForwardPlan& plan) {
  return fmt::format("{}, batches of {}", counted(plan.slots, "slot"), counted(plan.batch, "prism"));
}

std::string tiles_text(const ForwardPlan& plan) {
  const std::int64_t points = plan.point_end - plan.point_begin;
  const std::int64_t tile = std::max<std::int64_t>(1, plan.tile_points);
  return fmt::format("{} of {}", counted((points + tile - 1) / tile, "tile"), counted(std::min(tile, points), "point"));
}

std::string pairs_text(const ForwardPlan& plan) {
  const double pairs = static_cast<double>(plan.n_prisms) * static_cast<double>(plan.n_points);
  constexpr double countable = 9e18;
  return pairs < countable ? grouped(plan.n_prisms * plan.n_points) : short_number(pairs);
}

/// The lines with which a run begins.
std::string heading(const Inputs& inputs, const ForwardPlan& plan, const std::string& ranks) {
  return fmt::format("{}\n{}\n{}, {} pairs\n{}; {}; {}, {}; {}\n", inputs.run.title, inputs.model->description(),
                     points_text(inputs.points), pairs_text(plan), space_text(plan), partition_text(plan, ranks),
                     name(plan.precision), slots_text(plan), tiles_text(plan));
}

/// Tells all ranks which threads or device this rank's plan uses.
void gather_plan_workers(const ForwardPlan& plan, const Communicator& communicator, std::vector<RankPlace>& places) {
  const KokkosFacts facts = kokkos_facts();
  const bool on_device = plan.space == Space::cuda;
  gather_workers(communicator, on_device ? facts.host_threads : plan.threads, on_device ? facts.device_key : 0,
                 static_cast<std::int64_t>(facts.devices.size()), places);
}

/// One rank's share and memory, as --dry-run tells it.
struct RankSizes {
  std::vector<std::int64_t> prisms, points, host, device;
};

RankSizes gather_sizes(const ForwardPlan& plan, const Communicator& communicator) {
  return {communicator.gather(plan.prism_end - plan.prism_begin),
          communicator.gather(plan.point_end - plan.point_begin), communicator.gather(plan.host_bytes),
          communicator.gather(plan.device_bytes)};
}

/// What the model occupies once this rank holds `range`.
ModelMemory memory_of(const Model& model, IndexRange range) {
  const auto [after, during] = model.memory_to_hold(range);
  return {after, during, model.peak_memory_bytes()};
}

/// Bytes of the result: every field, the coordinates, and room for attributes.
std::int64_t result_bytes(const Inputs& inputs) {
  constexpr std::int64_t overhead = 32 * 1024;
  const std::int64_t columns = inputs.run.fields.size() + (inputs.points.is_grid() ? 1 : 3);
  return inputs.points.size() * columns * static_cast<std::int64_t>(sizeof(double)) + overhead;
}

std::string dry_run_table(const Inputs& inputs, const ForwardPlan& plan, const RankSizes& ranks,
                          const std::string& ranks_text) {
  std::string text = inputs.run.title + "\n";
  const auto row = [&](const char* label, const std::string& content) {
    text += fmt::format("  {:<18}{}\n", label, content);
  };
  row("model", inputs.model->description());
  row("points", points_text(inputs.points));
  row("fields", fields_text(inputs.run.fields));
  row("pairs", pairs_text(plan));
  row("space", space_text(plan));
  row("precision", fmt::format("{}, kernel {}", name(plan.precision), name(plan.kernel)));
  row("partition", partition_text(plan, ranks_text));
  row("slots", slots_text(plan));
  row("tiles", fmt::format("{}, {} a launch", tiles_text(plan), counted(plan.launch_prisms, "prism")));
  row("scratch", fmt::format("{} (memory limit {})", size_text(plan.scratch_bytes), size_text(plan.memory_limit)));
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
  row("result", fmt::format("{}, about {}", output_file(inputs.run).string(), size_text(result_bytes(inputs))));
  row("estimated time", duration_text(plan.estimated_seconds));
  return text;
}

void warn(const std::string& message) { std::cerr << "warning: " << message << std::endl; }

void warn_about_inputs(const Inputs& inputs) {
  for (const std::string& warning : inputs.model->warnings()) warn(warning);
}

void warn_about_points(const Points& points, const ForwardResult& result) {
  if (result.points_inside > 0) {
    warn(fmt::format("{} of {} points lie inside or on prisms", grouped(result.points_inside), grouped(points.size())));
  }
  if (result.singular_points.empty()) return;
  constexpr std::size_t most_named = 5;
  std::vector<std::string> named;
  for (const std::int64_t i : result.singular_points) {
    if (named.size() == most_named) {
      named.emplace_back("...");
      break;
    }
    const auto at = static_cast<std::size_t>(i);
    named.push_back(fmt::format("({}, {}, {})", points.easting[at], points.northing[at], points.upward[at]));
  }
  warn(
      fmt::format("the gradient tensor has no value at {} on edges or corners of prisms, its finite part is written "
                  "there: {}",
                  counted(static_cast<std::int64_t>(result.singular_points.size()), "point"), fmt::join(named, ", ")));
}

/// The guard that writes a run's checkpoints, at the place from which the run goes on. Collective.
std::unique_ptr<CheckpointGuard> make_guard(const RunOptions& options, const Case& run, const ForwardPlan& plan,
                                            const Communicator& communicator) {
  const bool is_root = communicator.rank() == 0;
  const fs::path& file = run.output.checkpoint->file;
  std::uint64_t hash = 0;
  agree(communicator, [&] {
    if (is_root) hash = case_hash(run);
  });
  broadcast(communicator, hash);
  std::optional<Checkpoint> checkpoint;
  agree(communicator, [&] {
    if (!options.resume) return;
    checkpoint =
        read_checkpoint(file, hash, run.where("output.checkpoint.file"), communicator.rank(), communicator.size());
  });
  // folders that nodes see differently would give shares with gaps
  const std::vector<std::int64_t> ids =
      communicator.gather_everywhere(checkpoint ? static_cast<std::int64_t>(checkpoint->id()) : std::int64_t{0});
  agree(communicator, [&] {
    if (std::adjacent_find(ids.begin(), ids.end(), std::not_equal_to<>()) == ids.end()) return;
    throw InputError(
        run.where("output.checkpoint.file"), "output.checkpoint.file",
        fmt::format("{} is not the same for all ranks; it has to be in a folder that all nodes share", file.string()));
  });
  auto guard = std::make_unique<CheckpointGuard>(run, plan, hash, communicator);
  const bool found = checkpoint.has_value();
  if (found) guard->resume(std::move(*checkpoint), plan);
  std::error_code error;
  if (is_root && !options.resume && fs::exists(file, error)) {
    warn(fmt::format("{} exists and will be replaced; --resume goes on from it", file.string()));
  }
  if (is_root && !options.quiet && options.resume) {
    std::cout << (found ? fmt::format("{}: goes on, {:.1f} % of the pairs are done\n", file.string(),
                                      100 * guard->done_fraction())
                        : fmt::format("{}: no checkpoint yet, the run begins at its start\n", file.string()))
              << std::flush;
  }
  return guard;
}

/// Writes, shows and draws the result; on rank 0 only.
void finish(const Inputs& inputs, const ForwardResult& result, bool quiet, double setup_seconds,
            std::chrono::steady_clock::time_point begin) {
  if (!inputs.run.output.checkpoint) throw_if_interrupted();
  write_result(result_header(inputs.run), inputs.points, result, {setup_seconds, seconds_since(begin)});
  if (!quiet) std::cout << '\n' << field_statistics(result_header(inputs.run), result) << '\n';
  std::cout << std::flush;
  warn_about_points(inputs.points, result);
  if (inputs.run.output.figure) {
    const std::string warning = draw_figure(output_file(inputs.run), *inputs.run.output.figure);
    if (!warning.empty()) warn(warning);
  }
  if (quiet) return;
  const double rate = result.field_seconds > 0 ? static_cast<double>(result.pairs_now) / result.field_seconds : 0;
  std::cout << fmt::format("{}: {} in {}, {} pairs/s (fields {})\n", output_file(inputs.run).string(),
                           counted(result.pairs, "pair"), duration_text(seconds_since(begin)), short_number(rate),
                           duration_text(result.field_seconds));
}

}  // namespace

void run_command(const RunOptions& options, const std::vector<std::string>& kokkos_options,
                 const Communicator& communicator) {
  const auto begin = std::chrono::steady_clock::now();
  const bool is_root = communicator.rank() == 0;
  catch_interrupts();

  Inputs inputs = read_inputs(options, communicator);
  if (is_root) warn_about_inputs(inputs);
  if (options.check && !options.dry_run) {
    if (is_root && !options.quiet) std::cout << options.file.string() << ": no mistakes found\n";
    return;
  }

  std::vector<RankPlace> places = gather_places(communicator);
  std::optional<KokkosSession> kokkos;
  agree(communicator, [&] {
    ArgumentVector arguments(kokkos_options);
    kokkos.emplace(arguments.argc(), arguments.argv(), communicator.local_rank(),
                   ranks_sharing(places, communicator.rank()));
    arguments.refuse_rest();
  });
  ForwardPlan plan;
  plan = plan_on_ranks(inputs.run, inputs.model->source(), inputs.points, communicator,
                       [&](IndexRange range) { return memory_of(*inputs.model, range); });
  gather_plan_workers(plan, communicator, places);
  if (is_root) {
    for (const std::string& warning : placement_warnings(places)) warn(warning);
  }
  if (options.dry_run) {
    const RankSizes sizes = gather_sizes(plan, communicator);
    if (is_root && !options.quiet) std::cout << dry_run_table(inputs, plan, sizes, placement_text(places));
    return;
  }
  if (is_root && !options.quiet) std::cout << heading(inputs, plan, placement_text(places)) << std::flush;
  std::unique_ptr<CheckpointGuard> guard;
  if (inputs.run.output.checkpoint) guard = make_guard(options, inputs.run, plan, communicator);
  inputs.model->hold(guard ? guard->prisms() : IndexRange{plan.prism_begin, plan.prism_end}, communicator);

  const double setup_seconds = seconds_since(begin);
  ForwardResult result;
  bool stopped = false;
  try {
    Progress progress(is_root ? progress_style(options.quiet) : ProgressStyle::silent, std::cerr);
    std::string last_failure;
    result = forward(
        inputs.run, inputs.model->source(), inputs.points, plan, communicator,
        [&](double done_fraction, std::int64_t pairs_done) {
          if (!guard) throw_if_interrupted();
          progress.update(done_fraction, pairs_done);
          if (guard && guard->failure() != last_failure) {
            last_failure = guard->failure();
            if (!last_failure.empty()) warn(last_failure + "; the run goes on without it");
          }
        },
        guard.get());
  } catch (const Stopped&) {
    if (!guard) throw;
    stopped = true;
  }
  if (stopped) communicator.end_announcements();
  agree(communicator, [&] {
    if (stopped) {
      if (!guard->failure().empty()) throw RunError(guard->failure());
      throw Stopped(
          fmt::format("{} holds what was done, --resume goes on from it", inputs.run.output.checkpoint->file.string()));
    }
    if (is_root) finish(inputs, result, options.quiet, setup_seconds, begin);
  });
  if (guard && is_root) remove_checkpoint(inputs.run.output.checkpoint->file);
}

}  // namespace prismfield
