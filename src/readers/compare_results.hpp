// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>

#include "model/comparison.hpp"

namespace prismfield {

/// Compares two results, B being the reference, as compare() does: HDF5 or netCDF-4 files with the variables easting,
/// northing, upward and fields of a prismfield result, and tables with such columns: files whose names end in .csv,
/// .xyz, .txt or .dat unless they are HDF5 inside. Throws InputError for a file that is none, too.
[[nodiscard]] Comparison compare_results(const std::filesystem::path& a, const std::filesystem::path& b,
                                         PointMatch match = PointMatch::places);

}  // namespace prismfield
