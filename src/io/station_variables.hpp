// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include <prismfield/points.hpp>

#include "io/cf_attributes.hpp"
#include "io/hdf5_file.hpp"
#include "io/station_file.hpp"

namespace prismfield {

/// Writes the station file's own columns, but for the coordinates, as variables on the dimension of the stations:
/// float64 where all are numbers (NaN for dummies), else text. Their names are cleaned for netCDF, and end in `_file`
/// where they are a field's or this run has a variable of the name; the file's names are in long_name. Call it when
/// everything else of the root is written. Reads the file twice; when it is another by now, a part may be missing and
/// the notes returned say so. Throws RunError.
[[nodiscard]] std::vector<std::string> write_station_variables(Hdf5File& out, const PointLayout& layout,
                                                               const StationSource& stations, const Points& points);

}  // namespace prismfield
