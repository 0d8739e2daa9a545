// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/text_lines.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "formats/heading.hpp"

namespace prismfield {
namespace {

/// Words of a line that are looked at: no format here has as many columns.
constexpr std::size_t most_words = 64;

/// The words of a line up to a comment; returns the comment without its mark.
std::string_view split_line(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  const std::size_t mark = line.find_first_of("!#");
  const std::string_view comment = mark == std::string_view::npos ? std::string_view() : line.substr(mark + 1);
  line = line.substr(0, mark);
  while (words.size() < most_words) {
    const std::string_view word = take_word(line);
    if (word.empty()) break;
    words.push_back(word);
  }
  return comment;
}

/// Whether a word is two whole numbers at a comma: 67,5.
bool is_decimal_comma(std::string_view word) {
  constexpr std::string_view digits = "0123456789";
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  const std::size_t comma = word.find_first_not_of(digits);
  return comma > 0 && comma < word.size() && word[comma] == ',' &&
         word.find_first_not_of(digits, comma + 1) == std::string_view::npos;
}

/// What is wrong with a number, and the kind of such problems.
struct Fault {
  const char* kind;
  const char* what;
};
Fault fault_of(NumberStatus status) {
  switch (status) {
    case NumberStatus::too_large: return {"numbers too large for double precision", " is too large"};
    case NumberStatus::ok: return {"NaN or infinite values", " is not finite"};
    default: return {"text where a number belongs", " is not a number"};
  }
}

}  // namespace

std::string_view take_word(std::string_view& line, std::string_view gaps) {
  line.remove_prefix(std::min(line.find_first_not_of(gaps), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(gaps));
  line.remove_prefix(word.size());
  return word;
}

ThousandsCommas thousands_commas(std::string_view text) noexcept {
  const auto is_digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  ThousandsCommas commas;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (is_digit(end)) ++end;
    const bool may_be_first = end > i && end - i <= 3 && (i == 0 || text[i - 1] != '.');
    std::size_t n = 0;
    while (may_be_first && end < text.size() && text[end] == ',' && is_digit(end + 1) && is_digit(end + 2) &&
           is_digit(end + 3) && !is_digit(end + 4)) {
      ++n;
      end += 4;
    }
    commas.count += n;
    commas.are_certain = commas.are_certain || n > 1 || (n == 1 && end < text.size() && text[end] == '.');
    i = end + 1;
  }
  return commas;
}

std::string comma_remedy(std::string_view text) {
  if (text.find(',') == std::string_view::npos) return "";
  const ThousandsCommas commas = thousands_commas(text);
  if (commas.are_certain) return without_commas;
  return commas.count > 0 ? "; decimals are written with a point, thousands without commas"
                          : "; decimals are written with a point";
}

std::string_view word_with_comma(std::string_view line) {
  line = line.substr(0, line.find_first_of("!#"));
  if (line.find(',') == std::string_view::npos) return {};
  bool has_other_gaps = line.find(';') != std::string_view::npos, follows_gap = true;
  int n = 0;
  std::string_view first, decimal;
  for (std::string_view word = take_word(line, " \t;"); !word.empty(); word = take_word(line, " \t;")) {
    ++n;
    has_other_gaps = has_other_gaps || !(follows_gap || word.starts_with(','));
    follows_gap = word.ends_with(',');
    while (word.starts_with(',')) word.remove_prefix(1);
    while (word.ends_with(',')) word.remove_suffix(1);
    if (first.empty() && word.find(',') != std::string_view::npos) first = word;
    if (decimal.empty() && is_decimal_comma(word)) decimal = word;
  }
  if (has_other_gaps) return first;
  return n > 1 ? decimal : std::string_view();
}

LineReader::LineReader(const InputFile& file) : m_file(file), m_stamp(stamp_of(file.path)) {
  check_readable(file);
  m_stream.reset(std::fopen(file.path.c_str(), "rb"));
  if (!m_stream) throw file.error(fmt::format("cannot be read: {}", std::strerror(errno)));
  refill();
  const std::string_view start(m_buffer.data(), m_end);
  if (start.starts_with("\xEF\xBB\xBF")) m_begin = 3;
  check_is_text(file, start);
}

std::string LineReader::where() const { return line_of(m_file, m_number); }

bool LineReader::refill() {
  if (m_at_end) return false;
  if (m_begin > 0) {
    std::memmove(m_buffer.data(), m_buffer.data() + m_begin, m_end - m_begin);
    m_end -= m_begin;
    m_begin = 0;
  }
  if (m_end > longest_line) {
    throw InputError(line_of(m_file, m_number + 1), "", "a line above 16 MiB; this is no table of numbers");
  }
  if (m_buffer.size() < m_end + chunk_bytes) m_buffer.resize(std::max(m_end + chunk_bytes, 2 * m_buffer.size()));
  const std::size_t n = std::fread(m_buffer.data() + m_end, 1, chunk_bytes, m_stream.get());
  if (std::ferror(m_stream.get()) != 0) throw m_file.error(fmt::format("cannot be read: {}", std::strerror(errno)));
  m_end += n;
  m_at_end = n == 0;
  if (m_at_end) check_unchanged(m_file, m_stamp);
  m_newline_known = false;
  return n > 0;
}

void LineReader::give(std::string_view& line, std::size_t end, std::size_t next) noexcept {
  line = {m_buffer.data() + m_begin, end - m_begin};
  m_begin = next;
  if (m_newline < m_begin) m_newline_known = false;
  ++m_number;
}

void LineReader::check_end(std::string_view last) const {
  // digits behind the point, and all that an exponent has
  const auto form_of = [](std::string_view word) {
    const std::size_t exponent = std::min(word.find_first_of("eEdD"), word.size());
    const std::size_t point = std::min(word.find('.'), exponent);
    return std::pair(exponent - point, word.size() - exponent);
  };
  std::vector<std::string_view> own, words;
  static_cast<void>(split_line(last, own));
  const auto is_number_like = [](std::string_view word) {
    return word.find_first_not_of("0123456789+-.eEdD") == std::string_view::npos;
  };
  if (own.empty() || !is_number_like(own.back())) return;
  constexpr std::int64_t most_bytes = 4096;
  const int descriptor = ::fileno(m_stream.get());
  const std::int64_t end = ::lseek(descriptor, 0, SEEK_CUR) - static_cast<std::int64_t>(last.size());
  const std::int64_t begin = std::max<std::int64_t>(0, end - most_bytes);
  std::string above(static_cast<std::size_t>(std::max<std::int64_t>(0, end - begin)), '\0');
  // a pipe has no place to read from
  if (::pread(descriptor, above.data(), above.size(), begin) != static_cast<ssize_t>(above.size())) return;
  std::vector<std::pair<std::size_t, std::size_t>> forms;
  std::string_view rest = above;
  if (begin > 0) rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    static_cast<void>(split_line(rest.substr(0, std::min(rest.find('\r'), length)), words));
    rest.remove_prefix(std::min(length + 1, rest.size()));
    const bool is_row = words.size() == own.size() && is_number_like(words.back()) &&
                        is_number_like(words.front()) == is_number_like(own.front());
    if (!is_row) continue;
    if (words.back() == own.back()) return;
    forms.push_back(form_of(words.back()));
  }
  constexpr std::size_t enough = 3;
  if (forms.size() < enough || std::any_of(forms.begin(), forms.end(), [&](const auto& f) { return f != forms[0]; })) {
    return;
  }
  const auto [digits, exponent] = form_of(own.back());
  if (digits >= forms[0].first && exponent >= forms[0].second) return;
  throw InputError(where(), "",
                   fmt::format("the file seems to be cut short in its last number, {}: those above have more digits, "
                               "and its line has no end; where it is whole, end the line",
                               excerpt(own.back())));
}

