// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/cells.hpp"
#include "model/survey.hpp"

namespace prismfield {

/// A line of an inversion's table: what one solution for one beta came to.
struct ConvergenceRow {
  /// "cool", "target", "compact", "beta"
  std::string stage;
  double beta = 0;
  /// sum of squared residuals over sigma, and the same over the number of data
  double phi_d = 0, chi = 0;
  double phi_m = 0;
  /// products with G'WG since the start
  std::int64_t products = 0;
  /// kg/m3
  double minimum = 0, maximum = 0;
  /// since the start, earlier runs of a resumed inversion included
  double seconds = 0;
};

/// Measurements beside what the model gives.
struct PredictedData : DataSet {
  /// (field, point), SI units, z up
  std::vector<double> predicted;
};

/// What an inversion comes to.
struct InvertedModel {
  CellEdges edges;
  /// numbers of the active cells, rising: easting fastest, then northing, then upward
  std::vector<std::int64_t> cells;
  /// one an active cell, kg/m3
  std::vector<double> density;
  /// posterior standard deviation, kg/m3; empty: not asked for
  std::vector<double> density_sigma;
  /// 0: as the data want it, 1: as the reference is; empty: not asked for
  std::vector<double> depth_of_investigation;
  /// trace of the resolution matrix and its standard error: parameters that the data decide
  std::optional<double> resolution_trace, resolution_trace_error;
  /// samples or rank behind density_sigma
  std::int64_t samples = 0;
  std::vector<ConvergenceRow> convergence;
  std::vector<PredictedData> data;
  /// coefficients of the regional trend of each data set, field by field, in output units: constant, per metre of
  /// easting, per metre of northing; empty: none
  std::vector<std::vector<double>> trend;
};

}  // namespace prismfield
