// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "study/compare.hpp"
#include "study/run_row.hpp"

namespace prismfield {

/// The header of runs.csv, with its line end. `with_measures`: of a study of sensitivity or invert.
[[nodiscard]] std::string run_header(const std::vector<std::string>& axes, bool with_measures = false);
/// A line of runs.csv, with its end. Numbers that are not known, or not finite, are empty.
[[nodiscard]] std::string run_line(const RunRow& row, bool with_measures = false);

// Further tables of a report folder, whose first column is the point: headers and lines with their ends.

inline constexpr const char* errors_header =
    "point,field,unit,rms_difference,largest_difference,largest_reference,relative\n";
/// How each field of a point differs from the reference.
[[nodiscard]] std::string error_lines(std::int64_t point, const Comparison& comparison);

inline constexpr const char* histograms_header = "point,field,decade,negative,positive\n";
/// A decade of relative differences a line: those below the first one as `below`, those without a difference as
/// `equal`.
[[nodiscard]] std::string histogram_lines(std::int64_t point, const Comparison& comparison);

inline constexpr const char* busy_header = "point,rank,slot,begin,end\n";
inline constexpr const char* maps_header = "point,file,fields\n";
inline constexpr const char* trace_header = "point,where,n,rms,largest,scale\n";

/// A number as a field of CSV: the shortest digits that read back as it; empty for NaN.
[[nodiscard]] std::string csv_number(double value);
/// Takes the lines of all other points out of a table, and a last line without an end. A table that is not there stays
/// so. Throws RunError.
void keep_points(const std::filesystem::path& table, const std::set<std::int64_t>& points);

/// A table that grows at its end.
class TableWriter {
public:
  /// Opens it, or makes it with its header. Throws RunError.
  TableWriter(std::filesystem::path file, std::string_view header);
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  /// Lines that are there as a whole or, but for a cut last one, not at all. Throws RunError.
  void append(std::string_view lines);
  /// Brings them to the disk. Throws RunError.
  void sync();

private:
  std::filesystem::path m_file;
  int m_descriptor = -1;
};

}  // namespace prismfield
