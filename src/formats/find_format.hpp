// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "formats/file_content.hpp"
#include "formats/input_file.hpp"

namespace prismfield {

/// cell and a list of cells (octree); or, of two dimensions, segments with their numbers of cells.
enum class UbcMesh { none, tensor, octree, two_dimensional };

/// How many rows of a text tell which mesh it is.
inline constexpr std::size_t mesh_rows = 300;
/// Which mesh begins with these rows, mesh_rows or all, as words. Three columns of numbers look like a tensor mesh too.
[[nodiscard]] UbcMesh ubc_mesh_in(const std::vector<std::vector<std::string>>& rows);
/// The same of a file; none for what cannot be read.
[[nodiscard]] UbcMesh ubc_mesh_in(const InputFile& file);

/// What a file may be, by its first rows and, where these leave several, its suffix: the one place that tells formats
/// apart. One: it is that. Several: it begins with the number of its rows, and users have to say which; nothing:
/// neither content nor suffix tells. Tables are csv or xyz. Throws InputError for a file that cannot be read or is of a
/// foreign format, see foreign_format().
[[nodiscard]] std::vector<FileFormat> formats_of(const InputFile& file);
/// The only one of these. Throws InputError for none, several, and formats that are written only, with the option
/// --from.
[[nodiscard]] FileFormat one_format(const InputFile& file, const std::vector<FileFormat>& fits);

/// Whether a file of points begins with their number, and then whose it is, ubc_data or tomofast_data; nothing for
/// tables and arrays. `columns`, `z_down`: what the case says beside it. Throws InputError for columns, which are
/// known, for a z that contradicts the file, for a grid, and, with `remedy`, where both fit and nothing says which.
[[nodiscard]] std::optional<FileFormat> counted_points(const InputFile& file, const std::vector<std::string>& columns,
                                                       std::optional<bool> z_down, const std::string& remedy);

}  // namespace prismfield
