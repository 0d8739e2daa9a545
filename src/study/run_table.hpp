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

/// The words of runs.csv.
[[nodiscard]] const char* word(RunKind kind) noexcept;
[[nodiscard]] const char* word(RunStatus status) noexcept;

/// runs.csv as it was found.
struct RunFile {
  std::vector<std::string> axes;
  std::vector<RunRow> rows;
  /// the last line had no end, as when a study is killed while it writes one; it is left out
  bool cut = false;
};

/// The header of runs.csv, with its line end.
[[nodiscard]] std::string run_header(const std::vector<std::string>& axes);
/// A line of runs.csv, with its end. Numbers that are not known, or not finite, are empty.
[[nodiscard]] std::string run_line(const RunRow& row);
/// Throws InputError with every mistake, by file and line.
[[nodiscard]] RunFile read_run_file(const std::filesystem::path& file);

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

/// A text as a field of CSV (RFC 4180), on one line.
[[nodiscard]] std::string csv_text(std::string_view text);
/// A number as a field of CSV: the shortest digits that read back as it; empty for NaN.
[[nodiscard]] std::string csv_number(double value);
/// The fields of a line; false when quotes are not closed or stand where none can be.
[[nodiscard]] bool split_line(std::string_view line, std::vector<std::string>& fields);

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

  /// Lines that are there as a whole or, but for a cut last one, not at all. Throws RunError, NoRoomError.
  void append(std::string_view lines);
  /// Brings them to the disk. Throws RunError, NoRoomError.
  void sync();

private:
  std::filesystem::path m_file;
  int m_descriptor = -1;
};

}  // namespace prismfield
