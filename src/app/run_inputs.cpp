// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/run_inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <numbers>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>

#include "app/figure.hpp"
#include "app/start.hpp"
#include "base/counts.hpp"
#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "base/machine.hpp"
#include "case/make_model.hpp"
#include "case/make_points.hpp"
#include "case/output_check.hpp"
#include "engine/engine.hpp"
#include "engine/kokkos_facts.hpp"
#include "model/choices.hpp"
#include "model/extents.hpp"
#include "model/plausible.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "readers/surface_file.hpp"

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

/// The keys of the case that the run does not use, in one sentence; "" when there are none.
std::string unused_text(const Case& run) {
  if (run.unused.empty()) return "";
  std::vector<std::string> keys;
  for (const std::string& key : run.unused) keys.push_back(fmt::format("{} ({})", key, run.where(key)));
  const auto* const command =
      std::find_if(case_uses.begin(), case_uses.end(), [&](const auto& use) { return use.meaning == run.use; });
  return fmt::format("{} does not use {}", command->word, fmt::join(keys, ", "));
}

/// "(1, 2, 3)"
std::string named_point(const Points& points, std::size_t i) {
  return fmt::format("({}, {}, {})", place_text(points.easting[i]), place_text(points.northing[i]),
                     place_text(points.upward[i]));
}

/// "(1, 2, 3), (4, 5, 6), ..."
std::string named_points(const Points& points, const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t most_named = 5;
  std::vector<std::string> named;
  for (const std::int64_t i : numbers) {
    if (named.size() == most_named) {
      named.emplace_back("...");
      break;
    }
    named.push_back(named_point(points, static_cast<std::size_t>(i)));
  }
  return fmt::format("{}", fmt::join(named, ", "));
}

/// The warning for points below the columns of a terrain, or so near that their steps matter; "" where there are none.
std::string staircase_text(const Terrain& terrain, const Points& points, double gravitational_constant) {
  const std::vector<std::int64_t> below = terrain.points_below(points);
  const NearGround near = terrain.near_ground(points);
  constexpr double mgal = 1e5, least_told = 0.1;
  const double slab = 2 * std::numbers::pi * gravitational_constant * near.mass * mgal;
  std::string text;
  if (!below.empty()) {
    text = fmt::format(
        "{} of {} points lie below the surface of the terrain's columns, which is flat around each node: {}",
        grouped(static_cast<std::int64_t>(below.size())), grouped(points.size()), named_points(points, below));
  }
  if (!(slab > least_told)) return text;
  constexpr double finer = 10;
  const std::string spacing = place_text(near.spacing / finer);
  return text +
         fmt::format(
             "{}{} of {} points are within a cell's width of the ground, where {} up to {:.3g} m off the surface "
             "between the nodes, of the order of {:.2g} mGal in gz, at {}; resample the DEM finer around them "
             "(gdalwarp -tr {} {} -r bilinear -of netCDF dem.nc finer.nc), or take points at nodes",
             text.empty() ? "" : "; ", grouped(near.count), grouped(points.size()),
             text.empty() ? "the terrain's columns, flat around each node, are" : "the columns are", near.step, slab,
             named_point(points, static_cast<std::size_t>(near.worst)), spacing, spacing);
}

/// The warning for points above a surface below sea level, where the case does not say whether water counts; "" where
/// there are none.
std::string below_sea(const Inputs& inputs) {
  const AboveTerrain* const above = above_terrain(inputs.run);
  if (above == nullptr || above->sea_level) return "";
  const Terrain* const terrain = inputs.model->terrain();
  const TerrainMasses masses = terrain == nullptr ? TerrainMasses() : terrain->content().masses;
  // such points count from the water
  if (!above->dem && masses.water_density) return "";
  const Points& points = inputs.points;
  std::int64_t below = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < points.upward.size(); ++i) {
    if (!(points.upward[i] - above->height < masses.sea_level)) continue;
    if (below++ == 0) first = i;
  }
  if (below == 0) return "";
  const std::string level = place_text(masses.sea_level), height = place_text(above->height);
  return fmt::format(
      "{} of {} points are {} m above a surface that is below sea level ({} m), the first at {}: above the floor of a "
      "sea, not its water; sea_level: {} beside above_terrain lets heights count from the water, a sea_level below the "
      "surface says that it is dry",
      grouped(below), grouped(points.size()), height, level, named_point(points, first), level);
}

