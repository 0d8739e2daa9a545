// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <prismfield/error.hpp>

#include "base/limited_problems.hpp"
#include "io/text_table.hpp"

namespace prismfield {

/// Reads text whose first line is a count and whose other lines are that many rows of numbers, separated by blanks or
/// commas; what follows '!' or '#' is a comment. `file` and `problems` must outlive it.
class NumberRows {
public:
  /// `what` is what a row is called in messages, such as "station".
  NumberRows(const InputFile& file, const std::string& what, ProblemList& problems);

  /// The number on the first line. Throws InputError when that is no count or nothing comes behind it.
  [[nodiscard]] std::int64_t read_count();
  /// The numbers of the next row, all finite; rows with an error are added to the problems and passed over. False at
  /// the end of the file, where it adds a problem when the file has another number of rows than its count. Throws
  /// InputError when the file cannot be read.
  [[nodiscard]] bool next(std::vector<double>& row);
  /// "file:line" of that row
  [[nodiscard]] std::string where() const { return m_reader.where(); }
  [[nodiscard]] std::int64_t line() const noexcept { return m_reader.number(); }

  /// Adds a problem of the last row, at most 20 of one kind.
  void refuse(std::string_view kind, const std::string& what);

private:
  bool next_words();

  InputFile m_file;
  std::string m_what;
  LineReader m_reader;
  LimitedProblems m_limited;
  ProblemList& m_problems;
  std::vector<std::string_view> m_words;
  std::int64_t m_count = 0, m_found = 0;
};

/// The first lines of a text that hold anything, as words; comments, begun by '!' or '#', are given apart. For finding
/// out what a file is.
struct TextStart {
  std::vector<std::vector<std::string>> rows;
  /// words of the comments before the first row, small letters
  std::vector<std::string> comment;
};
[[nodiscard]] TextStart start_of_text(const InputFile& file, std::size_t rows);

}  // namespace prismfield
