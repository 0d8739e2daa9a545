// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <prismfield/cells.hpp>

namespace prismfield {

/// Colours of active cells, so that those of one colour lie apart.
struct ProbeColors {
  /// cells from one of a colour to the next, towards easting, northing, upward
  std::array<std::int64_t, 3> spacing{};
  /// one an active cell, of [0, count)
  std::vector<std::int32_t> color;
  std::int64_t count = 0;
};

/// A grid of colours, `apart` cells from each other in a direction where `lengths`, metres, the regularisation's, is a
/// mean cell or less, further by as much as it is more; a direction of no length needs none.
[[nodiscard]] ProbeColors probe_colors(const ActiveCells& cells, const std::array<double, 3>& lengths, double apart);

}  // namespace prismfield
