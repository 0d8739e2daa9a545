// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/cell_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "io/cf_attributes.hpp"
#include "io/exchange_files.hpp"
#include "io/file_content.hpp"
#include "io/text_table.hpp"
#include "model/edges.hpp"
#include "model/prism_check.hpp"

namespace prismfield {
namespace {

std::string bounds_name(const ArrayFile& content, const std::string& coordinate) {
  const auto named = content.has(coordinate) ? content.text_attribute(coordinate, "bounds") : std::nullopt;
  return named.value_or(coordinate + "_bounds");
}

/// Whether dimensions are called as directions, but not in the order upward, northing, easting.
bool are_in_other_order(const std::vector<std::string>& dimensions) {
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    for (std::size_t d = 0; d < 3; ++d) {
      if (d != 2 - i && dimensions[i] == direction_names[d]) return true;
    }
  }
  return false;
}

/// Reads the cells of an HDF5 file.
class CellArrayReader {
public:
  explicit CellArrayReader(const InputFile& file) : m_file(file), m_content(file) {}

  CellModel read(const std::string& name, double density_to_si, const std::optional<CellEdges>& edges) {
    CellModel model;
    if (edges) {
      model.edges = *edges;
    } else {
      for (std::size_t d = 0; d < 3; ++d) model.edges[d] = read_edges(direction_names[d]);
    }
    const CellCounts counts = counts_of(model.edges);
    if (const std::string error = error_in_total(counts); !error.empty()) fail("has " + error);
    m_shape = {counts[2], counts[1], counts[0]};
    for (const std::string& dataset : m_content.dataset_names("/")) {
      const std::int64_t epochs = epochs_of_cells(m_content, dataset);
      if (epochs > 0 || dataset == name || m_content.shape(dataset) == m_shape) {
        add_values(model, read_values(dataset, density_to_si), epochs);
      }
    }
    // names come sorted: components stay beside each other
    std::stable_partition(model.values.begin(), model.values.end(),
                          [](const CellValues& values) { return values.name != "amplitude"; });
    const auto first = std::find_if(model.values.begin(), model.values.end(),
                                    [&](const CellValues& values) { return values.name == name; });
    if (first != model.values.end()) std::rotate(model.values.begin(), first, first + 1);
    return model;
  }

private:
  [[noreturn]] void fail(const std::string& what) const { throw m_file.error(what); }

  std::vector<double> read_edges(const std::string& coordinate) {
    const std::string bounds = bounds_name(m_content, coordinate);
    std::vector<double> edges;
    if (m_content.has(bounds)) {
      const std::vector<std::int64_t> shape = m_content.shape(bounds);
      if (shape.size() != 2 || shape[1] != 2 || shape[0] < 1) {
        fail(fmt::format("has {} of shape {}; a lower and an upper edge a cell are needed", bounds, shape_text(shape)));
      }
      const std::vector<double> values = m_content.read(bounds);
      edges.push_back(values.front());
      for (std::size_t i = 0; i < values.size(); i += 2) {
        if (values[i] != edges.back()) fail(fmt::format("has gaps between the cells of {}", bounds));
        edges.push_back(values[i + 1]);
      }
    } else if (m_content.has(coordinate)) {
      edges = edges_between(m_content.read(coordinate), coordinate);
    } else {
      fail(fmt::format("holds no {} of its cells; name their mesh by --mesh", coordinate));
    }
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (!std::isfinite(edges[i]) || (i > 0 && !(edges[i] > edges[i - 1]))) {
        fail(
            fmt::format("has edges of cells along {} that do not rise; cells are numbered from the west, south, "
                        "bottom corner",
                        coordinate));
      }
    }
    return edges;
  }

  std::vector<double> edges_between(const std::vector<double>& centers, const std::string& coordinate) const {
    // what a spacing in single precision may differ by
    constexpr double tolerance = 1e-5;
    const std::size_t n = centers.size();
    const double step = n < 2 ? 0 : (centers[n - 1] - centers[0]) / static_cast<double>(n - 1);
    for (std::size_t i = 1; i < n; ++i) {
      if (std::fabs(centers[i] - centers[i - 1] - step) <= tolerance * std::fabs(step)) continue;
      fail(fmt::format("has centres of cells along {} at unequal distances and no {}_bounds; name their mesh by --mesh",
                       coordinate, coordinate));
    }
    if (n < 2)
      fail(fmt::format("has one cell along {} and no {}_bounds; name its mesh by --mesh", coordinate, coordinate));
    std::vector<double> edges{centers[0] - 0.5 * step};
    for (std::size_t i = 0; i + 1 < n; ++i) edges.push_back(0.5 * (centers[i] + centers[i + 1]));
    edges.push_back(centers[n - 1] + 0.5 * step);
    return edges;
  }

