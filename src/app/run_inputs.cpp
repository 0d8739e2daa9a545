// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/run_inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <prismfield/error.hpp>

#include "app/figure.hpp"
#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "base/machine.hpp"
#include "case/make_points.hpp"
#include "case/output_check.hpp"
#include "case/places.hpp"
#include "compute/checkpoint.hpp"
#include "engine/engine.hpp"
#include "engine/kokkos_facts.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// Throws InputError for a space that this build lacks.
void check_space(const Case& run) {
  const std::vector<Space> built = built_spaces();
  const Space space = run.execution.space == Space::automatic ? built.front() : run.execution.space;
  if (std::find(built.begin(), built.end(), space) == built.end()) {
    throw InputError(run.where("execution.space"), "execution.space",
                     fmt::format("is {}, which was not built into this prismfield; allowed: default, {}", name(space),
                                 fmt::join(kokkos_facts().spaces, ", ")));
  }
}

/// Throws InputError for a colour map of the figure that a Python that draws says is none.
void check_colour_map(const Case& run) {
  if (!run.output.figure) return;
  const std::string why = colour_map_problem(run.output.figure_style.colour_map);
  const std::string key = "output.figure.colour_map";
  if (!why.empty()) throw InputError(run.where(key), key, why);
}

/// Whether the step succeeded; an InputError is added to `problems`.
template <class Step>
bool collect(ProblemList& problems, const Step& step) {
  try {
    step();
    return true;
  } catch (const InputError& error) {
    problems.add(error);
    return false;
  }
}

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

void check_before_reading(const Case& run, bool resumes, const std::function<void(const fs::path&)>& check_place,
                          int rank, ProblemList& problems) {
  const bool is_root = rank == 0;
  collect(problems, [&] { check_space(run); });
  const bool can_write = collect(problems, [&] { check_output(run); });
  if (can_write && is_root && run.output.checkpoint) {
    collect(problems, [&] { at_places_of(run, [&] { check_place(run.output.checkpoint->file); }); });
  }
  if (resumes && !run.output.checkpoint) {
    problems.add("--resume", "", "the case names no checkpoint; give it output.checkpoint.file");
  }
  if (is_root) collect(problems, [&] { check_colour_map(run); });
}

Inputs read_inputs(const CaseOptions& options, const Communicator& communicator, CaseUse use) {
  const NothingToLose reading;
  Inputs inputs;
  ProblemList problems;
  bool points_fit = true;
  agree(communicator, [&] {
    inputs.run = read_case(options.file, options.overrides, options.output, use);
    if (use == CaseUse::sensitivity) {
      // G is in its file or made again, and what it gives is without noise
      inputs.run.output.checkpoint.reset();
      inputs.run.noise.reset();
    }
    const auto check_place = [&](const fs::path& file) { check_checkpoint_place(file, communicator.size()); };
    check_before_reading(inputs.run, options.resume, check_place, communicator.rank(), problems);
    points_fit = collect(problems, [&] { check_point_memory(inputs.run); });
    throw_if_interrupted();
  });
  collect(problems, [&] { inputs.model.emplace(make_model(inputs.run, communicator)); });
  agree(communicator, throw_if_interrupted);
  // Without a model, ranges of random stations are unknown, but a file of stations can be read.
  const Bounds bounds = inputs.model ? inputs.model->source().bounds() : Bounds{};
  // A model of terrain that failed is no reason to ask which terrain points are above.
  const bool can_be_made = inputs.model || !points_need_terrain(inputs.run);
  if (!any(communicator, !points_fit) && can_be_made) {
    const Terrain* const terrain = inputs.model ? inputs.model->terrain() : nullptr;
    collect(problems,
            [&] { inputs.points = make_points(inputs.run, bounds, communicator, inputs.point_notes, terrain); });
  }
  agree(communicator, [&] {
    problems.throw_if_any();
    throw_if_interrupted();
  });
  return inputs;
}

}  // namespace prismfield
