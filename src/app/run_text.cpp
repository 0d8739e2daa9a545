// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/run_text.hpp"

#include "app/start.hpp"
#include "base/counts.hpp"
#include "base/human_text.hpp"
#include "case/make_points.hpp"
#include "case/output_check.hpp"
#include "compute/method.hpp"
#include "io/dem_file.hpp"
#include "io/result_file.hpp"
#include "model/choices.hpp"
#include "model/extents.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <numbers>
#include <utility>

namespace prismfield {
namespace {

std::string points_text(const Points& points) {
  const std::string count = counted(points.size(), points.is_grid() ? "point" : "station");
  if (!points.is_grid()) return count;
  return fmt::format("grid {} x {}, {}", points.grid_easting.size(), points.grid_northing.size(), count);
}

std::string space_text(const Plan& plan) {
  if (is_device(plan.space)) return fmt::format("{}, {}, blocks of {}", name(plan.space), plan.device, plan.block);
  return fmt::format("{}, {}, {}", name(plan.space), counted(plan.threads, "thread"), counted(plan.lanes, "lane"));
}

/// `ranks`: what placement_text says of them.
std::string partition_text(const Plan& plan, const std::string& ranks) {
  const std::string kind =
      plan.partition == Partition::rank_grid
          ? fmt::format("{} of prisms x {} of points", counted(plan.prism_parts, "part"), plan.point_parts)
          : std::string("by ") + name(plan.partition);
  return fmt::format("{}{}{}, {}", kind, plan.partition_is_auto ? " (auto)" : "",
                     plan.balance == Balance::cost ? ", balanced by cost" : "", ranks);
}

std::string pairs_text(const Plan& plan) {
  const std::int64_t pairs = product_or_most(plan.n_prisms, plan.n_points);
  if (pairs < most_countable) return grouped(pairs);
  return short_number(static_cast<double>(plan.n_prisms) * static_cast<double>(plan.n_points));
}

std::string overlap_text(const Inputs& inputs) {
  const std::int64_t within = points_within_outline(inputs.points, inputs.model->source().bounds());
  const std::string count = within == 0 ? "none" : within == inputs.points.size() ? "all" : grouped(within);
  return count + " within the model's outline";
}

}  // namespace

std::string fields_text(FieldList fields) {
  const char* const note =
      fields == FieldList::vector() ? " (the group vector; [vector, tensor] adds the gradients)" : "";
  return fmt::format("{}{}", fmt::join(names_of(fields), ", "), note);
}

std::string run_heading(const Inputs& inputs, const Plan& plan, const std::string& ranks) {
  const bool is_vector = inputs.run.fields == FieldList::vector();
  return fmt::format("{}\n{}\n{}, {} pairs{}\nmodel: {}; {}\npoints: {}; {}\n{}; {}; {}, {}\n", shown(inputs.run.title),
                     shown(inputs.model->description()), points_text(inputs.points), pairs_text(plan),
                     is_vector ? "; fields: " + fields_text(inputs.run.fields) : "",
                     extent_text(inputs.model->source().bounds()), density_text(inputs.model->densities()),
                     extent_text(bounds_of(inputs.points)), overlap_text(inputs), space_text(plan),
                     partition_text(plan, ranks), name(plan.precision), method_of(plan).text(plan).heading);
}

namespace {

/// The keys of the case that the run does not use, in one sentence; "" when there are none.
std::string unused_text(const Case& run) {
  if (run.unused.empty()) return "";
  std::vector<std::string> keys;
  for (const std::string& key : run.unused) keys.push_back(fmt::format("{} ({})", key, run.where(key)));
  const char* command = "run";
  if (run.use == CaseUse::inversion) command = "invert";
  if (run.use == CaseUse::sensitivity) command = "sensitivity";
  return fmt::format("{} does not use {}", command, fmt::join(keys, ", "));
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

/// What is to be told of points below the columns of a terrain or so near to them that their steps count; "" when
/// nothing is.
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

/// What is to be told of points above a surface that is itself below sea level, where nothing says what is meant; ""
/// when nothing is.
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

}  // namespace

std::vector<std::string> input_warnings(const Inputs& inputs) {
  std::vector<std::string> warnings = constant_warnings(inputs.run.gravitational_constant);
  std::vector<std::string> of_densities = density_warnings(inputs.model->densities(), densities_of_file(inputs.run));
  const Bounds bounds = inputs.model->source().bounds();
  std::vector<std::string> of_places = place_warnings(bounds, bounds_of(inputs.points));
  if (of_places.empty()) of_places = height_warnings(bounds, inputs.points);
  for (auto* more : {&of_densities, &of_places}) std::move(more->begin(), more->end(), std::back_inserter(warnings));
  if (const Terrain* const terrain = inputs.model->terrain()) {
    std::string steps = staircase_text(*terrain, inputs.points, inputs.run.gravitational_constant);
    if (!steps.empty()) warnings.push_back(std::move(steps));
  }
  if (std::string below = below_sea(inputs); !below.empty()) warnings.push_back(std::move(below));
  return warnings;
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

std::string dry_run_table(const Inputs& inputs, const Plan& plan, const RankSizes& ranks, const MemoryNeed& need,
                          const std::string& ranks_text, double seconds) {
  std::string text = shown(inputs.run.title) + "\n";
  const auto row = [&](const char* label, const std::string& content) {
    text += fmt::format("  {:<18}{}\n", label, shown(content));
  };
  row("model", inputs.model->description());
  row("model's extent", extent_text(inputs.model->source().bounds()));
  row("densities", density_text(inputs.model->densities()));
  row("points", points_text(inputs.points));
  row("points' extent", fmt::format("{}; {}", extent_text(bounds_of(inputs.points)), overlap_text(inputs)));
  row("fields", fields_text(inputs.run.fields));
  row("pairs", pairs_text(plan));
  row("space", space_text(plan));
  row("precision", fmt::format("{}, kernel {}", name(plan.precision), name(plan.kernel)));
  row("partition", partition_text(plan, ranks_text));
  row("method", name(plan.method) + (plan.method_reason.empty() ? "" : " (auto: " + plan.method_reason + ")"));
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
  const ResultHeader header = result_header(inputs.run);
  const std::int64_t bytes = result_bytes(header, inputs.points, inputs.run.fields);
  row("result", fmt::format("{}, about {}", header.file.string(), size_text(bytes)));
  // a file's beginning and end on its disk, and bytes a second
  constexpr double file_seconds = 0.02, writing_rate = 1e8;
  row("estimated time", duration_text(seconds + file_seconds + static_cast<double>(bytes) / writing_rate));
  return text;
}

std::vector<std::string> point_warnings(const Points& points, const Fields& result, const Terrain* terrain) {
  std::vector<std::string> warnings;
  const std::int64_t told = terrain == nullptr ? 0 : static_cast<std::int64_t>(terrain->points_below(points).size());
  if (result.points_inside > told) {
    warnings.push_back(
        fmt::format("{} of {} points lie inside or on prisms", grouped(result.points_inside), grouped(points.size())));
  }
  if (result.singular_points.empty()) return warnings;
  warnings.push_back(
      fmt::format("the gradient tensor has no value at {} on edges or corners of prisms, its finite part is written "
                  "there: {}",
                  counted(static_cast<std::int64_t>(result.singular_points.size()), "point"),
                  named_points(points, result.singular_points)));
  return warnings;
}

std::string resume_text(const std::string& file, double done_fraction) {
  const std::string name = shown(file);
  return done_fraction < 0 ? fmt::format("{}: no checkpoint yet, the run begins at its start\n", name)
                           : fmt::format("{}: goes on, {:.1f} % of the pairs are done\n", name, 100 * done_fraction);
}

std::string run_summary(const Inputs& inputs, const Fields& result, double seconds, const std::string& figure) {
  const double rate = result.field_seconds > 0 ? static_cast<double>(result.pairs_now) / result.field_seconds : 0;
  return fmt::format("{}: {} in {}, {} pairs/s (fields {}){}\n", shown(output_file(inputs.run).string()),
                     pairs_text(result.plan) + (result.pairs == 1 ? " pair" : " pairs"), duration_text(seconds),
                     short_number(rate), duration_text(result.field_seconds), figure);
}

}  // namespace prismfield