  /// Of all epochs where there are several.
  CellValues read_values(const std::string& dataset, double density_to_si) {
    std::vector<std::int64_t> shape = m_content.shape(dataset);
    std::vector<std::string> dimensions = m_content.dimension_names(dataset);
    if (epochs_of_cells(m_content, dataset) > 0) {
      shape.erase(shape.begin());
      dimensions.erase(dimensions.begin());
    }
    if (shape != m_shape) {
      fail(fmt::format("has {} of shape {}; the mesh wants (upward, northing, easting) = {}", dataset,
                       shape_text(shape), shape_text(m_shape)));
    }
    if (are_in_other_order(dimensions)) {
      fail(fmt::format("has {} of other dimensions than (upward, northing, easting)", dataset));
    }
    CellValues values;
    values.name = dataset;
    values.unit = m_content.text_attribute(dataset, "units").value_or("");
    values.values = m_content.read(dataset);
    if (is_density(dataset)) {
      // a unit that the file states is no matter of opinion
      const bool in_grams = values.unit == "g/cm3" || values.unit == "g cm-3" || values.unit == "g/cc";
      const double to_si = in_grams ? 1000 : density_to_si;
      for (double& value : values.values) value *= to_si;
      values.unit = "kg/m3";
    }
    const bool finite =
        std::none_of(values.values.begin(), values.values.end(), [](double x) { return std::isinf(x); });
    if (!finite) fail(fmt::format("has infinite values in {}", dataset));
    return values;
  }

  const InputFile& m_file;
  ArrayFile m_content;
  std::vector<std::int64_t> m_shape;
};

}  // namespace

std::int64_t epochs_of_cells(const ArrayFile& content, const std::string& name) {
  if (!content.has(name)) return 0;
  const std::vector<std::int64_t> shape = content.shape(name);
  return shape.size() == 4 && content.dimension_names(name).front() == "epoch" ? shape.front() : 0;
}

bool holds_cells(const ArrayFile& content, const std::string& name) {
  if (content.has(name) && content.shape(name).size() == 3) return true;
  return std::all_of(direction_names.begin(), direction_names.end(), [&](const char* coordinate) {
    return content.has(coordinate) && content.has(bounds_name(content, coordinate));
  });
}

void add_values(CellModel& model, CellValues values, std::int64_t epochs) {
  if (epochs == 0) {
    model.values.push_back(std::move(values));
    return;
  }
  const auto n = static_cast<std::ptrdiff_t>(values.values.size()) / epochs;
  for (std::int64_t e = 0; e < epochs; ++e) {
    const auto begin = values.values.begin() + e * n;
    model.values.push_back({fmt::format("{}_{}", values.name, e + 1), values.unit, {begin, begin + n}});
  }
}

CellModel read_cell_arrays(const InputFile& file, const std::string& name, double density_to_si,
                           const std::optional<CellEdges>& edges) {
  return CellArrayReader(file).read(name, density_to_si, edges);
}

std::string cell_image(const CellModel& model, const WriteSpec& spec) {
  Hdf5File out = Hdf5File::create_in_memory(spec.file, Checksums::fletcher32);
  write_origin(out, spec.title, spec.command);
  write_crs(out, spec.crs);
  write_inducing_field(out, model.inducing_field);
  write_cell_coordinates(out, model.edges, "bound");
  const CellCounts counts = counts_of(model.edges);
  for (const CellValues& values : model.values) {
    out.write(values.name, {counts[2], counts[1], counts[0]}, values.values.data());
    out.attach_dimensions(values.name, {"upward", "northing", "easting"});
    if (!values.unit.empty()) out.write_attribute(values.name, "units", values.unit);
    out.write_attribute(values.name, "long_name", values.name);
    refer_to_crs(out, values.name);
    // what NaN means to programs that mask
    out.write_attribute(values.name, "_FillValue", std::numeric_limits<double>::quiet_NaN());
    write_range(out, values.name, values.values.data(), static_cast<std::int64_t>(values.values.size()));
  }
  return sealed_image(out);
}

