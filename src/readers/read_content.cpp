// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/read_content.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>
#include <prismfield/request.hpp>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "formats/text_lines.hpp"
#include "model/choices.hpp"
#include "model/plausible.hpp"
#include "model/prism_check.hpp"
#include "model/properties.hpp"
#include "readers/cell_file.hpp"
#include "readers/exchange_files.hpp"
#include "readers/find_format.hpp"
#include "readers/point_columns.hpp"
#include "readers/point_fields.hpp"
#include "readers/prism_file.hpp"

namespace prismfield {
namespace {

Field field_asked(const std::string& word) {
  if (word.empty()) return Field::gz;
  if (const auto field = field_named(word)) return *field;
  const std::vector<std::string> names = names_of(FieldList::every());
  const std::string nearest = nearest_spelling(word, names);
  throw InputError("--field", "",
                   fmt::format("{} is no field{}; of points there are: {}", excerpt(word),
                               nearest.empty() ? "" : ", did you mean " + nearest + "?", fmt::join(names, ", ")));
}

/// Reads files of one command line.
class ContentReader {
public:
  explicit ContentReader(const ReadSpec& spec) : m_spec(spec) {
    check_readable(spec.file);
    // what it is, is looked up before it is read
    if (std::error_code error; !std::filesystem::is_regular_file(spec.file.path, error)) {
      throw spec.file.error("is not a regular file; save it to a file first");
    }
    m_read.format = spec.format ? *spec.format : found_format();
    m_read.density_to_si = spec.density_to_si.value_or(info(m_read.format).in_grams ? 1000.0 : 1.0);
  }

  ReadFile read() {
    switch (m_read.format) {
      case FileFormat::hdf5:
      case FileFormat::hdf5_prisms:
        m_read.content = read_arrays();
        m_read.crs = read_crs(ArrayFile(m_spec.file));
        m_stated = read_inducing_field(ArrayFile(m_spec.file));
        break;
      case FileFormat::csv:
      case FileFormat::xyz: m_read.content = read_text_table(); break;
      case FileFormat::ubc_mesh: m_read.content = CellModel{read_ubc_mesh(m_spec.file), {}}; break;
      case FileFormat::ubc_model:
      case FileFormat::ubc_vectors:
      case FileFormat::tomofast_values:
      case FileFormat::values: m_read.content = read_values(); break;
      case FileFormat::ubc_data: m_read.content = read_ubc(); break;
      case FileFormat::tomofast_grid: m_read.content = read_grid(); break;
      case FileFormat::tomofast_data: m_read.content = read_tomofast(); break;
      default:
        throw m_spec.file.error(fmt::format("is asked for as {}, which is written only", info(m_read.format).name));
    }
    if (auto* points = std::get_if<PointFields>(&m_read.content)) {
      drop_field_dummies(m_spec.file, *points);
      m_read.notes.insert(m_read.notes.end(), points->notes.begin(), points->notes.end());
    }
    if (m_spec.mesh && !m_mesh_used) {
      if (m_read.format == FileFormat::ubc_mesh && formats_of(*m_spec.mesh) == std::vector{FileFormat::ubc_model}) {
        throw InputError("--mesh", "",
                         fmt::format("'{}' is a UBC model and IN, '{}', a mesh; swap IN and --mesh",
                                     m_spec.mesh->path.string(), m_spec.file.path.string()));
      }
      throw InputError("--mesh", "",
                       fmt::format("is not needed: {} says itself where its numbers belong; leave it out",
                                   excerpt(m_spec.file.path.string())));
    }
    set_inducing_field();
    warn_of_densities();
    return std::move(m_read);
  }

private:
  /// What the file is; of several formats that fit, the one that the options leave.
  [[nodiscard]] FileFormat found_format() const {
    const std::vector<FileFormat> fits = formats_of(m_spec.file);
    const std::optional<Field> field = field_named(m_spec.field);
    const FileFormat left = m_spec.mesh ? FileFormat::tomofast_values : FileFormat::tomofast_data;
    const bool is_left = fits.size() > 1 && (m_spec.mesh || (field && info(*field).is_magnetic));
    return is_left && std::find(fits.begin(), fits.end(), left) != fits.end() ? left : one_format(m_spec.file, fits);
  }

