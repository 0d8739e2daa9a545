// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/input_file.hpp"

namespace prismfield {

/// The formats that `convert` knows.
enum class FileFormat {
  hdf5,
  hdf5_prisms,
  csv,
  xyz,
  ubc_mesh,
  ubc_model,
  ubc_data,
  tomofast_grid,
  tomofast_values,
  tomofast_data,
  vtr,
  vtu,
  vtp,
  values
};

struct FormatInfo {
  FileFormat format;
  /// the word of --from and --to
  const char* name;
  const char* long_name;
  bool is_read;
  bool is_written;
  /// g/cm3 where nobody says otherwise
  bool in_grams;
};

inline constexpr std::array format_infos = {
    FormatInfo{FileFormat::hdf5, "hdf5", "HDF5 (netCDF-4)", true, true, false},
    FormatInfo{FileFormat::hdf5_prisms, "hdf5-prisms", "HDF5 list of prisms", true, true, false},
    FormatInfo{FileFormat::csv, "csv", "CSV table", true, true, false},
    FormatInfo{FileFormat::xyz, "xyz", "table separated by blanks", true, true, false},
    FormatInfo{FileFormat::ubc_mesh, "ubc-mesh", "UBC mesh", true, true, false},
    FormatInfo{FileFormat::ubc_model, "ubc-model", "UBC model", true, true, true},
    FormatInfo{FileFormat::ubc_data, "ubc-data", "UBC data", true, true, false},
    FormatInfo{FileFormat::tomofast_grid, "tomofast-grid", "Tomofast grid", true, true, false},
    FormatInfo{FileFormat::tomofast_values, "tomofast-values", "Tomofast values", true, true, false},
    FormatInfo{FileFormat::tomofast_data, "tomofast-data", "Tomofast data", true, true, false},
    FormatInfo{FileFormat::vtr, "vtr", "VTK rectilinear grid", false, true, false},
    FormatInfo{FileFormat::vtu, "vtu", "VTK voxels", false, true, false},
    FormatInfo{FileFormat::vtp, "vtp", "VTK points", false, true, false},
    FormatInfo{FileFormat::values, "values", "list of values", true, true, false},
};

[[nodiscard]] constexpr const FormatInfo& info(FileFormat format) noexcept {
  return format_infos[static_cast<std::size_t>(format)];
}

/// The words of --from, or of --to.
[[nodiscard]] std::vector<std::string> format_names(bool to_read);
[[nodiscard]] std::optional<FileFormat> format_named(const std::string& name);

/// What the suffix of a name asks for, in small letters or capitals; nothing for .txt and others that say nothing.
[[nodiscard]] std::optional<FileFormat> format_of_suffix(const std::filesystem::path& file);
/// Whether a name has the suffix of UBC's files of places alone, .loc.
[[nodiscard]] bool is_ubc_places(const std::filesystem::path& file);
/// The suffixes that say something, for messages.
[[nodiscard]] std::string known_suffixes();

/// What a file is, by its suffix and its content. Throws InputError when neither says, with the option that does, and
/// when it cannot be read.
[[nodiscard]] FileFormat find_format(const InputFile& file);

}  // namespace prismfield
