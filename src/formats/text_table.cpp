// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "base/number_text.hpp"

namespace prismfield {
namespace {

/// The most columns of a table and words of a comment; real tables have fewer.
constexpr std::size_t most_columns = 10'000;

/// The most text above the first row, but for a longer header alone.
constexpr std::size_t most_bytes_above_rows = std::size_t{1} << 20;

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

/// What separates a line's fields: the first of semicolon and comma that it has outside quotes, else blanks.
char separator_of(std::string_view line) noexcept {
  bool quoted = false, comma = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ';') return ';';
    comma = comma || c == ',';
  }
  return comma ? ',' : ' ';
}

/// Calls found(field) for each field of a line, quotes kept.
template <class Found>
void each_field(std::string_view line, char separator, const Found& found) {
  const auto end_of_field = [&](std::size_t at) {
    bool quoted = false;
    for (; at < line.size(); ++at) {
      if (line[at] == '"') quoted = !quoted;
      if (!quoted && (separator == ' ' ? is_blank(line[at]) : line[at] == separator)) break;
    }
    return at;
  };
  if (separator == ' ') {
    for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
      const std::size_t end = end_of_field(0);
      found(line.substr(0, end));
      line.remove_prefix(end);
    }
    return;
  }
  for (std::size_t at = 0;;) {
    const std::size_t end = end_of_field(at);
    found(trimmed(line.substr(at, end - at)));
    if (end == line.size()) return;
    at = end + 1;
  }
}

bool has_open_quote(std::string_view line) noexcept { return std::count(line.begin(), line.end(), '"') % 2 != 0; }
constexpr const char* open_quote = "a quote (\") is not closed on its line; write each row, and each name, on one line";

/// The fields of a line, quotes kept; one more than most_columns at most.
std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  each_field(line, separator, [&](std::string_view field) {
    if (fields.size() <= most_columns) fields.push_back(field);
  });
  return fields;
}

/// Fields of a line without the empty ones at its end.
std::size_t count_fields(std::string_view line, char separator) {
  std::size_t n = 0, last = 0;
  each_field(line, separator, [&](std::string_view field) {
    ++n;
    if (!field.empty()) last = n;
  });
  return last;
}

/// The line up to a comment at its end: a `#` that begins a word outside quotes.
std::string_view without_comment(std::string_view line, char separator) noexcept {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    const bool begins_word = i == 0 || is_blank(line[i - 1]) || line[i - 1] == separator;
    if (!quoted && line[i] == '#' && begins_word) return line.substr(0, i);
  }
  return line;
}

bool is_number(std::string_view field) {
  double value = 0;
  return parse_number(unquoted(field), value) != NumberStatus::no_number;
}

/// ends a field of what is kept of a row; no text has it
constexpr char end_of_field = '\x1f';

/// What Geosoft's programs write where they have no number.
constexpr double of_geosoft = -1e32;

/// Which wanted column each column of the file is.
struct Layout {
  static constexpr int nobody = -1;
  /// index into TableRequest::needed, then optional, or `nobody`
  std::vector<int> wanted;
  std::vector<std::string> names;
  std::vector<std::string> units;
  std::vector<Spelling> spellings;

  [[nodiscard]] bool knows_any() const {
    return std::any_of(wanted.begin(), wanted.end(), [](int w) { return w != nobody; });
  }
  /// how many of the needed columns are there
  [[nodiscard]] std::size_t n_known(std::size_t n_needed) const {
    std::size_t n = 0;
    for (std::size_t w = 0; w < n_needed; ++w) {
      n += std::find(wanted.begin(), wanted.end(), static_cast<int>(w)) != wanted.end() ? 1U : 0U;
    }
    return n;
  }
};

/// Canonical name of the wanted column `w`.
const std::string& canonical_name(const TableRequest& request, int w) {
  const auto i = static_cast<std::size_t>(w);
  return i < request.needed.size() ? request.needed[i] : request.optional[i - request.needed.size()];
}

/// How many of the needed columns, from the first, a table of this layout has to have.
std::size_t necessary_columns(const Layout& layout, const TableRequest& request) {
  const auto n = static_cast<int>(request.needed.size());
  const bool has_optional = std::any_of(layout.wanted.begin(), layout.wanted.end(), [n](int w) { return w >= n; });
  return request.needed.size() - (request.is_last_replaceable && has_optional ? 1 : 0);
}

int wanted_column(const std::string& canonical, const TableRequest& request) {
  const auto needed = std::find(request.needed.begin(), request.needed.end(), canonical);
  if (needed != request.needed.end()) return static_cast<int>(needed - request.needed.begin());
  const auto optional = std::find(request.optional.begin(), request.optional.end(), canonical);
  if (optional == request.optional.end()) return Layout::nobody;
  return static_cast<int>(request.needed.size()) + static_cast<int>(optional - request.optional.begin());
}

/// Whether plain_name() of a spelling, which has no unit, is `plain`.
bool is_plainly(std::string_view spelling, std::string_view plain) {
  std::size_t at = 0;
  for (const char c : spelling) {
    if (is_blank(c) || c == '_' || c == '-' || c == '.') continue;
    if (at == plain.size() || plain[at++] != c) return false;
  }
  return at == plain.size();
}

/// The number of the wanted column that a name means, and the strength of its spelling.
int meant_by(const std::string& name, const TableRequest& request, Spelling& spelling) {
  spelling = Spelling::canonical;
  if (const int w = wanted_column(name, request); w != Layout::nobody) return w;
  const std::string plain = request.of_places ? plain_name(name) : name;
  const auto needed = std::find(request.needed.begin(), request.needed.end(), plain);
  if (needed != request.needed.end()) return static_cast<int>(needed - request.needed.begin());
  for (const ColumnAlias& alias : request.aliases) {
    if (alias.spelling != name && !(request.of_places && is_plainly(alias.spelling, plain))) continue;
    spelling = alias.strength;
    return wanted_column(alias.name, request);
  }
  return Layout::nobody;
}