  [[nodiscard]] std::string values_name() const {
    if (!m_name.empty()) return m_name;
    if (!m_spec.field.empty()) return m_spec.field;
    const std::string promised = property_of_suffix(m_spec.file.path);
    return promised.empty() ? "density" : promised;
  }
  [[nodiscard]] double values_to_si() const { return is_density(values_name()) ? m_read.density_to_si : 1.0; }

  FileContent read_ubc() {
    const std::optional<Field> asked = m_spec.field.empty() ? std::nullopt : std::optional(field_asked(m_spec.field));
    PointFields data = read_ubc_data(m_spec.file, asked, m_spec.axes);
    m_stated = data.inducing_field;
    return data;
  }

  FileContent read_tomofast() const {
    const Field asked = field_asked(m_spec.field);
    FieldList known = fields_of(FieldSet::magnetic);
    known.add({Field::gz, Field::tmi});
    if (!known.contains(asked)) {
      throw InputError("--field", "", fmt::format("Tomofast data are {}", fmt::join(names_of(known), ", ")));
    }
    return read_tomofast_data(m_spec.file, asked, m_spec.axes.value_or(Axes::z_down));
  }

  /// The inducing field that the file states, or the user. Throws InputError where they differ.
  void set_inducing_field() {
    const std::optional<InducingField>& asked = m_spec.inducing_field;
    constexpr double nanotesla = 1e-9;
    if (m_stated && asked &&
        !is_same_field(*m_stated, vector_of(asked->inclination, asked->declination, asked->intensity * nanotesla))) {
      throw InputError(
          "--inducing-field", "",
          fmt::format("is {}, but '{}' says itself that it is {}; leave the option out", inducing_field_text(*asked),
                      m_spec.file.path.string(), inducing_field_text(*m_stated)));
    }
    const std::optional<InducingField>& field = m_stated ? m_stated : asked;
    if (auto* points = std::get_if<PointFields>(&m_read.content)) points->inducing_field = field;
    if (auto* model = std::get_if<CellModel>(&m_read.content)) model->inducing_field = field;
  }

  /// The mesh that values belong to: edges, or the cells of an octree, or both of Tomofast.
  TomofastGrid read_mesh() {
    if (!m_spec.mesh) {
      throw InputError("--mesh", "",
                       fmt::format("is missing: '{}' holds numbers without a mesh; name the UBC mesh, the Tomofast "
                                   "grid or the HDF5 model that they belong to",
                                   m_spec.file.path.string()));
    }
    m_mesh_used = true;
    TomofastGrid mesh;
    const std::vector<FileFormat> fits = formats_of(*m_spec.mesh);
    switch (fits.empty() ? FileFormat::values : fits[0]) {
      case FileFormat::ubc_mesh:
        if (ubc_mesh_in(*m_spec.mesh) == UbcMesh::octree) {
          mesh.cells = read_ubc_octree(*m_spec.mesh, m_read.notes);
        } else {
          mesh.edges = read_ubc_mesh(*m_spec.mesh);
        }
        break;
      case FileFormat::tomofast_grid: mesh = read_tomofast_grid(*m_spec.mesh, 1); break;
      case FileFormat::hdf5:
        mesh.edges = read_cell_arrays(*m_spec.mesh, "density", std::nullopt, std::nullopt).edges;
        break;
      default: throw m_spec.mesh->error("is no mesh; a UBC mesh, a Tomofast grid or a model in HDF5 is needed");
    }
    return mesh;
  }