/// Heights out of files that can hardly be those of points; "" where a terrain, which says so itself, gives them.
std::string doubt_of_points(const Inputs& inputs) {
  if (!points_from_files(inputs.run) || points_need_terrain(inputs.run)) return "";
  const AboveTerrain* const above = above_terrain(inputs.run);
  const bool is_on_ground = above != nullptr || std::holds_alternative<GridSpec>(inputs.run.observations);
  return point_height_warning(bounds_of(inputs.points),
                              is_on_ground ? std::optional(above == nullptr ? 0 : above->height) : std::nullopt);
}

/// What a user should know of a model and points that can hardly be meant so: units, coordinates.
std::vector<std::string> input_warnings(const Inputs& inputs) {
  std::vector<std::string> warnings = constant_warnings(inputs.run.gravitational_constant);
  const PropertyRanges ranges = inputs.model->ranges();
  std::vector<std::string> of_densities = density_warnings(ranges.density, densities_of_file(inputs.run));
  const FieldList of_density = inputs.run.fields.of_density();
  const bool has_density = ranges.density.min < 0 || ranges.density.max > 0;
  if (!of_density.empty() && !has_density && ranges.is_magnetic()) {
    of_densities.push_back(fmt::format("the model has no density: {} is 0", fmt::join(names_of(of_density), ", ")));
  }
  std::vector<std::string> of_magnetisation;
  if (!inputs.run.fields.of_magnetisation().empty()) {
    of_magnetisation = magnetic_warnings(ranges, inputs.run.magnetic, inputs.run.demagnetizes);
  }
  const Bounds bounds = inputs.model->source().bounds();
  std::vector<std::string> of_places = place_warnings(bounds, bounds_of(inputs.points));
  if (of_places.empty()) of_places = height_warnings(bounds, inputs.points);
  if (std::string doubt = doubt_of_points(inputs); !doubt.empty()) of_places.push_back(std::move(doubt));
  for (auto* more : {&of_densities, &of_magnetisation, &of_places})
    std::move(more->begin(), more->end(), std::back_inserter(warnings));
  if (const Terrain* const terrain = inputs.model->terrain()) {
    std::string steps = staircase_text(*terrain, inputs.points, inputs.run.gravitational_constant);
    if (!steps.empty()) warnings.push_back(std::move(steps));
  }
  if (std::string below = below_sea(inputs); !below.empty()) warnings.push_back(std::move(below));
  return warnings;
}

}  // namespace

Case read_checked_case(const CaseOptions& options, CaseUse use, const Communicator& communicator,
                       ProblemList& problems) {
  const bool is_root = communicator.rank() == 0;
  Case run;
  agree(communicator, [&] {
    run = read_case(options.file, options.overrides, options.output, use);
    if (use == CaseUse::sensitivity) {
      // G is in its file or made again, and what it gives is without noise
      run.output.checkpoint.reset();
      run.noise.reset();
    }
    problems.collect([&] { check_space(run); });
    const bool can_write = problems.collect([&] { check_output(run); });
    if (can_write && is_root && run.output.checkpoint) {
      const fs::path& file = run.output.checkpoint->file;
      problems.collect([&] {
        const int n_files = use == CaseUse::inversion ? 1 : communicator.size();
        at_places_of(run, [&] { check_checkpoint_place(file, n_files); });
      });
    }
    if (options.resume && !run.output.checkpoint) {
      problems.add("--resume", "", "the case names no checkpoint; give it output.checkpoint.file");
    }
    if (is_root) problems.collect([&] { check_colour_map(run); });
    throw_if_interrupted();
  });
  return run;
}

