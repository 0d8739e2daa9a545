// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <prismfield/points.hpp>

#include "io/dem_file.hpp"
#include "io/input_file.hpp"
#include "io/point_columns.hpp"

namespace prismfield {

/// A file of stations as a case describes it.
struct StationsFile : PlaceUnits {
  StationsFile() = default;
  explicit StationsFile(std::filesystem::path path) : file(std::move(path)) {}

  std::filesystem::path file;
  /// of a table, in the file's order, any spelling, "-" for one that is passed over; empty: the file's header
  std::vector<std::string> columns;
  /// what stands for the file's heights: nothing, one height for all, m, or heights above a surface
  std::variant<std::monostate, double, AboveTerrain> upward;

  [[nodiscard]] bool has_own_heights() const noexcept { return std::holds_alternative<std::monostate>(upward); }
};

/// A file of stations, and how it is read.
struct StationSource {
  InputFile file;
  StationsFile spec;
};

/// A station as its file has it, valid during the call.
struct StationRow {
  /// one a column, quotes kept
  const std::vector<std::string_view>& fields;
  /// metres, z up
  std::array<double, 3> place{};
};

/// The columns of a file of stations.
struct StationColumns {
  std::vector<std::string> names;
  char separator = ',';
  /// the column of each coordinate, -1: none is read
  std::array<int, 3> at{-1, -1, -1};
  /// whether a coordinate is the number in its column, by whose name any reader knows it
  std::array<bool, 3> is_plain{};
};

/// Reads the stations of a text once more, as read_stations() kept them: tells of the columns, then of each station and
/// its number. False, somewhere on the way, when the file is no longer the one that `points` were read from.
[[nodiscard]] bool each_station_again(const StationSource& stations, const Points& points,
                                      const std::function<void(const StationColumns&)>& take_columns,
                                      const std::function<void(std::int64_t, const StationRow&)>& take_row);

/// Whether a file of stations is a text, whose columns a result can carry.
[[nodiscard]] bool has_station_columns(const InputFile& file);

/// Stations, metres, z up, of a table (with Oasis montaj's and GMT's lines between the rows), of UBC's .loc and .obs,
/// or the points of a result in HDF5 or netCDF-4, grid or stations. What users should know is added to `notes`. Throws
/// InputError with every error found.
[[nodiscard]] Points read_stations(const InputFile& file, const StationsFile& spec, std::vector<std::string>& notes);

}  // namespace prismfield
