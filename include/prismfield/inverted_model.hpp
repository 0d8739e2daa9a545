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

/// One row of an inversion's table: one solution for one beta.
struct ConvergenceRow {
  /// "cool", "target", "compact", "beta"
  std::string stage;
  double beta = 0;
  /// sum of squared residuals over sigma; chi is phi_d over the number of data
  double phi_d = 0, chi = 0;
  double phi_m = 0;
  /// products with G'WG since the start
  std::int64_t products = 0;
  /// extremes of the model; for a magnetisation, of its magnitude
  double minimum = 0, maximum = 0;
  /// since the start, with earlier runs of a resumed inversion
  double seconds = 0;
};

/// Measurements and the values that the model predicts for them.
struct PredictedData : DataSet {
  /// (field, point), SI units, z up
  std::vector<double> predicted;
};

/// The result of invert(), in the unit of the unknown. With several epochs, values per active cell are (epoch, active
/// cell), values per unknown (epoch, component, active cell); components of a magnetisation are along easting,
/// northing, upward.
struct InvertedModel {
  Unknown unknown = Unknown::density;
  CellEdges edges;
  /// numbers of the active cells, rising; cells are numbered easting fastest, then northing, then upward
  std::vector<std::int64_t> cells;
  /// names of the epochs; empty: one epoch without a name
  std::vector<std::string> epochs;
  /// one value per unknown
  std::vector<double> values;
  /// values of every solution in the order of `convergence`; empty: not kept
  std::vector<std::vector<double>> solutions;
  /// posterior standard deviation per unknown; empty: not asked for
  std::vector<double> sigma;
  /// per active cell, from 0, set by the data, to 1, set by the reference; empty: not asked for
  std::vector<double> depth_of_investigation;
  /// trace of the resolution matrix, the number of resolved parameters, and its standard error; with a low rank also a
  /// lower bound
  std::optional<double> resolution_trace, resolution_trace_error, resolution_trace_least;
  /// what sigma was estimated from: samples, or directions of the data; the other is 0
  std::int64_t samples = 0, rank = 0;
  /// relative standard error of sigma due to the variances of the prior; low rank only
  double sigma_error = 0;
  std::vector<ConvergenceRow> convergence;
  /// data set by data set, epoch by epoch within each
  std::vector<PredictedData> data;
  /// coefficients of each data set's regional trend, field by field, SI, z up: 1, easting, northing, easting^2, easting
  /// northing, northing^2, metres from the middle of the stations; empty: no trend
  std::vector<std::vector<double>> trend;

  [[nodiscard]] std::int64_t n_epochs() const noexcept { return epoch_count(epochs); }
};

/// One component of values (epoch, component, cell), as (epoch, cell).
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

/// The magnitude of values (epoch, component, cell), as (epoch, cell).
[[nodiscard]] inline std::vector<double> amplitude_of(const std::vector<double>& values, Unknown unknown,
                                                      std::int64_t n_cells) {
  std::vector<double> amplitude = component_of(values, unknown, 0, n_cells);
  for (std::int64_t c = 1; c < components(unknown); ++c) {
    const std::vector<double> other = component_of(values, unknown, c, n_cells);
    for (std::size_t i = 0; i < amplitude.size(); ++i) amplitude[i] = std::hypot(amplitude[i], other[i]);
  }
  return amplitude;
}

/// The active cells' values, epoch by epoch, on all cells of the mesh; NaN in other cells.
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
