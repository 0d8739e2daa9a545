// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/result_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <variant>

#include <prismfield/error.hpp>

#include "io/station_file.hpp"
#include "io/text_output.hpp"
#include "io/text_table.hpp"

namespace prismfield {
namespace {

constexpr std::array<const char*, 3> coordinate_names{"easting", "northing", "upward"};

/// The station file is not the one that the points were read from.
class StationsChanged : public std::exception {};

/// 1 at the points of a sorted list, 0 elsewhere, asked for in rising order.
class Flags {
public:
  explicit Flags(const std::vector<std::int64_t>& points) : m_points(points) {}
  [[nodiscard]] bool at(std::int64_t point) {
    while (m_next < m_points.size() && m_points[m_next] < point) ++m_next;
    return m_next < m_points.size() && m_points[m_next] == point;
  }

private:
  const std::vector<std::int64_t>& m_points;
  std::size_t m_next = 0;
};

/// What stands behind the points' own columns.
struct Column {
  std::string name;
  std::string unit;
  /// a field, one number for all, a flag, or what is computed of a point
  std::variant<OutputField, double, Flags, std::function<double(std::int64_t)>> values;
};

std::vector<Column> columns_of(const ResultHeader& header, const Fields& result) {
  std::vector<Column> columns;
  for (const FieldInfo& field : field_infos) {
    if (!result.fields.contains(field.field)) continue;
    const std::string name(field.name);
    const std::string unit(field.unit);
    columns.push_back({name, unit, OutputField(header, result, field.field)});
    if (!header.noise || header.noise->sigma.count(field.field) == 0) continue;
    columns.push_back({name + "_sigma", unit, header.noise->sigma.at(field.field)});
  }
  for (const PointVariable& variable : header.variables) {
    columns.push_back({variable.name, variable.unit, variable.value});
  }
  if (!result.singular_points.empty()) columns.push_back({"singular", "", Flags(result.singular_points)});
  return columns;
}

bool is_quoted(std::string_view text) { return text.size() >= 2 && text.front() == '"' && text.back() == '"'; }

/// A line of text for a comment: without line ends and other control characters.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

/// Writes a table of one style.
class TableWriter {
public:
  TableWriter(TextOutput& out, TableStyle style, const ResultHeader& header, const Fields& result)
      : m_out(out), m_style(style), m_header(header), m_result(result) {}

  /// The lines above the rows; `own` are the points' own columns. Behind them come those coordinates that other
  /// readers would not take from them: own columns of these names are renamed then. Returns what users should be told.
  std::vector<std::string> begin(const StationColumns& own) {
    m_columns = columns_of(m_header, m_result);
    m_separator = m_style == TableStyle::xyz ? ' ' : own.separator == ';' ? ';' : ',';
    m_raw = m_separator == own.separator;
    std::vector<std::string> all = own.names;
    for (std::size_t d = 0; d < coordinate_names.size(); ++d) {
      if (own.at[d] >= 0 && own.is_plain[d]) continue;
      m_added.push_back(d);
      for (std::string& name : all) name = other_than(coordinate_names[d], name);
    }
    if (m_style == TableStyle::xyz) std::transform(all.begin(), all.end(), all.begin(), word);
    for (const std::size_t d : m_added) all.emplace_back(coordinate_names[d]);
    std::vector<std::string> renamed;
    for (const Column& column : m_columns) {
      all.push_back(free_name(column, all));
      if (all.back() != spelled(column, column.name)) renamed.push_back(all.back());
    }
    if (m_style == TableStyle::xyz) begin_xyz();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) m_out.add(m_separator);
      add_text(all[i], false);
    }
    m_out.add('\n');
    if (renamed.empty()) return {};
    return {fmt::format("{} has columns of these names already; those of this run are {}",
                        m_header.stations ? m_header.stations->file.path.string() : "the table",
                        fmt::join(renamed, ", "))};
  }

  /// A point's own columns as text, quotes kept, and the coordinates behind them.
  void add_own(const std::vector<std::string_view>& fields, const std::array<double, 3>& place) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) m_out.add(m_separator);
      add_text(fields[i], m_raw);
    }
    for (const std::size_t d : m_added) {
      m_out.add(m_separator);
      m_out.add(place[d]);
    }
  }

  void add_own(const std::array<double, 3>& place) {
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (i > 0) m_out.add(m_separator);
      m_out.add(place[i]);
    }
  }

  /// What stands behind them, to the end of the line.
  void add_values(std::int64_t point) {
    for (Column& column : m_columns) {
      m_out.add(m_separator);
      if (const auto* field = std::get_if<OutputField>(&column.values)) {
        m_out.add((*field)[point]);
      } else if (const auto* number = std::get_if<double>(&column.values)) {
        m_out.add(*number);
      } else if (const auto* value = std::get_if<std::function<double(std::int64_t)>>(&column.values)) {
        m_out.add((*value)(point));
      } else {
        m_out.add(std::get<Flags>(column.values).at(point) ? '1' : '0');
      }
    }
    m_out.add('\n');
  }