void add_column(Layout& layout, const std::string& name, const TableRequest& request) {
  Spelling spelling{};
  int w = Layout::nobody;
  std::string unit;
  if (request.of_places) {
    PlaceHeading heading = place_heading(name);
    const auto n_needed = static_cast<int>(request.needed.size());
    w = meant_by(lower_case(name_and_unit(name).first), request, spelling);
    const auto meant_needed = [&](const std::string& less) {
      const int meant = meant_by(less, request, spelling);
      return meant < n_needed ? meant : Layout::nobody;
    };
    if (w == Layout::nobody) {
      w = meant_needed(heading.without_unit);
      spelling = std::max(spelling, Spelling::other);
    }
    if (w == Layout::nobody) {
      w = meant_needed(heading.bare);
      spelling = spelling < Spelling::weak ? Spelling::weak : Spelling::weakest;
    }
    // X (Norte)
    Spelling of_remark{};
    const int said =
        spelling < Spelling::weak || w >= n_needed ? Layout::nobody : meant_by(heading.remark, request, of_remark);
    if (w != Layout::nobody && said != Layout::nobody && said < n_needed && of_remark < Spelling::weak) {
      w = said;
      spelling = Spelling::other;
    }
    // X (Longitude)
    const auto& refused = request.refused;
    if (std::find(refused.begin(), refused.end(), heading.remark) != refused.end()) w = Layout::nobody;
    unit = std::move(heading.unit);
  } else {
    w = meant_by(lower_case(name), request, spelling);
  }
  layout.wanted.push_back(w);
  layout.names.push_back(name);
  layout.units.push_back(unit);
  layout.spellings.push_back(spelling);
}

Layout layout_of(const std::vector<std::string>& names, const TableRequest& request) {
  Layout layout;
  for (const std::string& name : names) add_column(layout, name, request);
  if (!request.of_places) return layout;
  std::map<int, Spelling> best;
  for (std::size_t c = 0; c < names.size(); ++c) {
    Spelling& so_far = best.emplace(layout.wanted[c], Spelling::weakest).first->second;
    so_far = std::min(so_far, layout.spellings[c]);
  }
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (layout.spellings[c] > best[layout.wanted[c]]) layout.wanted[c] = Layout::nobody;
  }
  return layout;
}

/// Puts a unit that blanks cut off, or a comma within its brackets, behind its name again.
std::vector<std::string> with_their_units(const std::vector<std::string>& words, char separator) {
  const bool by_blanks = separator == ' ';
  const auto closing = [](char bracket) { return bracket == '[' ? ']' : ')'; };
  std::vector<std::string> names;
  char open = '\0';
  for (const std::string& word : words) {
    const bool begins = by_blanks && (word.starts_with('[') || word.starts_with('('));
    if (open == '\0' && !names.empty() && begins) open = word.front();
    if (open == '\0') {
      names.push_back(word);
    } else {
      names.back() += (by_blanks ? " " : ", ") + word;
    }
    const std::string_view name = open == '\0' ? std::string_view(word) : std::string_view(names.back());
    const std::size_t bracket = name.find_first_of("[(");
    const bool opens = bracket != std::string_view::npos && bracket > 0 &&
                       (by_blanks || name.find(closing(name[bracket])) == std::string_view::npos);
    if (open == '\0' && opens) open = name[bracket];
    if (open != '\0' && name.ends_with(closing(open))) open = '\0';
  }
  return by_blanks || open == '\0' ? names : words;
}

std::vector<std::string> names_in(std::string_view line, bool with_units, char separator) {
  std::vector<std::string> names;
  for (const std::string_view field : split(without_comment(line, separator), separator))
    names.emplace_back(unquoted(field));
  if (with_units && separator != '\t') names = with_their_units(names, separator);
  // spreadsheets end a line with a separator when a column beside the table was once used
  while (!names.empty() && names.back().empty()) names.pop_back();
  return names;
}

/// The words of a comment, which may name the columns behind some words of its own.
std::vector<std::string> words_in(std::string_view comment, bool with_units) {
  std::vector<std::string> words;
  comment.remove_prefix(std::min(comment.find_first_not_of("#%!/"), comment.size()));
  while (words.size() < most_columns) {
    const std::string_view word = take_word(comment, "# \t,;:\"");
    if (word.empty()) break;
    words.emplace_back(word);
  }
  return with_units ? with_their_units(words, ' ') : words;
}

/// How the key that names the columns of a file says which one holds a missing one; "" where no column is left for it.
std::string columns_remedy(const Layout& layout, const TableRequest& request, const std::vector<std::string>& missing) {
  constexpr std::size_t most = 20;
  const std::size_t n = layout.wanted.size();
  const auto left = static_cast<std::size_t>(std::count(layout.wanted.begin(), layout.wanted.end(), Layout::nobody));
  if (n > most || left == n || left < missing.size()) return "";
  std::string unit;
  for (std::size_t c = 0; c < n && request.of_places; ++c) {
    if (unit.empty() && layout.wanted[c] == Layout::nobody) unit = unit_within(layout.names[c]);
  }
  const std::string first = unit.empty() ? missing.front() : fmt::format("\"{} [{}]\"", missing.front(), unit);
  const bool one = missing.size() == 1;
  const std::string names = one ? first : "these names" + (unit.empty() ? "" : ", with units as in " + first + ",");
  return fmt::format("; if {} under {}, write {} there: {}: [{}]", one ? "a column holds it" : "columns hold them",
                     one ? "another name" : "other names", names, request.columns_key,
                     fmt::join(column_words(request, layout.wanted), ", "));
}

/// The hint for a line with the wrong number of fields due to commas in numbers, which split fields or leave blanks in
/// them; "" for other lines.
std::string comma_hint(std::string_view line, const std::vector<std::string_view>& fields, char separator,
                       std::size_t needed) {
  if (separator != ',') return "";
  const ThousandsCommas commas = thousands_commas(line);
  if (commas.count > 0 && fields.size() == needed + commas.count) return without_commas;
  const bool has_blanks = std::any_of(fields.begin(), fields.end(), [](std::string_view field) {
    return !field.starts_with('"') && std::any_of(field.begin(), field.end(), is_blank);
  });
  return has_blanks && (commas.are_certain || fields.size() < needed) ? comma_remedy(line) : "";
}

