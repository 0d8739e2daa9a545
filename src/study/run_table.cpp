// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/run_table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

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
#include "base/number_text.hpp"
#include "base/temporary_file.hpp"
#include "study/report_csv.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

std::string csv_count(std::int64_t value) { return value < 0 ? "" : fmt::format("{}", value); }
std::string csv_number_if_finite(double value) { return std::isfinite(value) ? csv_number(value) : ""; }

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError(file.string(), "", "cannot be opened to read");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// On one line.
std::string csv_text(std::string_view text) { return csv_field(shown(text)); }

}  // namespace

std::string csv_number(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

std::string run_header(const std::vector<std::string>& axes, bool with_measures) {
  std::vector<std::string> columns = run_columns_before_axes();
  for (const std::string& axis : axes) columns.push_back(csv_text(axis_column(axis)));
  const std::vector<std::string>& behind = run_columns_behind_axes();
  columns.insert(columns.end(), behind.begin(), behind.end());
  const std::vector<std::string>& measures = run_columns_of_measures();
  if (with_measures) columns.insert(columns.end(), measures.begin(), measures.end());
  return fmt::format("{}\n", fmt::join(columns, ","));
}

std::string run_line(const RunRow& row, bool with_measures) {
  std::string line = fmt::format("{},{},{},{},{}", row.run, row.point, row.repeat, name(row.kind), name(row.status));
  const auto text = [&](const std::string& value) { line += "," + csv_text(value); };
  const auto count = [&](std::int64_t value) { line += "," + csv_count(value); };
  const auto number = [&](double value) { line += "," + csv_number_if_finite(value); };
  for (const std::string* const value : {&row.why, &row.started, &row.problem}) text(*value);
  for (const std::string& value : row.values) text(value);
  text(row.space);
  text(row.device);
  for (const std::int64_t value : {row.ranks, row.threads, row.slots, row.batch, row.block}) count(value);
  for (const std::string* const value : {&row.partition, &row.precision, &row.kernel, &row.method}) text(*value);
  count(row.pairs);
  for (const double value : {row.setup_seconds, row.field_seconds, row.output_seconds, row.total_seconds,
                             row.process_seconds, row.processor_seconds, row.pairs_per_second}) {
    number(value);
  }
  count(row.peak_memory_bytes);
  count(row.scratch_bytes);
  number(row.energy_joules);
  number(row.load);
  line += row.oversubscribed ? ",true" : ",false";
  for (const double value : {row.largest_error, row.busy_least, row.busy_most}) number(value);
  for (const std::int64_t pairs : row.pairs_by_form) count(pairs);
  if (with_measures) {
    for (const double value : row.measures) number(value);
  }
  return line + "\n";
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
