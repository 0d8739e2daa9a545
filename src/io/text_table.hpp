// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "io/input_file.hpp"

namespace prismfield {

/// Reads a text file line by line without holding it whole. Lines end with LF, CR LF or CR, mixed as they may be; a
/// UTF-8 byte order mark is skipped.
class LineReader {
public:
  /// bytes read at once
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 18;
  static constexpr std::size_t longest_line = std::size_t{16} << 20;

  /// Throws InputError when the file cannot be read or is no text.
  explicit LineReader(const InputFile& file);

  /// The next line without its end, valid until the next call; false at the end of the file. Throws InputError for a
  /// line above 16 MiB, when reading fails, when somebody wrote to the file meanwhile, and when the last line has no
  /// end and seems to be cut in its last number.
  [[nodiscard]] bool next(std::string_view& line);
  /// Number of the line that next() gave last, from 1.
  [[nodiscard]] std::int64_t number() const noexcept { return m_number; }
  /// "bodies.csv:17" for that line
  [[nodiscard]] std::string where() const;

private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  bool refill();
  /// Throws InputError where the last line, which has no end, seems to be cut in its last number: the numbers above it
  /// all have one number of digits behind the point, and it has fewer.
  void check_end(std::string_view last) const;
  void give(std::string_view& line, std::size_t end, std::size_t next) noexcept;

  InputFile m_file;
  std::unique_ptr<std::FILE, Close> m_stream;
  std::optional<FileStamp> m_stamp;
  std::vector<char> m_buffer;
  std::size_t m_begin = 0, m_end = 0;
  /// first LF at or after m_begin, m_end when the buffer has none; valid while m_newline_known
  std::size_t m_newline = 0;
  bool m_newline_known = false;
  bool m_at_end = false;
  std::int64_t m_number = 0;
};

/// "file:line"
[[nodiscard]] std::string line_of(const InputFile& file, std::int64_t line);

/// What the columns of a table are.
struct TableColumns {
  /// as the file calls them, or the case where it names them
  std::vector<std::string> names;
  /// as a header line calls the first of them, where the case names them too
  std::vector<std::string> header;
  /// ' ': blanks
  char separator = ',';
  /// which of `names` each wanted column is, in the order of TableRequest::needed, then of optional; -1: none
  std::vector<int> at;
  /// unit of each of these, "" where none is stated
  std::vector<std::string> units;
  /// by a header or a comment, not by the case or their order
  bool are_named_by_file = false;
  /// where the columns are named, for messages about the units: "file:line" or the case's, and there the key
  std::string named_where, named_key;
};

/// Which columns of a table are wanted.
struct TableRequest {
  /// canonical names, in the order of the columns of a file without header
  std::vector<std::string> needed;
  /// canonical names of columns that are read where the file has them; a table of such has to name its columns
  std::vector<std::string> optional;
  /// canonical names of columns that may follow those needed in a file without header, and are not read
  std::vector<std::string> spare;
  /// names may have a unit in brackets behind them, "gz [mGal]" or "gz (mGal)", which Table::units then holds
  bool with_units = false;
  /// other spellings: (spelling, canonical name)
  std::vector<std::pair<std::string, std::string>> aliases;
  /// spellings, of those above, that hold only where no other column has the same meaning; with any, a canonical name
  /// wins over other spellings, too. The case may call such a column of a header by another word.
  std::vector<std::string> weak;
  /// the same, where no weak one has the meaning either
  std::vector<std::string> weakest;
  /// blanks, `_`, `-` and `.` in a name do not count beside the spellings, and a name may end in a unit: x_km
  bool loose_names = false;
  /// spellings, without what does not count, of columns that are none of the wanted although they look so, and why
  std::vector<std::string> refused;
  std::string why_refused;
  /// lines that belong to rows below them: `Line 10`, `Tie 3` and comments by `/` of Oasis montaj, `>` of GMT. The
  /// line's name or the segment's number, from 0, becomes a column `line` or `segment` behind the others.
  bool has_groups = false;
  /// rows with nothing, `*`, NaN or -1e32 in a needed column are left out and counted, and are no error
  bool skips_dummies = false;
  /// the file's columns as the case states them, any spelling, "-" for one that is passed over; empty: the header's or
  /// the default order
  std::vector<std::string> columns;
  /// the key that states them, for messages; empty when there is none
  std::string columns_key;
  /// what else helps where the last needed column alone is missing; empty when nothing does
  std::string last_column_remedy;

