// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/trend_basis.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "inversion/low_rank_algebra.hpp"

namespace prismfield {
namespace {

/// Adds a function unless it is one of those before.
void add_function(std::vector<double> function, TrendBasis& basis) {
  const std::size_t number = basis.n_all++;
  std::vector<double> weighted(function.size());
  for (std::size_t i = 0; i < function.size(); ++i) weighted[i] = function[i] * basis.inverse_sigma[i];
  const double before = std::sqrt(dot(weighted, weighted));
  // twice is enough for orthogonality to rounding
  for (int pass = 0; pass < 2; ++pass) {
    for (const std::vector<double>& other : basis.orthonormal) {
      const double c = dot(other, weighted);
      for (std::size_t i = 0; i < weighted.size(); ++i) weighted[i] -= c * other[i];
    }
  }
  const double size = std::sqrt(dot(weighted, weighted));
  constexpr double alike = 1e-10;
  if (!(size > alike * before)) return;
  for (double& value : weighted) value /= size;
  basis.orthonormal.push_back(std::move(weighted));
  basis.functions.push_back(std::move(function));
  basis.numbers.push_back(number);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

TrendBasis make_trend_basis(const DataSet& data, Trend trend) {
  TrendBasis basis;
  if (trend == Trend::none) return basis;
  for (const double sigma : data.sigma) basis.inverse_sigma.push_back(1 / sigma);
  const auto n = static_cast<std::size_t>(data.points.size());
  const double x0 = mean(data.points.easting);
  const double y0 = mean(data.points.northing);
  for (std::size_t f = 0; f < static_cast<std::size_t>(data.fields.size()); ++f) {
    for (std::size_t k = 0; k < coefficients(trend); ++k) {
      std::vector<double> function(data.values.size(), 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        const double x = data.points.easting[i] - x0, y = data.points.northing[i] - y0;
        const double values[] = {1, x, y, x * x, x * y, y * y};
        function[f * n + i] = values[k];
      }
      add_function(std::move(function), basis);
    }
  }
  if (basis.orthonormal.size() >= data.values.size()) {
    throw InputError("", "inversion.trend",
                     fmt::format("fits all {} of {} exactly, so that nothing is left for a model; write trend: {}, or "
                                 "add data",
                                 counted(data.size(), "value"), data.name,
                                 trend != Trend::constant && data.size() > data.fields.size() ? "constant" : "none"));
  }
  return basis;
}

std::vector<double> TrendBasis::coefficients(const std::vector<double>& residual) const {
  const std::size_t n = functions.size();
  if (n == 0) return {};
  std::vector<double> weighted(residual.size());
  for (std::size_t i = 0; i < residual.size(); ++i) weighted[i] = residual[i] * inverse_sigma[i];
  // W T = Q R: R c = Q' W residual, from below
  std::vector<double> c(n);
  std::vector<double> column(residual.size());
  for (std::size_t k = n; k-- > 0;) {
    c[k] = dot(orthonormal[k], weighted);
    for (std::size_t l = k + 1; l < n; ++l) {
      for (std::size_t i = 0; i < column.size(); ++i) column[i] = functions[l][i] * inverse_sigma[i];
      c[k] -= dot(orthonormal[k], column) * c[l];
    }
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = functions[k][i] * inverse_sigma[i];
    c[k] /= dot(orthonormal[k], column);
  }
  std::vector<double> all(n_all);
  for (std::size_t k = 0; k < n; ++k) all[numbers[k]] = c[k];
  return all;
}

void TrendBasis::add(const std::vector<double>& coefficients, std::vector<double>& values) const {
  for (std::size_t k = 0; k < functions.size(); ++k) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += coefficients[numbers[k]] * functions[k][i];
  }
}

}  // namespace prismfield
