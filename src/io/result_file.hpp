// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "compute/forward.hpp"
#include "model/points.hpp"

namespace prismfield {

/// What the caller of write_result has measured, for /performance.
struct RunTimes {
  /// reading and validating, before forward(); its own setup is added to this
  double setup_seconds = 0;
  /// from the start of the program to the call of write_result; the time of writing is added to this
  double total_seconds = 0;
};

/// A result as written: units and axes of the output.
struct FieldTable {
  FieldList fields;
  /// (field, point) in the order of `fields`, output units and axes
  std::vector<double> values;
};

/// Applies the case's axes and units to a result.
[[nodiscard]] FieldTable to_output_units(const Fields& result, Axes axes);

/// One field as write_result writes it: units and axes of the output, observations.noise added. The normal deviates
/// depend on seed, field and point number only, so that the other fields of a run never change them.
[[nodiscard]] std::vector<double> output_values(const Case& run, const Fields& result, Field field);

/// Checks, before anything is computed, that the result, the figure and the checkpoint can be written: the folder
/// exists and is writable, and no input would be replaced. Also that noise is asked for computed fields only. Throws
/// InputError with every mistake found, each naming its key.
void check_output(const Case& run);

/// Where the result goes: output.file, or the case's name with .h5 in the working folder.
[[nodiscard]] std::filesystem::path output_file(const Case& run);

/// Writes the result as HDF5 that netCDF-4 programs open, under a temporary name in the same folder, renamed when
/// complete; observations.noise is applied here and its sigma written beside the fields. Called on rank 0 only. Takes
/// memory for one field and for the whole file while it writes.
/// Throws RunError, leaving neither a half-written file nor a changed old one.
void write_result(const Case& run, const Points& points, const Fields& result, const RunTimes& times);

/// Minimum, maximum and RMS of each field as the table that the terminal shows. Values that are not numbers are left
/// out.
[[nodiscard]] std::string field_statistics(const FieldTable& table, std::int64_t n_points);

/// The same for the values that write_result writes, one field in memory at a time.
[[nodiscard]] std::string field_statistics(const Case& run, const Fields& result);

}  // namespace prismfield