  /// A row as it is written, valid during the call.
  struct Row {
    /// one a column, quotes kept
    const std::vector<std::string_view>& fields;
    /// of the columns needed, in their order, and of the optional ones behind them
    const std::vector<double>& values;
    std::int64_t line = 0;
  };
  /// told, when it is there, every comment above the first row, with its sign
  std::function<void(std::string_view)> take_comment;
  /// told, when it is there, the file's columns before the first row
  std::function<void(const TableColumns&)> take_columns;
  /// takes, when it is there, every row, and the Table stays empty
  std::function<void(const Row&)> take_row;
};

/// The wanted columns of a table, all of one length.
struct Table : TableColumns {
  /// (column in the order of TableRequest::needed, then of optional, row); empty where the file has no such column
  std::vector<std::vector<double>> columns;
  /// line of each row, from 1
  std::vector<std::int64_t> lines;
  /// rows left out by skips_dummies, and the lines of the first of them
  std::int64_t n_dummies = 0;
  std::vector<std::int64_t> dummy_lines;
  /// columns of the file that nobody asked for
  std::vector<std::string> ignored;

  [[nodiscard]] std::int64_t rows() const noexcept { return static_cast<std::int64_t>(lines.size()); }
};

/// A column's name and the unit in brackets behind it, "" where there is none: "gz [mGal]", "potential[m2_s-2]".
[[nodiscard]] std::pair<std::string, std::string> name_and_unit(std::string_view text);

/// Nothing, or what programs write where they have no number: `*`, NaN, -1e32.
[[nodiscard]] bool is_dummy(std::string_view field);

/// A column's name as loose spellings are compared: small letters, without unit, blanks, `_`, `-` and `.`.
[[nodiscard]] std::string plain_name(std::string_view text);

/// What the key of the columns says of a file's columns, of which each is the one of `request` that `wanted` has the
/// number of, needed ones before optional ones; "-" in quotes where that is below 0.
[[nodiscard]] std::vector<std::string> column_words(const TableRequest& request, const std::vector<int>& wanted);

/// Reads a table of numbers separated by commas, semicolons or blanks, with or without a header line (or a comment that
/// names the columns), `#` comments skipped. Rows with an error (text, too few or too many numbers, NaN, infinity) are
/// added to `problems` and left out. Throws InputError when nothing can be read: no such file, no text, columns
/// missing.
[[nodiscard]] Table read_table(const InputFile& file, const TableRequest& request, ProblemList& problems);

/// How a list of numbers is written.
struct NumbersRequest {
  /// everything behind one of these is a comment
  std::string comment = "#";
  /// more than one value a line, separated by blanks or commas, is allowed
  bool several_a_line = false;
  /// values wanted, -1 when any number will do; values behind are counted but not kept
  std::int64_t count = -1;
  /// what a value is, for messages, e.g. "density"
  std::string what;
};

/// A list of numbers, in the order of the file.
struct Numbers {
  std::vector<double> values;
  /// line of each value; only with several_a_line, otherwise empty
  std::vector<std::int64_t> lines;
  /// values in the file, those not kept included
  std::int64_t found = 0;
};

/// Reads a list of numbers. Errors (text, NaN, infinity) are added to `problems` and their values read as 0. Throws
/// InputError when the file cannot be read or is no text.
[[nodiscard]] Numbers read_numbers(const InputFile& file, const NumbersRequest& request, ProblemList& problems);
/// Reads exactly request.count numbers. Throws InputError with all errors; one of another count ends with `need`,
/// such as "12 cells need one each".
[[nodiscard]] std::vector<double> read_values(const InputFile& file, const NumbersRequest& request,
                                              const std::string& need);

}  // namespace prismfield
