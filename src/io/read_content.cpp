// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "io/cell_file.hpp"
#include "io/exchange_files.hpp"
#include "io/file_content.hpp"
#include "io/output_file.hpp"
#include "io/point_columns.hpp"
#include "io/point_fields.hpp"
#include "io/prism_file.hpp"
#include "io/text_lines.hpp"
#include "model/choices.hpp"

namespace prismfield {
namespace {

/// A mesh that values belong to.
struct Mesh {
  std::optional<CellEdges> edges;
  std::optional<TomofastGrid> grid;

  [[nodiscard]] std::int64_t cells() const {
    if (grid) return grid->cells.size();
    const CellCounts counts = counts_of(*edges);
    return counts[0] * counts[1] * counts[2];
  }
};

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
    m_read.format = spec.format ? *spec.format : find_format(spec.file);
    m_read.density_to_si = spec.density_to_si.value_or(info(m_read.format).in_grams ? 1000.0 : 1.0);
  }

  ReadFile read() {
    switch (m_read.format) {
      case FileFormat::hdf5:
      case FileFormat::hdf5_prisms:
        m_read.content = read_arrays();
        m_read.crs = read_crs(ArrayFile(m_spec.file));
        break;
      case FileFormat::csv:
      case FileFormat::xyz: m_read.content = read_text_table(); break;
      case FileFormat::ubc_mesh: m_read.content = CellModel{read_ubc_mesh(m_spec.file), {}}; break;
      case FileFormat::ubc_model:
      case FileFormat::tomofast_values:
      case FileFormat::values: m_read.content = read_values(); break;
      case FileFormat::ubc_data:
        m_read.content = read_ubc_data(m_spec.file, field_asked(m_spec.field), m_spec.axes.value_or(Axes::z_down));
        break;
      case FileFormat::tomofast_grid: m_read.content = read_grid(); break;
      case FileFormat::tomofast_data:
        if (field_asked(m_spec.field) != Field::gz) {
          throw InputError("--field", "", "Tomofast data are gz; leave the option out");
        }
        m_read.content = read_tomofast_data(m_spec.file, m_spec.axes.value_or(Axes::z_down));
        break;
      default:
        throw m_spec.file.error(fmt::format("is asked for as {}, which is written only", info(m_read.format).name));
    }
    if (m_spec.mesh && !m_mesh_used) {
      if (m_read.format == FileFormat::ubc_mesh && find_format(*m_spec.mesh) == FileFormat::ubc_model) {
        throw InputError("--mesh", "",
                         fmt::format("'{}' is a UBC model and IN, '{}', a mesh; swap IN and --mesh",
                                     m_spec.mesh->path.string(), m_spec.file.path.string()));
      }
      throw InputError("--mesh", "",
                       fmt::format("is not needed: {} says itself where its numbers belong; leave it out",
                                   excerpt(m_spec.file.path.string())));
    }
    warn_of_densities();
    return std::move(m_read);
  }

private:
  [[nodiscard]] std::string values_name() const { return m_spec.field.empty() ? "density" : m_spec.field; }
  [[nodiscard]] double values_to_si() const { return is_density(values_name()) ? m_read.density_to_si : 1.0; }

  Mesh read_mesh() {
    if (!m_spec.mesh) {
      throw InputError("--mesh", "",
                       fmt::format("is missing: '{}' holds numbers without a mesh; name the UBC mesh, the Tomofast "
                                   "grid or the HDF5 model that they belong to",
                                   m_spec.file.path.string()));
    }
    m_mesh_used = true;
    Mesh mesh;
    switch (find_format(*m_spec.mesh)) {
      case FileFormat::ubc_mesh: mesh.edges = read_ubc_mesh(*m_spec.mesh); break;
      case FileFormat::tomofast_grid:
        mesh.grid = read_tomofast_grid(*m_spec.mesh, 1);
        mesh.edges = mesh.grid->edges;
        break;
      case FileFormat::hdf5: mesh.edges = read_cell_arrays(*m_spec.mesh, "density", 1, std::nullopt).edges; break;
      default: throw m_spec.mesh->error("is no mesh; a UBC mesh, a Tomofast grid or a model in HDF5 is needed");
    }
    return mesh;
  }

  FileContent read_values() {
    const Mesh mesh = read_mesh();
    if (m_read.format == FileFormat::ubc_model) {
      if (!mesh.edges) throw m_spec.mesh->error("is no rectilinear grid, which a UBC model needs");
      return cells(*mesh.edges, read_ubc_densities(m_spec.file, values_to_si(), counts_of(*mesh.edges)));
    }
    if (m_read.format == FileFormat::values) {
      if (!mesh.edges) throw m_spec.mesh->error("is no rectilinear grid");
      return cells(*mesh.edges, read_densities(m_spec.file, {m_spec.file.path, "", values_to_si(), "density", true},
                                               counts_of(*mesh.edges)));
    }
    std::vector<double> values = read_tomofast_values(m_spec.file, values_to_si(), mesh.cells());
    if (mesh.grid) return of_grid(*mesh.grid, std::move(values));
    // layers from the top, as the grid of such a mesh would be written
    const CellCounts counts = counts_of(*mesh.edges);
    const std::int64_t in_layer = counts[0] * counts[1];
    std::vector<double> ordered;
    for (std::int64_t k = counts[2] - 1; k >= 0; --k) {
      ordered.insert(ordered.end(), values.begin() + k * in_layer, values.begin() + (k + 1) * in_layer);
    }
    return cells(*mesh.edges, std::move(ordered));
  }

