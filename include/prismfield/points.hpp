// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace prismfield {

/// Columns that describe observation points and belong to somebody else: metres, z up, each of length size().
struct PointColumns {
  std::span<const double> easting, northing, upward;
  /// how far coordinates may be from the places that were meant, as PrismSource::rounding() has it for faces
  std::array<double, 3> rounding{};

  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(easting.size()); }
};

/// Observation points, metres, z up. A grid's points are numbered easting fastest, then northing.
struct Points {
  /// each of length size()
  std::vector<double> easting, northing, upward;
  /// grid coordinates; both empty for stations
  std::vector<double> grid_easting = {}, grid_northing = {};
  /// see PointColumns::rounding
  std::array<double, 3> rounding{};

  [[nodiscard]] bool is_grid() const noexcept { return !grid_easting.empty(); }
  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(easting.size()); }
  /// A view of these columns, which must outlive it.
  operator PointColumns() const noexcept { return {easting, northing, upward, rounding}; }
};

}  // namespace prismfield
