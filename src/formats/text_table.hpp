// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "formats/heading.hpp"
#include "formats/input_file.hpp"
#include "formats/text_lines.hpp"

namespace prismfield {

/// What the columns of a table mean; read_table() finds it.
struct TableColumns {
  /// names in the file, or in the case where it states them
  std::vector<std::string> names;
  /// the names in a header line, where the case states names too
  std::vector<std::string> header;
  /// ' ': any blanks
  char separator = ',';
  /// index in `names` of each wanted column, in the order of TableRequest::needed, then optional; -1: missing
  std::vector<int> at;
  /// unit of each wanted column; "" where none is stated
  std::vector<std::string> units;
  /// whether a header or comment names the columns, not the case or their order
  bool are_named_by_file = false;
  /// place and key of the columns' names, for messages about units: "file:line", or those of the case
  std::string named_where, named_key;
};

/// The strength of a name for a column: canonical wins over other, other over weak, weak over weakest.
enum class Spelling { canonical, other, weak, weakest };

/// Another name for a wanted column.
struct ColumnAlias {
  std::string spelling, name;
  /// a weak one counts only where no other column has the same meaning, and the case may give such a column another
  /// name
  Spelling strength = Spelling::other;
};

/// Which columns a reader wants from a table, and how to read it.
struct TableRequest {
  /// canonical names, in the order of a file without header
  std::vector<std::string> needed;
  /// canonical names of columns to read where the file has them; a table with them must name its columns
  std::vector<std::string> optional;
  /// the last needed column may be missing where there is an optional one; columns without names are the needed ones
  bool is_last_replaceable = false;
  /// canonical names of columns that may follow the needed ones in a file without header; they are not read
  std::vector<std::string> spare;
  std::vector<ColumnAlias> aliases;
  /// Names are as people write them, see place_heading(): with a unit, which Table::units then holds, and with what
  /// coordinates refer to; the strongest spelling counts. A line of units may stand below the header, a title above it.
  /// Lines may belong to rows below them, `Line 10`, `Tie 3` and comments by `/` of Oasis montaj, `>` of GMT: the
  /// line's name or the segment's number, from 0, becomes a column `line` or `segment` behind the others.
  bool of_places = false;
  /// spellings, without what does not count, of columns that are none of the wanted although they look so, and why
  std::vector<std::string> refused;
  std::string why_refused;
  /// rows with nothing, `*`, NaN, -1e32 or a number that stands for none, as find_dummies() knows them, in a needed
  /// column are left out and counted, and are no error
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
  /// rows left out by skips_dummies, the lines of the first of them, and the number that stands for none in one of
  /// these
  std::int64_t n_dummies = 0;
  std::vector<std::int64_t> dummy_lines;
  std::string dummy;
  /// what users should know of how the columns were found
  std::vector<std::string> notes;
  /// columns of the file that nobody asked for
  std::vector<std::string> ignored;

  [[nodiscard]] std::int64_t rows() const noexcept { return static_cast<std::int64_t>(lines.size()); }
  /// Counts a row that is left out, by its line.
  void add_dummy(std::int64_t line);
  /// "dummies, such as -9999, in lines 7, 9"
  [[nodiscard]] std::string dummies_text() const;
};

/// Nothing, or what programs write where they have no number: `*`, NaN, -1e32.
[[nodiscard]] bool is_dummy(std::string_view field);

/// Whether one of these names is a refused one of the request.
[[nodiscard]] bool has_refused(const std::vector<std::string>& names, const TableRequest& request);

/// Leaves the rows of a column that are kept.
template <class T>
void keep_rows(std::vector<T>& column, const std::vector<bool>& kept) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) column[n++] = column[i];
  }
  column.resize(n);
}

/// Takes rows out of columns of one length where one of the first `n_looked_at` has a number that stands for none, and
/// counts them in the table; `lines` are those of the rows. Returns which rows are kept; empty: all.
std::vector<bool> leave_dummies_out(std::span<std::vector<double>* const> columns, std::size_t n_looked_at,
                                    std::vector<std::int64_t>& lines, Table& table);

/// What the key of the columns says of a file's columns, of which each is the one of `request` that `wanted` has the
/// number of, needed ones before optional ones; "-" in quotes where that is below 0.
[[nodiscard]] std::vector<std::string> column_words(const TableRequest& request, const std::vector<int>& wanted);

/// Reads a table of numbers separated by commas, semicolons or blanks, with or without a header line (or a comment that
/// names the columns), `#` comments skipped. Rows with an error (text, too few or too many numbers, NaN, infinity) are
/// added to `problems` and left out. Throws InputError when nothing can be read: no such file, no text, columns
/// missing.
[[nodiscard]] Table read_table(const InputFile& file, const TableRequest& request, ProblemList& problems);

}  // namespace prismfield