bool LineReader::next(std::string_view& line) {
  const auto find = [this](char c, std::size_t end) {
    const void* found = std::memchr(m_buffer.data() + m_begin, c, end - m_begin);
    return found == nullptr ? end : static_cast<std::size_t>(static_cast<const char*>(found) - m_buffer.data());
  };
  for (;;) {
    if (!m_newline_known) {
      m_newline = find('\n', m_end);
      m_newline_known = true;
    }
    const std::size_t stop = m_newline;
    const std::size_t carriage = find('\r', stop);
    // a CR that ends the buffer may be half of a CR LF
    if (carriage < stop && carriage + 1 < m_end) {
      give(line, carriage, carriage + 1 == stop ? stop + 1 : carriage + 1);
      return true;
    }
    if (stop < m_end) {
      give(line, stop, stop + 1);
      return true;
    }
    if (refill()) continue;
    if (m_begin == m_end) return false;
    const bool has_end = m_buffer[m_end - 1] == '\r';
    give(line, has_end ? m_end - 1 : m_end, m_end);
    if (!has_end) check_end(line);
    return true;
  }
}

std::string line_of(const InputFile& file, std::int64_t line) { return fmt::format("{}:{}", file.path.string(), line); }

std::string fault_of_comment(std::string_view comment) {
  const std::string unit = unit_in_comment(comment);
  return unit.empty() ? ""
                      : fmt::format("the comment has the unit {}; metres are needed, in the numbers and there", unit);
}