Inputs read_inputs(const CaseOptions& options, const Communicator& communicator, CaseUse use) {
  const NothingToLose reading;
  Inputs inputs;
  ProblemList problems;
  inputs.run = read_checked_case(options, use, communicator, problems);
  const bool points_fit =
      problems.collect([&] { agree_on_input(communicator, [&] { check_point_memory(inputs.run); }); });
  problems.collect([&] { inputs.model.emplace(make_model(inputs.run, communicator)); });
  agree(communicator, throw_if_interrupted);
  // Without a model, ranges of random stations are unknown, but a file of stations can be read.
  const Bounds bounds = inputs.model ? inputs.model->source().bounds() : Bounds{};
  // A model of terrain that failed is no reason to ask which terrain points are above.
  const bool can_be_made = inputs.model || !points_need_terrain(inputs.run);
  if (points_fit && can_be_made) {
    const Terrain* const terrain = inputs.model ? inputs.model->terrain() : nullptr;
    problems.collect([&] {
      inputs.points = make_points(inputs.run, bounds, communicator, inputs.point_notes, terrain, &inputs.stations);
    });
  }
  if (problems.empty()) {
    const DegreesDoubt degrees = degrees_doubt(bounds, bounds_of(inputs.points));
    if (degrees.is_certain) problems.add(inputs.run.where("observations"), "observations", degrees.text);
  }
  agree(communicator, [&] {
    problems.throw_if_any();
    throw_if_interrupted();
  });
  return inputs;
}

std::string fields_text(FieldList fields) {
  const char* const note =
      fields == FieldList::vector() ? " (the group vector; [vector, tensor] adds the gradients)" : "";
  return fmt::format("{}{}", fmt::join(names_of(fields), ", "), note);
}

std::string pairs_text(const Plan& plan) {
  const std::int64_t pairs = product_or_most(plan.n_prisms, plan.n_points);
  if (pairs < most_countable) return grouped(pairs);
  return short_number(static_cast<double>(plan.n_prisms) * static_cast<double>(plan.n_points));
}

void tell_notes(const CaseOptions& options, const Case& run, std::vector<std::string> notes) {
  if (options.quiet) return;
  notes.push_back(unused_text(run));
  for (const std::string& note : notes) {
    if (!note.empty()) std::cerr << "note: " << note << std::endl;
  }
}

void tell_inputs(const CaseOptions& options, const Inputs& inputs) {
  for (const std::string& warning : inputs.model->warnings()) warn(warning);
  for (const std::string& warning : input_warnings(inputs)) warn(warning);
  std::vector<std::string> notes = inputs.model->notes();
  notes.insert(notes.end(), inputs.point_notes.begin(), inputs.point_notes.end());
  tell_notes(options, inputs.run, std::move(notes));
}

bool go_on(const CaseOptions& options, const Case& run, const Digest& hash, int n_files,
           const Communicator& communicator, const std::function<std::optional<FoundCheckpoint>()>& read) {
  const fs::path& file = run.output.checkpoint->file;
  std::optional<FoundCheckpoint> found;
  agree(communicator, [&] {
    at_places_of(run, [&] {
      check_checkpoint_place(file, n_files, &hash);
      if (options.resume) found = read();
    });
  });
  // folders that nodes see differently would give shares with gaps
  const Digest id = found ? found->id : Digest();
  Digest of_root = id;
  broadcast(communicator, of_root);
  const bool same = !any(communicator, id != of_root);
  agree(communicator, [&] {
    if (same) return;
    throw InputError(
        run.where("output.checkpoint.file"), "output.checkpoint.file",
        fmt::format("{} is not the same for all ranks; it has to be in a folder that all nodes share", file.string()));
  });
  return found.has_value();
}

void tell_checkpoint(const CaseOptions& options, const fs::path& file, const std::string& how_far) {
  std::error_code error;
  if (!options.resume && fs::exists(file, error)) {
    warn(file.string() + " exists and will be replaced; --resume goes on from it");
  }
  if (options.resume && !options.quiet) {
    std::cout << fmt::format("{}: {}\n", shown(file.string()), how_far) << std::flush;
  }
}