  FileContent read_values() {
    const TomofastGrid mesh = read_mesh();
    const std::int64_t listed = mesh.cells.size();
    const bool is_ubc = m_read.format == FileFormat::ubc_model || m_read.format == FileFormat::ubc_vectors;
    if (m_read.format == FileFormat::ubc_model && !mesh.edges) {
      return of_grid(mesh, {read_ubc_values(m_spec.file, values_to_si(), listed,
                                            fmt::format("'{}'", m_spec.mesh->path.string()), values_name())});
    }
    if (is_ubc && !mesh.edges) throw m_spec.mesh->error("is no tensor mesh, which a UBC vector model needs");
    if (m_read.format == FileFormat::ubc_model) {
      return cells(*mesh.edges,
                   {read_ubc_densities(m_spec.file, values_to_si(), counts_of(*mesh.edges), values_name())});
    }
    if (m_read.format == FileFormat::ubc_vectors) {
      if (!m_spec.inducing_field) {
        throw InputError("--inducing-field", "",
                         fmt::format("is missing: '{}' holds effective susceptibilities, M over |F0|/mu0; say "
                                     "INCLINATION,DECLINATION,INTENSITY (degrees, nT) of the inducing field",
                                     m_spec.file.path.string()));
      }
      m_unit = magnetization_of(*m_spec.inducing_field);
      auto vectors = read_ubc_vectors(m_spec.file, m_unit, counts_of(*mesh.edges));
      return cells(*mesh.edges, {vectors.begin(), vectors.end()});
    }
    if (m_read.format == FileFormat::values) {
      if (!mesh.edges) throw m_spec.mesh->error("is no rectilinear grid");
      return cells(
          *mesh.edges,
          {read_densities(m_spec.file, {m_spec.file.path, "", values_to_si(), values_name(), true}, *mesh.edges)});
    }
    const CellCounts counts = listed > 0 ? CellCounts{listed, 1, 1} : counts_of(*mesh.edges);
    Lists values = read_tomofast_values(m_spec.file, values_to_si(), counts[0] * counts[1] * counts[2]);
    if (listed > 0) return of_grid(mesh, std::move(values));
    // layers from the top, as the grid of such a mesh would be written
    for (std::vector<double>& list : values) {
      list = in_cell_order(CellOrder::tomofast, counts, list);
    }
    return cells(*mesh.edges, std::move(values));
  }

  FileContent read_grid() {
    const TomofastGrid grid = read_tomofast_grid(m_spec.file, values_to_si());
    if (!grid.values.empty()) return of_grid(grid, grid.values);
    if (!grid.edges) {
      throw m_spec.file.error(
          "is no rectilinear grid, as where layers follow the terrain, and holds no values; convert the file of its "
          "values, with --mesh naming this one");
    }
    return CellModel{*grid.edges, {}};
  }

  /// Of a property a list of values, of a vector three.
  using Lists = std::vector<std::vector<double>>;

  FileContent of_grid(const TomofastGrid& grid, Lists of_rows) {
    if (grid.edges) {
      for (std::vector<double>& list : of_rows) list = in_cell_order(grid, list);
      return cells(*grid.edges, std::move(of_rows));
    }
    const std::vector<CellValues> values = named(std::move(of_rows));
    m_read.notes.push_back(fmt::format("the grid is not rectilinear: its cells with a {} become prisms",
                                       values.size() == 1 ? values.front().name : magnetization_name));
    note_dummies(values);
    ListedPrisms prisms = prisms_of(grid.cells, values);
    if (prisms.size() == 0) throw m_spec.file.error("holds no cell with a density, susceptibility or magnetization");
    return prisms;
  }

  FileContent cells(const CellEdges& edges, Lists values) { return CellModel{edges, named(std::move(values))}; }

  /// Values with their names, NaN in inactive cells.
  std::vector<CellValues> named(Lists lists) {
    std::vector<std::string> names{values_name()};
    if (lists.size() == 3) {
      names = {magnetization_columns.begin(), magnetization_columns.end()};
      if (!m_spec.field.empty() && m_spec.field != magnetization_name) {
        throw InputError(
            "--field", "",
            fmt::format("is {}, but '{}' holds three numbers a cell, a magnetization; leave the option out",
                        excerpt(m_spec.field), m_spec.file.path.string()));
      }
    } else if (m_spec.field == magnetization_name) {
      throw InputError("--field", "",
                       fmt::format("is {}, but '{}' holds one number a cell; say which, such as {}", m_spec.field,
                                   m_spec.file.path.string(), magnetization_columns[2]));
    }
    mark_inactive(lists, lists.size() == 3 ? m_unit : values_to_si());
    std::vector<CellValues> values;
    for (std::size_t c = 0; c < lists.size(); ++c) {
      values.push_back({names[c], unit_of_property(names[c]), std::move(lists[c])});
    }
    return values;
  }

