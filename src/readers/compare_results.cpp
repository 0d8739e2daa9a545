// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/compare_results.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include <prismfield/error.hpp>

#include "model/choices.hpp"
#include "readers/cell_file.hpp"
#include "readers/find_format.hpp"
#include "readers/point_columns.hpp"
#include "readers/point_fields.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// A table's places and fields.
Survey table_survey(const InputFile& file) {
  std::vector<std::string> notes;
  const auto read = std::make_shared<PointFields>(read_point_table(file, {}, notes));
  Survey survey{file.path, read->points.easting, read->points.northing, read->points.upward, false, read->fields, {},
                {}};
  drop_field_dummies(file, *read);
  survey.notes = read->notes;
  survey.read = [read](Field field) {
    const bool has_axes = read->axes_are_stated && info(field).odd_in_z;
    return SurveyField{read->values[static_cast<std::size_t>(read->fields.index_of(field))],
                       std::string(info(field).unit), has_axes ? name(read->axes) : "", ""};
  };
  return survey;
}

/// An array file's, whose fields are read when they are asked for.
Survey array_survey(const InputFile& file) {
  const auto arrays = std::make_shared<ArrayFile>(file);
  const auto refuse = [&](const std::string& name, const std::string& what) {
    throw InputError(file.path.string(), name, what);
  };
  const FieldVariables variables(arrays->dataset_names("/"));
  if (arrays->has("upward") && arrays->has_attribute("upward", "bounds")) {
    refuse("", "is a model, and compare takes results alone, which hold fields at points");
  }
  for (const char* name : {"easting", "northing"}) {
    if (!arrays->has(name)) refuse(name, "there is no such variable; a result of prismfield has easting and northing");
    if (arrays->shape(name).size() != 1) refuse(name, "must have one dimension");
  }
  Survey survey{file.path, arrays->read("easting"), arrays->read("northing"), {}, false, {}, {}, {}};
  const std::int64_t n_easting = std::ssize(survey.easting), n_northing = std::ssize(survey.northing);
  // Stations and a grid of as many columns as rows differ in the shape of what lies on them.
  std::vector<std::int64_t> points;
  for (const auto& [field, name] : variables.values) {
    const auto shape = shape_of_last(2, *arrays, name);
    survey.is_grid = shape == std::vector<std::int64_t>{n_northing, n_easting};
    if (!survey.is_grid && (n_easting != n_northing || shape != std::vector<std::int64_t>{n_easting})) {
      refuse(name, fmt::format("has the shape {}, not (northing, easting) = ({}, {}) nor one value a station",
                               shape_text(shape), n_northing, n_easting));
    }
    if (!survey.fields.empty() && shape != points) refuse(name, "lies on other points than the fields before it");
    points = shape;
    survey.fields.add(field);
  }
  if (survey.fields.empty()) refuse("", "holds no field (potential, gx, gy, gz, ... gyz, bx, by, bz, tmi, ...)");
  if (arrays->has("upward")) {
    if (const auto shape = shape_of_last(2, *arrays, "upward"); shape != points) {
      refuse("upward", fmt::format("has the shape {}, the fields have {}", shape_text(shape), shape_text(points)));
    }
    survey.upward = arrays->read("upward");
  }
  survey.read = [arrays, file, names = variables.values](Field field) {
    const std::string& name = names.at(field);
    const auto text_of = [&](const char* attribute) {
      try {
        return arrays->text_attribute(name, attribute).value_or("");
      } catch (const InputError&) {
        return std::string();
      }
    };
    SurveyField found{arrays->read(name), text_of("units"), text_of("axes"), ""};
    found.note = drop_dummies(file, found.values, "point", std::string(info(field).name), true);
    const std::optional<double> factor = unit_factor(field, found.unit);
    if (!factor || found.unit.empty()) return found;
    found.unit = info(field).unit;
    scale_decimals(found.values, *factor);
    return found;
  };
  return survey;
}

bool is_table(const InputFile& file) {
  if (std::error_code error; !fs::is_regular_file(file.path, error)) return false;
  const std::vector<FileFormat> fits = formats_of(file);
  if (fits.empty() || fits[0] == FileFormat::hdf5) return false;
  if (fits[0] == FileFormat::csv || fits[0] == FileFormat::xyz) return true;
  throw file.error(
      fmt::format("is no result and no table of one: {}; prismfield convert IN OUT.csv makes a table of points",
                  info(fits[0]).long_name));
}

Survey survey_of(const fs::path& path) {
  const InputFile file{path, "", ""};
  return is_table(file) ? table_survey(file) : array_survey(file);
}

}  // namespace

Comparison compare_results(const fs::path& a, const fs::path& b, PointMatch match) {
  return compare(survey_of(a), survey_of(b), match);
}

}  // namespace prismfield
