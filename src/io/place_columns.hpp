// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <prismfield/error.hpp>

#include "io/input_file.hpp"
#include "io/text_table.hpp"

namespace prismfield {

/// What a case states of the places in a table.
struct PlaceUnits {
  /// factor to metres; unset: metres where the columns name no unit
  std::optional<double> length_to_si = {};
  /// unset: up, but for a column depth
  std::optional<bool> z_down = {};
};

/// The columns of a table of places: easting, northing, upward, by their usual names, units in brackets; longitude and
/// latitude are refused.
[[nodiscard]] TableRequest place_columns();

/// Which of easting, northing and upward a column's name means, by the spellings of place_columns(); "" for none.
[[nodiscard]] std::string place_named(std::string_view name);

/// Factors from the numbers of the places' columns, the first two or three of those wanted, to metres with z up. A unit
/// that is no length, one that differs from the case's, and a direction that the column's name denies are added to
/// `problems`; a depth is told in `notes`.
[[nodiscard]] std::vector<double> place_factors(const InputFile& file, const TableColumns& columns,
                                                const PlaceUnits& units, ProblemList& problems,
                                                std::vector<std::string>& notes);
/// The same for a table that was read: its columns of places become metres with z up.
void places_to_metres(const InputFile& file, Table& table, const PlaceUnits& units, ProblemList& problems,
                      std::vector<std::string>& notes);

}  // namespace prismfield