/// Throws when a wanted column is missing or given twice.
void check_layout(const Layout& layout, const TableRequest& request, const std::string& where, const std::string& key) {
  ProblemList problems;
  std::vector<std::string> missing;
  const auto n_necessary = static_cast<int>(necessary_columns(layout, request));
  for (int w = 0; w < static_cast<int>(request.needed.size() + request.optional.size()); ++w) {
    std::vector<std::string> same;
    for (std::size_t c = 0; c < layout.wanted.size(); ++c) {
      if (layout.wanted[c] == w) same.push_back(layout.names[c]);
    }
    if (same.empty() && w < n_necessary) missing.push_back(canonical_name(request, w));
    if (same.size() > 1) {
      problems.add(
          where, key,
          fmt::format("column {} is given {} times ({}){}", canonical_name(request, w), same.size(), shown_list(same),
                      !request.of_places || request.columns_key.empty() || key == request.columns_key
                          ? ""
                          : "; say by " + request.columns_key + " which is meant"));
    }
  }
  if (!missing.empty()) {
    std::string hint;
    for (std::size_t c = 0; c < layout.wanted.size(); ++c) {
      if (layout.wanted[c] != Layout::nobody || hint.size() > 400) continue;
      const std::string near = nearest_spelling(lower_case(layout.names[c]), missing);
      if (!near.empty()) hint += fmt::format("; {}: did you mean {}?", excerpt(layout.names[c]), near);
    }
    if (has_refused(layout.names, request)) {
      hint = "; " + request.why_refused;
    } else if (hint.empty() && !request.columns_key.empty() && key != request.columns_key) {
      hint = columns_remedy(layout, request, missing);
    }
    if (missing.size() == 1 && missing.front() == request.needed.back() && !request.last_column_remedy.empty()) {
      hint += "; " + request.last_column_remedy;
    }
    std::vector<std::string> names;
    for (const std::string& name : layout.names) names.push_back(excerpt(name));
    problems.add(where, key,
                 fmt::format("missing column{} {}; the columns are {}{}", missing.size() > 1 ? "s" : "",
                             fmt::join(missing, ", "), shown_list(names), hint));
  }
  problems.throw_if_any();
}

/// Throws where a header line and the columns that the user named say different things.
void check_header(const Layout& header, const Layout& layout, const TableRequest& request, const std::string& where) {
  for (std::size_t c = 0; c < std::min(header.wanted.size(), layout.wanted.size()); ++c) {
    // what the header calls x may be north, but not what it and the case name by letters
    const bool is_word = header.spellings[c] < Spelling::weak || layout.spellings[c] >= Spelling::weak;
    const bool is_known = header.wanted[c] != Layout::nobody && is_word;
    if (is_known && header.wanted[c] != layout.wanted[c] && layout.names[c] != "-") {
      throw InputError(where, "",
                       fmt::format("the header calls column {} {}, {} calls it {}", c + 1,
                                   shown(header.names[c], longest_name), request.columns_key, layout.names[c]));
    }
  }
}

/// Takes the units of a header line where the columns that the user named have none; true when there are any.
bool take_units(const Layout& header, Layout& layout) {
  bool any = false;
  for (std::size_t c = 0; c < std::min(header.names.size(), layout.names.size()); ++c) {
    const std::string unit = header.units[c].empty() ? unit_within(header.names[c]) : header.units[c];
    if (!layout.units[c].empty() || layout.wanted[c] == Layout::nobody || unit.empty()) continue;
    layout.units[c] = unit;
    any = true;
  }
  return any;
}

/// Puts a unit that stands behind the name of a place as a word of its own to that name.
std::vector<std::string> with_unit_words(const std::vector<std::string>& words, const TableRequest& request) {
  std::vector<std::string> names;
  for (const std::string& word : words) {
    const std::string unit = lower_case(word);
    const bool is_unit = unit == "m" || unit == "km" || unit == "ft";
    if (is_unit && !names.empty() && layout_of({names.back()}, request).knows_any()) {
      names.back() += ' ' + word;
    } else {
      names.push_back(word);
    }
  }
  return names;
}

/// Throws InputError where a comment above n columns without other names calls some of them as columns needed are, but
/// not all, or names these in another order; notes where its words are as many as the columns.
void heed_comment(const Layout& commented, const Layout& all, std::size_t n, const TableRequest& request,
                  const std::string& where, Table& table) {
  const std::size_t n_needed = request.needed.size();
  if (commented.names.size() == n && commented.n_known(n_needed) > 1) check_layout(commented, request, where, "");
  std::vector<int> order;
  std::copy_if(all.wanted.begin(), all.wanted.end(), std::back_inserter(order),
               [&](int w) { return w != Layout::nobody && w < static_cast<int>(n_needed); });
  if (order.size() > 1 && !std::is_sorted(order.begin(), order.end())) {
    throw InputError(
        where, "",
        fmt::format("{} columns, and the comment above names {} in another order than {}; name the columns "
                    "in a header line{}",
                    n, fmt::join(column_words(request, order), ", "), fmt::join(request.needed, ", "),
                    request.columns_key.empty() ? "" : " or by " + request.columns_key));
  }
  if (commented.names.size() != n || n != n_needed ||
      std::any_of(commented.names.begin(), commented.names.end(), is_number))
    return;
  table.notes.push_back(
      fmt::format("{}: the words of the comment above, {}, are not known as names of columns; they are "
                  "taken as {}",
                  where, shown_list(commented.names), fmt::join(request.needed, ", ")));
}

/// The columns of a table without a header, by the fields of its first row: the names of a comment above them when
/// these fit, else the columns needed, in their order.
Layout layout_without_header(const std::vector<std::string_view>& fields, std::vector<std::string> commented_names,
                             const TableRequest& request, const std::string& where, char separator, Table& table) {
  std::size_t n = fields.size();
  while (n > request.needed.size() && fields[n - 1].empty()) --n;
  const std::vector<std::string> all_names = commented_names;
  if (commented_names.size() > n) {
    commented_names.erase(commented_names.begin(), commented_names.end() - static_cast<std::ptrdiff_t>(n));
  }
  Layout commented = layout_of(commented_names, request);
  const auto knows_all = [&] {
    const std::size_t n_necessary = necessary_columns(commented, request);
    return commented.n_known(n_necessary) == n_necessary;
  };
  if (!knows_all() && request.of_places) {
    // units that blanks cut off: Elev ft
    std::vector<std::string> joined = with_unit_words(all_names, request);
    if (joined.size() > n) joined.erase(joined.begin(), joined.end() - static_cast<std::ptrdiff_t>(n));
    if (Layout other = layout_of(joined, request); joined.size() == n && other.n_known(request.needed.size()) > 0) {
      commented_names = std::move(joined);
      commented = std::move(other);
    }
  }
  const bool is_whole = knows_all();
  if (commented_names.size() == n && (is_whole || has_refused(commented_names, request))) {
    check_layout(commented, request, where, "");
    table.are_named_by_file = true;
    return commented;
  }
  if (request.of_places) heed_comment(commented, layout_of(all_names, request), n, request, where, table);
  std::string remedy = "name the columns in a header line";
  if (!request.columns_key.empty()) remedy += " or by " + request.columns_key;
  if (!request.optional.empty() && !request.is_last_replaceable) {
    throw InputError(where, "", fmt::format("{} column{} without names; {}", n, n == 1 ? "" : "s", remedy));
  }
  if (n >= request.needed.size() && n <= request.needed.size() + request.spare.size()) {
    std::vector<std::string> names = request.needed;
    names.insert(names.end(), request.spare.begin(), request.spare.end());
    names.resize(n);
    return layout_of(names, request);
  }
  const std::string_view line(
      fields.front().data(),
      static_cast<std::size_t>(fields.back().data() - fields.front().data()) + fields.back().size());
  const std::string hint = comma_hint(line, fields, separator, request.needed.size());
  remedy += hint.empty() && n > request.needed.size() ? "; decimals are written with a point" : hint;
  if (n + 1 == request.needed.size() && !request.last_column_remedy.empty()) {
    remedy += fmt::format("; if {} is missing, {}", request.needed.back(), request.last_column_remedy);
  }
  throw InputError(where, "",
                   fmt::format("{} column{}, but without a header {} are expected: {}; {}", n, n == 1 ? "" : "s",
                               request.needed.size(), fmt::join(request.needed, ", "), remedy));
}

