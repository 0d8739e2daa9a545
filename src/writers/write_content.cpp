// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "writers/write_content.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/request.hpp>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "base/statistics.hpp"
#include "formats/cf_attributes.hpp"
#include "formats/output_file.hpp"
#include "model/choices.hpp"
#include "model/prism_check.hpp"
#include "readers/cell_file.hpp"
#include "readers/exchange_files.hpp"
#include "readers/point_fields.hpp"
#include "writers/result_file.hpp"

namespace prismfield {
namespace {

std::string cells_text(const CellEdges& edges) {
  const CellCounts counts = counts_of(edges);
  return fmt::format("{} ({} x {} x {})", counted(counts[0] * counts[1] * counts[2], "cell"), counts[0], counts[1],
                     counts[2]);
}

std::string range_text(const std::vector<double>& values, std::string_view unit) {
  const auto [least, greatest] = range_of(values);
  if (least > greatest) return "without a number";
  return fmt::format("{:.6g} to {:.6g}{}{}", least, greatest, unit.empty() ? "" : " ", unit);
}

std::int64_t count_nan(const std::vector<double>& values) {
  return std::count_if(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

std::string columns_text(const PointFields& points) {
  std::vector<std::string> names;
  for (const PointColumn& column : points.columns) names.push_back(column.name);
  if (names.empty()) return "";
  return fmt::format(", column{} {}", names.size() > 1 ? "s" : "", shown_list(names));
}

struct Describe {
  std::string operator()(const ListedPrisms& prisms) const {
    std::string text = counted(prisms.size(), "prism");
    for (const auto& [name, values] : properties_of(prisms)) {
      text += fmt::format(", {} {}", name, range_text(*values, unit_text(unit_of_property(name))));
    }
    return text;
  }
  std::string operator()(const CellModel& model) const {
    std::string text = cells_text(model.edges);
    for (const CellValues& values : model.values) {
      text += fmt::format(", {} {}", shown(values.name, longest_name),
                          range_text(values.values, shown(unit_text(values.unit))));
    }
    if (model.values.empty()) return text + ", no values";
    const std::int64_t inactive = count_nan(model.values[0].values);
    return text + (inactive > 0 ? fmt::format(", {} inactive", grouped(inactive)) : "");
  }
  std::string operator()(const PointFields& points) const {
    std::string text = counted(points.points.size(), "point");
    if (points.points.is_grid()) {
      text += fmt::format(" (grid of {} x {})", points.points.grid_easting.size(), points.points.grid_northing.size());
    }
    if (points.fields.empty()) return text + ", no fields" + columns_text(points);
    for (const FieldInfo& field : points.fields) {
      const auto at = static_cast<std::size_t>(points.fields.index_of(field.field));
      text += fmt::format(", {} {}", field.name, range_text(points.values[at], field.unit));
      if (!points.sigma[at].empty()) text += " with sigma";
    }
    return text + fmt::format(", axes {}{}", name(points.axes), points.axes_are_stated ? "" : " by default") +
           columns_text(points);
  }
};

enum class Kind { prisms, cells, points };
constexpr std::array<const char*, 3> kind_names{"prisms", "cells", "points"};

/// What a format holds of this content; formats that hold several take it as it is.
Kind kind_in(FileFormat format, const FileContent& content) {
  switch (format) {
    case FileFormat::hdf5: return static_cast<Kind>(content.index());
    case FileFormat::csv:
    case FileFormat::xyz: return std::holds_alternative<PointFields>(content) ? Kind::points : Kind::prisms;
    case FileFormat::hdf5_prisms:
    case FileFormat::vtu: return Kind::prisms;
    case FileFormat::ubc_data:
    case FileFormat::tomofast_data:
    case FileFormat::vtp: return Kind::points;
    default: return Kind::cells;
  }
}

std::int64_t text_bytes_of(const ListedPrisms& prisms) {
  std::int64_t bytes = 0;
  for (const std::vector<double>* column : columns_of(prisms)) bytes += text_bytes(*column);
  for (const PropertyColumn& property : properties_of(prisms)) bytes += text_bytes(*property.values);
  return bytes;
}

std::int64_t text_bytes_of(const CellModel& model) {
  std::int64_t bytes = 0;
  for (const CellValues& values : model.values) bytes += text_bytes(values.values);
  return bytes;
}

std::int64_t text_bytes_of(const PointFields& points) {
  const Points& places = points.points;
  std::int64_t bytes = text_bytes(places.easting) + text_bytes(places.northing) + text_bytes(places.upward);
  for (const auto* of_fields : {&points.values, &points.sigma}) {
    for (const std::vector<double>& values : *of_fields) bytes += text_bytes(values);
  }
  return bytes;
}

/// Writes content of one kind to a file of one format.
class ContentWriter {
public:
  explicit ContentWriter(const WriteSpec& spec) : m_spec(spec) {
    m_to_si = spec.density_to_si.value_or(info(spec.format).in_grams ? 1000.0 : 1.0);
    const bool is_arrays = spec.format == FileFormat::hdf5 || spec.format == FileFormat::hdf5_prisms;
    const bool is_vtk =
        spec.format == FileFormat::vtr || spec.format == FileFormat::vtu || spec.format == FileFormat::vtp;
    if (m_to_si != 1 && (is_arrays || is_vtk)) {
      throw InputError("--output-density-unit", "",
                       fmt::format("{} holds densities in kg/m3; leave the option out", info(spec.format).long_name));
    }
  }

  WrittenFile write(const FileContent& content) {
    const Kind kind = kind_in(m_spec.format, content);
    switch (kind) {
      case Kind::prisms: write_prisms(content); break;
      case Kind::cells: write_cells(content); break;
      case Kind::points: write_points(content); break;
    }
    return std::move(m_written);
  }

private:
  [[noreturn]] void refuse(const FileContent& content) const {
    std::vector<std::string> names;
    for (const FormatInfo& format : format_infos) {
      if (kind_in(format.format, content) == static_cast<Kind>(content.index())) names.emplace_back(format.name);
    }
    throw InputError(
        m_spec.format_said_by, "",
        fmt::format("{} holds {}, but what was read is {}; for these there are: {}", info(m_spec.format).long_name,
                    kind_names[static_cast<std::size_t>(kind_in(m_spec.format, content))], kind_names[content.index()],
                    fmt::join(names, ", ")));
  }

  /// `about_bytes`: of the text.
  template <class Write>
  void as_text(std::int64_t about_bytes, const Write& write) const {
    write_complete_file(
        m_spec.file, "the file",
        [&](TemporaryFile& temporary, const std::filesystem::path&) {
          TextOutput out(temporary);
          write(out);
          out.flush();
        },
        about_bytes);
  }
  void as_arrays(const Hdf5File& file) const {
    write_complete_file(
        m_spec.file, "the file",
        [&](TemporaryFile& temporary, const std::filesystem::path&) {
          file.write_sealed([&](const void* bytes, std::size_t n) { temporary.write(bytes, n); });
        },
        std::ssize(file.image()));
  }
  [[nodiscard]] const char* density_unit() const { return m_to_si == 1 ? "kg/m3" : "g/cm3"; }

  void write_prisms(const FileContent& content) {
    if (const auto* prisms = std::get_if<ListedPrisms>(&content)) {
      write_list(*prisms);
      return;
    }
    const auto* model = std::get_if<CellModel>(&content);
    if (model == nullptr) refuse(content);
    if (model->values.empty()) {
      throw InputError("", "", "a mesh alone has no prisms; convert a model, with densities");
    }
    const ListedPrisms prisms = prisms_of(*model);
    if (prisms.size() == 0) {
      throw InputError("", "",
                       "no cell has a density, susceptibility or magnetization other than 0; there are no prisms to "
                       "write");
    }
    const std::vector<PropertyColumn> properties = properties_of(prisms);
    const auto cells = static_cast<std::int64_t>(model->values[0].values.size());
    if (cells > prisms.size()) {
      m_written.notes.push_back(fmt::format("{} of {} 0 or inactive left out", counted(cells - prisms.size(), "cell"),
                                            names_text(properties)));
    }
    note_values_left_out(*model, [&](const CellValues& values) {
      return is_density(values.name) ? &values == model->values.data() || values.name == "density"
                                     : std::any_of(properties.begin(), properties.end(),
                                                   [&](const auto& property) { return property.name == values.name; });
    });
    write_list(prisms);
  }

  static std::string names_text(const std::vector<PropertyColumn>& properties) {
    std::vector<std::string> names;
    for (const PropertyColumn& property : properties) {
      const bool is_component = unit_of_property(property.name) == "A/m";
      names.push_back(is_component ? magnetization_name : property.name);
    }
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return fmt::format("{}", fmt::join(names, ", "));
  }

  void write_list(const ListedPrisms& prisms) {
    switch (m_spec.format) {
      case FileFormat::csv:
      case FileFormat::xyz:
        as_text(text_bytes_of(prisms), [&](TextOutput& out) {
          write_prism_table(out, prisms, m_spec.format == FileFormat::csv, m_to_si, m_spec.command);
        });
        break;
      case FileFormat::vtu: as_text(text_bytes_of(prisms), [&](TextOutput& out) { write_vtu(out, prisms); }); break;
      default: as_arrays(prism_arrays(prisms, m_spec));
    }
    m_written.what = counted(prisms.size(), "prism");
    for (const PropertyColumn& property : properties_of(prisms)) {
      m_written.how +=
          fmt::format("{} in {}, ", property.name,
                      is_density(property.name) ? density_unit() : unit_text(unit_of_property(property.name)));
    }
    m_written.how += "heights upwards in m";
  }

  void write_cells(const FileContent& content) {
    if (const auto* model = std::get_if<CellModel>(&content)) {
      write_model_of_cells(*model);
      return;
    }
    const auto* prisms = std::get_if<ListedPrisms>(&content);
    if (prisms == nullptr) refuse(content);
    const std::optional<CellModel> model = cells_of(*prisms);
    if (!model) {
      throw InputError(m_spec.format_said_by, "",
                       fmt::format("{} holds the cells of a grid, which these prisms are not; for prisms there are: "
                                   "hdf5, csv, xyz, vtu",
                                   info(m_spec.format).long_name));
    }
    m_written.notes.push_back(fmt::format("{} fill a grid of {}; cells without one get {} 0",
                                          counted(prisms->size(), "prism"), cells_text(model->edges),
                                          names_text(properties_of(*prisms))));
    write_model_of_cells(*model);
  }

  void write_model_of_cells(const CellModel& model) {
    m_written.what = cells_text(model.edges);
    switch (m_spec.format) {
      case FileFormat::ubc_mesh:
        as_text(0, [&](TextOutput& out) { write_ubc_mesh(out, model.edges); });
        m_written.how = "the mesh alone: top south-west corner and widths in m, layers from the top";
        break;
      case FileFormat::tomofast_grid:
        as_text(0, [&](TextOutput& out) { write_tomofast_grid(out, model.edges); });
        m_written.how = "the grid alone: X along easting, Y along northing, Z down, in m, k = 1 on top";
        break;
      case FileFormat::ubc_model:
      case FileFormat::ubc_vectors:
      case FileFormat::tomofast_values:
      case FileFormat::values: write_plain_values(model); break;
      case FileFormat::vtr:
        as_text(text_bytes_of(model), [&](TextOutput& out) { write_vtr(out, model); });
        m_written.how = "Z up, in m" + text_of_values(model, "NaN and marked in active");
        break;
      default:
        as_arrays(cell_arrays(model, m_spec));
        m_written.how = "(upward, northing, easting), in m" + text_of_values(model, "NaN");
    }
  }

  /// Units of a model's values, and what its inactive cells are.
  static std::string text_of_values(const CellModel& model, const char* inactive) {
    std::vector<std::string> units;
    for (const CellValues& values : model.values) {
      if (values.unit.empty()) continue;
      units.push_back(
          fmt::format("{} in {}", shown(values.name, longest_name), shown(unit_text(values.unit), longest_name)));
    }
    std::string text = units.empty() ? "" : "; " + shown_list(units);
    if (!model.values.empty() && count_nan(model.values[0].values) > 0) {
      text += fmt::format("; inactive cells {}", inactive);
    }
    return text;
  }

  /// Which of the model's values a format with numbers of one property gets: one, or the three components of a vector.
  [[nodiscard]] std::vector<std::size_t> values_to_write(const CellModel& model) const {
    std::size_t at = 0;
    const std::string promised = property_of_suffix(m_spec.file);
    if (m_spec.field.empty() && !promised.empty()) {
      const auto found = std::find_if(model.values.begin(), model.values.end(),
                                      [&](const CellValues& values) { return values.name == promised; });
      if (found != model.values.end()) at = static_cast<std::size_t>(found - model.values.begin());
    }
    if (m_spec.format == FileFormat::ubc_model) {
      const std::string why = why_not_held(m_spec.file, model.values[at].name);
      if (!why.empty()) throw InputError(m_spec.format_said_by, "", why);
    }
    const bool is_vector = m_spec.field.empty() || m_spec.field == magnetization_name;
    const auto vector = is_vector ? vector_at(model.values, at) : std::nullopt;
    if (m_spec.format == FileFormat::ubc_vectors) return components_for_ubc(model);
    if (!vector) return {at};
    if (m_spec.format == FileFormat::tomofast_values) return {vector->begin(), vector->end()};
    throw InputError(
        m_spec.format_said_by, "",
        fmt::format("{} holds one number a cell; choose a component by --field, such as {}, or --to ubc-vectors (.fld)",
                    info(m_spec.format).long_name, model.values[at].name));
  }

  [[nodiscard]] std::vector<std::size_t> components_for_ubc(const CellModel& model) const {
    const std::string first = magnetization_columns[0];
    const std::string easting = m_spec.field.starts_with(first) ? m_spec.field : first;
    for (std::size_t i = 0; i < model.values.size(); ++i) {
      const auto vector = vector_at(model.values, i);
      if (!vector || model.values[i].name != easting) continue;
      if (!model.inducing_field) {
        throw InputError("", "",
                         "a UBC vector model holds effective susceptibilities, M over |F0|/mu0; say the inducing field "
                         "by --inducing-field INCLINATION,DECLINATION,INTENSITY");
      }
      return {vector->begin(), vector->end()};
    }
    throw InputError("", "", "the input has no magnetization, which a UBC vector model holds");
  }

  void write_plain_values(const CellModel& model) {
    if (model.values.empty()) {
      throw InputError(
          "", "", fmt::format("a mesh alone has no values for a {}; convert a model", info(m_spec.format).long_name));
    }
    const std::vector<std::size_t> chosen = values_to_write(model);
    const CellValues& values = model.values[chosen.front()];
    const bool is_ubc = m_spec.format == FileFormat::ubc_model || m_spec.format == FileFormat::ubc_vectors;
    const bool is_effective = m_spec.format == FileFormat::ubc_vectors;
    const double to_si = is_effective ? magnetization_of(*model.inducing_field) : is_density(values.name) ? m_to_si : 1;
    const char* order = "easting fastest, then northing, layers from the bottom";
    CellOrder cells = CellOrder::own;
    std::string mesh;
    if (is_ubc) {
      order = "depth fastest from the top, then easting, then northing";
      cells = CellOrder::ubc;
      mesh = "UBC mesh, which --to ubc-mesh";
    } else if (m_spec.format == FileFormat::tomofast_values) {
      order = "easting fastest, then northing, layers from the top";
      cells = CellOrder::tomofast;
      mesh = "Tomofast grid, which --to tomofast-grid";
    }
    const bool is_magnetic = is_effective || unit_of_property(values.name) == "1";
    const double mark = m_spec.inactive.value_or(is_ubc && is_magnetic ? ubc_inactive : 0);
    const std::int64_t inactive = count_nan(values.values);
    std::vector<CellNumbers> columns;
    for (const std::size_t i : chosen) {
      // the third component points down in both formats of vectors
      columns.push_back({&model.values[i].values, columns.size() == 2 ? -to_si : to_si});
    }
    if (inactive > 0 && !m_spec.inactive_said_by.empty()) {
      const std::string note = check_mark(columns, mark, m_spec.inactive_said_by);
      if (!note.empty()) m_written.notes.push_back(note);
    }
    as_text(static_cast<std::int64_t>(columns.size()) * text_bytes(values.values),
            [&](TextOutput& out) { write_cell_numbers(out, cells, columns, counts_of(model.edges), mark); });
    m_written.how =
        fmt::format("{} in {}, {}", columns.size() == 3 ? vector_name(values.name) : shown(values.name, longest_name),
                    is_effective              ? "effective susceptibility (SI), z down"
                    : columns.size() == 3     ? shown(values.unit) + ", z down"
                    : is_density(values.name) ? density_unit()
                    : values.unit.empty()     ? "its unit"
                                              : shown(unit_text(values.unit)),
                    order);
    if (inactive > 0) m_written.how += fmt::format("; {} inactive as {}", grouped(inactive), mark);
    const bool reads_as_density = m_spec.format == FileFormat::ubc_model && property_of_suffix(m_spec.file).empty();
    if (reads_as_density && !is_density(values.name)) {
      m_written.how += fmt::format("; read as a density without --field {}", shown(values.name, longest_name));
    }
    if (!mesh.empty()) {
      m_written.notes.push_back(fmt::format("the numbers belong to a {} writes from the same input", mesh));
    }
    note_values_left_out(model, [&](const CellValues& each) {
      return std::any_of(chosen.begin(), chosen.end(), [&](std::size_t i) { return &each == &model.values[i]; });
    });
  }

  /// is_written(values) says which are not.
  template <class IsWritten>
  void note_values_left_out(const CellModel& model, const IsWritten& is_written) {
    std::vector<std::string> names;
    for (const CellValues& values : model.values) {
      if (!is_written(values)) names.push_back(shown(values.name, longest_name));
    }
    if (!names.empty()) m_written.notes.push_back(fmt::format("left out: {}; choose by --field", shown_list(names)));
  }

  void write_points(const FileContent& content) {
    const auto* points = std::get_if<PointFields>(&content);
    if (points == nullptr) refuse(content);
    check_field(*points);
    m_written.what = counted(points->points.size(), "point");
    if (m_spec.format == FileFormat::ubc_data || m_spec.format == FileFormat::tomofast_data) {
      write_plain_data(*points);
      return;
    }
    const PointFields turned = with_axes(*points, m_spec.axes.value_or(points->axes));
    switch (m_spec.format) {
      case FileFormat::csv:
      case FileFormat::xyz:
        as_text(text_bytes_of(turned), [&](TextOutput& out) {
          const TableStyle style = m_spec.format == FileFormat::csv ? TableStyle::csv : TableStyle::xyz;
          m_written.notes = write_point_table(out, style, turned, m_spec.title, m_spec.command);
        });
        break;
      case FileFormat::vtp: as_text(text_bytes_of(turned), [&](TextOutput& out) { write_vtp(out, turned); }); break;
      default: as_arrays(point_arrays(turned, m_spec));
    }
    m_written.how = "heights upwards in m";
    std::vector<std::string> units;
    for (const FieldInfo& field : turned.fields) units.push_back(fmt::format("{} in {}", field.name, field.unit));
    if (!units.empty()) m_written.how += fmt::format("; {}; axes {}", fmt::join(units, ", "), name(turned.axes));
  }

  void write_plain_data(const PointFields& points) {
    const bool ubc = m_spec.format == FileFormat::ubc_data;
    const Axes axes = m_spec.axes.value_or(Axes::z_down);
    // of UBC's two kinds of files, the one of places
    const bool places_alone = ubc && is_ubc_places(m_spec.file);
    const FieldList written = places_alone ? FieldList{} : fields_to_write(points);
    const char* const sense = axes == Axes::z_down ? "positive downwards" : "positive upwards";
    as_text(0, [&](TextOutput& out) {
      if (!ubc) {
        write_tomofast_data(out, points, written, axes);
      } else if (written.empty()) {
        PointFields places;
        places.points = points.points;
        write_ubc_data(out, places, Field::gz, axes);
      } else {
        write_ubc_data(out, points, (*written.begin()).field, axes);
      }
    });
    m_written.how = fmt::format("{} in m", ubc ? "E, N, elevation" : "X along easting, Y along northing, Z down");
    for (const FieldInfo& field : written) {
      const bool is_gz = field.field == Field::gz;
      m_written.how += fmt::format("; {} in {}", field.name, is_gz && !ubc ? "m/s2" : field.unit);
      if (is_gz || field.field == Field::bz) {
        m_written.how += fmt::format(", {}", sense);
      } else if (field.odd_in_z) {
        m_written.how += fmt::format(", axes {}", name(axes));
      }
    }
    if (written.empty() && !ubc) m_written.notes.emplace_back("the points have no field: gz is written as 0");
    std::vector<std::string> left_out;
    for (const FieldInfo& other : points.fields) {
      if (!written.contains(other.field)) left_out.emplace_back(other.name);
    }
    for (const FieldInfo& field : ubc ? FieldList{} : written) {
      const auto at = static_cast<std::size_t>(points.fields.index_of(field.field));
      if (!points.sigma[at].empty()) left_out.push_back(std::string(field.name) + "_sigma");
    }
    if (!left_out.empty()) m_written.notes.push_back("left out: " + shown_list(left_out));
  }

  /// Throws InputError where a field is asked for that the points do not have.
  void check_field(const PointFields& points) const {
    const std::vector<std::string> names = names_of(points.fields);
    if (m_spec.field.empty() || std::find(names.begin(), names.end(), m_spec.field) != names.end()) return;
    std::vector<std::string> others;
    for (const PointColumn& column : points.columns) others.push_back(column.name);
    throw InputError("--field", "",
                     fmt::format("the input has no {}; it has {}", excerpt(m_spec.field),
                                 !names.empty()    ? shown_list(names)
                                 : !others.empty() ? "no field, but " + shown_list(others)
                                                   : "places alone"));
  }

  /// The field for a format that holds one, or of Tomofast's data the components of B; nothing when there is none.
  [[nodiscard]] FieldList fields_to_write(const PointFields& points) const {
    const FieldList components = fields_of(FieldSet::magnetic);
    const bool ubc = m_spec.format == FileFormat::ubc_data, is_magnetic = ubc && is_ubc_magnetic(m_spec.file);
    const std::optional<Field> asked = field_named(m_spec.field);
    if (asked && points.fields.contains(*asked)) {
      if (is_magnetic && !info(*asked).is_magnetic) throw InputError("--field", "", "a .mag holds magnetic data");
      if (ubc || *asked == Field::gz || *asked == Field::tmi) return {*asked};
      if (components.contains(*asked) && points.fields.contains(components)) return components;
      throw InputError("--field", "", "Tomofast data are gz, tmi, or bx, by and bz together; choose another format");
    }
    for (const Field usual : {Field::gz, Field::tmi}) {
      if (points.fields.contains(usual) && info(usual).is_magnetic >= is_magnetic) return {usual};
    }
    if (!ubc) {
      if (points.fields.contains(components)) return components;
      if (points.fields.empty()) return {};
      throw InputError(m_spec.format_said_by, "",
                       fmt::format("Tomofast data are gz, tmi, or bx, by and bz together, of which the input, with {}, "
                                   "has none; choose another format",
                                   shown_list(names_of(points.fields))));
    }
    const FieldList possible = is_magnetic ? points.fields.of_magnetisation() : points.fields;
    if (is_magnetic && possible.empty()) {
      throw InputError(m_spec.format_said_by, "", "a .mag holds magnetic data, which the input has not");
    }
    if (possible.size() > 1) {
      throw InputError(
          "--field", "",
          fmt::format("is missing: UBC data hold one field; choose from {}", fmt::join(names_of(possible), ", ")));
    }
    return possible;
  }

  const WriteSpec& m_spec;
  double m_to_si = 1;
  WrittenFile m_written;
};

}  // namespace

std::string describe(const FileContent& content) { return std::visit(Describe{}, content); }

WrittenFile write_content(const WriteSpec& spec, const FileContent& content) {
  return ContentWriter(spec).write(content);
}

}  // namespace prismfield
