// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/result_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>
#include <prismfield/fields.hpp>
#include <prismfield/request.hpp>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "base/number_text.hpp"
#include "io/cf_attributes.hpp"
#include "io/input_file.hpp"
#include "io/place_columns.hpp"
#include "io/point_columns.hpp"
#include "io/text_table.hpp"

namespace prismfield {
namespace {

constexpr std::array<const char*, 3> coordinate_names{"easting", "northing", "upward"};

bool is_quoted(std::string_view text) { return text.size() >= 2 && text.front() == '"' && text.back() == '"'; }

/// A column's name without unit and number: "gz_2 [mGal]" is gz in mGal.
std::pair<std::string, std::string> field_and_unit(std::string_view text) {
  auto [name, unit] = name_and_unit(text);
  const std::size_t digits = name.find_last_not_of("0123456789");
  if (digits != std::string::npos && digits > 0 && digits + 1 < name.size() && name[digits] == '_') name.resize(digits);
  return {lower_case(name), unit};
}

/// A field of a row as a number, NaN for a dummy; nothing where it is text.
std::optional<double> value_of(std::string_view text) {
  if (is_quoted(text)) text = text.substr(1, text.size() - 2);
  if (is_dummy(text)) return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  if (parse_number(text, value) != NumberStatus::ok) return std::nullopt;
  return value;
}

/// Throws InputError with every error found.
ResultTable read_table_of(const std::filesystem::path& file) {
  struct FieldColumn {
    std::size_t number = 0;
    ResultTable::Column* to = nullptr;
  };
  ResultTable table;
  std::array<ResultTable::Column*, 3> coordinates{};
  std::vector<FieldColumn> fields;
  ProblemList problems;
  LimitedProblems limited(problems, file.string());
  const InputFile input{file, "", ""};
  std::vector<double> factors;
  TableRequest request = place_columns();
  request.take_columns = [&](const TableColumns& header) {
    const std::vector<std::string>& names = header.names;
    std::vector<std::string> notes;
    factors = place_factors(input, header, {}, problems, notes);
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
      coordinates[d] = &table.columns[coordinate_names[d]];
      coordinates[d]->unit = "m";
    }
    std::map<std::string, std::size_t> last;
    for (std::size_t c = 0; c < names.size(); ++c) {
      const auto [name, unit] = field_and_unit(names[c]);
      if (!field_named(name)) continue;
      last[name] = c;
      table.columns[name].unit = unit;
    }
    for (const auto& [name, c] : last) fields.push_back({c, &table.columns[name]});
  };
  request.take_comment = [&](std::string_view comment) {
    if (!table.axes) table.axes = axes_in_comment(comment);
  };
  request.take_row = [&](const TableRequest::Row& row) {
    for (std::size_t d = 0; d < coordinates.size(); ++d) coordinates[d]->values.push_back(row.values[d] * factors[d]);
    for (const auto& [number, to] : fields) {
      const std::optional<double> value = value_of(row.fields[number]);
      to->values.push_back(value.value_or(0));
      if (value) continue;
      limited.add("text where a number belongs", [&, number = number] {
        return Problem{fmt::format("{}:{}", file.string(), row.line), "",
                       excerpt(row.fields[number]) + " is not a number"};
      });
    }
  };
  ProblemList of_coordinates;
  static_cast<void>(read_table(input, request, of_coordinates));
  limited.finish();
  of_coordinates.throw_if_any();
  problems.throw_if_any();
  return table;
}

bool is_odd_in_z(const std::string& field) {
  const auto known = field_named(field);
  return known && info(*known).odd_in_z;
}

bool is_table(const std::filesystem::path& file) {
  const std::string suffix = lower_case(file.extension().string());
  std::error_code error;
  if ((suffix != ".csv" && suffix != ".xyz") || !std::filesystem::exists(file, error)) return false;
  return !is_array_file({file, "", ""});
}

}  // namespace

ResultReader ResultReader::open(const std::filesystem::path& file) {
  return ResultReader(is_table(file) ? Content(read_table_of(file)) : Content(Hdf5File::open(file)));
}

bool ResultReader::has(const std::string& variable) const {
  if (const auto* table = std::get_if<ResultTable>(&m_content)) return table->columns.count(variable) > 0;
  return std::get<Hdf5File>(m_content).has(variable);
}

std::vector<std::int64_t> ResultReader::shape(const std::string& variable) const {
  if (const auto* table = std::get_if<ResultTable>(&m_content)) {
    return {static_cast<std::int64_t>(table->columns.at(variable).values.size())};
  }
  return std::get<Hdf5File>(m_content).shape(variable);
}

std::vector<double> ResultReader::read(const std::string& variable) const {
  if (const auto* table = std::get_if<ResultTable>(&m_content)) return table->columns.at(variable).values;
  return std::get<Hdf5File>(m_content).read(variable);
}

bool ResultReader::has_attribute(const std::string& variable, const std::string& name) const {
  if (const auto* table = std::get_if<ResultTable>(&m_content)) {
    if (name == "axes") return table->axes && is_odd_in_z(variable);
    return name == "units" && has(variable) && !table->columns.at(variable).unit.empty();
  }
  return std::get<Hdf5File>(m_content).has_attribute(variable, name);
}

std::string ResultReader::read_text_attribute(const std::string& variable, const std::string& name) const {
  if (const auto* table = std::get_if<ResultTable>(&m_content)) {
    return name == "axes" ? prismfield::name(table->axes.value()) : table->columns.at(variable).unit;
  }
  const std::string text = std::get<Hdf5File>(m_content).read_text_attribute(variable, name);
  return name == "units" ? unit_of_udunits(text) : text;
}

}  // namespace prismfield
