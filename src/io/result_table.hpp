// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/result.hpp>

#include "base/temporary_file.hpp"
#include "io/file_content.hpp"
#include "io/result_values.hpp"
#include "io/text_output.hpp"

namespace prismfield {

/// How a result is written as text. csv: a line of names, then values separated by commas (by semicolons when the
/// station file's are), no comments. xyz: values separated by blanks below comments, the last of which names the
/// columns; columns with text come last there, since GMT reads no number behind a text, and a number that is missing is
/// NaN.
enum class TableStyle { csv, xyz };

/// Writes the result as a table to `file`: a row a point, in the order of the points, every number with as many digits
/// as reading it back needs. First the columns of the station file, values as they stand there, else easting, northing
/// and upward; then the fields with their units, gz [mGal], their gz_sigma, and `singular`, where there is any such
/// point. The station file is read once more for it, twice for xyz; when its coordinates are no longer those of
/// `points`, the points stand in for its columns. Takes memory for a few lines. Returns what users should be told of.
/// Throws RunError.
[[nodiscard]] std::vector<std::string> write_result_table(TemporaryFile& file, TableStyle style,
                                                          const ResultHeader& header, const Points& points,
                                                          const Fields& result);

/// Writes points, their fields as they stand and their other columns in the same way. Returns what users should be told
/// of. Throws RunError.
[[nodiscard]] std::vector<std::string> write_point_table(TextOutput& out, TableStyle style, const PointFields& points,
                                                         const std::string& title, const std::string& command);

}  // namespace prismfield
