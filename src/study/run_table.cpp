// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/run_table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>
#include <prismfield/fields.hpp>

#include "base/disk.hpp"
#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "base/number_text.hpp"
#include "base/temporary_file.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

constexpr std::array kinds{RunKind::reference, RunKind::warmup, RunKind::timed};
constexpr std::array statuses{RunStatus::ok,    RunStatus::not_run,  RunStatus::failed,
                              RunStatus::wrong, RunStatus::too_slow, RunStatus::out_of_budget};

const std::vector<std::string> columns_before_axes = {"run",    "point", "repeat",  "kind",
                                                      "status", "why",   "started", "problem"};

std::string csv_count(std::int64_t value) { return value < 0 ? "" : fmt::format("{}", value); }
std::string csv_number_if_finite(double value) { return std::isfinite(value) ? csv_number(value) : ""; }

/// One column behind the axes: how it is written, and how it is read, which returns whether the text is right.
struct Column {
  std::string name;
  std::string (*write)(const RunRow&);
  bool (*read)(const std::string&, RunRow&);
};

template <auto member>
Column text_column(const char* name) {
  return {name, [](const RunRow& row) { return csv_text(row.*member); },
          [](const std::string& text, RunRow& row) {
            row.*member = text;
            return true;
          }};
}
template <auto member>
Column count_column(const char* name) {
  return {name, [](const RunRow& row) { return csv_count(row.*member); },
          [](const std::string& text, RunRow& row) {
            return text.empty() || (parse_integer(text, row.*member) == NumberStatus::ok && row.*member >= 0);
          }};
}
template <auto member>
Column number_column(const char* name) {
  return {name, [](const RunRow& row) { return csv_number_if_finite(row.*member); },
          [](const std::string& text, RunRow& row) {
            return text.empty() || (parse_number(text, row.*member) == NumberStatus::ok && std::isfinite(row.*member));
          }};
}
template <Form form>
Column form_column() {
  constexpr auto i = static_cast<std::size_t>(form);
  return {fmt::format("pairs_{}", name(form)), [](const RunRow& row) { return csv_count(row.pairs_by_form[i]); },
          [](const std::string& text, RunRow& row) {
            return text.empty() ||
                   (parse_integer(text, row.pairs_by_form[i]) == NumberStatus::ok && row.pairs_by_form[i] >= 0);
          }};
}

const std::vector<Column>& columns_behind_axes() {
  static const std::vector<Column> columns = {
      text_column<&RunRow::space>("space"),
      text_column<&RunRow::device>("device"),
      count_column<&RunRow::ranks>("ranks"),
      count_column<&RunRow::threads>("threads"),
      count_column<&RunRow::slots>("slots"),
      count_column<&RunRow::batch>("batch"),
      count_column<&RunRow::block>("block"),
      text_column<&RunRow::partition>("partition"),
      text_column<&RunRow::precision>("precision"),
      text_column<&RunRow::kernel>("kernel"),
      text_column<&RunRow::method>("method"),
      count_column<&RunRow::pairs>("pairs"),
      number_column<&RunRow::setup_seconds>("setup_seconds"),
      number_column<&RunRow::field_seconds>("field_seconds"),
      number_column<&RunRow::output_seconds>("output_seconds"),
      number_column<&RunRow::total_seconds>("total_seconds"),
      number_column<&RunRow::process_seconds>("process_seconds"),
      number_column<&RunRow::processor_seconds>("processor_seconds"),
      number_column<&RunRow::pairs_per_second>("pairs_per_second"),
      count_column<&RunRow::peak_memory_bytes>("peak_memory_bytes"),
      number_column<&RunRow::energy_joules>("energy_joules"),
      number_column<&RunRow::load>("load"),
      {"oversubscribed", [](const RunRow& row) { return std::string(row.oversubscribed ? "true" : "false"); },
       [](const std::string& text, RunRow& row) {
         row.oversubscribed = text == "true";
         return text == "true" || text == "false";
       }},
      number_column<&RunRow::largest_error>("largest_error"),
      number_column<&RunRow::busy_least>("busy_least"),
      number_column<&RunRow::busy_most>("busy_most"),
      form_column<Form::compact>(),
      form_column<Form::difference_free>(),
      form_column<Form::multipole_8>(),
      form_column<Form::multipole_6>(),
      form_column<Form::multipole_4>(),
      form_column<Form::multipole_2>(),
      form_column<Form::multipole_0>(),
      form_column<Form::corners>()};
  return columns;
}

