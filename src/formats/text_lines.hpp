// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <prismfield/error.hpp>

#include "base/limited_problems.hpp"
#include "formats/input_file.hpp"

namespace prismfield {

/// Removes the first word of a line, which ends at one of `gaps`, and returns it; "" when there is none.
[[nodiscard]] std::string_view take_word(std::string_view& line, std::string_view gaps = " \t,;");

inline constexpr const char* without_commas = "; thousands are written without commas";

/// Commas in front of three digits, as between thousands.
struct ThousandsCommas {
  std::size_t count = 0;
  /// one number has several, or a point behind: 502,547.85
  bool are_certain = false;
};
[[nodiscard]] ThousandsCommas thousands_commas(std::string_view text) noexcept;

/// What to write instead of the commas of a number; "" where it has none.
[[nodiscard]] std::string comma_remedy(std::string_view text);

/// The first word of a line with a comma that is part of it, "" for none: one in `1 67,5` and `1;67,5`, where blanks
/// alone or semicolons are gaps; beside commas that are gaps one between whole numbers, `1, 67,5`.
[[nodiscard]] std::string_view word_with_comma(std::string_view line);

/// Reads a text file line by line without holding all of it. Lines end with LF, CR LF or CR, even mixed. It skips a
/// UTF-8 byte order mark.
class LineReader {
public:
  /// bytes read at once
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 18;
  static constexpr std::size_t longest_line = std::size_t{16} << 20;

  /// Throws InputError when the file cannot be read or is no text, see check_is_text().
  explicit LineReader(const InputFile& file);

  /// The next line without its end, valid until the next call; false at the end of the file. Throws InputError for a
  /// line above 16 MiB, a failed read, a file that changed meanwhile, and a last line without an end that seems cut in
  /// its last number.
  [[nodiscard]] bool next(std::string_view& line);
  /// The number of the line that next() returned, from 1.
  [[nodiscard]] std::int64_t number() const noexcept { return m_number; }
  /// "bodies.csv:17" for that line
  [[nodiscard]] std::string where() const;

private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  bool refill();
  /// Throws InputError where a last line without an end seems cut in its last number: all numbers above it have the
  /// same number of decimals, and it has fewer.
  void check_end(std::string_view last) const;
  void give(std::string_view& line, std::size_t end, std::size_t next) noexcept;

  InputFile m_file;
  std::unique_ptr<std::FILE, Close> m_stream;
  FileStamp m_stamp;
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

/// The syntax of a list of numbers.
struct NumbersRequest {
  /// each of these characters starts a comment
  std::string comment = "#";
  /// whether a line may have several values, separated by blanks or commas
  bool several_a_line = false;
  /// number of values, -1 for any; further ones are counted but not kept
  std::int64_t count = -1;
  /// the value in messages, e.g. "density"
  std::string what;
};

/// A list of numbers, in the order of the file.
struct Numbers {
  std::vector<double> values;
  /// line of each value; only with several_a_line, otherwise empty
  std::vector<std::int64_t> lines;
  /// number of values in the file, with those not kept
  std::int64_t found = 0;
};

/// Reads a list of numbers. Errors (text, NaN, infinity) are added to `problems` and their values read as 0. Throws
/// InputError when the file cannot be read or is no text.
[[nodiscard]] Numbers read_numbers(const InputFile& file, const NumbersRequest& request, ProblemList& problems);
/// What is wrong with a comment of a file of metres: another unit; "" for nothing.
[[nodiscard]] std::string fault_of_comment(std::string_view comment);

/// Reads exactly request.count numbers. Throws InputError with all errors; one of another count ends with `need`,
/// such as "12 cells need one each".
[[nodiscard]] std::vector<double> read_values(const InputFile& file, const NumbersRequest& request,
                                              const std::string& need);

/// Reads text whose first line may be a count and whose other lines are that many rows of numbers, separated by blanks
/// or commas; what follows '!' or '#' is a comment. `file` and `problems` must outlive it.
class NumberRows {
public:
  /// `what`: a row in messages, such as "station".
  NumberRows(const InputFile& file, const std::string& what, ProblemList& problems);

  /// The number on the next line, usually the first. Throws InputError when it is no count or is the last line.
  [[nodiscard]] std::int64_t read_count();
  /// The finite numbers of the next row; rows with an error become problems and are skipped. False at the end of the
  /// file, with a problem when the number of rows differs from the count. Throws InputError for a file that cannot be
  /// read.
  [[nodiscard]] bool next(std::vector<double>& row);
  /// "file:line" of the last row, and its line
  [[nodiscard]] std::string where() const { return m_reader.where(); }
  [[nodiscard]] std::int64_t line() const noexcept { return m_reader.number(); }

  /// Adds a problem with the last row, at most 20 of a kind.
  void refuse(std::string_view kind, const std::string& what);

private:
  bool next_words();

  InputFile m_file;
  std::string m_what;
  LineReader m_reader;
  LimitedProblems m_limited;
  ProblemList& m_problems;
  std::vector<std::string_view> m_words;
  std::int64_t m_count = -1, m_found = 0;
};

/// The first lines of a text that are not empty, as words, and comments (after '!' or '#') apart. Code that recognises
/// formats uses it.
struct TextStart {
  std::vector<std::vector<std::string>> rows;
  /// whether the first row has a comma or semicolon
  bool has_commas = false;
  /// words of the comments before the first row, in lower case
  std::vector<std::string> comment;
};
[[nodiscard]] TextStart start_of_text(const InputFile& file, std::size_t rows);

/// Whether a text, by its first two rows, begins with a count above rows of at least three numbers.
[[nodiscard]] bool begins_with_count(const TextStart& start);

/// Whether a text begins like UBC's magnetic data: three numbers, three numbers, the number of stations alone.
[[nodiscard]] bool begins_as_ubc_magnetic(const TextStart& start);

/// The first rows of a text; empty for files that cannot be read, or not twice.
[[nodiscard]] std::vector<std::vector<std::string>> first_rows(const InputFile& file, std::size_t n);
/// Whether words are finite numbers.
[[nodiscard]] bool are_numbers(const std::vector<std::string>& words);

}  // namespace prismfield
