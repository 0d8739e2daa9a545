// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5_file.hpp"
#include "io/input_file.hpp"

namespace prismfield {

/// The coordinate reference system of easting and northing, as CF writes it down.
struct Crs {
  using Value = AttributeValue;
  /// as the case names it
  std::string name;
  /// names and values of the attributes of CF's grid mapping, in the order in which they are written; angles in degrees
  std::vector<std::pair<std::string, Value>> attributes;
};

/// What PROJ knows of a coordinate reference system: `text` is an authority's code (EPSG:32719), the name in PROJ's
/// database, WKT, PROJJSON or a PROJ string. Without PROJ the name alone, unchecked. Throws InputError, without a
/// place, for what is no system, for geographic ones, for axes other than easting and northing and for units other than
/// metres.
[[nodiscard]] Crs describe_crs(const std::string& text);

/// The version of PROJ, "" where this build has none.
[[nodiscard]] std::string proj_version();

/// The variable that states a file's system.
inline constexpr const char* crs_variable = "crs";

/// Writes the variable `crs`, which holds nothing but attributes; nothing without a system. `path`: that of a group.
void write_crs(Hdf5File& file, const std::optional<Crs>& crs, const std::string& path = "crs");

/// The system that a file's variable `crs` states, its attributes as they stand there; nothing without one.
[[nodiscard]] std::optional<Crs> read_crs(const ArrayFile& file);

/// Lets a variable refer to the file's `crs`, where there is one.
void refer_to_crs(Hdf5File& file, const std::string& dataset);

}  // namespace prismfield
