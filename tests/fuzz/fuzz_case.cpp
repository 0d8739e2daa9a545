// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// A case in YAML, read for each of its uses. A line "#set KEY=VALUE" is an option --set of the command line. What is
// read has to read back as the same case from the text that goes into the result, and a model that names no file is
// made.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <prismfield/prisms.hpp>

#include "case/case.hpp"
#include "case/make_model.hpp"
#include "case/make_points.hpp"
#include "fuzz_input.hpp"

namespace prismfield::fuzz {
namespace {

constexpr std::int64_t most_cells = 4096;
constexpr std::int64_t most_points = 4096;

std::vector<std::string> overrides_in(std::string_view text) {
  constexpr std::string_view mark = "#set ";
  constexpr std::size_t most = 4;
  std::vector<std::string> overrides;
  for (std::size_t at = text.find(mark); at != std::string_view::npos && overrides.size() < most;
       at = text.find(mark, at)) {
    at += mark.size();
    overrides.emplace_back(text.substr(at, text.find('\n', at) - at));
  }
  return overrides;
}

bool is_small(const Axis& axis) { return axis.count <= most_cells; }

bool is_small(const EdgesSpec& edges) {
  if (const auto* axis = std::get_if<Axis>(&edges)) return is_small(*axis);
  if (const auto* random = std::get_if<EdgesRandom>(&edges)) return random->cells <= most_cells;
  return !std::holds_alternative<EdgesFile>(edges);
}

bool is_small(const PropertySpec& density) { return !std::holds_alternative<DensityFile>(density); }

/// True for a model that is made from the case alone, of few cells.
bool is_small(const ModelSpec& model) {
  if (const auto* voxels = std::get_if<VoxelsSpec>(&model)) {
    return is_small(voxels->easting) && is_small(voxels->northing) && is_small(voxels->upward) &&
           voxels->easting.count * voxels->northing.count * voxels->upward.count <= most_cells &&
           is_small(voxels->density);
  }
  const auto* mesh = std::get_if<MeshSpec>(&model);
  return mesh != nullptr && !mesh->ubc && is_small(mesh->easting) && is_small(mesh->northing) &&
         is_small(mesh->upward) && is_small(mesh->density);
}

bool is_small(const PointsSpec& points) {
  if (const auto* grid = std::get_if<GridSpec>(&points)) {
    return !grid->dem && std::holds_alternative<double>(grid->upward) && is_small(grid->easting) &&
           is_small(grid->northing) && grid->easting.count * grid->northing.count <= most_points;
  }
  const auto* random = std::get_if<StationsRandom>(&points);
  return random != nullptr && random->count <= most_points;
}

void make(const Case& run) {
  Bounds bounds;
  if (is_small(run.model)) {
    ends_clearly([&] {
      const Model model = make_model(run, Communicator());
      bounds = model.source().bounds();
      require(model.source().size() >= 0 && !model.description().empty(), "a model that cannot be");
    });
  }
  std::vector<std::string> notes;
  if (is_small(run.observations)) ends_clearly([&] { (void)make_points(run, bounds, Communicator(), notes); });
}

void require_sound(const InversionSpec& spec) {
  require(spec.data.size() == spec.data_keys.size(), "data without a key");
  for (const double p : spec.settings.norm) require(p >= 0 && p <= 2, "a norm out of its range");
  if (spec.settings.bounds) require(spec.settings.bounds->min < spec.settings.bounds->max, "bounds that do not rise");
  if (spec.sigma) {
    for (const auto* part : {&spec.sigma->relative, &spec.sigma->floor}) {
      for (const auto& [field, sigma] : *part) require(sigma >= 0, "a negative sigma");
    }
  }
}

void run_for(CaseUse use, std::string_view text) {
  static InputBytes file("case.yaml");
  Case run;
  if (!ends_clearly([&] { run = read_case(file.hold(text), overrides_in(text), {}, use); })) return;
  Case again;
  require(ends_clearly([&] { again = read_case(file.hold(run.text), {}, {}, use); }), "the case's own text is refused");
  require(again.identity == run.identity && again.input_files == run.input_files,
          "the case's own text is another case");
  require(run.inversion.has_value() == (use == CaseUse::inversion), "an inversion that nobody asked for");
  if (run.inversion) require_sound(*run.inversion);
  if (use == CaseUse::forward) make(run);
}

void run(std::string_view text) {
  for (const CaseUse use : {CaseUse::forward, CaseUse::inversion, CaseUse::sensitivity}) run_for(use, text);
}

}  // namespace
}  // namespace prismfield::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  prismfield::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
