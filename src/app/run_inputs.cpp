// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/run_inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "app/figure.hpp"
#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "base/machine.hpp"
#include "case/make_points.hpp"
#include "case/output_check.hpp"
#include "case/places.hpp"
#include "compute/checkpoint_file.hpp"
#include "engine/engine.hpp"
#include "engine/kokkos_facts.hpp"
#include "parallel/agreement.hpp"

namespace prismfield {

void check_space(const Case& run) {
  const std::vector<Space> built = built_spaces();
  const Space space = run.execution.space == Space::automatic ? built.front() : run.execution.space;
  if (std::find(built.begin(), built.end(), space) == built.end()) {
    throw InputError(run.where("execution.space"), "execution.space",
                     fmt::format("is {}, which was not built into this prismfield; allowed: default, {}", name(space),
                                 fmt::join(kokkos_facts().spaces, ", ")));
  }
}

void check_colour_map(const Case& run) {
  if (!run.output.figure) return;
  const std::string why = colour_map_problem(run.output.figure_style.colour_map);
  const std::string key = "output.figure.colour_map";
  if (!why.empty()) throw InputError(run.where(key), key, why);
}

namespace {

/// Throws InputError when the points alone would not fit into the memory that there is: better than to be killed.
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
  const auto memory = static_cast<double>(available_memory());
  if (bytes <= memory) return;
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  throw InputError(
      run.where(key), key,
      fmt::format("has {} points, whose coordinates and fields take {} GiB of memory, but there are {} GiB; use "
                  "fewer points",
                  short_number(n_points), short_number(bytes / gib), short_number(memory / gib)));
}

}  // namespace

Inputs read_inputs(const CaseOptions& options, const Communicator& communicator, CaseUse use) {
  const NothingToLose reading;
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
    inputs.run = read_case(options.file, options.overrides, options.output, use);
    if (use == CaseUse::sensitivity) {
      // G is in its file or made again, and what it gives is without noise
      inputs.run.output.checkpoint.reset();
      inputs.run.noise.reset();
    }
    collect([&] { check_space(inputs.run); });
    const bool can_write = collect([&] { check_output(inputs.run); });
    if (can_write && inputs.run.output.checkpoint && communicator.rank() == 0) {
      collect([&] {
        at_places_of(inputs.run,
                     [&] { check_checkpoint_place(inputs.run.output.checkpoint->file, communicator.size()); });
      });
    }
    if (options.resume && !inputs.run.output.checkpoint) {
      problems.add("--resume", "", "the case names no checkpoint; give it output.checkpoint.file");
    }
    if (communicator.rank() == 0) collect([&] { check_colour_map(inputs.run); });
    points_fit = collect([&] { check_point_memory(inputs.run); });
    throw_if_interrupted();
  });
  collect([&] { inputs.model.emplace(make_model(inputs.run, communicator)); });
  agree(communicator, throw_if_interrupted);
  // Without a model, ranges of random stations are unknown, but a file of stations can be read.
  const Bounds bounds = inputs.model ? inputs.model->source().bounds() : Bounds{};
  // A model of terrain that failed is no reason to ask which terrain points are above.
  const bool can_be_made = inputs.model || !points_need_terrain(inputs.run);
  if (!communicator.any(!points_fit) && can_be_made) {
    const Terrain* const terrain = inputs.model ? inputs.model->terrain() : nullptr;
    collect([&] { inputs.points = make_points(inputs.run, bounds, communicator, inputs.point_notes, terrain); });
  }
  agree(communicator, [&] {
    problems.throw_if_any();
    throw_if_interrupted();
  });
  return inputs;
}

}  // namespace prismfield
