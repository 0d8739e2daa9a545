// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <prismfield/points.hpp>

#include "formats/input_file.hpp"
#include "readers/point_columns.hpp"
#include "readers/surface_file.hpp"

namespace prismfield {

/// A file of stations as a case describes it.
struct StationsFile : PlaceUnits {
  StationsFile() { has_length_key = true; }
  explicit StationsFile(std::filesystem::path path) : StationsFile() { file = std::move(path); }

  std::filesystem::path file;
  /// of a table, in the file's order, any spelling, "-" for one that is passed over; empty: the file's header
  std::vector<std::string> columns;
  /// what stands for the file's heights: nothing, one height for all, m, or heights above a surface
  std::variant<std::monostate, double, AboveTerrain> upward;
  /// of the case, T; a file that states another is noted. Zero: none
  std::array<double, 3> inducing_field{};

  [[nodiscard]] bool has_own_heights() const noexcept { return std::holds_alternative<std::monostate>(upward); }
};

/// Stations, metres, z up, of a table (with Oasis montaj's and GMT's lines between the rows), of UBC's .loc and .obs,
/// or the points of a result in HDF5 or netCDF-4, grid or stations. `columns`, when it is there, gets all that a text
/// says of them. What users should know is added to `notes`. Throws InputError with every error found.
[[nodiscard]] Points read_stations(const InputFile& file, const StationsFile& spec, std::vector<std::string>& notes,
                                   StationColumns* columns = nullptr);

}  // namespace prismfield