namespace {

/// What is written of magnetic fields at points inside.
const char* inside_text(Inside inside) noexcept {
  switch (inside) {
    case Inside::flux_density: return "mu0 (H + M)";
    case Inside::field_strength: return "mu0 H";
    case Inside::nan: return "NaN";
    case Inside::cavity: return "mu0 (H + M/3)";
    case Inside::borehole: break;
  }
  return "what a narrow vertical hole has";
}

}  // namespace

std::vector<std::string> point_warnings(const Points& points, const Fields& result, const Magnetic& magnetic,
                                        const Terrain* terrain) {
  std::vector<std::string> warnings;
  const bool is_magnetic = !result.fields.of_magnetisation().empty(), is_gravity = !result.fields.of_density().empty();
  const std::int64_t told = terrain == nullptr ? 0 : static_cast<std::int64_t>(terrain->points_below(points).size());
  if (result.points_inside > told) {
    warnings.push_back(
        fmt::format("{} of {} points lie inside or on prisms", grouped(result.points_inside), grouped(points.size())));
    if (is_magnetic) {
      warnings.back() += fmt::format("; magnetic fields there are {}, as magnetic.inside: {} says",
                                     inside_text(magnetic.inside), name(magnetic.inside));
    }
  }
  if (result.singular_points.empty()) return warnings;
  const char* const what = !is_magnetic ? "the gradient tensor has"
                           : is_gravity ? "the gradient tensor and magnetic fields have"
                                        : "the magnetic field has";
  const char* const written = !is_magnetic || magnetic.inside != Inside::nan ? "its finite part is"
                              : is_gravity                                   ? "the tensor's finite part and NaN are"
                                                                             : "NaN, as magnetic.inside says, is";
  warnings.push_back(fmt::format("{} no value at {} on edges or corners of prisms, {} written there: {}", what,
                                 counted(static_cast<std::int64_t>(result.singular_points.size()), "point"), written,
                                 named_points(points, result.singular_points)));
  return warnings;
}

namespace {

/// Two digits and no power of ten: "0.37", "370".
std::string two_digits(double value) {
  const std::string text = fmt::format("{:.2g}", value);
  return value < 10 ? text : fmt::format("{:.0f}", std::stod(text));
}

}  // namespace

std::vector<std::string> linearity_warnings(const Fields& result, const Magnetic& magnetic) {
  if (!result.fields.contains(Field::tmi)) return {};
  // the largest |B| that follows from the fields of the result
  const std::size_t n = result.values.size() / static_cast<std::size_t>(result.fields.size());
  const auto at = [&](Field field, std::size_t point) {
    if (!result.fields.contains(field)) return 0.0;
    const double value = result.values[static_cast<std::size_t>(result.fields.index_of(field)) * n + point];
    return std::isnan(value) ? 0.0 : std::abs(value);
  };
  double largest = 0;
  for (std::size_t p = 0; p < n; ++p) {
    const double of_components = std::hypot(at(Field::bx, p), at(Field::by, p), at(Field::bz, p));
    largest = std::max({largest, of_components, at(Field::amplitude, p), at(Field::tmi, p)});
  }
  const auto& f = magnetic.inducing_field;
  const double inducing = std::hypot(f[0], f[1], f[2]);
  constexpr double linear = 0.01, nanotesla = 1e-9;
  if (!(largest > linear * inducing)) return {};
  // |F0 + B| - |F0| and B . F are both within |B| of 0
  const double most = std::min(largest * largest / (2 * inducing), 2 * largest);
  return {
      fmt::format("the anomalous field reaches {} nT, {} % of the inducing field: tmi, its part along that field, then "
                  "differs by up to {} nT from what magnetometers measure; tmi_exact does not",
                  two_digits(largest / nanotesla), two_digits(100 * largest / inducing), two_digits(most / nanotesla))};
}

}  // namespace prismfield