std::string prism_image(const ListedPrisms& prisms, const WriteSpec& spec) {
  Hdf5File out = Hdf5File::create_in_memory(spec.file, Checksums::fletcher32);
  write_origin(out, spec.title, spec.command);
  write_crs(out, spec.crs);
  out.make_dimension_without_values("prism", prisms.size());
  const auto write = [&](const std::string& name, const std::vector<double>& values, const std::string& unit) {
    out.write(name, {prisms.size()}, values.data());
    out.attach_dimensions(name, {"prism"});
    out.write_attribute(name, "units", unit);
    refer_to_crs(out, name);
  };
  const auto columns = columns_of(prisms);
  for (std::size_t c = 0; c < n_face_columns; ++c) write(prism_columns[c], *columns[c], "m");
  for (const PropertyColumn& property : properties_of(prisms)) {
    write(property.name, *property.values, unit_of_property(property.name));
  }
  return sealed_image(out);
}

void write_prism_table(TextOutput& out, const ListedPrisms& prisms, bool csv, double density_to_si,
                       const std::string& command) {
  const char separator = csv ? ',' : ' ';
  const auto columns = columns_of(prisms);
  const std::vector<PropertyColumn> properties = properties_of(prisms);
  std::vector<std::string> units;
  for (const PropertyColumn& property : properties) {
    const bool in_grams = is_density(property.name) && density_to_si != 1;
    units.push_back(property.name + " in " + (in_grams ? "g/cm3" : unit_text(unit_of_property(property.name))));
  }
  if (!csv) out.add(fmt::format("# {}\n# {}, heights upwards\n# ", shown(command), fmt::join(units, ", ")));
  for (std::size_t c = 0; c < n_face_columns; ++c) {
    if (c > 0) out.add(separator);
    out.add(prism_columns[c]);
  }
  for (const PropertyColumn& property : properties) {
    out.add(separator);
    out.add(property.name);
  }
  out.add('\n');
  for (std::size_t i = 0; i < prisms.west.size(); ++i) {
    for (std::size_t c = 0; c < n_face_columns; ++c) {
      if (c > 0) out.add(separator);
      out.add((*columns[c])[i]);
    }
    for (const PropertyColumn& property : properties) {
      out.add(separator);
      out.add(in_unit((*property.values)[i], is_density(property.name) ? density_to_si : 1));
    }
    out.add('\n');
  }
}

namespace {

/// A column of prisms and the values of cells that go there.
struct PropertySource {
  std::vector<double>* to;
  const std::vector<double>* from;
};

/// What prisms get of the values of cells.
std::vector<PropertySource> property_sources(ListedPrisms& prisms, const std::vector<CellValues>& values) {
  std::vector<PropertySource> sources;
  const auto add = [&](const std::string& name, std::vector<double>& to) {
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const CellValues& each) { return each.name == name; });
    if (found != values.end()) sources.push_back({&to, &found->values});
  };
  // of several kinds of densities, the first that is there
  add(!values.empty() && is_density(values.front().name) ? values.front().name : "density", prisms.density);
  add("susceptibility", prisms.susceptibility);
  for (std::size_t d = 0; d < 3; ++d) add(magnetization_columns[d], prisms.magnetization[d]);
  return sources;
}

/// Adds a cell with these faces where it has a property.
void add_cell(ListedPrisms& prisms, const std::array<double, n_face_columns>& faces, std::size_t cell,
              const std::vector<PropertySource>& sources) {
  const bool is_massless = std::none_of(sources.begin(), sources.end(), [&](const PropertySource& source) {
    return !std::isnan((*source.from)[cell]) && (*source.from)[cell] != 0;
  });
  if (is_massless) return;
  const auto columns = columns_of(prisms);
  for (std::size_t c = 0; c < n_face_columns; ++c) columns[c]->push_back(faces[c]);
  for (const PropertySource& source : sources) {
    const double value = (*source.from)[cell];
    source.to->push_back(std::isnan(value) ? 0 : value);
  }
  // kernels have densities of all prisms
  prisms.density.resize(prisms.west.size());
}

}  // namespace

