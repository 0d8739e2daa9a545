// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/cell_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "base/number_text.hpp"
#include "formats/cf_attributes.hpp"
#include "formats/text_table.hpp"
#include "model/edges.hpp"
#include "model/prism_check.hpp"
#include "readers/cell_axes.hpp"
#include "readers/exchange_files.hpp"
#include "readers/file_content.hpp"

namespace prismfield {
namespace {

/// What makes the values of `dataset`, of a property of this name, those of its unit here, by the unit that the file
/// states and `asked`, the factor of the key density_unit. Throws InputError where these deny each other.
double factor_of(const InputFile& file, const ArrayFile& arrays, const std::string& dataset, const std::string& name,
                 std::optional<double> asked) {
  const std::string unit = arrays.text_attribute(dataset, "units").value_or("");
  const std::optional<double> stated = property_factor(name, unit);
  const std::string key = file.key.empty() ? "--density-unit" : file.key_beside("density_unit");
  if (!stated && !asked) {
    throw file.error(
        is_density(name)
            ? fmt::format("has {} in {}; kg/m3 and g/cm3 are known: say by {} which it is", dataset, excerpt(unit), key)
            : fmt::format("has {} in {}; {} is needed", dataset, excerpt(unit), unit_text(unit_of_property(name))));
  }
  if (stated && asked && !unit.empty() && *stated != *asked) {
    throw file.error(
        fmt::format("has {} in {}, which {} denies; take one of the two out", dataset, excerpt(unit), key));
  }
  return asked ? *asked : *stated;
}

/// The values of the cells between `edges` in a dataset of shape (upward, northing, easting), in any order, or (cells);
/// `leading`: of so many such arrays, one behind another, 0: of one alone. Throws InputError for others.
std::vector<double> read_cells(const InputFile& file, const ArrayFile& arrays, const std::string& dataset,
                               const CellEdges& edges, std::int64_t leading) {
  const CellCounts counts = counts_of(edges);
  const std::int64_t total = counts[0] * counts[1] * counts[2];
  const std::vector<std::int64_t> whole = arrays.shape(dataset);
  std::vector<std::int64_t> shape = leading > 0 ? whole : shape_of_last(3, arrays, dataset);
  const bool is_led = leading > 0 && !shape.empty() && shape.front() == leading;
  if (is_led) shape.erase(shape.begin());
  if (is_led == (leading > 0)) {
    if (shape == std::vector<std::int64_t>{total}) return arrays.read(dataset);
    if (shape.size() == 3) {
      CellAxes axes(file, arrays, dataset);
      if (axes.counts() == counts) {
        axes.check(edges);
        return axes.arranged(arrays.read(dataset));
      }
    }
  }
  const std::string first = leading > 0 ? fmt::format("{}, ", leading) : "";
  throw file.error(fmt::format("has {} of shape {}; ({}upward, northing, easting) = ({}{}, {}, {}) or ({}{}) is needed",
                               dataset, shape_text(whole), first, first, counts[2], counts[1], counts[0], first,
                               total));
}

/// Part number `i` of `n` equal ones behind one another.
std::vector<double> part_of(const std::vector<double>& all, std::int64_t i, std::int64_t n) {
  const std::int64_t size = std::ssize(all) / n;
  return {all.begin() + i * size, all.begin() + (i + 1) * size};
}

/// Reads the cells of an HDF5 file.
class CellArrayReader {
public:
  explicit CellArrayReader(const InputFile& file) : m_file(file), m_content(file) {}

