// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "io/dem_file.hpp"
#include "io/input_file.hpp"
#include "io/place_columns.hpp"

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

}  // namespace prismfield
