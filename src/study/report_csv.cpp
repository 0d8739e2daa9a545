// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/report_csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "base/number_text.hpp"
#include "io/text_table.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

constexpr const char* a_count = "a whole number of at least 0, or nothing";
constexpr const char* a_number = "a finite number, or nothing";

bool read_count(std::string_view text, std::int64_t& to) {
  if (text.empty()) return true;
  return parse_integer(text, to) == NumberStatus::ok && to >= 0;
}
bool read_number(std::string_view text, double& to) {
  if (text.empty()) return true;
  return parse_number(text, to) == NumberStatus::ok && std::isfinite(to);
}

/// One column: how it is read into a row, and what is expected where that fails.
struct Column {
  std::string name;
  std::string expected;
  std::function<bool(std::string_view, RunRow&)> read;
};

Column column(const char* name, std::int64_t RunRow::*member) {
  return {name, a_count, [member](std::string_view text, RunRow& row) { return read_count(text, row.*member); }};
}
Column column(const char* name, double RunRow::*member) {
  return {name, a_number, [member](std::string_view text, RunRow& row) { return read_number(text, row.*member); }};
}
Column column(const char* name, std::string RunRow::*member) {
  return {name, "", [member](std::string_view text, RunRow& row) {
            row.*member = text;
            return true;
          }};
}

template <class T, std::size_t n>
bool read_word(std::string_view text, const std::array<T, n>& words, T& to) {
  const auto* const found = std::find_if(words.begin(), words.end(), [&](T word) { return name(word) == text; });
  if (found == words.end()) return false;
  to = *found;
  return true;
}

constexpr std::array kinds{RunKind::reference, RunKind::warmup, RunKind::timed};
constexpr std::array statuses{RunStatus::ok,    RunStatus::not_run,  RunStatus::failed,
                              RunStatus::wrong, RunStatus::too_slow, RunStatus::out_of_budget};

template <class T, std::size_t n>
std::string one_of(const std::array<T, n>& words) {
  std::vector<std::string> names;
  for (const T word : words) names.emplace_back(name(word));
  return fmt::format("one of {}", fmt::join(names, ", "));
}

std::vector<Column> columns_before_axes() {
  return {{"run", "a whole number of at least 0",
           [](std::string_view text, RunRow& row) { return !text.empty() && read_count(text, row.run); }},
          column("point", &RunRow::point),
          {"repeat", "a whole number of at least 1",
           [](std::string_view text, RunRow& row) {
             return parse_integer(text, row.repeat) == NumberStatus::ok && row.repeat >= 1;
           }},
          {"kind", one_of(kinds), [](std::string_view text, RunRow& row) { return read_word(text, kinds, row.kind); }},
          {"status", one_of(statuses),
           [](std::string_view text, RunRow& row) { return read_word(text, statuses, row.status); }},
          column("why", &RunRow::why),
          column("started", &RunRow::started),
          column("problem", &RunRow::problem)};
}

std::vector<Column> columns_behind_axes() {
  std::vector<Column> columns{column("space", &RunRow::space),
                              column("device", &RunRow::device),
                              column("ranks", &RunRow::ranks),
                              column("threads", &RunRow::threads),
                              column("slots", &RunRow::slots),
                              column("batch", &RunRow::batch),
                              column("block", &RunRow::block),
                              column("partition", &RunRow::partition),
                              column("precision", &RunRow::precision),
                              column("kernel", &RunRow::kernel),
                              column("method", &RunRow::method),
                              column("pairs", &RunRow::pairs),
                              column("setup_seconds", &RunRow::setup_seconds),
                              column("field_seconds", &RunRow::field_seconds),
                              column("output_seconds", &RunRow::output_seconds),
                              column("total_seconds", &RunRow::total_seconds),
                              column("process_seconds", &RunRow::process_seconds),
                              column("processor_seconds", &RunRow::processor_seconds),
                              column("pairs_per_second", &RunRow::pairs_per_second),
                              column("peak_memory_bytes", &RunRow::peak_memory_bytes),
                              column("scratch_bytes", &RunRow::scratch_bytes),
                              column("energy_joules", &RunRow::energy_joules),
                              column("load", &RunRow::load),
                              {"oversubscribed", "true or false",
                               [](std::string_view text, RunRow& row) {
                                 row.oversubscribed = text == "true" || text == "yes" || text == "1";
                                 return row.oversubscribed || text == "false" || text == "no" || text == "0" ||
                                        text.empty();
                               }},
                              {"largest_error", "a number, or nothing",
                               [](std::string_view text, RunRow& row) {
                                 // infinite where the reference is 0 everywhere
                                 return text.empty() || parse_number(text, row.largest_error) == NumberStatus::ok;
                               }},
                              column("busy_least", &RunRow::busy_least),
                              column("busy_most", &RunRow::busy_most)};
  for (int form = 0; form < n_forms; ++form) {
    columns.push_back(
        {std::string("pairs_") + name(static_cast<Form>(form)), a_count, [form](std::string_view text, RunRow& row) {
           return read_count(text, row.pairs_by_form[static_cast<std::size_t>(form)]);
         }});
  }
  return columns;
}