namespace {

/// What is wrong with a line of lengths as a whole, "" for nothing: a comma within a number, another unit than metres.
std::string fault_of_line(std::string_view line) {
  if (const std::string_view word = word_with_comma(line); !word.empty()) {
    return excerpt(word) + fault_of(NumberStatus::no_number).what + comma_remedy(word);
  }
  return fault_of_comment(line.substr(std::min(line.find('#'), line.size())));
}

/// Whether a comma parts two numbers or is a decimal one is in doubt where a line of two stands below lines of one.
class DoubtfulComma {
public:
  void take(std::string_view line, int n_numbers, const LineReader& reader) {
    const bool is_pair = n_numbers == 2 && line.find_first_of(" \t;.") == std::string_view::npos;
    if (is_pair && m_pair.empty()) {
      m_pair = line;
      m_where = reader.where();
    }
    m_has_others = m_has_others || (n_numbers > 1 && !is_pair);
    m_has_single = m_has_single || m_ends_single;
    m_ends_single = n_numbers == 1;
  }

  void check(const std::string& what, ProblemList& problems) const {
    if (m_pair.empty() || m_has_others || !m_has_single) return;
    problems.add(m_where, what,
                 excerpt(m_pair) +
                     " may be one number or two, as other lines have one; decimals are written with a "
                     "point, and two numbers with a blank between them");
  }

private:
  std::string m_pair, m_where;
  bool m_has_others = false, m_has_single = false, m_ends_single = false;
};

}  // namespace

Numbers read_numbers(const InputFile& file, const NumbersRequest& request, ProblemList& problems) {
  refuse_foreign(file);
  LineReader reader(file);
  LimitedProblems limited(problems, file.path.string());
  Numbers numbers;
  if (request.count > 0) {
    // a value takes two bytes at least: a short file must not claim the memory of a huge grid
    std::error_code code;
    const auto bytes = std::filesystem::file_size(file.path, code);
    if (!code) numbers.values.reserve(std::min(static_cast<std::size_t>(request.count), bytes / 2 + 1));
  }
  DoubtfulComma comma;
  std::string_view line;
  while (reader.next(line)) {
    const char* at = line.data();
    const char* const end = at + line.size();
    const auto is_gap = [&](char c) { return c == ' ' || c == '\t' || (request.several_a_line && c == ','); };
    if (const std::string what = request.several_a_line ? fault_of_line(line) : ""; !what.empty()) {
      limited.add(fault_of(NumberStatus::no_number).kind, [&] { return Problem{reader.where(), request.what, what}; });
      continue;
    }
    int on_line = 0;
    for (;;) {
      while (at != end && is_gap(*at)) ++at;
      if (at == end || request.comment.find(*at) != std::string::npos) break;
      const char* const start = at;
      double value = 0;
      const NumberStatus status = parse_number(at, end, value);
      const bool ends = at == end || is_gap(*at) || request.comment.find(*at) != std::string::npos;
      if (status != NumberStatus::ok || !ends || !std::isfinite(value)) {
        at = start;
        while (at != end && !is_gap(*at)) ++at;
        const std::string_view word(start, static_cast<std::size_t>(at - start));
        const bool is_value = status == NumberStatus::too_large || (ends && !std::isfinite(value));
        const auto [kind, what] = fault_of(is_value ? status : NumberStatus::no_number);
        limited.add(kind, [&, what = what] {
          return Problem{reader.where(), request.what, excerpt(word) + what + comma_remedy(word)};
        });
        value = 0;
      }
      if (++on_line == 2 && !request.several_a_line) {
        limited.add("lines with more than one value", [&] {
          return Problem{reader.where(), request.what, "more than one value on a line"};
        });
      }
      if (on_line > 1 && !request.several_a_line) break;
      ++numbers.found;
      if (request.count < 0 || numbers.found <= request.count) {
        numbers.values.push_back(value);
        if (request.several_a_line) numbers.lines.push_back(reader.number());
      }
    }
    if (request.several_a_line && on_line > 0) {
      comma.take(trimmed(line.substr(0, line.find_first_of(request.comment))), on_line, reader);
    }
  }
  limited.finish();
  comma.check(request.what, problems);
  return numbers;
}

