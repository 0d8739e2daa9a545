// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace prismfield {

/// Columns of observation points that the caller owns: metres, z up, each of length size().
struct PointColumns {
  std::span<const double> easting, northing, upward;
  /// how far coordinates may lie from their true places, as PrismSource::rounding() defines for faces
  std::array<double, 3> rounding{};

  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(easting.size()); }
};

/// Observation points, metres, z up. A grid numbers its points easting fastest, then northing.
struct Points {
  /// each of length size()
  std::vector<double> easting, northing, upward;
  /// coordinates of the grid's nodes; both are empty for stations
  std::vector<double> grid_easting = {}, grid_northing = {};
  /// see PointColumns::rounding
  std::array<double, 3> rounding{};

  [[nodiscard]] bool is_grid() const noexcept { return !grid_easting.empty(); }
  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(easting.size()); }
  /// Views of these columns; the points must outlive them.
  operator PointColumns() const noexcept { return {easting, northing, upward, rounding}; }
};

}  // namespace prismfield