/// What studies of sensitivity and invert have behind all else.
std::vector<Column> measure_columns() {
  std::vector<Column> columns;
  for (std::size_t m = 0; m < n_measures; ++m) {
    columns.push_back({measure_infos[m].name, a_number,
                       [m](std::string_view text, RunRow& row) { return read_number(text, row.measures[m]); }});
  }
  return columns;
}

std::vector<std::string> names_of(const std::vector<Column>& columns) {
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  return names;
}

/// Number of the lines that have an end.
std::int64_t whole_lines(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return std::count(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>(), '\n');
}

/// The lines of a CSV file as fields, blank lines and a last line without an end left out.
class CsvReader {
public:
  CsvReader(const fs::path& file, ProblemList& problems)
      : m_lines(InputFile{file, file.string(), ""}),
        m_name(file.string()),
        m_mistakes(problems, file.string()),
        m_whole_lines(whole_lines(file)) {}
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  /// The header. Throws InputError without one.
  std::vector<std::string> header() {
    std::vector<std::string> fields;
    if (!next(fields)) throw InputError(m_name, "", "is empty; a first line with the names of the columns is expected");
    return fields;
  }
  /// The next line; false at the end of the file.
  bool next(std::vector<std::string>& fields) {
    std::string_view line;
    while (m_lines.next(line)) {
      if (m_lines.number() > m_whole_lines) {
        m_cut = true;
        return false;
      }
      if (line.empty()) continue;
      if (split_csv(line, fields)) return true;
      bad("lines that are no CSV", "", "is no line of CSV: a quote is not closed, or has text behind it");
    }
    return false;
  }
  /// True behind the last line when that had no end.
  [[nodiscard]] bool is_cut() const { return m_cut; }
  [[nodiscard]] std::int64_t number() const { return m_lines.number(); }
  [[nodiscard]] std::string where() const { return m_lines.where(); }
  [[nodiscard]] const std::string& name() const { return m_name; }
  void bad(std::string_view kind, const std::string& key, const std::string& what) {
    m_mistakes.add(kind, [&] { return Problem{where(), key, what}; });
  }
  void finish() { m_mistakes.finish(); }

  /// Reads the fields into a row; false, with the errors told, when one is wrong.
  bool read(const std::vector<std::string>& fields, std::size_t first, const std::vector<Column>& columns,
            RunRow& row) {
    bool good = true;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string& text = fields[first + c];
      if (columns[c].read(text, row)) continue;
      bad("values that cannot be read", columns[c].name,
          fmt::format("is {}; {} is expected", text.empty() ? "empty" : excerpt(text), columns[c].expected));
      good = false;
    }
    return good;
  }
  bool has_columns(const std::vector<std::string>& fields, std::size_t n) {
    if (fields.size() == n) return true;
    bad("lines of another length", "", fmt::format("has {} fields, the header has {}", fields.size(), n));
    return false;
  }

private:
  LineReader m_lines;
  std::string m_name;
  LimitedProblems m_mistakes;
  std::int64_t m_whole_lines;
  bool m_cut = false;
};

/// Throws when `found` from `first` on is not `expected`.
void check_header(const CsvReader& reader, const std::vector<std::string>& found, std::size_t first,
                  const std::vector<std::string>& expected) {
  for (std::size_t c = 0; c < expected.size(); ++c) {
    const bool there = first + c < found.size();
    if (there && found[first + c] == expected[c]) continue;
    throw InputError(
        reader.where(), "",
        fmt::format("column {} is {}, not {}; the columns of this file are {}", first + c + 1,
                    there ? excerpt(found[first + c]) : std::string("missing"), expected[c], fmt::join(expected, ",")));
  }
}

/// A run that has stood in the file before.
using RunKey = std::pair<std::pair<std::int64_t, RunKind>, int>;

std::string described(const RunRow& row) {
  return fmt::format("point {}, {} {}", row.point, name(row.kind), row.repeat);
}

