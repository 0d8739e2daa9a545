// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "formats/input_file.hpp"
#include "readers/file_content.hpp"

namespace prismfield {

/// cell and a list of cells (octree); or, of two dimensions, segments with their numbers of cells.
enum class UbcMesh { none, tensor, octree, two_dimensional };

/// Number of rows of a text that suffice to recognise a mesh.
inline constexpr std::size_t mesh_rows = 300;
/// The mesh that these rows (mesh_rows or all) begin, as words. Three columns of numbers look like a tensor mesh too.
[[nodiscard]] UbcMesh ubc_mesh_in(const std::vector<std::vector<std::string>>& rows);
/// The same for a file; none for one that cannot be read.
[[nodiscard]] UbcMesh ubc_mesh_in(const InputFile& file);

/// The formats that a file may have, by its first rows and, if several fit, its suffix; all code that distinguishes
/// formats uses it. One: the file's format. Several: the file begins with its number of rows, and users must name the
/// format. None: neither content nor suffix decides. Tables are csv or xyz. Throws InputError for a file that cannot be
/// read or has a foreign format (foreign_format()).
[[nodiscard]] std::vector<FileFormat> formats_of(const InputFile& file);
/// The single format in `fits`. Throws InputError, with the option --from, for none or several and for formats that are
/// only written.
[[nodiscard]] FileFormat one_format(const InputFile& file, const std::vector<FileFormat>& fits);

/// The format of a file of points that begins with their number, ubc_data or tomofast_data; nothing for tables and
/// arrays. `columns`, `z_down`: statements of the case. Throws InputError for columns (they are fixed), for a z that
/// contradicts the file, for a grid and, with `remedy`, where both formats fit and nothing decides.
[[nodiscard]] std::optional<FileFormat> counted_points(const InputFile& file, const std::vector<std::string>& columns,
                                                       std::optional<bool> z_down, const std::string& remedy);

}  // namespace prismfield
