// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "model/axis.hpp"
#include "model/cells.hpp"

namespace prismfield {

/// A cell belongs when its centre is within the radius, metres.
struct Sphere {
  std::array<double, 3> center{};
  double radius = 0;
  Properties properties{};
};

/// A cell belongs when min <= centre < max, metres.
struct Box {
  Range easting, northing, upward;
  Properties properties{};
};

/// Equal cells, and what is painted over their background.
struct Voxels {
  Axis easting, northing, upward;
  std::vector<Sphere> spheres;
  std::vector<Box> boxes;
};

/// The edges of equal cells, whatever is painted. Throws InputError with every error found, by keys such as
/// model.voxels.easting.
[[nodiscard]] CellEdges voxel_edges(const Voxels& spec);
/// How far each direction's edges may be from the places that were meant, see PrismSource::rounding().
[[nodiscard]] std::array<double, 3> rounding_of_voxels(const CellEdges& edges);

/// An ensemble of equal cells, never held as a list, with spheres and then boxes painted over the background, later
/// ones over earlier ones. Cells whose properties are all 0 are left out. `background` is asked once the edges are
/// known to be possible. Throws InputError with every error found, by keys such as model.voxels.easting.
[[nodiscard]] std::unique_ptr<Cells> make_voxels(const Voxels& spec, const MakeBackground& background);

}  // namespace prismfield