  void mark_inactive(Lists& lists, double to_si) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const bool is_magnetic = m_read.format == FileFormat::ubc_vectors ||
                             (m_read.format == FileFormat::ubc_model && unit_of_property(values_name()) == "1");
    if (!m_spec.inactive) {
      if (is_magnetic) replace_mark(lists, ubc_inactive, to_si, nan);
      return;
    }
    if (replace_mark(lists, *m_spec.inactive, to_si, nan) > 0) {
      const std::string note = check_mark(numbers_of(lists, to_si), *m_spec.inactive, "--inactive");
      if (!note.empty()) m_read.notes.push_back(note);
    } else {
      m_read.notes.push_back(fmt::format(
          "--inactive: no cell has {}; give the number as the file has it, in its unit and with all its digits",
          number_text(*m_spec.inactive)));
    }
  }

  FileContent read_arrays() {
    const ArrayFile arrays(m_spec.file);
    if (arrays.has("/west") || arrays.has("/x1")) return prisms();
    const std::string name = name_in(arrays);
    m_name = name;
    if (m_spec.mesh && arrays.has("/" + name)) {
      const TomofastGrid mesh = read_mesh();
      if (!mesh.edges) throw m_spec.mesh->error("is no rectilinear grid");
      if (shape_of_last(3, arrays, name).size() == 3) {
        return read_cell_arrays(m_spec.file, name, m_spec.density_to_si, mesh.edges);
      }
      const std::optional<double> asked = is_density(name) ? m_spec.density_to_si : std::nullopt;
      return cells(*mesh.edges, {read_densities(m_spec.file, {m_spec.file.path, name, asked, name}, *mesh.edges)});
    }
    const bool is_model = holds_cells(arrays, name);
    const std::int64_t epochs = epochs_of_cells(arrays, name);
    if (is_model && epochs > 0) {
      throw InputError("--field", "",
                       fmt::format("'{0}' has {1} of {2}; say which by --field {1}_1 (the first) to --field {1}_{3}",
                                   m_spec.file.path.string(), name, counted(epochs, "epoch"), epochs));
    }
    if (is_model) {
      CellModel model = read_cell_arrays(m_spec.file, name, m_spec.density_to_si, std::nullopt);
      if (!m_spec.field.empty() && (model.values.empty() || model.values.front().name != name)) {
        throw InputError("--field", "",
                         fmt::format("'{}' has no {}; its datasets are: {}", m_spec.file.path.string(), name,
                                     shown_list(arrays.dataset_names("/"))));
      }
      return model;
    }
    if (arrays.has("/" + name) && arrays.shape("/" + name).size() > 3) {
      throw m_spec.file.error(
          fmt::format("has {} of shape {}; three dimensions, upward, northing and easting, are needed: take one date "
                      "or band out of "
                      "it first",
                      shown(name, longest_name), shape_text(arrays.shape("/" + name))));
    }
    for (const char* place : {"/easting", "/northing", "/upward"}) {
      if (arrays.has(place)) continue;
      throw m_spec.file.error(fmt::format(
          "is neither a result, nor a model, nor a list of prisms; its datasets are: {}; needed are easting, "
          "northing and upward, density (upward, northing, easting) or west, east, south, north, bottom, "
          "top, density",
          shown_list(arrays.dataset_names("/"))));
    }
    return read_point_arrays(m_spec.file, m_spec.axes, m_read.unread);
  }

  /// The dataset that is asked for, or the first property that the file has.
  [[nodiscard]] std::string name_in(const ArrayFile& arrays) const {
    if (m_spec.field == magnetization_name) return magnetization_columns.front();
    if (!m_spec.field.empty()) return m_spec.field;
    for (const char* name : {"density", "susceptibility", magnetization_columns.front()}) {
      if (arrays.has(std::string("/") + name)) return name;
    }
    return values_name();
  }

  FileContent prisms() {
    PrismsSpec spec;
    spec.file = m_spec.file.path;
    spec.density_to_si = m_read.density_to_si;
    // a run that computes the prisms reports overlaps
    spec.allow_overlap = true;
    const auto list = read_prisms(m_spec.file, spec);
    m_read.notes.insert(m_read.notes.end(), list->warnings().begin(), list->warnings().end());
    return list->listed();
  }