ListedPrisms prisms_of(const CellModel& model) {
  const CellCounts counts = counts_of(model.edges);
  const auto& [x, y, z] = model.edges;
  ListedPrisms prisms;
  const std::vector<PropertySource> sources = property_sources(prisms, model.values);
  std::size_t cell = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(counts[2]); ++k) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(counts[1]); ++j) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(counts[0]); ++i, ++cell) {
        add_cell(prisms, {x[i], x[i + 1], y[j], y[j + 1], z[k], z[k + 1]}, cell, sources);
      }
    }
  }
  return prisms;
}

ListedPrisms prisms_of(const PrismBlock& cells, const std::vector<CellValues>& values) {
  ListedPrisms prisms;
  const std::vector<PropertySource> sources = property_sources(prisms, values);
  for (std::size_t i = 0; i < cells.west.size(); ++i) {
    add_cell(prisms, {cells.west[i], cells.east[i], cells.south[i], cells.north[i], cells.bottom[i], cells.top[i]}, i,
             sources);
  }
  return prisms;
}

std::optional<CellModel> cells_of(const ListedPrisms& prisms) {
  // beyond it, a grid is hardly what the list is about
  constexpr std::int64_t most_cells_a_prism = 21;
  CellModel model;
  const std::array<std::pair<const std::vector<double>*, const std::vector<double>*>, 3> faces{
      std::pair{&prisms.west, &prisms.east}, std::pair{&prisms.south, &prisms.north},
      std::pair{&prisms.bottom, &prisms.top}};
  for (std::size_t d = 0; d < 3; ++d) {
    std::vector<double>& edges = model.edges[d];
    edges = *faces[d].first;
    edges.insert(edges.end(), faces[d].second->begin(), faces[d].second->end());
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  }
  const CellCounts counts = counts_of(model.edges);
  std::int64_t most = prisms.size() * most_cells_a_prism;
  for (const std::int64_t count : counts) most = count > 0 ? most / count : 0;
  if (most == 0) return std::nullopt;
  const auto n_cells = static_cast<std::size_t>(counts[0] * counts[1] * counts[2]);
  std::vector<bool> taken(n_cells);
  std::vector<std::size_t> cells;
  for (std::size_t p = 0; p < prisms.west.size(); ++p) {
    std::array<std::int64_t, 3> at{};
    for (std::size_t d = 0; d < 3; ++d) {
      const std::vector<double>& edges = model.edges[d];
      const auto lower = std::lower_bound(edges.begin(), edges.end(), (*faces[d].first)[p]);
      if (lower + 1 == edges.end() || *(lower + 1) != (*faces[d].second)[p]) return std::nullopt;
      at[d] = lower - edges.begin();
    }
    cells.push_back(static_cast<std::size_t>((at[2] * counts[1] + at[1]) * counts[0] + at[0]));
    if (taken[cells.back()]) return std::nullopt;
    taken[cells.back()] = true;
  }
  for (const PropertyColumn& property : properties_of(prisms)) {
    CellValues values{property.name, unit_of_property(property.name), std::vector<double>(n_cells)};
    for (std::size_t p = 0; p < cells.size(); ++p) values.values[cells[p]] = (*property.values)[p];
    model.values.push_back(std::move(values));
  }
  return model;
}

