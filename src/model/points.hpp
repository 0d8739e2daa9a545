// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <vector>

#include "model/ensemble.hpp"

namespace prismfield {

class Communicator;
struct Case;

/// Observation points, metres, z up. A grid's points are numbered easting fastest, then northing.
struct Points {
  /// each of length size()
  std::vector<double> easting, northing, upward;
  /// grid coordinates; both empty for stations
  std::vector<double> grid_easting, grid_northing;

  [[nodiscard]] bool is_grid() const noexcept { return !grid_easting.empty(); }
  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(easting.size()); }
};

/// The points that a case's observations describe; reads and validates the files that they name.
/// `bounds` of the model give the default ranges of random stations. Throws InputError with every mistake found.
[[nodiscard]] Points make_points(const Case& run, const Bounds& bounds);

/// The same on every rank, of files that rank 0 alone reads. Throws InputError with every mistake, the same on every
/// rank, and AgreedFailure for failures. Collective.
[[nodiscard]] Points make_points(const Case& run, const Bounds& bounds, const Communicator& communicator);

}  // namespace prismfield
