// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/result.hpp>

#include "base/temporary_file.hpp"
#include "io/file_content.hpp"
#include "io/output_file.hpp"
#include "io/result_values.hpp"

namespace prismfield {

/// What a result's file is; netCDF-4 is HDF5.
enum class ResultKind { hdf5, csv, xyz };

/// What the suffix of a file's name asks for: .nc or .h5, .csv, .xyz, in small letters or capitals; nothing for any
/// other.
[[nodiscard]] std::optional<ResultKind> result_kind(const std::filesystem::path& file);

/// Bytes that the file of a result takes: of HDF5 to a per mille or 100 kB, of a table about.
[[nodiscard]] std::int64_t result_bytes(const ResultHeader& header, const Points& points, FieldList fields);

/// What the caller of write_result has measured, for /performance.
struct RunTimes {
  /// reading and validating, before forward(); its own setup is added to this
  double setup_seconds = 0;
  /// from the start of the program to the call of write_result; the time of writing is added to this
  double total_seconds = 0;
};

/// Writes the result as its file's suffix says, .csv and .xyz as tables, else as HDF5 that netCDF-4 programs open:
/// under a temporary name in the same folder, renamed when complete. The noise is applied here and its sigma written
/// beside the fields. Called on rank 0 only. HDF5 takes memory for one field and for the whole file while it is
/// written, a table for a few lines. Returns what users should be told of. Throws RunError, leaving
/// neither a half-written file nor a changed old one.
std::vector<std::string> write_result(const ResultHeader& header, const Points& points, const Fields& result,
                                      const RunTimes& times);

/// How a result is written as text. csv: a line of names, then values separated by commas (by semicolons when the
/// station file's are), no comments. xyz: values separated by blanks below comments, the last of which names the
/// columns; columns with text come last there, since GMT reads no number behind a text, and a number that is missing is
/// NaN.
enum class TableStyle { csv, xyz };

/// Writes points, their fields as they stand and their other columns in the same way. Returns what users should be told
/// of. Throws RunError.
[[nodiscard]] std::vector<std::string> write_point_table(TextOutput& out, TableStyle style, const PointFields& points,
                                                         const std::string& title, const std::string& command);

}  // namespace prismfield