  FileContent read_text_table() {
    constexpr std::size_t columns_of_prisms = 7;
    const TextStart start = start_of_text(m_spec.file, 1);
    if (start.rows.empty()) throw m_spec.file.error("holds no rows");
    const std::vector<std::string>& row = start.rows[0];
    std::vector<std::string> names = start.comment;
    bool all_numbers = true;
    for (std::string word : row) {
      double value = 0;
      all_numbers = all_numbers && parse_number(word, value) != NumberStatus::no_number;
      std::erase(word, '"');
      names.push_back(lower_case(word));
    }
    const auto named = [&](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
    if (named("west") || named("x1")) return prisms();
    const bool names_places =
        std::any_of(names.begin(), names.end(), [](const std::string& name) { return place_named(name) == "easting"; });
    const bool names_fields = std::any_of(names.begin(), names.end(), [](const std::string& name) {
      return field_named(name_and_unit(name).first).has_value();
    });
    // a requested field that no column names comes after the places, whatever a comment calls it
    const bool nameless = all_numbers && !(names_places && (names_fields || m_spec.field.empty()));
    if (nameless && row.size() == columns_of_prisms) return prisms();
    if (nameless && (row.size() < 3 || row.size() > 5)) {
      throw m_spec.file.error(
          fmt::format("has {} and no names; 7 of prisms, or 3 to 5 of points, are known; name the columns in the first "
                      "line",
                      counted(static_cast<std::int64_t>(row.size()), "column")));
    }
    PointTableSpec spec;
    spec.axes = m_spec.axes;
    spec.columns_without_names = nameless ? row.size() : 0;
    if (!m_spec.field.empty()) spec.field = field_asked(m_spec.field);
    return read_point_table(m_spec.file, spec, m_read.notes);
  }

  /// Notes dummies among the numbers of cells; true where there are any.
  bool note_dummies(const std::vector<CellValues>& values) {
    const std::size_t before = m_read.notes.size();
    for (const CellValues& each : values) {
      const bool is_down = m_unit != 1 && each.name == magnetization_columns.back();
      const double to_si = is_density(each.name) ? m_read.density_to_si : is_down ? -m_unit : m_unit;
      const std::string dummies = dummies_in({&each.values, to_si});
      if (dummies.empty()) continue;
      m_read.notes.push_back(fmt::format("{}: {} {}; --inactive says which number marks inactive cells",
                                         excerpt(m_spec.file.path.string()), each.name, dummies));
    }
    return m_read.notes.size() > before;
  }

  /// Suspicious but valid densities, with the warning that a run gives.
  void warn_of_densities() {
    const auto& [least, most] = std::pair(plausible(Quantity::density).least, plausible(Quantity::density).most);
    const std::vector<double>* densities = nullptr;
    if (const auto* prisms = std::get_if<ListedPrisms>(&m_read.content)) densities = &prisms->density;
    const auto* model = std::get_if<CellModel>(&m_read.content);
    if (model != nullptr && !model->values.empty()) {
      const CellValues& first = model->values[0];
      const bool is_susceptibility = first.name == "susceptibility";
      if (first.name == "density") densities = &first.values;
      const double to_si = is_susceptibility ? 1 : m_read.density_to_si;
      const auto air =
          densities == nullptr && !is_susceptibility
              ? std::nullopt
              : find_air_mark(first.values, is_susceptibility ? susceptibility_property : density_property, to_si);
      if (air) {
        m_read.notes.push_back(fmt::format("{} {}: if that marks inactive cells, such as air, say --inactive {}",
                                           excerpt(m_spec.file.path.string()), air->text,
                                           number_text(in_unit(air->value, to_si))));
        return;
      }
      if (note_dummies(model->values)) return;
    }
    double largest = 0;
    if (densities != nullptr) {
      for (const double density : *densities) {
        if (!std::isnan(density)) largest = std::max(largest, std::fabs(density));
      }
    }
    if (largest > 0 && largest < least && m_read.density_to_si == 1) {
      m_read.notes.push_back(fmt::format("densities all below {} kg/m3: in g/cm3? Then --density-unit g/cm3", least));
    }
    if (largest > most) {
      m_read.notes.push_back(
          fmt::format("densities up to {} kg/m3: {}", short_number(largest),
                      m_read.density_to_si == 1 ? "are they right?" : "in kg/m3? Then --density-unit kg/m3"));
    }
  }

  const ReadSpec& m_spec;
  ReadFile m_read;
  bool m_mesh_used = false;
  /// of the values of arrays, where it is known
  std::string m_name;
  /// by the file
  std::optional<InducingField> m_stated;
  /// of the vectors of a file, A/m
  double m_unit = 1;
};

}  // namespace

ReadFile read_content(const ReadSpec& spec) { return ContentReader(spec).read(); }

}  // namespace prismfield