template <class T, std::size_t n>
bool read_word(const std::string& text, const std::array<T, n>& words, T& result) {
  const auto* const found = std::find_if(words.begin(), words.end(), [&](T one) { return text == word(one); });
  if (found == words.end()) return false;
  result = *found;
  return true;
}

/// Reads the fields of one line; "" or the name of the column that cannot be read.
std::string read_row(const std::vector<std::string>& fields, std::size_t n_axes, RunRow& row) {
  if (parse_integer(fields[0], row.run) != NumberStatus::ok || row.run < 1) return "run";
  if (parse_integer(fields[1], row.point) != NumberStatus::ok || row.point < 0) return "point";
  if (parse_integer(fields[2], row.repeat) != NumberStatus::ok || row.repeat < 1) return "repeat";
  if (!read_word(fields[3], kinds, row.kind)) return "kind";
  if (!read_word(fields[4], statuses, row.status)) return "status";
  row.why = fields[5];
  row.started = fields[6];
  row.problem = fields[7];
  const auto axes = fields.begin() + static_cast<std::ptrdiff_t>(columns_before_axes.size());
  row.values.assign(axes, axes + static_cast<std::ptrdiff_t>(n_axes));
  for (std::size_t i = 0; i < columns_behind_axes().size(); ++i) {
    const Column& column = columns_behind_axes()[i];
    if (!column.read(fields[columns_before_axes.size() + n_axes + i], row)) return column.name;
  }
  return "";
}

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError(file.string(), "", "cannot be opened to read");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// The names of the axes in the header. Throws InputError for another table's.
std::vector<std::string> axes_in(const std::vector<std::string>& header, const std::string& where) {
  const std::size_t n_before = columns_before_axes.size();
  const std::size_t n_behind = columns_behind_axes().size();
  bool same = header.size() >= n_before + n_behind;
  for (std::size_t i = 0; same && i < n_before; ++i) same = header[i] == columns_before_axes[i];
  for (std::size_t i = 0; same && i < n_behind; ++i) {
    same = header[header.size() - n_behind + i] == columns_behind_axes()[i].name;
  }
  if (!same) throw InputError(where, "", "has other columns than the runs of a study of this version");
  return {header.begin() + static_cast<std::ptrdiff_t>(n_before), header.end() - static_cast<std::ptrdiff_t>(n_behind)};
}

}  // namespace

const char* word(RunKind kind) noexcept {
  switch (kind) {
    case RunKind::reference: return "reference";
    case RunKind::warmup: return "warmup";
    case RunKind::timed: break;
  }
  return "timed";
}

const char* word(RunStatus status) noexcept {
  switch (status) {
    case RunStatus::not_run: return "not run";
    case RunStatus::failed: return "failed";
    case RunStatus::wrong: return "wrong";
    case RunStatus::too_slow: return "too slow";
    case RunStatus::out_of_budget: return "out of budget";
    case RunStatus::ok: break;
  }
  return "ok";
}

std::string csv_text(std::string_view text) {
  const std::string plain = shown(text);
  const bool has_blank_ends = !plain.empty() && (plain.front() == ' ' || plain.back() == ' ');
  if (plain.find_first_of(",\"") == std::string::npos && !has_blank_ends) return plain;
  std::string quoted = "\"";
  for (const char c : plain) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string csv_number(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

bool split_line(std::string_view line, std::vector<std::string>& fields) {
  fields.clear();
  for (std::size_t at = 0;; ++at) {
    std::string& field = fields.emplace_back();
    if (at < line.size() && line[at] == '"') {
      for (++at;; ++at) {
        if (at >= line.size()) return false;
        if (line[at] == '"') {
          if (at + 1 >= line.size() || line[at + 1] != '"') break;
          ++at;
        }
        field += line[at];
      }
      ++at;
      if (at < line.size() && line[at] != ',') return false;
    } else {
      const std::size_t end = std::min(line.find(',', at), line.size());
      field = line.substr(at, end - at);
      if (field.find('"') != std::string::npos) return false;
      at = end;
    }
    if (at >= line.size()) return true;
  }
}

std::string run_header(const std::vector<std::string>& axes) {
  std::string line;
  for (const std::string& column : columns_before_axes) line += (line.empty() ? "" : ",") + column;
  for (const std::string& axis : axes) line += "," + csv_text(axis);
  for (const Column& column : columns_behind_axes()) line += "," + column.name;
  return line + "\n";
}

std::string run_line(const RunRow& row) {
  std::string line = fmt::format("{},{},{},{},{},{},{},{}", row.run, row.point, row.repeat, word(row.kind),
                                 word(row.status), csv_text(row.why), csv_text(row.started), csv_text(row.problem));
  for (const std::string& value : row.values) line += "," + csv_text(value);
  for (const Column& column : columns_behind_axes()) line += "," + column.write(row);
  return line + "\n";
}

RunFile read_run_file(const fs::path& file) {
  const std::string text = content_of(file);
  RunFile result;
  ProblemList problems;
  LimitedProblems limited(problems, file.string());
  std::vector<std::string> fields;
  std::size_t columns = 0;
  std::int64_t line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) {
      result.cut = true;
      break;
    }
    const std::string where = fmt::format("{}:{}", file.string(), ++line_number);
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    begin = end + 1;
    const bool split = split_line(line, fields);
    if (columns == 0) {
      result.axes = axes_in(split ? fields : std::vector<std::string>{}, where);
      columns = fields.size();
      continue;
    }
    if (!split || fields.size() != columns) {
      limited.add("lines of another number of columns", [&] {
        return Problem{where, "", fmt::format("has {} columns, the header has {}", fields.size(), columns)};
      });
      continue;
    }
    RunRow row;
    if (const std::string column = read_row(fields, result.axes.size(), row); !column.empty()) {
      limited.add("values that cannot be", [&] {
        return Problem{where, column, "holds no value that a study writes"};
      });
      continue;
    }
    result.rows.push_back(std::move(row));
  }
  limited.finish();
  problems.throw_if_any();
  if (columns == 0) throw InputError(file.string(), "", "has no header; it holds no runs of a study");
  return result;
}