/// What a line says of the rows below it.
struct GroupLine {
  /// of the column: line or segment
  const char* column;
  /// what comes behind "Line", quoted where it has a blank; nothing: the next segment
  std::optional<std::string> name;
};

/// A line between the rows of a file of Oasis montaj or GMT; nothing when it is none.
std::optional<GroupLine> group_line(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with('>')) return GroupLine{"segment", std::nullopt};
  if (line.empty() || std::isalpha(static_cast<unsigned char>(line.front())) == 0) return std::nullopt;
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string first = lower_case(line.substr(0, end));
  const std::string_view rest = trimmed(line.substr(end));
  if (rest.empty()) {
    // L10, T3.1
    const bool is_short = first.size() > 1 && (first[0] == 'l' || first[0] == 't') &&
                          first.find_first_not_of("0123456789.:", 1) == std::string::npos;
    return is_short ? std::optional(GroupLine{"line", std::string(line)}) : std::nullopt;
  }
  if (rest.find_first_of(" \t,;\"") != std::string_view::npos) return std::nullopt;
  if (first == "line") return GroupLine{"line", std::string(rest)};
  for (const char* const kind : {"tie", "random", "base", "trend", "special", "test"}) {
    if (first == kind) return GroupLine{"line", fmt::format("\"{} {}\"", line.substr(0, end), rest)};
  }
  return std::nullopt;
}

/// Reads a table line by line.
class TableReader {
public:
  TableReader(const InputFile& file, const TableRequest& request, ProblemList& problems)
      : m_file(file),
        m_request(request),
        m_reader(file),
        m_limited(problems, file.path.string()),
        m_values(request.needed.size() + request.optional.size()) {}

  Table read() {
    m_table.columns.resize(m_values.size());
    m_table.named_where = m_file.where;
    m_table.named_key = m_request.columns_key;
    if (!m_request.columns.empty()) {
      m_layout = layout_of(m_request.columns, m_request);
      check_layout(m_layout, m_request, m_file.where, m_request.columns_key);
      m_from_columns = true;
    }
    std::string_view line;
    while (m_reader.next(line)) take(line);
    if (!m_data_seen) {
      if (m_header.line > 0) use_header();
      throw m_file.error(m_reader.number() == 0 ? "is empty"
                         : m_header.line > 0    ? "has a header but no data"
                                                : "has no data");
    }
    if (m_request.skips_dummies) {
      const std::string doubt = leave_dummies_out(m_table, m_request.needed.size(), m_request.n_places);
      if (!doubt.empty()) m_table.notes.push_back(fmt::format("'{}': {}", m_file.path.string(), doubt));
    }
    check_endings();
    if (m_hidden.count > 0) {
      m_table.notes.push_back(fmt::format(
          "{}: {} with the fields of a row; # begins a comment, which is not read: write the row without it",
          m_file.path.string(), m_hidden.text("comment")));
    }
    m_limited.finish();
    for (std::size_t c = 0; c < m_layout.wanted.size(); ++c) {
      if (m_layout.wanted[c] == Layout::nobody) m_table.ignored.push_back(m_layout.names[c]);
    }
    return std::move(m_table);
  }

private:
  void take(std::string_view line) {
    std::size_t first = 0;
    while (first < line.size() && is_blank(line[first])) ++first;
    if (first == line.size()) return;
    if (is_comment(line.substr(first))) {
      if (looks_like_row(line.substr(first))) m_hidden.add(m_reader.number());
      if (!m_data_seen) take_comment(line.substr(first));
      return;
    }
    if (m_request.of_places) {
      if (const std::optional<GroupLine> group = group_line(line)) {
        take_group(*group);
        return;
      }
    }
    if (!m_data_seen) {
      if (takes_header(line) || takes_units(line)) {
        count_above_rows(line);
        return;
      }
      begin_rows(line);
    }
    read_row(line);
  }

  /// Refuses a text that has no rows before it is looked at in whole.
  void count_above_rows(std::string_view line) {
    m_bytes_above_rows += line.size() + 1;
    if (m_bytes_above_rows <= std::max(most_bytes_above_rows, line.size() + 1)) return;
    throw InputError(m_reader.where(), "", "no row of numbers in the first MiB; this is no table");
  }

  [[nodiscard]] bool is_comment(std::string_view line) const {
    constexpr std::string_view of_geoscience = "COMM";
    if (line[0] == '#' || line[0] == '%' || line[0] == '!') return true;
    if (!m_request.of_places || !line.starts_with(of_geoscience)) return m_request.of_places && line[0] == '/';
    return line.size() > of_geoscience.size() && is_blank(line[of_geoscience.size()]);
  }

  /// Whether a comment below the header has the fields of a row: #N/A, a station #1.
  [[nodiscard]] bool looks_like_row(std::string_view line) const {
    if (line[0] != '#' || line.size() < 2 || is_blank(line[1]) || (!m_data_seen && m_header.line == 0)) return false;
    const char separator = m_data_seen ? m_table.separator : m_header.separator;
    const std::vector<std::string_view> fields = split(line, separator);
    const std::size_t n = m_data_seen ? m_layout.wanted.size() : m_header.names.size();
    const auto n_numbers = static_cast<std::size_t>(std::count_if(fields.begin(), fields.end(), is_number));
    return fields.size() == n && n_numbers > 0 && (separator != ' ' || 2 * n_numbers >= n);
  }

