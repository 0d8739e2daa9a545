// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>

#include "case/case.hpp"
#include "model/cells.hpp"

namespace prismfield {

/// The cells of a case's model, whatever fills them.
struct CellGrid {
  CellEdges edges;
  /// of the edges, see PrismSource::rounding()
  std::array<double, 3> rounding{};
};

/// True when a model's edges cannot be made from the case alone.
[[nodiscard]] bool edges_in_files(const ModelSpec& model);

/// The cells of a mesh that is no UBC mesh; reads the files that its edges name. Throws InputError with every error
/// found.
[[nodiscard]] CellGrid mesh_grid(const Case& run, const MeshSpec& spec);

/// The cells of voxels or any mesh; reads the files that their edges name, not those of densities. Throws InputError
/// with every error found: numbers of cells that cannot be and coordinates beyond max_coordinate too.
[[nodiscard]] CellGrid make_cell_grid(const Case& run);

}  // namespace prismfield