private:
  void begin_xyz() {
    m_out.add(fmt::format("# {}\n# {}\n# {}\n", one_line(m_header.title), source_line(),
                          one_line(history_line(m_header.command))));
    m_out.add(fmt::format("# axes {}, gravitational_constant {}, singular_points {}, points_inside {}\n# ",
                          name(m_header.axes), m_header.gravitational_constant, m_result.singular_points.size(),
                          m_result.points_inside));
  }

  /// A name without what separates names in a comment.
  static std::string word(std::string text) {
    std::replace_if(
        text.begin(), text.end(),
        [](char c) { return std::string_view(" \t,;:\"#").find(c) != std::string_view::npos; }, '_');
    return text.empty() ? "_" : text;
  }

  /// The name, "easting [km]", with an ending when it is that of a coordinate in metres.
  static std::string other_than(const std::string& coordinate, const std::string& name) {
    const auto [bare, unit] = name_and_unit(name);
    if (plain_name(name) != coordinate) return name;
    return bare + "_file" + (unit.empty() ? "" : fmt::format(" [{}]", unit));
  }

  [[nodiscard]] std::string spelled(const Column& column, const std::string& base) const {
    if (column.unit.empty()) return base;
    return m_style == TableStyle::xyz ? fmt::format("{}[{}]", base, word(column.unit))
                                      : fmt::format("{} [{}]", base, column.unit);
  }

  /// The column's name with its unit; with a number when the points' own columns have that name.
  [[nodiscard]] std::string free_name(const Column& column, const std::vector<std::string>& taken) const {
    std::string found = spelled(column, column.name);
    for (int i = 2; std::find(taken.begin(), taken.end(), found) != taken.end(); ++i) {
      found = spelled(column, fmt::format("{}_{}", column.name, i));
    }
    return found;
  }

  /// A field of text, quoted where it would be taken for something else; `raw`: it is as it has to be.
  void add_text(std::string_view text, bool raw) {
    // Readers take the first of semicolon and comma in a line for what separates all its fields.
    const std::string_view separators = m_separator == ' ' ? " \t,;" : m_separator == ',' ? ",;" : ";";
    const bool mistakable = text.find_first_of(separators) != std::string_view::npos ||
                            (m_separator == ' ' && (text.empty() || text.front() == '#'));
    if (raw || !mistakable || is_quoted(text)) {
      m_out.add(text);
    } else {
      m_out.add('"');
      m_out.add(text);
      m_out.add('"');
    }
  }

  TextOutput& m_out;
  TableStyle m_style;
  const ResultHeader& m_header;
  const Fields& m_result;
  std::vector<Column> m_columns;
  /// coordinates behind the own columns
  std::vector<std::size_t> m_added;
  char m_separator = ',';
  bool m_raw = false;
};

/// Writes all with the station file's columns. Throws StationsChanged when it is another by now.
std::vector<std::string> write_with_stations(TableWriter& table, const StationSource& stations, const Points& points) {
  std::vector<std::string> notes;
  const bool is_same = each_station_again(
      stations, points, [&](const StationColumns& columns) { notes = table.begin(columns); },
      [&](std::int64_t point, const StationRow& row) {
        const auto i = static_cast<std::size_t>(point);
        table.add_own(row.fields, {points.easting[i], points.northing[i], points.upward[i]});
        table.add_values(point);
      });
  if (!is_same) throw StationsChanged();
  return notes;
}

}  // namespace

std::vector<std::string> write_result_table(TemporaryFile& file, TableStyle style, const ResultHeader& header,
                                            const Points& points, const Fields& result) {
  TextOutput out(file);
  std::vector<std::string> notes;
  bool written = false;
  if (header.stations && has_station_columns(header.stations->file)) {
    try {
      TableWriter table(out, style, header, result);
      notes = write_with_stations(table, *header.stations, points);
      written = true;
    } catch (const StationsChanged&) {
      out.clear();
      notes = {
          fmt::format("{} is no longer what it was when the run began: of its columns the result has easting, northing "
                      "and upward alone",
                      header.stations->file.path.string())};
    }
  }
  if (!written) {
    TableWriter table(out, style, header, result);
    static_cast<void>(
        table.begin({{coordinate_names.begin(), coordinate_names.end()}, ',', {0, 1, 2}, {true, true, true}}));
    for (std::int64_t point = 0; point < points.size(); ++point) {
      const auto i = static_cast<std::size_t>(point);
      table.add_own({points.easting[i], points.northing[i], points.upward[i]});
      table.add_values(point);
    }
  }
  out.flush();
  return notes;
}

}  // namespace prismfield
