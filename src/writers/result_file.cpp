// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "writers/result_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/text_table.hpp"
#include "readers/point_columns.hpp"

namespace prismfield {
namespace {

std::int64_t n_points_of(const Fields& result) {
  return static_cast<std::int64_t>(result.values.size()) / std::max(1, result.fields.size());
}

/// Each field has a random stream of its own.
RandomStream noise_stream(Field field) {
  const bool is_gravity = static_cast<int>(field) < n_gravity_fields;
  const auto first =
      static_cast<std::uint32_t>(is_gravity || field == Field::guv ? RandomStream::noise : RandomStream::other_noise);
  const auto number = static_cast<std::uint32_t>(field == Field::guv ? n_gravity_fields : static_cast<int>(field));
  return static_cast<RandomStream>(first + number);
}

}  // namespace

PointVariable output_field(const ResultHeader& header, const Fields& result, Field field) {
  const FieldInfo& known = info(field);
  const double* const values = result.values.data() + result.fields.index_of(field) * n_points_of(result);
  const double factor = output_factor(field, header.axes);
  double sigma = 0;
  std::uint64_t seed = 0;
  if (header.noise && header.noise->sigma.count(field) > 0) {
    sigma = header.noise->sigma.at(field);
    seed = header.noise->seed;
  }
  const RandomStream stream = noise_stream(field);
  return {std::string(known.name), std::string(known.unit), std::string(known.long_name),
          [=](std::int64_t begin, std::span<double> to) {
            // Adding 0 turns the -0 of a flipped sign into 0.
            for (std::size_t i = 0; i < to.size(); ++i)
              to[i] = values[begin + static_cast<std::int64_t>(i)] * factor + 0.0;
            if (sigma == 0) return;
            for (std::size_t i = 0; i < to.size(); ++i) {
              // One rounding, so that every machine writes the same bits.
              to[i] = std::fma(sigma, random_normal(seed, stream, static_cast<std::uint64_t>(begin) + i), to[i]);
            }
          }};
}

std::vector<double> values_of(const PointVariable& variable, std::int64_t n_points) {
  std::vector<double> values(static_cast<std::size_t>(n_points));
  variable.read(0, values);
  return values;
}

std::vector<double> output_values(const ResultHeader& header, const Fields& result, Field field) {
  return values_of(output_field(header, result, field), n_points_of(result));
}

namespace {

/// Mass over area of the slab below a place, kg/m2; NaN outside the terrain.
double mass_below(const Terrain& terrain, double easting, double northing) noexcept {
  if (std::isnan(terrain.height_at(easting, northing))) return std::numeric_limits<double>::quiet_NaN();
  return mass_of(terrain.slab_at(easting, northing));
}

std::string slab_name(const Terrain& terrain) {
  const TerrainMasses& masses = terrain.content().masses;
  const std::string rock = terrain.content().densities.empty() ? fmt::format("{:g} kg/m3", masses.density)
                                                               : std::string("the density of the column there");
  std::string text = fmt::format(
      "infinite Bouguer slab, 2 pi G rho h, h from reference {:g} m to terrain_height, rho {}", masses.reference, rock);
  if (masses.water_density) {
    text += fmt::format(", with water of {:g} kg/m3 up to {:g} m", *masses.water_density, masses.sea_level);
  }
  return text;
}

}  // namespace

std::vector<PointVariable> terrain_variables(const ResultHeader& header, const Points& points, const Fields& result,
                                             const Terrain& terrain) {
  const FieldInfo& gz = info(Field::gz);
  // SI, z up: mass below the point pulls downwards; adding 0 turns -0 into 0
  const double factor = -header.gravitational_constant * output_factor(Field::gz, header.axes);
  ResultHeader plain;
  plain.axes = header.axes;
  const auto effect = output_field(plain, result, Field::gz).read;
  const std::string unit(gz.unit);
  return {{"terrain_height", "m", "height of the terrain below the point, bilinear between its nodes",
           point_by_point([&points, &terrain](std::int64_t point) {
             const auto i = static_cast<std::size_t>(point);
             return terrain.height_at(points.easting[i], points.northing[i]);
           })},
          {"bouguer_slab", unit, slab_name(terrain), point_by_point([&points, &terrain, factor](std::int64_t point) {
             const auto i = static_cast<std::size_t>(point);
             return 2 * std::numbers::pi * factor * mass_below(terrain, points.easting[i], points.northing[i]) + 0.0;
           })},
          {"terrain_correction", unit,
           "terrain correction, the slab cut at the edges of the elevation model minus gz (gz without noise)",
           point_by_point([&points, &terrain, factor, effect](std::int64_t point) {
             const auto i = static_cast<std::size_t>(point);
             const double plate = terrain.plate_attraction(points.easting[i], points.northing[i], points.upward[i]);
             double computed = 0;
             effect(point, {&computed, 1});
             return factor * plate + 0.0 - computed;
           })}};
}

namespace {

/// Writes the station file's own columns, but for the coordinates, as variables on the dimension of the stations:
/// float64 where all are numbers (NaN for dummies), else text. Their names are cleaned for netCDF, and end in `_file`
/// where they are a field's or this run has a variable of the name; the file's names are in long_name. Call it when
/// everything else of the root is written. Throws RunError.
void write_station_variables(Hdf5File& out, const PointLayout& layout, const StationColumns& own) {
  std::vector<std::size_t> numbers;
  for (std::size_t c = 0; c < own.names.size(); ++c) {
    const bool is_place = std::find(own.at.begin(), own.at.end(), static_cast<int>(c)) != own.at.end();
    if (!is_place) numbers.push_back(c);
  }
  for (const PointColumn& column : carried_columns(own, numbers)) write_point_column(out, layout, column);
}

/// What stands behind the points' own columns: fields, standard deviations of their noise, and what else the header
/// has.
std::vector<PointVariable> columns_of(const ResultHeader& header, const Fields& result) {
  std::vector<PointVariable> columns;
  for (const FieldInfo& field : result.fields) {
    columns.push_back(output_field(header, result, field.field));
    const std::string name(field.name), unit(field.unit);
    if (!header.noise || header.noise->sigma.count(field.field) == 0) continue;
    columns.push_back({name + "_sigma", unit, "standard deviation of the noise in " + name,
                       point_by_point([sigma = header.noise->sigma.at(field.field)](std::int64_t) { return sigma; })});
  }
  columns.insert(columns.end(), header.variables.begin(), header.variables.end());
  return columns;
}

bool is_singular(const Fields& result, std::int64_t point) {
  return std::binary_search(result.singular_points.begin(), result.singular_points.end(), point);
}

/// Whether readers would take a part of a field for a comment.
bool begins_comment(std::string_view text) {
  return text.starts_with('#') || text.starts_with('%') || text.starts_with('!') ||
         text.find(" #") != std::string_view::npos || text.find("\t#") != std::string_view::npos;
}

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

