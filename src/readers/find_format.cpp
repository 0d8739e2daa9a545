// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/find_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/number_text.hpp"
#include "formats/text_lines.hpp"
#include "model/cells.hpp"

namespace prismfield {

UbcMesh ubc_mesh_in(const std::vector<std::vector<std::string>>& rows) {
  const auto has = [&](std::size_t row, std::size_t words) { return row < rows.size() && rows[row].size() == words; };
  const auto are_counts = [&](std::size_t row) {
    std::int64_t count = 0;
    return std::all_of(rows[row].begin(), rows[row].end(), [&](const std::string& word) {
      return parse_integer(word, count) == NumberStatus::ok && count > 0;
    });
  };
  // the segments of each of two directions: the first with where it begins, the next with their ends and cells
  std::size_t at = 0;
  int directions = 0;
  for (; has(at, 1) && are_counts(at) && has(at + 1, 3) && are_numbers(rows[at + 1]); ++directions) {
    for (at += 2; has(at, 2) && are_numbers(rows[at]);) ++at;
  }
  if (directions == 2 && at == rows.size()) return UbcMesh::two_dimensional;
  if (!has(0, 3) || !has(1, 3) || !are_counts(0) || !are_numbers(rows[1])) return UbcMesh::none;
  // i, j, k and size of each cell; lines of widths look so too where there are as many as a tensor mesh needs
  std::int64_t count = 0, cells = 0, widths = 0;
  const auto listed = std::ssize(rows) - 4;
  bool is_octree = has(2, 3) && has(3, 1) && has(4, 4) && are_counts(3) && are_counts(4);
  for (std::size_t row = 5; row < rows.size(); ++row) is_octree = is_octree && has(row, 4);
  if (is_octree) static_cast<void>(parse_integer(rows[3][0], cells));
  for (const std::string& word : rows[0]) {
    if (parse_integer(word, count) == NumberStatus::ok) widths += std::min(count, most_cells_in_a_direction);
  }
  const bool is_list = cells == listed || widths != 4 + 4 * listed || rows.size() == mesh_rows;
  if (is_octree && is_list) return UbcMesh::octree;
  return UbcMesh::tensor;
}

UbcMesh ubc_mesh_in(const InputFile& file) { return ubc_mesh_in(first_rows(file, mesh_rows)); }

std::vector<FileFormat> formats_of(const InputFile& file) {
  if (is_array_file(file)) return {FileFormat::hdf5};
  const std::optional<FileFormat> named = format_of_suffix(file.path);
  const std::vector<FileFormat> by_name(named ? 1 : 0, named.value_or(FileFormat::csv));
  // what cannot be read twice
  if (std::error_code code; !std::filesystem::is_regular_file(file.path, code)) return by_name;
  refuse_foreign(file);
  const TextStart start = start_of_text(file, mesh_rows);
  const auto& rows = start.rows;
  if (rows.empty()) return by_name;
  // a mesh of one cell along easting begins so too
  const bool may_be_mesh = named == FileFormat::ubc_mesh || (rows.size() > 3 && rows[3].size() < 3);
  if (begins_as_ubc_magnetic(start) && !may_be_mesh) return {FileFormat::ubc_data};
  const UbcMesh mesh = ubc_mesh_in(rows);
  if (mesh == UbcMesh::octree || mesh == UbcMesh::two_dimensional) return {FileFormat::ubc_mesh};
  std::int64_t count = 0;
  const bool has_count = rows[0].size() == 1 && parse_integer(rows[0][0], count) == NumberStatus::ok;
  const std::size_t columns = rows.size() > 1 ? rows[1].size() : 0;
  if (named == FileFormat::ubc_data) {
    return has_count || is_ubc_magnetic(file.path) ? by_name : std::vector{FileFormat::xyz};
  }
  if (has_count && (columns == 9 || columns == 10 || columns == 12)) return {FileFormat::tomofast_grid};
  const bool is_table = named == FileFormat::csv || named == FileFormat::xyz;
  if (named && !(is_table && has_count && columns > 1)) return by_name;
  if (has_count && columns > 0) {
    switch (columns) {
      case 1: return {FileFormat::tomofast_values};
      case 3: return {FileFormat::ubc_data, FileFormat::tomofast_data, FileFormat::tomofast_values};
      case 4: return {FileFormat::ubc_data, FileFormat::tomofast_data};
      case 6: return {FileFormat::tomofast_data};
      default: return {FileFormat::ubc_data};
    }
  }
  if (mesh == UbcMesh::tensor && rows.size() > 2 && columns != rows[2].size()) return {FileFormat::ubc_mesh};
  // a table: rows of three numbers or more, alike, below a line of names or none
  const auto is_row = [&](const std::vector<std::string>& row) {
    double value = 0;
    return row.size() == columns && std::count_if(row.begin(), row.end(), [&](const std::string& word) {
                                      return parse_number(word, value) == NumberStatus::ok;
                                    }) >= 3;
  };
  if (columns >= 3 && std::all_of(rows.begin() + 1, rows.end(), is_row)) {
    return {start.has_commas ? FileFormat::csv : FileFormat::xyz};
  }
  return {};
}

FileFormat one_format(const InputFile& file, const std::vector<FileFormat>& fits) {
  if (fits.empty()) {
    throw file.error(fmt::format("does not tell what it is by its suffix or its first lines; say it by --from: {}",
                                 fmt::join(format_names(true), ", ")));
  }
  if (!info(fits[0]).is_read) {
    throw file.error(fmt::format("is a {}, which is written only; formats that are read: {}", info(fits[0]).long_name,
                                 fmt::join(format_names(true), ", ")));
  }
  if (fits.size() == 1) return fits[0];
  std::vector<std::string> names;
  for (const FileFormat fit : fits) names.push_back(fmt::format("--from {} ({})", info(fit).name, info(fit).holds));
  throw file.error(fmt::format("begins with the number of its rows, as several formats do; say which by {}",
                               fmt::join(names, " or ")));
}

std::optional<FileFormat> counted_points(const InputFile& file, const std::vector<std::string>& columns,
                                         std::optional<bool> z_down, const std::string& remedy) {
  const std::vector<FileFormat> fits = formats_of(file);
  const auto may_be = [&](FileFormat format) { return std::find(fits.begin(), fits.end(), format) != fits.end(); };
  if (may_be(FileFormat::tomofast_grid)) {
    throw file.error("is a Tomofast grid, and points are needed; prismfield convert IN OUT.h5 makes a model of it");
  }
  const bool ubc = may_be(FileFormat::ubc_data), tomofast = may_be(FileFormat::tomofast_data);
  if (!ubc && !tomofast) return std::nullopt;
  if (!columns.empty()) {
    throw InputError(file.where, file.key_beside("columns"),
                     fmt::format("'{}' begins with the number of its rows, whose columns are known: E, N, elevation, "
                                 "value, standard deviation; take the key out",
                                 file.path.string()));
  }
  if (ubc && tomofast && !z_down) {
    throw file.error(fmt::format(
        "begins with the number of its rows, as files of UBC (heights, mGal) and Tomofast (depths, m/s2) do: {}",
        remedy));
  }
  if (!(ubc && tomofast) && z_down.value_or(tomofast) != tomofast) {
    throw InputError(
        file.where, file.key_beside("axis_z"),
        fmt::format("is {}, but '{}' is a file of {}", *z_down ? "down" : "up", file.path.string(),
                    ubc ? "UBC, whose elevations grow upwards" : "Tomofast (bx, by, bz), whose Z grows downwards"));
  }
  return z_down.value_or(tomofast) ? FileFormat::tomofast_data : FileFormat::ubc_data;
}

}  // namespace prismfield