  void take_comment(std::string_view line) {
    count_above_rows(line);
    m_table.comments.emplace_back(line);
    if (m_request.of_places && m_table.commented_unit.empty()) {
      m_table.commented_unit = unit_in_comment(line);
      m_table.commented_where = m_reader.where();
    }
    if (m_header.line > 0) return;
    std::vector<std::string> names = words_in(line, m_request.of_places);
    const Layout layout = layout_of(names, m_request);
    const std::size_t n_known = layout.n_known(m_request.needed.size());
    const bool is_none = !layout.knows_any() && !has_refused(names, m_request);
    // words of no meaning may name the columns all the same, those of the last comment
    const bool is_better = m_n_commented > 0 || has_refused(m_commented_names, m_request);
    if (is_none ? is_better : n_known < m_n_commented) return;
    m_n_commented = n_known;
    m_commented_names = std::move(names);
    if (!m_from_columns && !is_none) m_table.named_where = m_reader.where();
  }

  void take_group(const GroupLine& group) {
    if (!m_data_seen) {
      m_group_column = group.column;
    } else if (m_group_column.empty()) {
      throw InputError(m_reader.where(), "",
                       fmt::format("begins a {0}, but the rows above it belong to none; put such a line above the "
                                   "first row, too, or take this one out",
                                   group.column));
    }
    m_group = group.name ? *group.name : std::to_string(m_n_segments++);
    // the file says it by a column of its own
    if (m_data_seen && !m_has_group_column) m_group.reset();
  }

  /// Whether the line is a header or a title. Of several lines of text the one with the most known names is the header;
  /// where none is known, the last.
  bool takes_header(std::string_view line) {
    const char separator = separator_of_names(line);
    const std::vector<std::string_view> fields = split(without_comment(line, separator), separator);
    if (fields.size() > most_columns) {
      throw InputError(m_reader.where(), "",
                       fmt::format("more than {} columns; this is no table of prisms or points", most_columns));
    }
    Header here{m_reader.number(), separator, names_in(line, m_request.of_places, separator), {}, 0};
    here.layout = layout_of(here.names, m_request);
    const auto n_numbers = static_cast<std::size_t>(std::count_if(fields.begin(), fields.end(), is_number));
    const std::size_t n_needed = m_request.needed.size();
    const std::size_t n_known = here.layout.n_known(n_needed);
    // a station may be called N or E
    // 0 100 0 100 -200 -100,5 300
    const bool is_row = line.find_first_not_of("0123456789+-., \t") == std::string_view::npos &&
                        !comma_hint(line, fields, separator, n_needed).empty();
    const bool is_header = n_numbers == 0
                               ? !is_row && std::find(fields.begin(), fields.end(), "*") == fields.end()
                               : m_header.line == 0 && here.layout.knows_any() && (n_numbers < n_needed || n_known > 1);
    // a title with a year in it
    if (!m_from_columns && m_n_commented == 0 && m_header.line == 0 && n_numbers > 0 && n_known == 0 &&
        m_title.empty() && !is_number(fields[0]) && fields[0] != "*") {
      m_title_line = m_reader.number();
      m_title = fields[0];
      return true;
    }
    const std::size_t n_before = m_header.layout.n_known(n_needed);
    const bool knows_all = n_before >= necessary_columns(m_header.layout, m_request);
    if (!is_header || (m_header.line > 0 && (knows_all || n_known < n_before))) return false;
    if (has_open_quote(without_comment(line, separator))) throw InputError(m_reader.where(), "", open_quote);
    m_header = std::move(here);
    return true;
  }

  /// Whether the line below the header says the units of the columns, which then have them.
  bool takes_units(std::string_view line) {
    if (m_header.line == 0 || !m_request.of_places) return false;
    const std::vector<std::string_view> fields = split(line, m_header.separator);
    bool any = false;
    for (std::size_t c = 0; c < fields.size(); ++c) {
      const std::string_view unit = name_in_brackets(fields[c]);
      if (is_number(unit)) return false;
      const int w = c < m_header.layout.wanted.size() ? m_header.layout.wanted[c] : Layout::nobody;
      any = any || (w != Layout::nobody && (metres_in(unit) || is_angle(unit)));
    }
    if (!any) return false;
    for (std::size_t c = 0; c < std::min(fields.size(), m_header.layout.units.size()); ++c) {
      std::string& unit = m_header.layout.units[c];
      if (unit.empty()) unit = name_in_brackets(fields[c]);
    }
    m_header.units_line = m_reader.number();
    return true;
  }

  /// A unit without the brackets round it.
  static std::string_view name_in_brackets(std::string_view text) {
    text = unquoted(text);
    const bool has_brackets =
        text.size() > 2 && (text.front() == '[' || text.front() == '(') && (text.back() == ']' || text.back() == ')');
    return has_brackets ? text.substr(1, text.size() - 2) : text;
  }

  /// What separates the names of a header: a tab where it leaves none empty and as many are known as between blanks.
  [[nodiscard]] char separator_of_names(std::string_view line) const {
    const char separator = separator_of(line);
    if (separator != ' ' || line.find('\t') == std::string_view::npos) return separator;
    const std::vector<std::string> by_tabs = names_in(line, m_request.of_places, '\t');
    if (std::find(by_tabs.begin(), by_tabs.end(), "") != by_tabs.end()) return ' ';
    const auto n_known = [&](const std::vector<std::string>& names) {
      return layout_of(names, m_request).n_known(m_request.needed.size());
    };
    const std::size_t n = n_known(by_tabs);
    return n > 0 && n >= n_known(names_in(line, m_request.of_places, ' ')) ? '\t' : ' ';
  }

  /// What separates the fields of rows, by the first of them and the header.
  [[nodiscard]] char separator_of_rows(std::string_view line) const {
    const char separator = separator_of(line);
    if (separator != ' ' || line.find('\t') == std::string_view::npos) return separator;
    const std::vector<std::string_view> fields = split(without_comment(line, '\t'), '\t');
    if (m_header.line > 0 && m_header.separator == '\t') return fields.size() >= m_header.names.size() ? '\t' : ' ';
    const bool is_plain = std::none_of(fields.begin(), fields.end(), [](std::string_view field) {
      return field.empty() || std::any_of(field.begin(), field.end(), is_blank);
    });
    return is_plain ? '\t' : ' ';
  }

  /// Takes the columns as the header names them.
  void use_header() {
    const std::string where = line_of(m_file, m_header.line);
    m_table.are_named_by_file = !m_from_columns;
    if (m_from_columns) {
      check_header(m_header.layout, m_layout, m_request, where);
      if (m_request.of_places && take_units(m_header.layout, m_layout)) m_table.named_where = where;
    } else {
      m_layout = m_header.layout;
      m_table.named_where = where;
      check_layout(m_layout, m_request, where, "");
    }
  }

