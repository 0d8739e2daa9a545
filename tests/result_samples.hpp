// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/forward.hpp>
#include <prismfield/points.hpp>

#include "case/case.hpp"
#include "writers/result_file.hpp"

namespace prismfield::testing_samples {

/// A grid of nodes `spacing` apart at a height of 100 m.
inline Points grid_points(std::int64_t n_easting, std::int64_t n_northing, double spacing = 100) {
  Points points;
  for (std::int64_t i = 0; i < n_easting; ++i) points.grid_easting.push_back(spacing * static_cast<double>(i));
  for (std::int64_t j = 0; j < n_northing; ++j) points.grid_northing.push_back(spacing * static_cast<double>(j));
  for (const double northing : points.grid_northing) {
    for (const double easting : points.grid_easting) {
      points.easting.push_back(easting);
      points.northing.push_back(northing);
      points.upward.push_back(100);
    }
  }
  return points;
}

/// A result as written: units and axes of the output.
struct FieldTable {
  FieldList fields;
  /// (field, point) in the order of `fields`, output units and axes
  std::vector<double> values;
};

/// A result in units and axes of the output.
inline FieldTable to_output_units(const Fields& result, Axes axes) {
  FieldTable table{result.fields, {}};
  ResultHeader header;
  header.axes = axes;
  for (const FieldInfo& field : result.fields) {
    const auto values = output_values(header, result, field.field);
    table.values.insert(table.values.end(), values.begin(), values.end());
  }
  return table;
}

/// Stations off any grid, each at a height of its own.
inline Points station_points(std::int64_t n) {
  Points points;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto t = static_cast<double>(i);
    points.easting.push_back(1000 * std::sin(t));
    points.northing.push_back(1000 * std::cos(2 * t));
    points.upward.push_back(10 * t);
  }
  return points;
}

/// A case that names its output.
inline Case sample_case(const std::filesystem::path& output, FieldList fields = FieldList::all()) {
  Case run;
  run.file = "sample.yaml";
  run.title = "A sample";
  run.fields = fields;
  run.output.file = output;
  run.text = "title: A sample\n";
  run.locations = {{"output.file", "sample.yaml:7"}, {"output", "sample.yaml:6"}};
  return run;
}

/// A result in which every value tells its field and point: (field number + 1) * 1e-5 * sin(point + field), SI, z up.
inline Fields sample_result(const Points& points, FieldList fields = FieldList::all()) {
  Fields result;
  result.fields = fields;
  for (const FieldInfo& field : fields) {
    const auto f = static_cast<double>(field.field);
    for (std::int64_t i = 0; i < points.size(); ++i) {
      result.values.push_back((f + 1) * 1e-5 * std::sin(static_cast<double>(i) + f));
    }
  }
  result.pairs = 1000 * points.size();
  result.pairs_now = result.pairs;
  result.pairs_by_form[static_cast<std::size_t>(Form::multipole_6)] = result.pairs - 10;
  result.pairs_by_form[static_cast<std::size_t>(Form::compact)] = 10;
  result.points_inside = 3;
  result.setup_seconds = 0.25;
  result.field_seconds = 2.0;
  result.rank_pairs = {600 * points.size(), 400 * points.size()};
  result.rank_busy_seconds = {1.9, 1.8};
  result.rank_cost = {4.5e6, 4.25e6};
  result.rank_begin = {0.1, 0.2};
  result.rank_end = {2.0, 2.1};
  result.plan.space = Space::openmp;
  result.plan.device = "a host";
  result.plan.threads = 8;
  result.method_numbers = {{"slots", 8}, {"batch", 64}, {"scratch_bytes", 4096}};
  result.plan.precision = Precision::single;
  result.plan.partition = Partition::rank_grid;
  result.plan.prism_parts = 2;
  return result;
}

}  // namespace prismfield::testing_samples
