// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/points.hpp>
#include <prismfield/result.hpp>

#include "io/result_values.hpp"

namespace prismfield {

/// What the caller of write_result has measured, for /performance.
struct RunTimes {
  /// reading and validating, before forward(); its own setup is added to this
  double setup_seconds = 0;
  /// from the start of the program to the call of write_result; the time of writing is added to this
  double total_seconds = 0;
};

/// Writes the result as HDF5 that netCDF-4 programs open, under a temporary name in the same folder, renamed when
/// complete; the noise is applied here and its sigma written beside the fields. Called on rank 0 only. Takes
/// memory for one field and for the whole file while it writes.
/// Throws RunError, leaving neither a half-written file nor a changed old one.
void write_result(const ResultHeader& header, const Points& points, const Fields& result, const RunTimes& times);

}  // namespace prismfield
