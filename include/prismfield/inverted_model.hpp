// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/data_set.hpp>
#include <prismfield/inversion_settings.hpp>

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
  /// of the model; of a magnetisation, of its magnitude
  double minimum = 0, maximum = 0;
  /// since the start, earlier runs of a resumed inversion included
  double seconds = 0;
};

/// Measurements beside what the model gives.
struct PredictedData : DataSet {
  /// (field, point), SI units, z up
  std::vector<double> predicted;
};

/// What an inversion comes to, in the unit of the unknown. What is one an active cell is (epoch, active cell) of
/// several epochs, and what is one an unknown of a cell (epoch, component, active cell): the components of a
/// magnetisation are along easting, northing, upward.
struct InvertedModel {
  Unknown unknown = Unknown::density;
  CellEdges edges;
  /// numbers of the active cells, rising: easting fastest, then northing, then upward
  std::vector<std::int64_t> cells;
  /// names of the epochs; empty: one, without a name
  std::vector<std::string> epochs;
  /// one an unknown of a cell
  std::vector<double> values;
  /// the values of every solution in the order of `convergence`; empty: not kept
  std::vector<std::vector<double>> solutions;
  /// posterior standard deviation, one an unknown of a cell; empty: not asked for
  std::vector<double> sigma;
  /// one an active cell, 0: as the data want it, 1: as the reference is; empty: not asked for
  std::vector<double> depth_of_investigation;
  /// trace of the resolution matrix and its standard error: the number of resolved parameters; by a low rank also what
  /// it is at least
  std::optional<double> resolution_trace, resolution_trace_error, resolution_trace_least;
  /// behind sigma: samples, or directions of the data; the other is 0
  std::int64_t samples = 0, rank = 0;
  /// standard error of sigma, relative to it, that comes from the prior's variances; by a low rank alone
  double sigma_error = 0;
  std::vector<ConvergenceRow> convergence;
  /// data set by data set, each epoch by epoch
  std::vector<PredictedData> data;
  /// coefficients of the regional trend of each data set, field by field, SI and upwards: constant, of easting and
  /// northing, and of easting^2, easting northing and northing^2, metres from the middle of the stations; empty: none
  std::vector<std::vector<double>> trend;

  [[nodiscard]] std::int64_t n_epochs() const noexcept { return epoch_count(epochs); }
};

/// One component of what is (epoch, component, cell), as (epoch, cell).
[[nodiscard]] inline std::vector<double> component_of(const std::vector<double>& values, Unknown unknown,
                                                      std::int64_t component, std::int64_t n_cells) {
  const auto n = static_cast<std::size_t>(n_cells);
  const std::size_t of_epoch = n * static_cast<std::size_t>(components(unknown));
  std::vector<double> one;
  for (std::size_t first = static_cast<std::size_t>(component) * n; first < values.size(); first += of_epoch) {
    one.insert(one.end(), values.begin() + static_cast<std::ptrdiff_t>(first),
               values.begin() + static_cast<std::ptrdiff_t>(first + n));
  }
  return one;
}

/// The magnitude of what is (epoch, component, cell), as (epoch, cell).
[[nodiscard]] inline std::vector<double> amplitude_of(const std::vector<double>& values, Unknown unknown,
                                                      std::int64_t n_cells) {
  std::vector<double> amplitude = component_of(values, unknown, 0, n_cells);
  for (std::int64_t c = 1; c < components(unknown); ++c) {
    const std::vector<double> other = component_of(values, unknown, c, n_cells);
    for (std::size_t i = 0; i < amplitude.size(); ++i) amplitude[i] = std::hypot(amplitude[i], other[i]);
  }
  return amplitude;
}

/// Values of active cells, of every epoch, as one a cell of the whole mesh, NaN in the others.
[[nodiscard]] inline std::vector<double> on_all_cells(const InvertedModel& model, const std::vector<double>& values) {
  const CellCounts counts = counts_of(model.edges);
  const auto of_epoch = static_cast<std::size_t>(counts[0] * counts[1] * counts[2]);
  const std::size_t n = model.cells.size();
  std::vector<double> all(of_epoch * static_cast<std::size_t>(model.n_epochs()),
                          std::numeric_limits<double>::quiet_NaN());
  for (std::size_t j = 0; j < values.size(); ++j) {
    all[j / n * of_epoch + static_cast<std::size_t>(model.cells[j % n])] = values[j];
  }
  return all;
}

}  // namespace prismfield
