// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <prismfield/inverted_model.hpp>

namespace prismfield {

/// How a data set's G is kept, since the model's bits depend on it: computed anew by pairs, stored by entries, an
/// H-matrix, computed anew by tree or by fft.
inline constexpr std::int64_t stored_not = 0, stored_whole = 1, stored_compressed = 2, by_tree = 3, by_fft = 4;

/// The state of an inversion between two solutions for a beta. invert() resumes from it to the same model, bit for bit.
struct InversionState {
  /// "cool", "compact", "intervals", "beta", "samples"
  std::string phase = "cool";
  std::vector<ConvergenceRow> rows;
  /// per data set one of the numbers above: what `store: auto` chose
  std::vector<std::int64_t> stored;
  /// one value per unknown, (epoch, component, active cell), here and below
  std::vector<double> model;
  double beta = 0;
  /// why the target was not met; empty: it was met, or the search goes on
  std::string message;
  std::int64_t products = 0;
  double seconds = 0;

  /// models of the solutions so far, where all are kept
  std::vector<std::vector<double>> kept;

  /// solutions (log beta, log phi_d) of the search for beta in progress
  std::vector<std::array<double, 2>> search;

  /// compact: the model at the last computation of weights, and the values used there
  std::vector<double> weights_model;
  std::array<double, 4> epsilon{}, first_epsilon{};
  std::int64_t compact_steps = 0;
  double last_phi_m = 0;

  /// intervals: number of steps done, their dual variables, and the resulting bounds of each cell
  std::int64_t interval_steps = 0;
  std::vector<double> interval_dual, lower, upper;

  /// samples done, and sums of their squares, traces and squared traces
  std::int64_t samples = 0;
  std::vector<double> squares;
  double trace = 0, trace_squared = 0;
  /// difference of the models of two references that differ by 1; empty until computed
  std::vector<double> depth_of_investigation;
};

}  // namespace prismfield
