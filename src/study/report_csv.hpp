// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <prismfield/error.hpp>

#include "study/run_row.hpp"

namespace prismfield {

/// The fields of a line of CSV by RFC 4180, quotes taken off; false for a quote that is not closed or has text behind
/// it. Fields hold no line ends here.
[[nodiscard]] bool split_csv(std::string_view line, std::vector<std::string>& fields);

/// A field of CSV, in quotes where it needs them; line ends become blanks.
[[nodiscard]] std::string csv_field(std::string_view text);

/// runs.csv: the runs and the names of the axes, which stand between the columns problem and space.
struct RunTable {
  std::vector<std::string> axes;
  std::vector<RunRow> rows;
  /// line of each row, from 1
  std::vector<std::int64_t> lines;
  /// the last line had no end: the study was stopped while it was written
  bool cut = false;
  /// the columns of measures are there
  bool has_measures = false;
};

/// The columns before and behind the axes, and those that studies of sensitivity and invert have behind these.
[[nodiscard]] const std::vector<std::string>& run_columns_before_axes();
[[nodiscard]] const std::vector<std::string>& run_columns_behind_axes();
[[nodiscard]] const std::vector<std::string>& run_columns_of_measures();

/// The name of an axis' column in runs.csv: that of the axis, or "axis.threads" where runs have a column of that name
/// anyway, and the axis by such a name.
[[nodiscard]] std::string axis_column(const std::string& axis);
[[nodiscard]] std::string axis_of_column(const std::string& column);

/// Reads runs.csv. Rows with an error are added to `problems`, by file, line and column, and left out. Throws
/// InputError for a file that cannot be read or has other columns.
[[nodiscard]] RunTable read_runs(const std::filesystem::path& file, ProblemList& problems);

}  // namespace prismfield
