// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/station_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "model/axis.hpp"
#include "readers/exchange_files.hpp"
#include "readers/file_content.hpp"
#include "readers/find_format.hpp"
#include "readers/point_fields.hpp"

namespace prismfield {
namespace {

/// Reads a text of stations.
class StationReader {
public:
  StationReader(const InputFile& file, const StationsFile& spec, ProblemList& problems, std::vector<std::string>& notes,
                StationColumns* own)
      : m_file(file), m_spec(spec), m_problems(problems), m_notes(notes), m_own(own) {}

  Points read() {
    const auto counted_as =
        counted_points(m_file, m_spec.columns, m_spec.z_down,
                       fmt::format("name it .obs or .loc if it is UBC's, or say by {}: up or down which it is",
                                   m_file.key_beside("axis_z")));
    if (counted_as && !m_spec.length_to_si) refuse_commented_unit(m_file, m_file.key_beside("length_unit"));
    if (counted_as) return read_counted(*counted_as);
    Table table = read_table(m_file, request(), m_problems);
    const std::vector<double> factors = places_to_metres(m_file, table, m_spec, m_problems, m_notes);
    tell(table);
    if (m_own != nullptr) take_columns(table, factors);
    Points points;
    points.easting = std::move(table.columns[0]);
    points.northing = std::move(table.columns[1]);
    if (m_spec.has_own_heights()) points.upward = std::move(table.columns[2]);
    set_heights(points);
    return points;
  }

  /// One height for all stations where the case has it.
  void set_heights(Points& points) const {
    if (const auto* height = std::get_if<double>(&m_spec.upward)) points.upward.assign(points.easting.size(), *height);
  }

  void note_inducing_field(const std::optional<InducingField>& of_file) const {
    const std::array<double, 3>& of_case = m_spec.inducing_field;
    if (!of_file || of_case == std::array<double, 3>{} || is_same_field(*of_file, of_case)) return;
    m_notes.push_back(fmt::format(
        "{}: '{}' states an inducing field of {}, which is not read; magnetic.inducing_field of the case is {}",
        m_file.key, m_file.path.filename().string(), inducing_field_text(*of_file),
        inducing_field_text(inducing_field_of(of_case))));
  }

private:
  [[nodiscard]] TableRequest request() const {
    TableRequest request = place_columns();
    request.skips_dummies = true;
    request.keeps_text = m_own != nullptr;
    request.columns = m_spec.columns;
    request.columns_key = m_file.key_beside("columns");
    if (m_spec.has_own_heights()) {
      if (const std::string key = m_file.key_beside("upward"); !key.empty()) {
        request.last_column_remedy =
            fmt::format("for stations of one height write {}: 80, or {{above_terrain: 80}}", key);
      }
    } else {
      request.needed.pop_back();
      request.spare = {"upward"};
      std::erase_if(request.aliases, [](const auto& alias) { return alias.name == "upward"; });
    }
    return request;
  }

  void take_columns(Table& columns, const std::vector<double>& factors) {
    m_own->text = std::move(columns.text);
    m_own->names = columns.names;
    m_own->separator = columns.separator;
    // the file's own names, which may state units, before those of the case
    std::copy(columns.header.begin(), columns.header.end(), m_own->names.begin());
    static const std::vector<std::string> canonical = place_columns().needed;
    for (std::size_t d = 0; d < columns.at.size(); ++d) {
      m_own->at[d] = columns.at[d];
      const std::string& name = m_own->names[static_cast<std::size_t>(columns.at[d])];
      m_own->is_plain[d] = factors[d] == 1 && (m_spec.columns.empty() || plain_name(name) == canonical[d]);
    }
  }