  /// Puts units that blanks cut off from the header's names to these where the first row then fits.
  void join_units(std::string_view line) {
    const std::size_t n = split(without_comment(line, ' '), ' ').size();
    if (m_header.names.size() <= n) return;
    const std::vector<std::string> joined = with_unit_words(m_header.names, m_request);
    if (joined.size() != n) return;
    m_layout = layout_of(joined, m_request);
    check_layout(m_layout, m_request, m_table.named_where, "");
  }

  void begin_rows(std::string_view line) {
    m_data_seen = true;
    const char separator = separator_of_rows(line);
    if (m_header.line > 0) {
      use_header();
      if (!m_from_columns && separator == ' ' && m_request.of_places) join_units(line);
    } else if (!m_from_columns) {
      if (!m_title.empty()) {
        throw InputError(
            line_of(m_file, m_title_line), "",
            fmt::format("{} is not a number, and no header below names the columns{}", excerpt(m_title),
                        m_request.columns_key.empty() ? "" : "; name them there or by " + m_request.columns_key));
      }
      m_layout = layout_without_header(split(without_comment(line, separator), separator), std::move(m_commented_names),
                                       m_request, m_reader.where(), separator, m_table);
    }
    if (m_table.named_where != m_file.where) m_table.named_key.clear();
    const bool has_units_line = m_header.units_line > 0 && m_table.named_where == line_of(m_file, m_header.line);
    m_table.units_where = has_units_line ? line_of(m_file, m_header.units_line) : m_table.named_where;
    m_table.separator = separator;
    if (m_from_columns && m_header.names.size() == m_layout.names.size()) m_table.header = m_header.names;
    m_table.at.assign(m_table.columns.size(), -1);
    m_table.units.resize(m_table.columns.size());
    for (std::size_t c = 0; c < m_layout.wanted.size(); ++c) {
      std::string name = m_layout.names[c];
      if (m_from_columns && name == "-") {
        name = c < m_header.names.size() ? m_header.names[c] : fmt::format("column_{}", c + 1);
      }
      m_table.names.push_back(std::move(name));
      if (m_layout.wanted[c] == Layout::nobody) continue;
      const auto w = static_cast<std::size_t>(m_layout.wanted[c]);
      m_table.at[w] = static_cast<int>(c);
      m_present.push_back(w);
      m_table.units[w] = m_layout.units[c];
    }
    const bool is_taken = std::any_of(m_table.names.begin(), m_table.names.end(),
                                      [&](const std::string& name) { return plain_name(name) == m_group_column; });
    m_has_group_column = !m_group_column.empty() && !is_taken;
    if (m_has_group_column) {
      m_table.names.push_back(m_group_column);
    } else {
      m_group.reset();
    }
  }

  void read_row(std::string_view line) {
    if ((m_request.keeps_text || !parse_fast(line)) && !parse_slowly(line)) return;
    // a last field that is empty
    if (!m_reach || line.back() == m_table.separator || is_blank(line.back()) || line.ends_with("\"\""))
      take_reach(line);
    if (m_request.keeps_text) {
      if (m_group) m_fields.push_back(*m_group);
      m_table.text.add(m_fields);
    }
    for (const std::size_t w : m_present) m_table.columns[w].push_back(m_values[w]);
    m_table.lines.push_back(m_reader.number());
  }

  /// The row when nothing about it is unusual; else false.
  bool parse_fast(std::string_view line) noexcept {
    const char* at = line.data();
    const char* const end = at + line.size();
    const auto is_gap = [&](char c) { return c == ' ' || (c == '\t' && m_table.separator != '\t'); };
    const auto skip_blanks = [&] {
      while (at != end && is_gap(*at)) ++at;
    };
    const std::size_t n = m_layout.wanted.size();
    for (std::size_t c = 0; c < n; ++c) {
      skip_blanks();
      const int w = m_layout.wanted[c];
      if (w == Layout::nobody) {
        // blanks at the end of a line are no column
        if (at == end && m_table.separator == ' ') return false;
        while (at != end && *at != '"' && (m_table.separator == ' ' ? !is_blank(*at) : *at != m_table.separator)) ++at;
        if (at != end && *at == '"') return false;
      } else {
        double& value = m_values[static_cast<std::size_t>(w)];
        if (parse_number(at, end, value) != NumberStatus::ok || !std::isfinite(value)) return false;
        if (value <= of_geosoft) return false;
      }
      if (c + 1 == n) break;
      if (at == end) return false;
      if (m_table.separator == ' ') {
        if (!is_blank(*at)) return false;
      } else {
        skip_blanks();
        if (at == end || *at != m_table.separator) return false;
        ++at;
      }
    }
    skip_blanks();
    return at == end;
  }

  /// The row, or what is wrong with it.
  bool parse_slowly(std::string_view line) {
    // a `#` may stand in a column of text
    m_fields = split(line, m_table.separator);
    const bool may_be_good = m_fields.size() == m_layout.wanted.size() && !has_open_quote(line);
    if (may_be_good && !(m_request.skips_dummies && has_dummy(m_fields)) && parse_fields(m_fields, [](auto&&...) {})) {
      return true;
    }

    std::vector<std::string_view>& fields = m_fields;
    fields = split(without_comment(line, m_table.separator), m_table.separator);
    if (has_open_quote(without_comment(line, m_table.separator))) {
      m_limited.add("lines with a quote that is not closed", [&] { return Problem{m_reader.where(), "", open_quote}; });
      return false;
    }
    const std::size_t n = m_layout.wanted.size();
    while (fields.size() > n && fields.back().empty()) fields.pop_back();
    if (fields.size() < n && may_end_early(fields)) fields.resize(n);
    if (fields.size() != n) {
      refuse_width(m_reader.number(), fields.size(), line);
      return false;
    }
    if (m_request.skips_dummies && has_dummy(fields)) {
      m_table.add_dummy(m_reader.number());
      return false;
    }
    return parse_fields(fields, [&](std::string_view kind, int w, std::string_view field, std::string_view what) {
      m_limited.add(kind, [&] {
        return Problem{m_reader.where(), canonical_name(m_request, w),
                       field.empty() ? std::string(what) : fmt::format("{} {}", excerpt(field), what)};
      });
    });
  }

