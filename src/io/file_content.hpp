// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "model/cells.hpp"

namespace prismfield {

/// A number a cell, easting fastest, then northing, then upward, NaN in inactive cells.
struct CellValues {
  std::string name;
  /// what `values` are in: kg/m3 for densities, as in a file otherwise, "" where that does not say
  std::string unit;
  std::vector<double> values;
};

/// A rectilinear grid of cells and what is known of them.
struct CellModel {
  CellEdges edges;
  /// those that a format with one number a cell holds first; empty: a mesh alone
  std::vector<CellValues> values;
};

/// What points have beside fields: names of stations, survey lines, numbers of any meaning.
struct PointColumn {
  std::string name;
  /// as fields name theirs, "" where none is stated
  std::string unit;
  /// "" where none is stated
  std::string long_name;
  /// a column of a station file, which tables have before the fields, else a variable of a run, behind them
  bool is_of_stations = true;
  bool is_text = false;
  /// one a point, NaN where there is none; empty of text
  std::vector<double> numbers;
  /// one a point; empty of numbers
  std::vector<std::string> texts;
};

/// Fields at points, measured or computed.
struct PointFields {
  Points points;
  FieldList fields;
  /// one list a field in the order of `fields`, units and axes of the output: kept as they stand in most files, so that
  /// what is written reads as the same doubles
  std::vector<std::vector<double>> values;
  /// standard deviations, likewise; an empty list where there are none
  std::vector<std::vector<double>> sigma;
  /// along which z gz, gxz and gyz point
  Axes axes = Axes::z_down;
  /// by the file or the user, and not by habit
  bool axes_are_stated = true;
  std::vector<PointColumn> columns = {};
};

/// What files hold, whatever their format: metres and kg/m3, coordinates z up.
using FileContent = std::variant<PrismBlock, CellModel, PointFields>;

/// True for a name such as density and density_sigma, whose values have the unit of densities.
[[nodiscard]] inline bool is_density(const std::string& name) { return name.starts_with("density"); }

}  // namespace prismfield
