// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <vector>

#include <prismfield/data_set.hpp>
#include <prismfield/inversion_settings.hpp>

namespace prismfield {

/// The functions that a regional field of a data set is made of, for each of its fields: 1, easting and northing from
/// the middle of the stations, and their products, as far as the trend goes. Vectors are (field, point) of the whole
/// set.
struct TrendBasis {
  /// over sigma, orthonormal
  std::vector<std::vector<double>> orthonormal;
  /// the functions themselves and 1/sigma
  std::vector<std::vector<double>> functions;
  std::vector<double> inverse_sigma;
  /// of all functions, those left out included, and which of them each of the above is
  std::size_t n_all = 0;
  std::vector<std::size_t> numbers;

  /// The coefficients that fit `residual` best in the sense of phi_d, SI units per function; 0 of those left out.
  [[nodiscard]] std::vector<double> coefficients(const std::vector<double>& residual) const;
  /// values += the trend of these coefficients
  void add(const std::vector<double>& coefficients, std::vector<double>& values) const;
};

/// No functions for Trend::none, and none that stations cannot distinguish (all in one line).
/// Throws InputError, by the key inversion.trend, when they fit every value of the data.
[[nodiscard]] TrendBasis make_trend_basis(const DataSet& data, Trend trend);

}  // namespace prismfield