namespace {

/// Applies the file's unit and checks every density.
void to_kilograms(std::vector<double>& densities, const DensityFile& spec, const InputFile& file,
                  const CellCounts& counts, NanDensities nan) {
  ProblemList problems;
  LimitedProblems limited(problems, file.path.string());
  for (std::size_t i = 0; i < densities.size(); ++i) {
    double& density = densities[i];
    density *= spec.to_si.value_or(1);
    const bool is_allowed = (nan != NanDensities::refused && std::isnan(density)) ||
                            (nan == NanDensities::kept_with_infinities && std::isinf(density));
    if (std::isfinite(density) || is_allowed) continue;
    limited.add("NaN or infinite values", [&] {
      return Problem{file.path.string(), spec.what,
                     cell_name(counts, static_cast<std::int64_t>(i)) + " is NaN or infinite"};
    });
  }
  limited.finish();
  problems.throw_if_any();
}

std::vector<double> densities_from_text(const InputFile& file, const DensityFile& spec, const CellCounts& counts) {
  NumbersRequest request;
  request.count = counts[0] * counts[1] * counts[2];
  request.what = spec.what;
  std::vector<double> densities =
      read_values(file, request,
                  fmt::format("{} x {} x {} = {} cells need one each", counts[0], counts[1], counts[2], request.count));
  to_kilograms(densities, spec, file, counts, NanDensities::refused);
  return densities;
}

/// The numbering starts at the west, south, bottom corner: a file that carries coordinates running the other way would
/// be read upside down.
void check_ascending(const ArrayFile& arrays, const InputFile& file, const std::string& dataset,
                     const CellCounts& counts) {
  std::vector<std::string> dimensions = arrays.dimension_names(dataset);
  if (dimensions.size() == 4) dimensions.erase(dimensions.begin());
  if (dimensions.size() != 3) return;
  if (are_in_other_order(dimensions)) {
    throw file.error(fmt::format("has {} of dimensions ({}); (upward, northing, easting) are needed", dataset,
                                 fmt::join(dimensions, ", ")));
  }
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string& name = dimensions[d];
    const std::size_t direction = 2 - d;
    const std::string group = dataset.substr(0, dataset.find_last_of('/') + 1);
    if (name.empty() || !arrays.has(group + name)) continue;
    if (arrays.shape(group + name) != std::vector<std::int64_t>{counts[direction]}) continue;
    const std::vector<double> coordinates = arrays.read(group + name);
    if (coordinates.size() > 1 && coordinates.front() > coordinates.back()) {
      throw file.error(
          fmt::format("has {} of coordinates {} that descend; cells are numbered from the west, south, "
                      "bottom corner",
                      dataset, name));
    }
  }
}

/// Of density_2, where density has epochs, that and 2; nothing for others.
std::optional<std::pair<std::string, std::int64_t>> epoch_of(const ArrayFile& arrays, const std::string& dataset) {
  const std::size_t cut = dataset.rfind('_');
  constexpr std::size_t most_digits = 6;
  if (cut == std::string::npos || cut + 1 == dataset.size() || dataset.size() - cut - 1 > most_digits) return {};
  if (dataset.find_first_not_of("0123456789", cut + 1) != std::string::npos) return {};
  const std::string all = dataset.substr(0, cut);
  const std::int64_t number = std::stoll(dataset.substr(cut + 1));
  if (number < 1 || number > epochs_of_cells(arrays, all)) return {};
  return std::pair{all, number};
}

/// kept or refused for kept_where_marked.
NanDensities resolved(NanDensities nan, const ArrayFile& arrays, const std::string& dataset) {
  if (nan != NanDensities::kept_where_marked) return nan;
  return arrays.has_attribute(dataset, "_FillValue") ? NanDensities::kept : NanDensities::refused;
}

std::vector<double> densities_from_arrays(const InputFile& file, const DensityFile& spec, const CellCounts& counts,
                                          NanDensities nan) {
  const ArrayFile arrays(file);
  const std::string name = spec.dataset.empty() ? spec.what : spec.dataset;
  std::string dataset = name.starts_with('/') ? name : "/" + name;
  const auto epoch = arrays.has(dataset) ? std::nullopt : epoch_of(arrays, dataset);
  if (epoch) dataset = epoch->first;
  if (!arrays.has(dataset)) {
    throw file.error(
        fmt::format("has no dataset {}; its datasets are: {}", dataset, shown_list(arrays.dataset_names("/"))));
  }
  std::vector<std::int64_t> shape = arrays.shape(dataset);
  if (epoch) shape.erase(shape.begin());
  const std::int64_t total = counts[0] * counts[1] * counts[2];
  const std::vector<std::int64_t> wanted = {counts[2], counts[1], counts[0]};
  if (const std::int64_t epochs = epochs_of_cells(arrays, dataset); !epoch && epochs > 0) {
    throw file.error(fmt::format("has {0} of {1}, the first of which is dataset: {0}_1; say which is meant", name,
                                 counted(epochs, "epoch")));
  }
  if (shape != wanted && shape != std::vector<std::int64_t>{total}) {
    throw file.error(fmt::format("has {} of shape {}; (upward, northing, easting) = {} or ({}) is needed", dataset,
                                 shape_text(shape), shape_text(wanted), total));
  }
  if (shape.size() == 3) check_ascending(arrays, file, dataset, counts);
  std::vector<double> densities = arrays.read(dataset);
  if (epoch) {
    const auto first = densities.begin() + (epoch->second - 1) * total;
    densities = std::vector<double>(first, first + total);
  }
  to_kilograms(densities, spec, file, counts, resolved(nan, arrays, dataset));
  return densities;
}

