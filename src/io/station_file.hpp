// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/points.hpp>

#include "io/input_file.hpp"
#include "io/text_table.hpp"

namespace prismfield {

/// The columns of a table of places: easting, northing, and upward with heights.
[[nodiscard]] TableRequest station_columns(bool with_heights = true);

/// Stations of a table, metres; without heights, upward stays empty. Throws InputError with every mistake found.
[[nodiscard]] Points read_stations(const InputFile& file, bool with_heights = true);

}  // namespace prismfield
