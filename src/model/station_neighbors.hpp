// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <prismfield/points.hpp>

namespace prismfield {

/// Moran's I of a field's residuals, their correlation from station to station, and what white noise has of it.
struct MoransI {
  double value = 0, expected = 0, deviation = 0;
};

/// The stations beside each station of a data set, its eight nearest, and what they say of its residual. Huber's norm
/// and the summary of an inversion use it.
class StationNeighbors {
public:
  static constexpr std::size_t count = 8;

  /// Of fewer than nine stations nothing is known.
  explicit StationNeighbors(const PointColumns& stations);

  /// Of each station: how much of its residual the stations beside it bear out, at most its own size and at most the
  /// third largest size among those beside it of the same sign. An anomaly that a model misses is borne out; outliers
  /// hardly stand three beside a fourth. `residuals`: one a station.
  [[nodiscard]] std::vector<double> borne_out(std::span<const double> residuals) const;

  /// Moran's I with the weights 1 from each station to those beside it, of residuals cut at three of their usual sizes.
  /// Source: Cliff and Ord, Spatial Processes (1981), equations 1.44 and 2.29 (normal errors).
  [[nodiscard]] MoransI morans_i(std::span<const double> residuals) const;

private:
  /// of station i: m_beside[count * i] and those after it; empty: not known
  std::vector<std::size_t> m_beside;
};

}  // namespace prismfield
