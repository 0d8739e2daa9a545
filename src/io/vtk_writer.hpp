// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "io/file_content.hpp"
#include "io/output_file.hpp"

// Files of VTK's XML formats, for ParaView, VisIt and PyVista: numbers as bytes behind the XML, z up, lengths in
// metres.

namespace prismfield {

/// A rectilinear grid (.vtr): each of the model's values a number a cell, NaN in inactive cells, and `active`, 1 or 0,
/// where there are any. Throws RunError.
void write_vtr(TextOutput& out, const CellModel& model);

/// Prisms as voxels of an unstructured grid (.vtu) with `density`. Throws RunError.
void write_vtu(TextOutput& out, const PrismBlock& prisms);

/// Points (.vtp), each a vertex, with their fields in units and axes of the output and their other columns of numbers.
/// Throws RunError.
void write_vtp(TextOutput& out, const PointFields& points);

}  // namespace prismfield