/// Runs that stand twice, and points whose runs disagree about what they are.
void check_runs(const RunTable& table, CsvReader& reader, ProblemList& problems) {
  std::map<std::int64_t, std::size_t> by_number, by_point;
  std::map<RunKey, std::size_t> done;
  const auto where = [&](std::size_t i) { return fmt::format("{}:{}", reader.name(), table.lines[i]); };
  LimitedProblems errors(problems, reader.name());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const RunRow& row = table.rows[i];
    if (const std::size_t first = by_number.emplace(row.run, i).first->second; first != i) {
      errors.add("runs that stand twice", [&] {
        return Problem{where(i), "run", fmt::format("run {} stands in line {} already", row.run, table.lines[first])};
      });
    }
    if (row.kind == RunKind::reference) continue;
    if (row.status == RunStatus::ok) {
      const std::size_t first = done.emplace(RunKey{{row.point, row.kind}, row.repeat}, i).first->second;
      if (first != i) {
        errors.add("runs that count twice", [&] {
          return Problem{where(i), "repeat",
                         fmt::format("{} was done in line {} already", described(row), table.lines[first])};
        });
      }
    }
    const std::size_t first = by_point.emplace(row.point, i).first->second;
    if (table.rows[first].values != row.values) {
      errors.add("points with other values", [&] {
        return Problem{
            where(i), "point",
            fmt::format("the values of point {} are {} here and {} in line {}", row.point, fmt::join(row.values, ", "),
                        fmt::join(table.rows[first].values, ", "), table.lines[first])};
      });
    }
  }
  errors.finish();
}

}  // namespace

bool split_csv(std::string_view line, std::vector<std::string>& fields) {
  fields.clear();
  std::size_t at = 0;
  for (;;) {
    std::string field;
    if (at < line.size() && line[at] == '"') {
      for (++at;; ++at) {
        const std::size_t quote = line.find('"', at);
        if (quote == std::string_view::npos) return false;
        field += line.substr(at, quote - at);
        at = quote + 1;
        if (at == line.size() || line[at] != '"') break;
        field += '"';
      }
      if (at < line.size() && line[at] != ',') return false;
    } else {
      const std::size_t end = std::min(line.find(',', at), line.size());
      field = line.substr(at, end - at);
      at = end;
    }
    fields.push_back(std::move(field));
    if (at == line.size()) return true;
    ++at;
  }
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c == '\n' || c == '\r' ? ' ' : c;
  }
  return quoted + '"';
}

const std::vector<std::string>& run_columns_before_axes() {
  static const std::vector<std::string> names = names_of(columns_before_axes());
  return names;
}
const std::vector<std::string>& run_columns_behind_axes() {
  static const std::vector<std::string> names = names_of(columns_behind_axes());
  return names;
}
const std::vector<std::string>& run_columns_of_measures() {
  static const std::vector<std::string> names = names_of(measure_columns());
  return names;
}

namespace {

constexpr std::string_view axis_prefix = "axis.";

/// Whether every run has a column of this name.
bool is_run_column(std::string_view name) {
  const auto among = [name](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return among(run_columns_before_axes()) || among(run_columns_behind_axes()) || among(run_columns_of_measures());
}

}  // namespace

std::string axis_column(const std::string& axis) {
  return is_run_column(axis) ? std::string(axis_prefix) + axis : axis;
}

std::string axis_of_column(const std::string& column) {
  const std::string_view text = column;
  if (!text.starts_with(axis_prefix)) return column;
  const std::string_view axis = text.substr(axis_prefix.size());
  return is_run_column(axis) ? std::string(axis) : column;
}

RunTable read_runs(const fs::path& file, ProblemList& problems) {
  RunTable table;
  CsvReader reader(file, problems);
  const std::vector<std::string> header = reader.header();
  const auto before = columns_before_axes();
  auto behind = columns_behind_axes();
  const std::vector<std::string>& measures = run_columns_of_measures();
  table.has_measures =
      header.size() >= measures.size() && std::equal(measures.rbegin(), measures.rend(), header.rbegin());
  if (table.has_measures) {
    for (auto& column : measure_columns()) behind.push_back(std::move(column));
  }
  check_header(reader, header, 0, names_of(before));
  const std::size_t n_axes =
      header.size() < before.size() + behind.size() ? 0 : header.size() - before.size() - behind.size();
  check_header(reader, header, before.size() + n_axes, names_of(behind));
  const auto first_axis = header.begin() + static_cast<std::ptrdiff_t>(before.size());
  std::transform(first_axis, first_axis + static_cast<std::ptrdiff_t>(n_axes), std::back_inserter(table.axes),
                 axis_of_column);

  std::vector<std::string> fields;
  while (reader.next(fields)) {
    RunRow row;
    if (!reader.has_columns(fields, header.size())) continue;
    const bool good = reader.read(fields, 0, before, row);
    if (!reader.read(fields, before.size() + n_axes, behind, row) || !good) continue;
    const auto values = fields.begin() + static_cast<std::ptrdiff_t>(before.size());
    row.values.assign(values, values + static_cast<std::ptrdiff_t>(n_axes));
    table.rows.push_back(std::move(row));
    table.lines.push_back(reader.number());
  }
  table.cut = reader.is_cut();
  reader.finish();
  check_runs(table, reader, problems);
  return table;
}

}  // namespace prismfield
