// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <vector>

#include "io/input_file.hpp"
#include "model/cells.hpp"

namespace prismfield {

/// A mesh and its densities in the formats of UBC's programs.
struct UbcFiles {
  std::filesystem::path mesh;
  std::filesystem::path density;
  /// factor from the file's unit to kg/m3; UBC's programs write g/cm3
  double density_to_si = 1000;
};

/// Cell edges of a UBC mesh file: counts, the top south-west corner, widths towards east and north and downwards.
/// Throws InputError, by line, for the first mistake.
[[nodiscard]] CellEdges read_ubc_mesh(const InputFile& file);

/// Densities of a UBC file, kg/m3, `to_si` times what is written: depth fastest, then easting, then northing in the
/// file, in the order of cells here. Throws InputError with every mistake found.
[[nodiscard]] std::vector<double> read_ubc_densities(const InputFile& file, double to_si, const CellCounts& counts);

}  // namespace prismfield