  CellModel read(const std::string& name, std::optional<double> density_to_si, const std::optional<CellEdges>& edges) {
    CellModel model;
    const std::vector<std::string> datasets = m_content.dataset_names("/");
    const auto has_cells = [&](const std::string& dataset) {
      return epochs_of_cells(m_content, dataset) > 0 || shape_of_last(3, m_content, dataset).size() == 3;
    };
    const auto any = std::find_if(datasets.begin(), datasets.end(), has_cells);
    const std::string of_mesh = m_content.has(name) && has_cells(name) ? name : any != datasets.end() ? *any : "";
    model.edges = edges ? *edges : CellAxes(m_file, m_content, "/" + of_mesh).edges();
    const CellCounts counts = counts_of(model.edges);
    if (const std::string error = error_in_total(counts); !error.empty()) throw m_file.error("has " + error);
    std::vector<std::int64_t> sizes(counts.begin(), counts.end());
    std::sort(sizes.begin(), sizes.end());
    for (const std::string& dataset : datasets) {
      const std::int64_t epochs = epochs_of_cells(m_content, dataset);
      std::vector<std::int64_t> shape = shape_of_last(3, m_content, dataset);
      std::sort(shape.begin(), shape.end());
      if (epochs > 0 || dataset == name || shape == sizes) {
        add_values(model, read_values(dataset, density_to_si, model.edges), epochs);
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
  /// Of all epochs where there are several.
  CellValues read_values(const std::string& dataset, std::optional<double> density_to_si, const CellEdges& edges) {
    CellValues values;
    values.name = dataset;
    values.values = read_cells(m_file, m_content, "/" + dataset, edges, epochs_of_cells(m_content, dataset));
    values.unit = unit_of_property(dataset);
    if (values.unit.empty()) values.unit = m_content.text_attribute(dataset, "units").value_or("");
    const double factor =
        factor_of(m_file, m_content, dataset, dataset, is_density(dataset) ? density_to_si : std::nullopt);
    for (double& value : values.values) {
      value *= factor;
      if (std::isinf(value)) throw m_file.error(fmt::format("has infinite values in {}", dataset));
    }
    return values;
  }

  const InputFile& m_file;
  ArrayFile m_content;
};

}  // namespace

std::vector<std::int64_t> shape_of_last(std::size_t n, const ArrayFile& content, const std::string& name) {
  std::vector<std::int64_t> shape = content.shape(name);
  while (shape.size() > n && shape.front() == 1) shape.erase(shape.begin());
  return shape;
}

std::int64_t epochs_of_cells(const ArrayFile& content, const std::string& name) {
  if (!content.has(name)) return 0;
  const std::vector<std::int64_t> shape = content.shape(name);
  return shape.size() == 4 && content.dimension_names(name).front() == "epoch" ? shape.front() : 0;
}

bool holds_cells(const ArrayFile& content, const std::string& name) {
  if (content.has(name) && shape_of_last(3, content, name).size() == 3) return true;
  return std::all_of(direction_names.begin(), direction_names.end(), [&](const std::string& coordinate) {
    return content.has(coordinate) &&
           content.has(content.text_attribute(coordinate, "bounds").value_or(coordinate + "_bounds"));
  });
}

void add_values(CellModel& model, CellValues values, std::int64_t epochs) {
  if (epochs == 0) {
    model.values.push_back(std::move(values));
    return;
  }
  for (std::int64_t e = 0; e < epochs; ++e) {
    model.values.push_back({fmt::format("{}_{}", values.name, e + 1), values.unit, part_of(values.values, e, epochs)});
  }
}

CellModel read_cell_arrays(const InputFile& file, const std::string& name, std::optional<double> density_to_si,
                           const std::optional<CellEdges>& edges) {
  return CellArrayReader(file).read(name, density_to_si, edges);
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
  std::optional<BoxGrid> grid = grid_of(prisms, 0, prisms.size() * most_cells_a_prism);
  if (!grid) return std::nullopt;
  CellModel model;
  model.edges = std::move(grid->edges);
  const CellCounts counts = counts_of(model.edges);
  const auto n_cells = static_cast<std::size_t>(counts[0] * counts[1] * counts[2]);
  for (const PropertyColumn& property : properties_of(prisms)) {
    CellValues values{property.name, unit_of_property(property.name), std::vector<double>(n_cells)};
    for (std::size_t p = 0; p < grid->cells.size(); ++p) {
      values.values[static_cast<std::size_t>(grid->cells[p])] = (*property.values)[p];
    }
    model.values.push_back(std::move(values));
  }
  return model;
}

namespace {

/// Applies the file's unit and checks every density; `name`: what they are called.
void to_kilograms(std::vector<double>& densities, const std::string& name, double factor, const InputFile& file,
                  const CellCounts& counts, NanDensities nan) {
  ProblemList problems;
  LimitedProblems limited(problems, file.path.string());
  for (std::size_t i = 0; i < densities.size(); ++i) {
    double& density = densities[i];
    density *= factor;
    const bool is_allowed = (nan != NanDensities::refused && std::isnan(density)) ||
                            (nan == NanDensities::kept_with_infinities && std::isinf(density));
    if (std::isfinite(density) || is_allowed) continue;
    limited.add("NaN or infinite values", [&] {
      return Problem{file.path.string(), name, cell_name(counts, static_cast<std::int64_t>(i)) + " is NaN or infinite"};
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
  to_kilograms(densities, spec.what, spec.to_si.value_or(1), file, counts, NanDensities::refused);
  return densities;
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
  constexpr std::array marks{"_FillValue", "missing_value", "valid_min", "valid_max", "valid_range"};
  const bool is_marked =
      std::any_of(marks.begin(), marks.end(), [&](const char* mark) { return arrays.has_attribute(dataset, mark); });
  return is_marked ? NanDensities::kept : NanDensities::refused;
}

/// What a file says instead of a dataset that it does not have.
std::string lacking(const ArrayFile& arrays, const std::string& dataset) {
  const std::vector<std::string> names = arrays.dataset_names("/");
  std::vector<std::string> of_cells;
  std::copy_if(names.begin(), names.end(), std::back_inserter(of_cells),
               [&](const std::string& name) { return shape_of_last(3, arrays, name).size() == 3; });
  if (of_cells.size() != 1) return fmt::format("has no dataset {}; its datasets are: {}", dataset, shown_list(names));
  return fmt::format("has no dataset {}, but one of three dimensions; write dataset: {} beside it to read that",
                     dataset, shown(of_cells[0], longest_name));
}

std::vector<double> densities_from_arrays(const InputFile& file, const DensityFile& spec, const CellEdges& edges,
                                          NanDensities nan) {
  const ArrayFile arrays(file);
  const std::string name = spec.dataset.empty() ? spec.what : spec.dataset;
  std::string dataset = name.starts_with('/') ? name : "/" + name;
  const auto epoch = arrays.has(dataset) ? std::nullopt : epoch_of(arrays, dataset);
  if (epoch) dataset = epoch->first;
  if (!arrays.has(dataset)) throw file.error(lacking(arrays, dataset));
  const std::int64_t epochs = epochs_of_cells(arrays, dataset);
  if (!epoch && epochs > 0) {
    throw file.error(fmt::format("has {0} of {1}, the first of which is dataset: {0}_1; say which is meant", name,
                                 counted(epochs, "epoch")));
  }
  std::vector<double> densities = read_cells(file, arrays, dataset, edges, epochs);
  if (epoch) densities = part_of(densities, epoch->second - 1, epochs);
  to_kilograms(densities, name, factor_of(file, arrays, dataset, spec.what, spec.to_si), file, counts_of(edges),
               resolved(nan, arrays, dataset));
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

std::vector<double> read_densities(const InputFile& file, const DensityFile& spec, const CellEdges& edges,
                                   NanDensities nan) {
  if (is_array_file(file)) return densities_from_arrays(file, spec, edges, nan);
  if (!spec.dataset.empty()) {
    throw file.error("is text, which has no datasets; leave out the key dataset beside it");
  }
  const CellCounts counts = counts_of(edges);
  if (is_ubc_model(file, spec)) return read_ubc_densities(file, ubc_to_si(spec), counts, spec.what);
  return densities_from_text(file, spec, counts);
}

std::array<std::vector<double>, 3> read_magnetizations(const InputFile& file, const DensityFile& spec,
                                                       const CellEdges& edges) {
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
      components[d] = densities_from_arrays(file, component, edges, NanDensities::kept_where_marked);
    }
    return components;
  }
  const std::vector<double> all = read_cells(file, arrays, dataset, edges, 3);
  const double factor = factor_of(file, arrays, dataset, spec.what, std::nullopt);
  for (std::size_t d = 0; d < components.size(); ++d) {
    components[d] = part_of(all, static_cast<std::int64_t>(d), 3);
    to_kilograms(components[d], name, factor, file, counts_of(edges),
                 resolved(NanDensities::kept_where_marked, arrays, dataset));
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
    const std::vector<bool> dummies = find_dummies(numbers.values);
    for (std::size_t i = 0; i < dummies.size() && problems.size() == before; ++i) {
      if (!dummies[i]) continue;
      problems.add(line_of(file, numbers.lines[i]), name, dummy_text(numbers.values[i]) + "; write where the edge is");
    }
  }
  return std::move(numbers.values);
}

}  // namespace prismfield
