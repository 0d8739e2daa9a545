// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace prismfield {

/// Observation points, metres, z up. A grid's points are numbered easting fastest, then northing.
struct Points {
  /// each of length size()
  std::vector<double> easting, northing, upward;
  /// grid coordinates; both empty for stations
  std::vector<double> grid_easting, grid_northing;
  /// how far coordinates may be from the places that were meant, as PrismSource::rounding() has it for faces
  std::array<double, 3> rounding{};

  [[nodiscard]] bool is_grid() const noexcept { return !grid_easting.empty(); }
  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(easting.size()); }
};

}  // namespace prismfield