  /// Adds a problem for a row with another number of fields than columns. `line`: its text, "" where it is gone.
  void refuse_width(std::int64_t number, std::size_t found, std::string_view line) {
    const std::size_t n = m_layout.wanted.size();
    m_limited.add(found < n ? "lines with too few columns" : "lines with too many columns", [&] {
      line = without_comment(line, m_table.separator);
      if (found > most_columns) found = count_fields(line, m_table.separator);
      std::string hint = comma_hint(line, split(line, m_table.separator), m_table.separator, n);
      if (hint.empty() && found > 1 && found < n && m_table.separator != ' ') {
        const char* const gap = m_table.separator == ',' ? "comma" : m_table.separator == ';' ? "semicolon" : "tab";
        hint = fmt::format("; where a value is missing, keep its {}", gap);
      }
      const bool has_header = m_header.line > 0 && m_header.names.size() == n;
      return Problem{line_of(m_file, number), "",
                     fmt::format("{} column{}, {}{}{}{}", found, found == 1 ? "" : "s",
                                 has_header ? "but the header names " : "", n, has_header ? "" : " are needed", hint)};
    });
  }

  /// Number of the first fields without dummies at the end.
  static std::size_t width_of(const std::vector<std::string_view>& fields) {
    std::size_t n = fields.size();
    while (n > 0 && is_dummy(fields[n - 1])) --n;
    return n;
  }

  /// The same up to the last that somebody asked for or that is no text.
  [[nodiscard]] std::size_t reach_of(const std::vector<std::string_view>& fields) const {
    std::size_t n = width_of(fields);
    while (n > 0 && m_layout.wanted[n - 1] == Layout::nobody && !is_dummy(fields[n - 1]) && !is_number(fields[n - 1])) {
      --n;
    }
    return n;
  }

  /// Whether rows may lack text at their end, which spreadsheets leave out.
  [[nodiscard]] bool may_lack_text() const {
    return m_table.separator != ' ' && m_layout.wanted.back() == Layout::nobody;
  }

  void add_ending(const std::vector<std::string_view>& fields) {
    m_endings[{reach_of(fields), width_of(fields), fields.size()}].add(m_reader.number());
  }

  /// Whether a row lacks only text at its end; one that lost a number would reach less far than whole rows do. Rows
  /// above the first whole one wait for it.
  [[nodiscard]] bool may_end_early(const std::vector<std::string_view>& fields) {
    const auto next = m_layout.wanted.begin() + static_cast<std::ptrdiff_t>(fields.size());
    const bool is_unread = std::all_of(next, m_layout.wanted.end(), [](int w) { return w == Layout::nobody; });
    if (!is_unread || !may_lack_text()) return false;
    // it is left out
    if (m_request.skips_dummies && has_dummy(fields)) return true;
    if (m_reach && reach_of(fields) < *m_reach) return false;
    add_ending(fields);
    return true;
  }

  /// Takes the reach of a good row where it is the first whole one, and heeds one whose last field is empty.
  void take_reach(std::string_view line) {
    const std::size_t n = m_layout.wanted.size();
    if (!may_lack_text()) {
      m_reach = n;
      return;
    }
    std::vector<std::string_view> fields = split(without_comment(line, m_table.separator), m_table.separator);
    while (fields.size() > n && fields.back().empty()) fields.pop_back();
    if (fields.size() < n) return;
    if (is_dummy(fields.back())) {
      add_ending(fields);
    } else if (!m_reach) {
      m_reach = reach_of(fields);
    }
  }

  /// Refuses rows that reach less far than whole ones, or the best where no row is whole; notes those that end early
  /// all the same: one that lost a number may look like one without text.
  void check_endings() {
    const std::size_t n = m_layout.wanted.size();
    std::size_t reach = m_reach.value_or(0), width = m_reach ? n : 0, found = width;
    for (const auto& [ending, rows] : m_endings) {
      if (!m_reach) reach = std::max(reach, ending[0]);
      width = std::max(width, ending[1]);
      found = std::max(found, ending[2]);
    }
    if (found > 0 && found < n) {
      m_table.notes.push_back(fmt::format("{}: the rows have {} columns, the header {}; the last are taken as empty",
                                          m_file.path.string(), found, n));
    }
    Rows early;
    for (const auto& [ending, rows] : m_endings) {
      const bool is_short = ending[2] < n, is_less = ending[0] < reach;
      if (is_short && is_less) {
        for (const std::int64_t line : rows.lines) refuse_width(line, ending[2], "");
      } else if ((is_less && reach < n) || (is_short && ending[1] < width)) {
        early.lines.insert(early.lines.end(), rows.lines.begin(), rows.lines.end());
        early.count += rows.count;
      }
    }
    if (early.count == 0) return;
    std::sort(early.lines.begin(), early.lines.end());
    m_table.notes.push_back(
        fmt::format("{}: {} ha{} nothing in the last columns; look whether a number is missing "
                    "before them",
                    m_file.path.string(), early.text("row"), early.count == 1 ? "s" : "ve"));
  }

  [[nodiscard]] bool has_dummy(const std::vector<std::string_view>& fields) const {
    const auto n_needed = static_cast<int>(m_request.needed.size());
    for (std::size_t c = 0; c < fields.size(); ++c) {
      const int w = m_layout.wanted[c];
      if (w != Layout::nobody && w < n_needed && is_dummy(fields[c])) return true;
    }
    return false;
  }

  /// Reads the wanted fields into m_values; calls report(kind, wanted column, field, what) for each that is bad.
  template <class Report>
  bool parse_fields(const std::vector<std::string_view>& fields, const Report& report) {
    bool good = true;
    for (std::size_t c = 0; c < fields.size(); ++c) {
      const int w = m_layout.wanted[c];
      if (w == Layout::nobody) continue;
      const std::string_view field = unquoted(fields[c]);
      double& value = m_values[static_cast<std::size_t>(w)];
      if (m_request.may_lack && w >= static_cast<int>(m_request.needed.size()) && is_dummy(field)) {
        value = std::numeric_limits<double>::quiet_NaN();
        continue;
      }
      const NumberStatus status = parse_number(field, value);
      const bool is_number = status == NumberStatus::ok && std::isfinite(value);
      if (is_number && value != of_geosoft) continue;
      good = false;
      if (field.empty()) {
        report("columns without a number", w, field, "is empty; a number is expected");
      } else if (is_number || field == "*") {
        report("dummies where a number belongs", w, field, "is a dummy; leave the row out");
      } else if (status == NumberStatus::too_large) {
        report("numbers too large for double precision", w, field, "is too large");
      } else if (status == NumberStatus::ok) {
        report("NaN or infinite values", w, field, "is not finite");
      } else {
        const bool comma = field.find(',') != std::string_view::npos;
        const char* at = field.data();
        const bool has_unit = parse_number(at, at + field.size(), value) == NumberStatus::ok &&
                              metres_in({at, static_cast<std::size_t>(field.data() + field.size() - at)});
        report("text where a number belongs", w, field,
               "is not a number" +
                   (comma      ? comma_remedy(field)
                    : has_unit ? "; units are written in the header, as in " + canonical_name(m_request, w) + " [m]"
                               : ""));
      }
    }
    return good;
  }