  /// Writes the lines above the rows. `own`: columns of the points; `texts`: which of them go last. Coordinates that
  /// readers would not recognise among them are appended; own columns with their names are renamed. Returns warnings
  /// for users.
  std::vector<std::string> begin(const StationColumns& own, std::vector<bool> texts) {
    m_texts = std::move(texts);
    m_columns = columns_of(m_header, m_result);
    if (!m_result.singular_points.empty()) {
      m_columns.push_back({"singular", "", "",
                           point_by_point([this](std::int64_t i) { return is_singular(m_result, i) ? 1.0 : 0.0; })});
    }
    m_separator = m_style == TableStyle::xyz ? ' ' : own.separator == ';' ? ';' : ',';
    m_raw = m_separator == own.separator;
    std::vector<std::string> all = own.names;
    const std::vector<std::string> renamed = rename_taken(all);
    for (std::size_t d = 0; d < direction_names.size(); ++d) {
      if (own.at[d] >= 0 && own.is_plain[d]) continue;
      m_added.push_back(d);
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (plain_name(all[i]) == direction_names[d]) all[i] = ending_in_file(all, i);
      }
    }
    if (m_style == TableStyle::xyz) std::transform(all.begin(), all.end(), all.begin(), word);
    for (const std::size_t d : m_added) all.emplace_back(direction_names[d]);
    for (const PointVariable& column : m_columns) all.push_back(spelled(column));
    if (m_style == TableStyle::xyz) begin_xyz();
    for (const bool last : {false, true}) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (is_last(i) != last) continue;
        separate();
        add_text(all[i], false);
      }
    }
    end_row();
    if (renamed.empty()) return {};
    return {fmt::format("{} has columns that are called as fields are; in the result they are {}",
                        m_header.stations != nullptr ? m_header.stations->file.string() : "the table",
                        fmt::join(renamed, ", "))};
  }

  /// A point's row: its own columns as text, quotes kept, the coordinates behind them, and the values.
  void add_row(std::int64_t point, const std::vector<std::string_view>& fields, const std::array<double, 3>& place) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (is_last(i)) continue;
      separate();
      add_text(m_style == TableStyle::xyz && is_missing(fields[i]) ? "NaN" : fields[i], m_raw);
    }
    for (const std::size_t d : m_added) {
      separate();
      m_out.add(place[d]);
    }
    add_values(point);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!is_last(i)) continue;
      separate();
      add_text(fields[i], m_raw);
    }
    end_row();
  }

  void add_row(std::int64_t point, const std::array<double, 3>& place) {
    for (const double coordinate : place) {
      separate();
      m_out.add(coordinate);
    }
    add_values(point);
    end_row();
  }

