// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/points.hpp>

#include "io/input_file.hpp"
#include "io/text_table.hpp"

namespace prismfield {

/// The columns of a table of places: easting, northing, upward.
[[nodiscard]] TableRequest station_columns();

/// Stations of a table, metres. Throws InputError with every mistake found.
[[nodiscard]] Points read_stations(const InputFile& file);

}  // namespace prismfield