bool is_ubc_model(const InputFile& file, const DensityFile& spec) {
  return !spec.is_listed && format_of_suffix(file.path) == FileFormat::ubc_model && !is_array_file(file);
}

double ubc_to_si(const DensityFile& spec) {
  return spec.to_si.value_or(spec.what == "density" && info(FileFormat::ubc_model).in_grams ? 1000 : 1);
}

}  // namespace

std::string ubc_model_note(const InputFile& file, const DensityFile& spec) {
  if (!is_ubc_model(file, spec)) return "";
  const char* const unit = spec.what != "density" ? "SI" : ubc_to_si(spec) == 1 ? "kg/m3" : "g/cm3";
  return fmt::format("{}: '{}' is read as a UBC model, depth fastest, in {}", file.key, file.path.filename().string(),
                     unit);
}

std::string cell_name(const CellCounts& counts, std::int64_t cell) {
  return fmt::format("cell {} (easting {}, northing {}, upward {}, from 0)", cell, cell % counts[0],
                     cell / counts[0] % counts[1], cell / counts[0] / counts[1]);
}

std::vector<double> read_densities(const InputFile& file, const DensityFile& spec, const CellCounts& counts,
                                   NanDensities nan) {
  if (is_array_file(file)) return densities_from_arrays(file, spec, counts, nan);
  if (!spec.dataset.empty()) {
    throw file.error("is text, which has no datasets; leave out the key dataset beside it");
  }
  if (is_ubc_model(file, spec)) return read_ubc_densities(file, ubc_to_si(spec), counts, spec.what);
  return densities_from_text(file, spec, counts);
}

std::array<std::vector<double>, 3> read_magnetizations(const InputFile& file, const DensityFile& spec,
                                                       const CellCounts& counts) {
  if (!is_array_file(file)) {
    throw file.error("is text; magnetizations of cells are read from HDF5, netCDF-4 or a UBC vector model (.fld)");
  }
  const std::string name = spec.dataset.empty() ? spec.what : spec.dataset;
  const std::string dataset = name.starts_with('/') ? name : "/" + name;
  std::array<std::vector<double>, 3> components;
  const ArrayFile arrays(file);
  if (!arrays.has(dataset)) {
    for (std::size_t d = 0; d < components.size(); ++d) {
      DensityFile component = spec;
      component.dataset = dataset + "_" + direction_names[d];
      components[d] = densities_from_arrays(file, component, counts, NanDensities::kept_where_marked);
    }
    return components;
  }
  const std::int64_t total = counts[0] * counts[1] * counts[2];
  const std::vector<std::int64_t> shape = arrays.shape(dataset), wanted = {3, counts[2], counts[1], counts[0]};
  if (shape != wanted && shape != std::vector<std::int64_t>{3, total}) {
    throw file.error(fmt::format("has {} of shape {}; (3, upward, northing, easting) = {} or (3, {}) is needed",
                                 dataset, shape_text(shape), shape_text(wanted), total));
  }
  if (shape == wanted) check_ascending(arrays, file, dataset, counts);
  const std::vector<double> all = arrays.read(dataset);
  for (std::size_t d = 0; d < components.size(); ++d) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(d) * total;
    components[d] = std::vector<double>(first, first + total);
    to_kilograms(components[d], spec, file, counts, resolved(NanDensities::kept_where_marked, arrays, dataset));
  }
  return components;
}

std::vector<double> read_edges(const InputFile& file, const std::string& name, ProblemList& problems) {
  if (is_array_file(file))
    throw file.error("is HDF5 or netCDF; edges are read from text, numbers separated by blanks, commas or line ends");
  NumbersRequest request;
  request.several_a_line = true;
  request.what = name;
  // one more than there may be is enough to be refused
  request.count = most_cells_in_a_direction + 2;
  const std::size_t before = problems.size();
  Numbers numbers = read_numbers(file, request, problems);
  // text that was read as 0 would be reported twice
  if (problems.size() == before) {
    check_edges(
        numbers.values, file.path.string(), name, [&](std::size_t i) { return line_of(file, numbers.lines[i]); },
        problems);
  }
  return std::move(numbers.values);
}

}  // namespace prismfield
