// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <prismfield/inverted_model.hpp>

namespace prismfield {

/// How G of a data set is kept, for the numbers that it gives: computed anew by pairs, entry by entry, as an H-matrix,
/// computed anew by other methods.
inline constexpr std::int64_t stored_not = 0, stored_whole = 1, stored_compressed = 2, by_tree = 3, by_fft = 4;

/// Where an inversion is between two solutions for a beta: from it an inversion goes on to the same model, bit for bit.
struct InversionState {
  /// "cool", "compact", "intervals", "beta", "samples"
  std::string phase = "cool";
  std::vector<ConvergenceRow> rows;
  /// of each data set one of these numbers: what `store: auto` found once
  std::vector<std::int64_t> stored;
  /// one an unknown: (epoch, component, active cell), as all that is one a cell
  std::vector<double> model;
  double beta = 0;
  /// why the target was not met; empty: it was, or is still searched for
  std::string message;
  std::int64_t products = 0;
  double seconds = 0;

  /// the models of the solutions so far, where all are kept
  std::vector<std::vector<double>> kept;

  /// solutions of the search for beta that goes on, as (log beta, log phi_d)
  std::vector<std::array<double, 2>> search;

  /// compact: the model at which weights were last computed, and what they were computed with
  std::vector<double> weights_model;
  std::array<double, 4> epsilon{}, first_epsilon{};
  std::int64_t compact_steps = 0;
  double last_phi_m = 0;

  /// intervals: steps done and their dual variables, then the bounds of each cell that they led to
  std::int64_t interval_steps = 0;
  std::vector<double> interval_dual, lower, upper;

  /// samples done, sums of their squares, and of their traces and squared traces
  std::int64_t samples = 0;
  std::vector<double> squares;
  double trace = 0, trace_squared = 0;
  /// difference of the models of two references that differ by 1, once it is there
  std::vector<double> depth_of_investigation;
};

}  // namespace prismfield