private:
  void add_values(std::int64_t point) {
    for (const PointVariable& column : m_columns) {
      separate();
      double value = 0;
      column.read(point, {&value, 1});
      m_out.add(value);
    }
  }

  [[nodiscard]] bool is_last(std::size_t column) const { return column < m_texts.size() && m_texts[column]; }
  static bool is_missing(std::string_view field) { return field.empty() || field == "\"\"" || field == "*"; }

  void separate() {
    if (!m_row_begins) m_out.add(m_separator);
    m_row_begins = false;
  }
  void end_row() {
    m_out.add('\n');
    m_row_begins = true;
  }

  void begin_xyz() {
    m_out.add(fmt::format("# {}\n# {}\n# {}\n", one_line(m_header.title), source_line(),
                          one_line(history_line(m_header.command))));
    m_out.add(axes_comment(m_header.axes));
    if (m_header.gravitational_constant != 0) {
      m_out.add(fmt::format(", gravitational_constant {}, singular_points {}, points_inside {}",
                            m_header.gravitational_constant, m_result.singular_points.size(), m_result.points_inside));
    }
    if (m_header.magnetic) {
      if (const InducingField field = inducing_field_of(m_header.magnetic->inducing_field); field.intensity > 0) {
        m_out.add(
            fmt::format(", inducing_field_inclination {}, inducing_field_declination {}, inducing_field_intensity {}",
                        field.inclination, field.declination, field.intensity));
      }
      m_out.add(fmt::format(", vacuum_permeability {}, inside {}", m_header.magnetic->vacuum_permeability,
                            name(m_header.magnetic->inside)));
    }
    m_out.add("\n# ");
  }

  /// A name without what separates names in a comment.
  static std::string word(std::string text) {
    std::replace_if(
        text.begin(), text.end(),
        [](char c) { return std::string_view(" \t,;:\"#").find(c) != std::string_view::npos; }, '_');
    return text.empty() ? "_" : text;
  }

  /// Names of the file's columns that are a field's or one of this run's get an ending; returns those.
  [[nodiscard]] std::vector<std::string> rename_taken(std::vector<std::string>& all) const {
    std::vector<std::string> renamed;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string plain = plain_name(all[i]);
      const bool is_taken = is_field_name(all[i]) ||
                            std::any_of(m_columns.begin(), m_columns.end(),
                                        [&](const PointVariable& column) { return plain_name(column.name) == plain; });
      if (!is_taken) continue;
      all[i] = ending_in_file(all, i);
      renamed.push_back(all[i]);
    }
    return renamed;
  }

  /// "easting [km]" as "easting_file [km]", with a number where another has that name.
  static std::string ending_in_file(const std::vector<std::string>& all, std::size_t i) {
    const auto [bare, unit] = name_and_unit(all[i]);
    const auto is_there = [&](const std::string& name) {
      return std::any_of(all.begin(), all.end(),
                         [&](const std::string& other) { return plain_name(other) == plain_name(name); });
    };
    std::string found = bare + "_file";
    for (int number = 2; is_there(found); ++number) found = fmt::format("{}_file_{}", bare, number);
    return unit.empty() ? found : fmt::format("{} [{}]", found, unit);
  }

  [[nodiscard]] std::string spelled(const PointVariable& column) const {
    if (column.unit.empty()) return column.name;
    return m_style == TableStyle::xyz ? fmt::format("{}[{}]", column.name, word(column.unit))
                                      : fmt::format("{} [{}]", column.name, column.unit);
  }

  /// A field of text, quoted where it would be taken for something else; `raw`: it is as it has to be.
  void add_text(std::string_view text, bool raw) {
    // Readers take the first of semicolon and comma in a line for what separates all its fields.
    const std::string_view separators = m_separator == ' ' ? " \t,;" : m_separator == ',' ? ",;" : ";";
    const bool mistakable = text.find_first_of(separators) != std::string_view::npos || begins_comment(text) ||
                            (m_separator == ' ' && text.empty());
    if (raw || !mistakable || unquoted(text).size() != text.size()) {
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
  std::vector<PointVariable> m_columns;
  /// coordinates behind the own columns
  std::vector<std::size_t> m_added;
  char m_separator = ',';
  bool m_raw = false;
  /// of the own columns, those behind everything else
  std::vector<bool> m_texts;
  bool m_row_begins = true;
};

/// PointVariable::read of values that outlive it.
auto values_in(const std::vector<double>& all) {
  return [&all](std::int64_t begin, std::span<double> values) {
    std::copy_n(all.begin() + begin, values.size(), values.begin());
  };
}

/// A field and its standard deviations as variables of a table, as they stand.
void add_field(ResultHeader& header, const PointFields& points, const FieldInfo& field) {
  const auto at = static_cast<std::size_t>(points.fields.index_of(field.field));
  const auto add = [&](const std::string& name, const std::vector<double>& values) {
    header.variables.push_back({name, std::string(field.unit), "", values_in(values)});
  };
  add(std::string(field.name), points.values[at]);
  if (!points.sigma[at].empty()) add(std::string(field.name) + "_sigma", points.sigma[at]);
}

/// A point's text as a field of a table: one with quotes, or blanks at its ends, in quotes, those inside twice.
std::string field_text(const PointColumn& column, std::size_t point) {
  if (!column.is_text) return number_text(column.numbers[point]);
  const std::string& text = column.texts[point];
  if (text.find('"') == std::string::npos && unquoted(text).size() == text.size()) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace

std::vector<std::string> write_point_table(TextOutput& out, TableStyle style, const PointFields& points,
                                           const std::string& title, const std::string& command) {
  ResultHeader header;
  header.title = title;
  header.command = command;
  header.axes = points.axes;
  for (const FieldInfo& field : points.fields) add_field(header, points, field);
  // no separator: nothing stands as it has to be in the table yet
  StationColumns own{{direction_names.begin(), direction_names.end()}, '\0', {0, 1, 2}, {true, true, true}};
  std::vector<const PointColumn*> of_stations;
  std::vector<bool> texts(direction_names.size(), false);
  for (const PointColumn& column : points.columns) {
    if (!column.is_of_stations) {
      header.variables.push_back({column.name, column.unit, "", values_in(column.numbers)});
      continue;
    }
    of_stations.push_back(&column);
    own.names.push_back(column.unit.empty() ? column.name : fmt::format("{} [{}]", column.name, column.unit));
    texts.push_back(style == TableStyle::xyz && column.is_text);
  }
  const Fields no_result;
  TableWriter table(out, style, header, no_result);
  std::vector<std::string> notes = table.begin(own, texts);
  std::vector<std::string> row(own.names.size());
  for (std::int64_t point = 0; point < points.points.size(); ++point) {
    const auto i = static_cast<std::size_t>(point);
    const std::array<double, 3> place{points.points.easting[i], points.points.northing[i], points.points.upward[i]};
    for (std::size_t d = 0; d < place.size(); ++d) row[d] = number_text(place[d]);
    for (std::size_t c = 0; c < of_stations.size(); ++c) row[place.size() + c] = field_text(*of_stations[c], i);
    table.add_row(point, {row.begin(), row.end()}, place);
  }
  return notes;
}

namespace {

namespace fs = std::filesystem;

/// Writes a result as a table to `file`, one row per point in the order of points, with enough digits to read each
/// number back. Columns: those of the station file, unchanged, otherwise easting, northing, upward; then the fields
/// with units, gz [mGal], their gz_sigma, and `singular` where there is a singular point. Returns warnings for users.
/// Throws RunError.
std::vector<std::string> write_result_table(TemporaryFile& file, TableStyle style, const ResultHeader& header,
                                            const Points& points, const Fields& result) {
  TextOutput out(file);
  TableWriter table(out, style, header, result);
  const auto place = [&](std::size_t i) { return std::array{points.easting[i], points.northing[i], points.upward[i]}; };
  std::vector<std::string> notes;
  if (header.stations != nullptr) {
    const StationColumns& own = *header.stations;
    // which columns hold text
    std::vector<bool> texts(own.names.size(), false);
    const auto find_texts = [&](std::size_t, const std::vector<std::string_view>& fields) {
      double value = 0;
      for (std::size_t i = 0; i < fields.size(); ++i) texts[i] = texts[i] || !parse_carried(fields[i], value);
    };
    if (style == TableStyle::xyz) own.text.each(find_texts);
    notes = table.begin(own, texts);
    own.text.each(
        [&](std::size_t i, const auto& fields) { table.add_row(static_cast<std::int64_t>(i), fields, place(i)); });
  } else {
    static_cast<void>(
        table.begin({{direction_names.begin(), direction_names.end()}, ',', {0, 1, 2}, {true, true, true}}, {}));
    for (std::int64_t i = 0; i < points.size(); ++i) table.add_row(i, place(static_cast<std::size_t>(i)));
  }
  out.flush();
  return notes;
}

std::string partition_text(const Plan& plan) {
  if (plan.partition != Partition::rank_grid) return name(plan.partition);
  return fmt::format("{{ranks: [{}, {}]}}", plan.prism_parts, plan.point_parts);
}

void write_fields(Hdf5File& file, const PointLayout& layout, const ResultHeader& header, const Fields& result) {
  for (const PointVariable& column : columns_of(header, result)) {
    write_point_values(file, layout, column.name, column.long_name, column.unit, header.axes,
                       values_of(column, layout.n_points()).data());
    constexpr std::string_view sigma = "_sigma";
    if (!column.name.ends_with(sigma)) continue;
    file.write_attribute(column.name.substr(0, column.name.size() - sigma.size()), "ancillary_variables", column.name);
  }
  if (!result.singular_points.empty()) {
    std::vector<std::int32_t> singular;
    for (std::int64_t i = 0; i < layout.n_points(); ++i) singular.push_back(is_singular(result, i) ? 1 : 0);
    file.write("singular", layout.shape, singular.data());
    file.attach_dimensions("singular", layout.dimensions);
    file.write_attribute(
        "singular", "long_name",
        "1 on an edge or corner of the model, where the gradient tensor and magnetic fields have no value, "
        "else 0");
    file.write_attribute("singular", "coordinates", layout.auxiliary);
    refer_to_crs(file, "singular");
  }
}

void write_root_attributes(Hdf5File& file, const ResultHeader& header, const Points& points, const Fields& result) {
  write_header(file, header);
  write_point_kind(file, points);
  file.write_attribute("/", "gravitational_constant", header.gravitational_constant);
  if (header.magnetic) {
    write_magnetic(file, *header.magnetic);
  }
  file.write_attribute("/", "singular_points", static_cast<std::int64_t>(result.singular_points.size()));
  file.write_attribute("/", "points_inside", result.points_inside);
  if (const auto& box = header.model_bounds) {
    file.write_attribute("/", "model_bounds",
                         std::vector<double>{box->west, box->east, box->south, box->north, box->bottom, box->top});
  }
  for (const auto& [name, values] : {std::pair{"model_spheres", &header.model_spheres},
                                     {"model_spheres_upward", &header.model_spheres_upward},
                                     {"model_boxes", &header.model_boxes},
                                     {"model_boxes_upward", &header.model_boxes_upward}}) {
    if (!values->empty()) file.write_attribute("/", name, *values);
  }
}

void write_ranks(Hdf5File& file, const Fields& result) {
  const std::string dimension = "/performance/rank";
  const std::size_t n = result.rank_pairs.size();
  if (n == 0) return;
  file.make_dimension_without_values(dimension, static_cast<std::int64_t>(n));
  const auto write = [&](const std::string& name, const auto& values, const char* unit, const char* long_name) {
    if (values.size() == n) write_list(file, "/performance/" + name, dimension, values, unit, long_name);
  };
  write("rank_pairs", result.rank_pairs, "1", "prism-point pairs of each rank");
  write("rank_cost", result.rank_cost, "ns", "cost of each rank's prisms and counted pairs by the cost model");
  write("rank_busy_seconds", result.rank_busy_seconds, "s", "time that each rank spent on fields and reductions");
  write("rank_begin", result.rank_begin, "s", "when each rank began with the fields");
  write("rank_end", result.rank_end, "s", "when each rank was done with the fields");
}

void write_busy(Hdf5File& file, const Fields& result) {
  if (result.busy.empty()) return;
  const std::string dimension = "/performance/interval";
  file.make_dimension_without_values(dimension, static_cast<std::int64_t>(result.busy.size()));
  const auto write = [&](const std::string& name, const char* unit, const char* long_name, const auto& member) {
    write_list(file, "/performance/" + name, dimension, result.busy, unit, long_name, member);
  };
  write("busy_rank", "1", "rank of each busy interval", [](const RankBusy& b) -> std::int64_t { return b.rank; });
  write("busy_slot", "1", "slot of each busy interval, -1 for a whole device",
        [](const RankBusy& b) -> std::int64_t { return b.slot; });
  write("busy_begin", "s", "begin of each busy interval, after the ranks' common start",
        [](const RankBusy& b) { return b.begin; });
  write("busy_end", "s", "end of each busy interval", [](const RankBusy& b) { return b.end; });
}

void write_check(Hdf5File& file, const Fields& result) {
  const std::string group = "/performance";
  const ToleranceCheck& check = result.check;
  file.write_attribute(group, "tolerance", check.tolerance);
  file.write_attribute(group, "check_points", check.points);
  if (check.points == 0) return;
  file.write_attribute(group, "tolerance_used", result.plan.tolerance);
  file.write_attribute(group, "check_repeats", check.repeats);
  file.write_attribute(group, "check_seconds", check.seconds);
  // of all points this part has larger errors at most, so surely
  file.write_attribute(group, "check_confidence", ToleranceCheck::confidence);
  file.write_attribute(group, "check_exceeding", check.exceeding);
  file.write_attribute(group, "error", check.largest());
  for (const FieldInfo& field : result.fields) {
    const auto number = static_cast<std::size_t>(result.fields.index_of(field.field));
    file.write_attribute(group, "error_" + std::string(field.name), check.errors[number]);
    file.write_attribute(group, "over_median_" + std::string(field.name), check.over_median[number]);
  }
}

void write_performance(Hdf5File& file, const ResultHeader& header, const Fields& result, const RunTimes& times) {
  const std::string group = "/performance";
  const Plan& plan = result.plan;
  write_machine(file, group, header.program,
                {name(plan.space), plan.device,
                 std::max<std::int64_t>(1, static_cast<std::int64_t>(result.rank_pairs.size())), plan.threads});
  file.write_attribute(group, "block", plan.block);
  for (const auto& [name, value] : result.method_numbers) file.write_attribute(group, name, value);
  file.write_attribute(group, "partition", partition_text(plan));
  file.write_attribute(group, "partition_asked", plan.partition_is_auto ? "auto" : partition_text(plan));
  file.write_attribute(group, "precision", name(plan.precision));
  file.write_attribute(group, "kernel", plan.kernel == KernelKind::corners ? "corners" : "auto");
  file.write_attribute(group, "method", name(plan.method));
  write_check(file, result);
  file.write_attribute(group, "pairs", result.pairs);
  for (int i = 0; i < n_forms; ++i) {
    file.write_attribute(group, std::string("pairs_") + name(static_cast<Form>(i)),
                         result.pairs_by_form[static_cast<std::size_t>(i)]);
  }
  file.write_attribute(group, "pairs_per_second",
                       result.field_seconds > 0 ? static_cast<double>(result.pairs_now) / result.field_seconds : 0.0);
  file.write_attribute(group, "setup_seconds", times.setup_seconds + result.setup_seconds);
  file.write_attribute(group, "field_seconds", result.field_seconds);
  for (const auto& [name, value] : header.performance) file.write_attribute(group, name, value);
}

void write_file(const TemporaryFile& temporary, const fs::path& target, const ResultHeader& header,
                const Points& points, const Fields& result, const RunTimes& times) {
  const auto begin = std::chrono::steady_clock::now();
  Hdf5File file = Hdf5File::create_in_memory(target);
  write_root_attributes(file, header, points, result);
  const PointLayout layout = write_points(file, "", points);
  write_fields(file, layout, header, result);
  if (header.stations != nullptr) write_station_variables(file, layout, *header.stations);
  file.make_group("/performance");
  write_ranks(file, result);
  write_busy(file, result);
  write_performance(file, header, result, times);
  // The time that the file itself can hold; bringing it to the disk follows.
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  file.write_attribute("/performance", "output_seconds", elapsed.count());
  file.write_attribute("/performance", "total_seconds", times.total_seconds + elapsed.count());
  file.write_sealed([&](const void* bytes, std::size_t n) { temporary.write(bytes, n); });
}

}  // namespace

std::optional<ResultKind> result_kind(const fs::path& file) {
  const std::string suffix = lower_case(file.extension().string());
  if (suffix == ".nc" || suffix == ".h5") return ResultKind::hdf5;
  if (suffix == ".csv") return ResultKind::csv;
  if (suffix == ".xyz") return ResultKind::xyz;
  return std::nullopt;
}

std::int64_t result_bytes(const ResultHeader& header, const Points& points, FieldList fields) {
  const std::int64_t n = points.size();
  const auto n_sigma = static_cast<std::int64_t>(header.noise ? header.noise->sigma.size() : 0);
  const std::int64_t of_stations =
      header.stations == nullptr ? 0 : static_cast<std::int64_t>(header.stations->text.rows.size());
  const std::int64_t of_places = text_bytes(points.easting) + text_bytes(points.northing) + text_bytes(points.upward);
  if (result_kind(header.file).value_or(ResultKind::hdf5) == ResultKind::hdf5) {
    const auto nodes = static_cast<std::int64_t>(points.grid_easting.size() + points.grid_northing.size());
    const std::int64_t coordinates = points.is_grid() ? n + nodes : 3 * n;
    const std::int64_t bytes =
        (coordinates + n * (fields.size() + n_sigma + header.n_variables)) * std::int64_t{sizeof(double)};
    // what HDF5 keeps of the attributes of each variable, of the file's and of /performance
    const std::int64_t n_variables = fields.size() + n_sigma + header.n_variables + (points.is_grid() ? 1 : 0);
    const std::int64_t beside_places = std::max<std::int64_t>(of_stations - of_places, 0);
    return bytes + 29'000 + 800 * n_variables + beside_places + static_cast<std::int64_t>(header.case_text.size());
  }
  // 17 digits, sign, point, a separator; a sigma is short
  constexpr std::int64_t of_value = 20;
  return (of_stations > 0 ? of_stations : of_places) +
         n * ((fields.size() + header.n_variables) * of_value + n_sigma * 5);
}

std::vector<std::string> write_result(const ResultHeader& header, const Points& points, const Fields& result,
                                      const RunTimes& times) {
  std::vector<std::string> notes;
  write_complete_file(header.file, "the result", [&](TemporaryFile& temporary, const fs::path& target) {
    const ResultKind kind = result_kind(header.file).value_or(ResultKind::hdf5);
    if (kind == ResultKind::hdf5) {
      write_file(temporary, target, header, points, result, times);
    } else {
      const TableStyle style = kind == ResultKind::csv ? TableStyle::csv : TableStyle::xyz;
      notes = write_result_table(temporary, style, header, points, result);
    }
  });
  return notes;
}

}  // namespace prismfield
