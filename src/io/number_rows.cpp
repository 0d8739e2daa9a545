// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/number_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/human_text.hpp"
#include "base/number_text.hpp"

namespace prismfield {
namespace {

constexpr std::string_view gaps = " \t,;";
/// Words of a line that are looked at: no format here has as many columns.
constexpr std::size_t most_words = 64;

/// The words of a line up to a comment; returns the comment without its mark.
std::string_view split_line(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  const std::size_t mark = line.find_first_of("!#");
  const std::string_view comment = mark == std::string_view::npos ? std::string_view() : line.substr(mark + 1);
  line = line.substr(0, mark);
  while (words.size() < most_words) {
    const std::size_t begin = line.find_first_not_of(gaps);
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(gaps), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return comment;
}

}  // namespace

NumberRows::NumberRows(const InputFile& file, const std::string& what, ProblemList& problems)
    : m_file(file), m_what(what), m_reader(file), m_limited(problems, file.path.string()), m_problems(problems) {}

bool NumberRows::next_words() {
  std::string_view line;
  while (m_reader.next(line)) {
    static_cast<void>(split_line(line, m_words));
    if (!m_words.empty()) return true;
  }
  return false;
}

std::int64_t NumberRows::read_count() {
  if (!next_words()) throw m_file.error("holds no numbers");
  const bool one_word = m_words.size() == 1;
  if (!one_word || parse_integer(m_words[0], m_count) != NumberStatus::ok || m_count < 1) {
    throw InputError(m_reader.where(), "",
                     fmt::format("{}; the first line is the number of {}s alone",
                                 one_word ? excerpt(m_words[0]) + " is no number of " + m_what + "s"
                                          : fmt::format("{} numbers", m_words.size()),
                                 m_what));
  }
  return m_count;
}

void NumberRows::refuse(std::string_view kind, const std::string& what) {
  m_limited.add(kind, [&] { return Problem{m_reader.where(), "", what}; });
}

bool NumberRows::next(std::vector<double>& row) {
  while (next_words()) {
    ++m_found;
    row.clear();
    bool good = true;
    for (const std::string_view word : m_words) {
      double value = 0;
      const NumberStatus status = parse_number(word, value);
      const bool finite = status == NumberStatus::ok && std::isfinite(value);
      if (!finite) {
        refuse("words that are no finite numbers", excerpt(word) + (status == NumberStatus::too_large ? " is too large"
                                                                    : status == NumberStatus::ok      ? " is not finite"
                                                                                                 : " is not a number"));
      }
      good = good && finite;
      row.push_back(value);
    }
    if (good) return true;
  }
  m_limited.finish();
  if (m_found != m_count) {
    m_problems.add(m_file.where, m_file.key,
                   fmt::format("'{}' says that it holds {}, but has {}; correct its first line or its rows",
                               m_file.path.string(), counted(m_count, m_what), grouped(m_found)));
  }
  return false;
}

TextStart start_of_text(const InputFile& file, std::size_t rows) {
  // a file of comments alone is none that anybody has
  constexpr int most_lines = 10'000;
  TextStart start;
  LineReader reader(file);
  std::vector<std::string_view> words;
  std::string_view line;
  for (int i = 0; i < most_lines && start.rows.size() < rows && reader.next(line); ++i) {
    const std::string_view comment = split_line(line, words);
    if (!words.empty()) start.rows.emplace_back(words.begin(), words.end());
    if (!start.rows.empty() || comment.empty()) continue;
    std::vector<std::string_view> comment_words;
    static_cast<void>(split_line(comment, comment_words));
    for (const std::string_view word : comment_words) start.comment.push_back(lower_case(word));
  }
  return start;
}

}  // namespace prismfield