std::string error_lines(std::int64_t point, const Comparison& comparison) {
  std::string lines;
  for (const FieldComparison& field : comparison.fields) {
    lines += fmt::format("{},{},{},{},{},{},{}\n", point, info(field.field).name, csv_text(field.unit),
                         csv_number(field.rms_difference), csv_number(field.largest_difference),
                         csv_number(field.largest_reference), csv_number(field.relative));
  }
  return lines;
}

std::string histogram_lines(std::int64_t point, const Comparison& comparison) {
  std::string lines;
  for (const FieldComparison& field : comparison.fields) {
    const RelativeHistogram& histogram = field.histogram;
    const std::string_view name = info(field.field).name;
    for (std::size_t i = 0; i < RelativeHistogram::n_decades; ++i) {
      const std::string decade =
          i == 0 ? "below" : fmt::format("{}", RelativeHistogram::lowest + static_cast<int>(i) - 1);
      lines += fmt::format("{},{},{},{},{}\n", point, name, decade, histogram.negative[i], histogram.positive[i]);
    }
    lines += fmt::format("{},{},equal,,{}\n", point, name, histogram.equal);
  }
  return lines;
}

void keep_points(const fs::path& table, const std::set<std::int64_t>& points) {
  std::error_code error;
  if (!fs::exists(table, error)) return;
  const std::string text = content_of(table);
  std::string kept;
  bool is_header = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string_view line = std::string_view(text).substr(begin, end + 1 - begin);
    begin = end + 1;
    std::int64_t point = -1;
    const bool is_known = parse_integer(line.substr(0, line.find(',')), point) == NumberStatus::ok;
    if (is_header || (is_known && points.count(point) > 0)) kept += line;
    is_header = false;
  }
  if (kept == text) return;
  TemporaryFile file(table);
  file.write(kept.data(), kept.size());
  file.move_to_target();
}

TableWriter::TableWriter(fs::path file, std::string_view header) : m_file(std::move(file)) {
  std::error_code error;
  if (!fs::exists(m_file, error)) {
    TemporaryFile made(m_file);
    made.write(header.data(), header.size());
    made.move_to_target();
  }
  m_descriptor = ::open(m_file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  if (m_descriptor < 0) throw_write_error(m_file.string() + ": cannot be opened to write", errno);
}

TableWriter::~TableWriter() { ::close(m_descriptor); }

void TableWriter::append(std::string_view lines) {
  const FileSizeSignalIgnored no_signal;
  while (!lines.empty()) {
    const ssize_t written = ::write(m_descriptor, lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_write_error(m_file.string() + ": cannot write", errno);
    lines.remove_prefix(static_cast<std::size_t>(written));
  }
}

void TableWriter::sync() {
  // pipes and some file systems have nothing to bring to a disk
  if (::fsync(m_descriptor) != 0 && errno != EINVAL && errno != EROFS) {
    throw_write_error(m_file.string() + ": cannot write", errno);
  }
}

}  // namespace prismfield
