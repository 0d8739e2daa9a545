// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/read_sections.hpp"

#include <fmt/format.h>

#include "base/human_text.hpp"

namespace prismfield {
namespace {

/// The section observations.
class ObservationsReader : public CaseReader {
public:
  explicit ObservationsReader(const CaseReader& values) : CaseReader(values) {}

  void observations(const Value& value, Case& run) {
    const Section section(*this, value);
    const std::string chosen = section.one_of({{"grid", {}}, {"stations", {}}});
    if (const auto v = chosen.empty() ? std::nullopt : section.find(chosen)) {
      if (chosen == "grid") {
        run.observations = grid(*v);
      } else {
        run.observations = stations(*v);
      }
    }
    if (const auto v = section.find("noise")) run.noise = noise(*v, run.fields);
  }

private:
  GridSpec grid(const Value& value) {
    const Section section(*this, value);
    GridSpec result;
    result.dem = dem(section);
    // those of the file, unless both are there
    if (!result.dem || section.has("easting") || section.has("northing")) {
      if (const auto v = section.need("easting", "[min, max, points]")) result.easting = grid_axis(*v).value_or(Axis{});
      if (const auto v = section.need("northing", "[min, max, points]"))
        result.northing = grid_axis(*v).value_or(Axis{});
      countable(value, {result.easting.count, result.northing.count});
    }
    if (result.dem && !section.has("upward")) {
      result.upward = HeightsOfGridFile{};
      return result;
    }
    const auto v = section.need("upward", "a height, {file: name} or {above_terrain: height},");
    if (!v) return result;
    if (v->node->kind == Kind::map) {
      const Section from(*this, *v);
      if (from.has("above_terrain") || from.has_misspelt("above_terrain")) {
        result.upward = above_terrain(from);
      } else if (const auto name = from.need("file", "the name of a netCDF or CSV file")) {
        result.upward = input(*name).value_or("");
        for (const char* const key : {"variable", "sea_level"}) {
          if (const auto other = from.find(key)) problem(*other, "goes with above_terrain only");
        }
      }
    } else if (v->node->kind == Kind::list) {
      problem(*v, "is a list; a height, {file: name} or {above_terrain: height} is expected");
    } else {
      result.upward = number(*v).value_or(0);
    }
    return result;
  }

  /// the keys file and variable
  std::optional<DemFile> dem(const Section& section) {
    std::optional<DemFile> result;
    if (const auto v = section.find("file")) result = DemFile{input(*v).value_or(""), ""};
    if (const auto v = section.find("variable")) {
      const std::string variable = words(*v, "the name of a variable").value_or("");
      if (result) {
        result->variable = variable;
      } else {
        problem(*v, "names a variable of the file beside it, which is not there");
      }
    }
    return result;
  }

  AboveTerrain above_terrain(const Section& section) {
    AboveTerrain result;
    if (const auto v = section.find("above_terrain")) result.height = number(*v).value_or(0);
    result.dem = dem(section);
    if (const auto v = section.find("sea_level")) result.sea_level = number(*v);
    return result;
  }

  StationsFile stations_file(const Section& section) {
    StationsFile result;
    if (const auto v = section.find("file")) result.file = input(*v).value_or("");
    if (const auto v = section.find("columns")) result.columns = column_names(*v);
    result.length_to_si = length_factor(section);
    if (const auto v = section.find("axis_z")) {
      result.z_down = choice(*v, std::array{Choice<bool>{"up", false}, Choice<bool>{"down", true}});
    }
    const auto upward = section.find("upward");
    if (!upward) return result;
    if (upward->node->kind == Kind::map) {
      const Section from(*this, *upward);
      if (from && from.need("above_terrain", "a height above the surface")) result.upward = above_terrain(from);
    } else if (const auto height =
                   number(*upward, "a height for all stations of the file, or {above_terrain: height},")) {
      result.upward = *height;
    }
    return result;
  }

  PointsSpec stations(const Value& value) {
    if (value.node->kind == Kind::scalar) {
      problem(value, fmt::format("is {0}; a map is expected, for a file {{file: {1}}}", kind_name(*value.node),
                                 shown(value.node->text)));
      return StationsRandom{};
    }
    const Section section(*this, value);
    const std::string chosen = section.one_of({{"file", {"columns", "length_unit", "axis_z", "upward"}},
                                               {"random", {"easting", "northing", "upward", "seed"}}});
    if (chosen == "file") return stations_file(section);
    StationsRandom random;
    if (chosen.empty()) return random;
    if (const auto v = section.find("random")) random.count = whole(*v, 1).value_or(1);
    if (const auto v = section.find("easting")) random.easting = range(*v, true);
    if (const auto v = section.find("northing")) random.northing = range(*v, true);
    if (const auto v = section.find("upward")) random.upward = range(*v, true);
    if (const auto v = section.find("seed")) random.seed = seed(*v).value_or(random.seed);
    return random;
  }

  NoiseSpec noise(const Value& value, FieldList fields) {
    const Section section(*this, value);
    NoiseSpec result;
    for (const FieldInfo& field : field_infos) {
      const auto v = section.find(std::string(field.name));
      if (!v) continue;
      if (const auto sigma = positive(*v)) result.sigma[field.field] = *sigma;
      if (!fields.contains(field.field)) problem(*v, "is no field of this run; add it to fields or take its noise out");
    }
    if (const auto v = section.find("seed")) result.seed = seed(*v).value_or(result.seed);
    return result;
  }
};

}  // namespace

void read_observations(const CaseReader& values, const Value& value, Case& run) {
  ObservationsReader(values).observations(value, run);
}

}  // namespace prismfield