std::vector<double> read_values(const InputFile& file, const NumbersRequest& request, const std::string& need) {
  ProblemList problems;
  Numbers numbers = read_numbers(file, request, problems);
  if (numbers.found != request.count) {
    const bool begins_with_count =
        numbers.found == request.count + 1 && numbers.values[0] == static_cast<double>(request.count);
    problems.add(file.where, file.key,
                 fmt::format("'{}' holds {} value{}, {}{}", file.path.string(), numbers.found,
                             numbers.found == 1 ? "" : "s", need,
                             begins_with_count ? "; the first is their number, as in Tomofast's files, of which "
                                                 "prismfield convert IN OUT.h5 --mesh GRID makes a model"
                                               : ""));
  }
  problems.throw_if_any();
  return std::move(numbers.values);
}

NumberRows::NumberRows(const InputFile& file, const std::string& what, ProblemList& problems)
    : m_file(file), m_what(what), m_reader(file), m_limited(problems, file.path.string()), m_problems(problems) {
  refuse_foreign(file);
}

bool NumberRows::next_words() {
  std::string_view line;
  while (m_reader.next(line)) {
    static_cast<void>(split_line(line, m_words));
    if (const std::string_view word = word_with_comma(line); !word.empty()) m_words = {word};
    if (!m_words.empty()) return true;
  }
  return false;
}

std::int64_t NumberRows::read_count() {
  if (!next_words()) throw m_file.error("holds no numbers");
  const bool one_word = m_words.size() == 1;
  if (!one_word || parse_integer(m_words[0], m_count) != NumberStatus::ok || m_count < 1) {
    throw InputError(m_reader.where(), "",
                     fmt::format("{}; the number of {}s alone is expected on this line",
                                 one_word ? excerpt(m_words[0]) + " is no number of " + m_what + "s"
                                          : fmt::format("{} numbers", m_words.size()),
                                 m_what));
  }
  m_found = 0;
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
      if (!finite) refuse(fault_of(status).kind, excerpt(word) + fault_of(status).what + comma_remedy(word));
      good = good && finite;
      row.push_back(value);
    }
    if (good) return true;
  }
  m_limited.finish();
  if (m_count >= 0 && m_found != m_count) {
    m_problems.add(m_file.where, m_file.key,
                   fmt::format("'{}' says that it holds {}, but has {}; correct that number or its rows",
                               m_file.path.string(), counted(m_count, m_what), grouped(m_found)));
  }
  return false;
}

TextStart start_of_text(const InputFile& file, std::size_t rows) {
  // real files have a row within these lines
  constexpr int most_lines = 10'000;
  TextStart start;
  LineReader reader(file);
  std::vector<std::string_view> words;
  std::string_view line;
  for (int i = 0; i < most_lines && start.rows.size() < rows && reader.next(line); ++i) {
    const std::string_view comment = split_line(line, words);
    if (!words.empty() && start.rows.empty()) start.has_commas = line.find_first_of(",;") != std::string_view::npos;
    if (!words.empty()) start.rows.emplace_back(words.begin(), words.end());
    if (!start.rows.empty() || comment.empty()) continue;
    std::vector<std::string_view> comment_words;
    static_cast<void>(split_line(comment, comment_words));
    for (const std::string_view word : comment_words) start.comment.push_back(lower_case(word));
  }
  return start;
}

bool begins_with_count(const TextStart& start) {
  constexpr std::size_t least_columns = 3;
  std::int64_t count = 0;
  return start.rows.size() >= 2 && start.rows[0].size() == 1 && start.rows[1].size() >= least_columns &&
         parse_integer(start.rows[0][0], count) == NumberStatus::ok;
}

bool begins_as_ubc_magnetic(const TextStart& start) {
  const auto& rows = start.rows;
  std::int64_t count = 0;
  return rows.size() > 2 && rows[0].size() == 3 && rows[1].size() == 3 && rows[2].size() == 1 && are_numbers(rows[0]) &&
         are_numbers(rows[1]) && parse_integer(rows[2][0], count) == NumberStatus::ok;
}

std::vector<std::vector<std::string>> first_rows(const InputFile& file, std::size_t n) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file.path, error)) return {};
  try {
    return start_of_text(file, n).rows;
  } catch (const InputError&) {
    return {};
  }
}

bool are_numbers(const std::vector<std::string>& words) {
  double value = 0;
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return parse_number(word, value) == NumberStatus::ok && std::isfinite(value);
  });
}

}  // namespace prismfield