  FileContent read_grid() {
    const TomofastGrid grid = read_tomofast_grid(m_spec.file, values_to_si());
    if (grid.has_values) return of_grid(grid, grid.cells.density);
    if (!grid.edges) {
      throw m_spec.file.error(
          "is no rectilinear grid, as where layers follow the terrain, and holds no values; convert the file of its "
          "values, with --mesh naming this one");
    }
    return CellModel{*grid.edges, {}};
  }

  FileContent of_grid(const TomofastGrid& grid, std::vector<double> of_rows) {
    if (grid.edges) return cells(*grid.edges, in_cell_order(grid, of_rows));
    m_read.notes.emplace_back("the grid is not rectilinear: its cells with a density become prisms");
    mark_inactive(of_rows);
    PrismBlock prisms;
    const PrismBlock& from = grid.cells;
    for (std::size_t i = 0; i < of_rows.size(); ++i) {
      if (of_rows[i] == 0 || std::isnan(of_rows[i])) continue;
      add_prism(prisms,
                {from.west[i], from.east[i], from.south[i], from.north[i], from.bottom[i], from.top[i], of_rows[i]});
    }
    if (prisms.size() == 0) throw m_spec.file.error("holds no cell with a density");
    return prisms;
  }

  FileContent cells(const CellEdges& edges, std::vector<double> values) {
    mark_inactive(values);
    CellModel model{edges, {}};
    model.values.push_back({values_name(), is_density(values_name()) ? "kg/m3" : "", std::move(values)});
    return model;
  }

  void mark_inactive(std::vector<double>& values) {
    if (!m_spec.inactive) return;
    if (replace_mark(values, *m_spec.inactive, values_to_si(), std::numeric_limits<double>::quiet_NaN()) > 0) {
      const std::string note = check_mark(values, *m_spec.inactive, values_to_si(), "--inactive");
      if (!note.empty()) m_read.notes.push_back(note);
      return;
    }
    m_read.notes.push_back(fmt::format(
        "--inactive: no cell has {}; give the number as the file has it, in its unit and with all its digits",
        number_text(*m_spec.inactive)));
  }

  FileContent read_arrays() {
    const ArrayFile arrays(m_spec.file);
    if (arrays.has("/west") || arrays.has("/x1")) return prisms();
    if (!arrays.is_hdf5()) {
      throw m_spec.file.error(
          "is a netCDF file of the classic format and holds no prisms; convert it with 'nccopy -k nc4 IN OUT' first");
    }
    const std::string name = values_name();
    if (m_spec.mesh && arrays.has("/" + name)) {
      const Mesh mesh = read_mesh();
      if (!mesh.edges) throw m_spec.mesh->error("is no rectilinear grid");
      if (arrays.shape("/" + name).size() == 3) {
        return read_cell_arrays(m_spec.file, name, m_read.density_to_si, mesh.edges);
      }
      return cells(*mesh.edges,
                   read_densities(m_spec.file, {m_spec.file.path, name, values_to_si()}, counts_of(*mesh.edges)));
    }
    const bool is_model = holds_cells(arrays, name);
    const std::int64_t epochs = epochs_of_cells(arrays, name);
    if (is_model && epochs > 0) {
      throw InputError("--field", "",
                       fmt::format("'{0}' has {1} of {2}; say which by --field {1}_1 (the first) to --field {1}_{3}",
                                   m_spec.file.path.string(), name, counted(epochs, "epoch"), epochs));
    }
    if (is_model) {
      CellModel model = read_cell_arrays(m_spec.file, name, m_read.density_to_si, std::nullopt);
      if (!m_spec.field.empty() && (model.values.empty() || model.values.front().name != name)) {
        throw InputError("--field", "",
                         fmt::format("'{}' has no {}; its datasets are: {}", m_spec.file.path.string(), name,
                                     shown_list(arrays.dataset_names("/"))));
      }
      return model;
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

  FileContent prisms() {
    PrismsSpec spec;
    spec.file = m_spec.file.path;
    spec.density_to_si = m_read.density_to_si;
    // what overlaps is told by the run that computes it
    spec.allow_overlap = true;
    const auto list = read_prisms(m_spec.file, spec);
    if (list->is_magnetized()) m_read.notes.emplace_back("susceptibilities and magnetizations are left out");
    PrismBlock block;
    list->read({0, list->size()}, block);
    m_read.notes.insert(m_read.notes.end(), list->warnings().begin(), list->warnings().end());
    return block;
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
    // a field asked for that no name tells stands behind the places, whatever a comment calls it
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

  /// Suspicious but valid densities, with the warning that a run gives.
  void warn_of_densities() {
    constexpr double least = 20, most = 30'000;
    const std::vector<double>* densities = nullptr;
    if (const auto* prisms = std::get_if<PrismBlock>(&m_read.content)) densities = &prisms->density;
    if (const auto* model = std::get_if<CellModel>(&m_read.content)) {
      if (!model->values.empty() && model->values[0].name == "density") densities = &model->values[0].values;
      const auto air = densities == nullptr ? std::nullopt : find_air_mark(*densities, m_read.density_to_si);
      if (air) {
        m_read.notes.push_back(fmt::format("{} {}: if that marks inactive cells, such as air, say --inactive {}",
                                           excerpt(m_spec.file.path.string()), air->text,
                                           number_text(in_unit(air->density, m_read.density_to_si))));
        return;
      }
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
};

}  // namespace

ReadFile read_content(const ReadSpec& spec) { return ContentReader(spec).read(); }

}  // namespace prismfield
