// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <prismfield/points.hpp>

#include "io/cf_attributes.hpp"
#include "io/hdf5_file.hpp"
#include "io/station_file.hpp"

namespace prismfield {

/// Whether readers would take a column of this name, `gz [mGal]`, `GZ_sigma` or `singular`, for what a run computed.
[[nodiscard]] bool is_field_name(std::string_view column);

/// A field of a carried column as a number, NaN for a dummy; false for text.
[[nodiscard]] bool parse_carried(std::string_view text, double& value);

/// Writes the station file's own columns, but for the coordinates, as variables on the dimension of the stations:
/// float64 where all are numbers (NaN for dummies), else text. Their names are cleaned for netCDF, and end in `_file`
/// where they are a field's or this run has a variable of the name; the file's names are in long_name. Call it when
/// everything else of the root is written. Reads the file twice; when it is another by now, a part may be missing and
/// the notes returned say so. Throws RunError.
[[nodiscard]] std::vector<std::string> write_station_variables(Hdf5File& out, const PointLayout& layout,
                                                               const StationSource& stations, const Points& points);

}  // namespace prismfield
