// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
  /// the same for their units: a line of units below the header, otherwise named_where
  std::string units_where;
  /// what unit_in_comment() finds above the rows, and its place
  std::string commented_unit, commented_where;
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
  /// Whether names may be free, see place_heading(): with a unit, which goes to Table::units, and with a reference of
  /// the coordinates; the strongest spelling counts. A line of units may follow the header, a title may precede it.
  /// Lines may name the rows below them, `Line 10`, `Tie 3` and comments with `/` in Oasis montaj, `>` in GMT: the
  /// name, or the segment's number from 0, becomes a column `line` or `segment` after the others.
  bool of_places = false;
  /// names of columns that look like wanted ones but are not, without what does not matter in a spelling, and why
  std::vector<std::string> refused;
  std::string why_refused;
  /// whether to leave out and count rows with a missing number in a needed column (empty, `*`, NaN, -1e32, or a dummy
  /// by find_dummies()); otherwise such rows are errors
  bool skips_dummies = false;
  /// so many needed columns are coordinates of points; a height of ground behind them is a value
  std::size_t n_places = 3;
  /// the file's columns as the case states them, in any spelling, "-" for one to skip; empty: those of the header, or
  /// the default order
  std::vector<std::string> columns;
  /// the key that states the columns, for messages; may be empty
  std::string columns_key;
  /// another remedy for a file without the last needed column; may be empty
  std::string last_column_remedy;
  /// an optional column is NaN where a field of it says that it has no number, see is_dummy()
  bool may_lack = false;
  /// the table gets its rows as text, too
  bool keeps_text = false;
};

/// The rows of a table as they are written, quotes kept.
struct TableText {
  std::string rows = {};

  void add(const std::vector<std::string_view>& fields);
  /// Leaves only these rows.
  void keep(const std::vector<bool>& kept);
  /// Calls take(row, fields) for every row.
  void each(const std::function<void(std::size_t, const std::vector<std::string_view>&)>& take) const;
};

/// The wanted columns of a table, all of one length; read_table() makes it.
struct Table : TableColumns {
  /// (column in the order of TableRequest::needed, then optional; row); empty for a column that the file lacks
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
  /// those above the first row, with their signs
  std::vector<std::string> comments;
  /// where the request keeps it
  TableText text;
  /// columns of the file that nobody asked for
  std::vector<std::string> ignored;

  [[nodiscard]] std::int64_t rows() const noexcept { return static_cast<std::int64_t>(lines.size()); }
  /// Counts a row that is left out, by its line.
  void add_dummy(std::int64_t line);
  /// "dummies, such as -9999, in lines 7, 9"
  [[nodiscard]] std::string dummies_text() const;
};

/// Whether a field is empty or a usual mark of programs for a missing number: `*`, NaN, -1e32.
[[nodiscard]] bool is_dummy(std::string_view field);

/// Whether the request refuses one of these names.
[[nodiscard]] bool has_refused(const std::vector<std::string>& names, const TableRequest& request);

/// Removes the rows of a column that are not kept.
template <class T>
void keep_rows(std::vector<T>& column, const std::vector<bool>& kept) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) column[n++] = column[i];
  }
  column.resize(n);
}

/// Takes the rows out of a table, and counts them, where one of the first `n_looked_at` columns has a number that
/// stands for none; returns what of the first `n_places`, coordinates, is in doubt.
std::string leave_dummies_out(Table& table, std::size_t n_looked_at, std::size_t n_places);

/// A value for the key of the columns: the name, in the order of the file's columns, of the wanted column with the
/// number in `wanted`, needed columns before optional ones; "-" in quotes for a number below 0.
[[nodiscard]] std::vector<std::string> column_words(const TableRequest& request, const std::vector<int>& wanted);

/// Reads a table of numbers separated by commas, semicolons or blanks. A header line, or a comment that names the
/// columns, is optional; other `#` comments are skipped. Rows with an error (text, too few or too many numbers, NaN,
/// infinity) go to `problems` and are left out. Throws InputError for a missing file, a file that is no text, and
/// missing columns.
[[nodiscard]] Table read_table(const InputFile& file, const TableRequest& request, ProblemList& problems);

}  // namespace prismfield