  /// Says what of the table is not among the stations.
  void tell(const Table& table) {
    const std::int64_t n = table.rows();
    const std::string file = m_file.path.string();
    m_notes.insert(m_notes.end(), table.notes.begin(), table.notes.end());
    if (!m_spec.has_own_heights()) {
      const auto named = std::find_if(table.names.begin(), table.names.end(),
                                      [](const std::string& name) { return place_named(name) == "upward"; });
      if (named != table.names.end()) {
        m_notes.push_back(fmt::format("'{}': its column {} is not used, {} says where the stations are", file,
                                      excerpt(*named), m_file.key_beside("upward")));
      }
    }
    if (table.n_dummies == 0) return;
    if (n == 0 && m_problems.empty()) {
      throw m_file.error("has no station: there are " + table.dummies_text());
    }
    m_notes.push_back(fmt::format("'{}': {} of {} left out: {}", file, grouped(table.n_dummies),
                                  counted(n + table.n_dummies, "station"), table.dummies_text()));
  }

  /// Stations below their number, metres. Throws InputError with every error.
  [[nodiscard]] Points read_counted(FileFormat format) const {
    if (!m_spec.z_down && format_of_suffix(m_file.path) != FileFormat::ubc_data) {
      m_notes.push_back(
          fmt::format("'{}' is read as {}: {}", m_file.path.string(), info(format).long_name, info(format).holds));
    }
    PointFields data = format == FileFormat::tomofast_data ? read_tomofast_data(m_file, Field::gz, Axes::z_down)
                                                           : read_ubc_data(m_file, std::nullopt, std::nullopt);
    note_inducing_field(data.inducing_field);
    m_notes.insert(m_notes.end(), data.notes.begin(), data.notes.end());
    Points& points = data.points;
    for (std::vector<double>* column : {&points.easting, &points.northing, &points.upward}) {
      scale_decimals(*column, m_spec.length_to_si.value_or(1));
    }
    set_heights(points);
    if (m_own != nullptr) keep_counted(data);
    return std::move(points);
  }

  void keep_counted(const PointFields& data) const {
    const Points& points = data.points;
    *m_own = {{"easting", "northing", "upward"}, ' ', {0, 1, 2}, {true, true, true}, m_own->file};
    std::vector<const std::vector<double>*> columns{&points.easting, &points.northing, &points.upward};
    if (!data.values.empty()) {
      m_own->names.emplace_back("observed");
      columns.push_back(&data.values.front());
      if (!data.sigma.front().empty()) {
        m_own->names.emplace_back("observed_sigma");
        columns.push_back(&data.sigma.front());
      }
    }
    std::vector<std::string> texts(columns.size());
    for (std::size_t i = 0; i < points.easting.size(); ++i) {
      for (std::size_t c = 0; c < columns.size(); ++c) texts[c] = number_text((*columns[c])[i]);
      m_own->text.add({texts.begin(), texts.end()});
    }
  }

  const InputFile& m_file;
  const StationsFile& m_spec;
  ProblemList& m_problems;
  std::vector<std::string>& m_notes;
  StationColumns* m_own;
};

/// The points of a result, with one height for all where the case has it.
Points read_result_points(const InputFile& file, const StationsFile& spec, std::vector<std::string>& notes) {
  ProblemList problems;
  for (const auto& [name, is_given] :
       {std::pair{"columns", !spec.columns.empty()}, std::pair{"length_unit", spec.length_to_si.has_value()},
        std::pair{"axis_z", spec.z_down.has_value()}}) {
    if (!is_given) continue;
    problems.add(file.where, file.key_beside(name),
                 fmt::format("is for tables; '{}' says itself what its points are", file.path.string()));
  }
  problems.throw_if_any();
  return read_array_points(file, &notes);
}

}  // namespace

Points read_stations(const InputFile& file, const StationsFile& spec, std::vector<std::string>& notes,
                     StationColumns* columns) {
  ProblemList problems;
  Points points;
  if (columns != nullptr) columns->file = file.path;
  StationReader reader(file, spec, problems, notes, columns);
  if (is_array_file(file)) {
    points = read_result_points(file, spec, notes);
    reader.note_inducing_field(read_inducing_field(ArrayFile(file)));
    reader.set_heights(points);
  } else {
    points = reader.read();
  }
  problems.throw_if_any();
  return points;
}

}  // namespace prismfield