  const InputFile& m_file;
  const TableRequest& m_request;
  LineReader m_reader;
  LimitedProblems m_limited;
  Table m_table;
  Layout m_layout;
  std::vector<double> m_values;
  /// wanted columns that the file has
  std::vector<std::size_t> m_present;
  /// of the row that parse_slowly read last
  std::vector<std::string_view> m_fields;
  /// reach_of() the first whole row
  std::optional<std::size_t> m_reach;
  struct Rows {
    std::int64_t count = 0;
    /// of the first of them
    std::vector<std::int64_t> lines;

    void add(std::int64_t line) {
      constexpr std::int64_t most_told = 10;
      if (++count <= most_told) lines.push_back(line);
    }
    /// "row in line 7", "rows in lines 7, 9, ..."
    [[nodiscard]] std::string text(const std::string& noun) const {
      return fmt::format("{} in {} {}{}", counted(count, noun), count == 1 ? "line" : "lines", fmt::join(lines, ", "),
                         count > std::ssize(lines) ? ", ..." : "");
    }
  };
  /// comments that look like rows
  Rows m_hidden;
  /// rows that end early by their reach_of(), width_of() and number of fields
  std::map<std::array<std::size_t, 3>, Rows> m_endings;
  std::size_t m_bytes_above_rows = 0;
  bool m_from_columns = false, m_data_seen = false;
  /// the line of names that is the header so far; line 0: there is none
  struct Header {
    std::int64_t line = 0;
    char separator = ' ';
    std::vector<std::string> names;
    Layout layout;
    /// of a line of units below it; 0: there is none
    std::int64_t units_line = 0;
  };
  Header m_header;
  /// the first word of a line above it that has numbers, "" while there is none, and its line
  std::string m_title;
  std::int64_t m_title_line = 0;
  std::vector<std::string> m_commented_names;
  /// needed columns that the comment names
  std::size_t m_n_commented = 0;
  /// "" while no line has named one
  std::string m_group_column;
  std::optional<std::string> m_group;
  bool m_has_group_column = false;
  std::int64_t m_n_segments = 0;
};

}  // namespace

void Table::add_dummy(std::int64_t line) {
  constexpr std::size_t most_told = 10;
  ++n_dummies;
  dummy_lines.insert(std::upper_bound(dummy_lines.begin(), dummy_lines.end(), line), line);
  if (dummy_lines.size() > most_told) dummy_lines.pop_back();
}

std::string Table::dummies_text() const {
  return fmt::format("dummies{} in {} {}{}", dummy.empty() ? "" : fmt::format(", such as {},", dummy),
                     n_dummies == 1 ? "line" : "lines", fmt::join(dummy_lines, ", "),
                     n_dummies > std::ssize(dummy_lines) ? ", ..." : "");
}

bool is_dummy(std::string_view field) {
  field = unquoted(field);
  if (field.empty() || field == "*") return true;
  double value = 0;
  return parse_number(field, value) == NumberStatus::ok && (std::isnan(value) || value == of_geosoft);
}

void TableText::add(const std::vector<std::string_view>& fields) {
  for (const std::string_view field : fields) {
    const std::size_t begin = rows.size();
    rows += field;
    std::replace(rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.end(), end_of_field, ' ');
    rows += end_of_field;
  }
  rows.back() = '\n';
}

void TableText::keep(const std::vector<bool>& kept) {
  std::string all;
  std::size_t begin = 0;
  for (const bool is_kept : kept) {
    const std::size_t end = rows.find('\n', begin) + 1;
    if (is_kept) all.append(rows, begin, end - begin);
    begin = end;
  }
  rows = std::move(all);
}

void TableText::each(const std::function<void(std::size_t, const std::vector<std::string_view>&)>& take) const {
  std::vector<std::string_view> fields;
  std::string_view rest = rows;
  for (std::size_t row = 0; !rest.empty(); ++row) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    fields.clear();
    for (std::size_t end = line.find(end_of_field); end != std::string_view::npos; end = line.find(end_of_field)) {
      fields.push_back(line.substr(0, end));
      line.remove_prefix(end + 1);
    }
    fields.push_back(line);
    take(row, fields);
  }
}

std::string leave_dummies_out(Table& table, std::size_t n_looked_at, std::size_t n_places) {
  std::vector<bool> kept;
  std::vector<const std::vector<double>*> columns;
  for (std::size_t w = 0; w < std::min(n_looked_at, n_places); ++w) columns.push_back(&table.columns[w]);
  const DummyPlaces places = find_dummy_places(columns);
  for (std::size_t w = 0; w < n_looked_at; ++w) {
    const std::vector<bool> dummies = w < columns.size() ? places.found[w] : find_dummies(table.columns[w]);
    if (dummies.empty()) continue;
    kept.resize(dummies.size(), true);
    for (std::size_t i = 0; i < dummies.size(); ++i) {
      if (dummies[i] && table.dummy.empty()) table.dummy = number_text(table.columns[w][i]);
      if (dummies[i]) kept[i] = false;
    }
  }
  if (kept.empty()) return places.doubt;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) table.add_dummy(table.lines[i]);
  }
  for (std::vector<double>& column : table.columns) {
    if (!column.empty()) keep_rows(column, kept);
  }
  keep_rows(table.lines, kept);
  if (!table.text.rows.empty()) table.text.keep(kept);
  return places.doubt;
}

std::vector<std::string> column_words(const TableRequest& request, const std::vector<int>& wanted) {
  std::vector<std::string> words;
  for (const int w : wanted) words.push_back(w < 0 ? "\"-\"" : canonical_name(request, w));
  return words;
}

bool has_refused(const std::vector<std::string>& names, const TableRequest& request) {
  const auto is_refused = [&](const std::string& name) {
    return std::find(request.refused.begin(), request.refused.end(), name) != request.refused.end();
  };
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const PlaceHeading heading = place_heading(name);
    return is_refused(heading.plain) || is_refused(heading.without_unit) || is_refused(heading.bare) ||
           is_refused(heading.remark);
  });
}

Table read_table(const InputFile& file, const TableRequest& request, ProblemList& problems) {
  refuse_foreign(file);
  return TableReader(file, request, problems).read();
}

}  // namespace prismfield
