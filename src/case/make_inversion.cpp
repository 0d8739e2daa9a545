// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/make_inversion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "case/case.hpp"
#include "case/make_model.hpp"
#include "model/choices.hpp"
#include "model/extents.hpp"
#include "model/inactive_mark.hpp"
#include "model/plausible.hpp"
#include "parallel/agreement.hpp"
#include "readers/cell_file.hpp"
#include "readers/observed_data.hpp"
#include "readers/surface_file.hpp"

namespace prismfield {
namespace {

double width_of(const Bounds& area) { return std::max(area.east - area.west, area.north - area.south); }

/// The shortest edge of a cell seen from above, metres.
double finest_cell(const CellEdges& edges) {
  double finest = std::numeric_limits<double>::infinity();
  for (std::size_t d = 0; d < 2; ++d) {
    for (std::size_t i = 1; i < edges[d].size(); ++i) finest = std::min(finest, edges[d][i] - edges[d][i - 1]);
  }
  return finest;
}

/// What is suspicious in where points lie over the cells, degrees apart; "" when nothing is.
std::string misplaced(const Points& points, const CellEdges& edges) {
  // far smaller than any survey of a model is, if the coordinates were metres
  constexpr double tiny = 0.005;
  // a survey over the fine cells of a mesh that is padded far around them
  constexpr double several = 4;
  // seen from above
  const Bounds cells = {edges[0].front(), edges[0].back(), edges[1].front(), edges[1].back(), 0, 0};
  Bounds data = bounds_of(points);
  data.bottom = data.top = 0;
  const double apart = distance(data, cells), part = width_of(data) / width_of(cells);
  if (apart == 0 && (part == 0 || part >= tiny || width_of(data) >= several * finest_cell(edges))) return "";
  if (fits_in_km(data, cells)) {
    return "has coordinates that look like kilometres; if they are, write length_unit: km beside its file";
  }
  if (apart == 0) return "";
  const Bounds swapped = {data.south, data.north, data.west, data.east, 0, 0};
  return fmt::format(
      "lies {:.6g} m beside the model's cells (the data: easting {:.10g} to {:.10g}, northing {:.10g} to {:.10g}; the "
      "cells: easting {:.10g} to {:.10g}, northing {:.10g} to {:.10g}); {}",
      apart, data.west, data.east, data.south, data.north, cells.west, cells.east, cells.south, cells.north,
      distance(swapped, cells) == 0 ? "easting and northing of the data seem to be swapped"
                                    : "are both in the same projection, zone and origin?");
}

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// A station on the ground may lie so far below the topography, or by a cell's height where that is more, metres: as
/// far as global elevation models are off. Less than the other is not worth a word.
constexpr double most_below_topography = 10, least_below_topography = 2;

/// The layer of the highest active cell in every column of cells, (northing, easting); -1 without an active cell.
/// `cells`: numbers that rise.
std::vector<std::int64_t> highest_layers(const CellCounts& counts, const std::vector<std::int64_t>& cells) {
  const std::int64_t a_layer = counts[0] * counts[1];
  std::vector<std::int64_t> layers(static_cast<std::size_t>(a_layer), -1);
  // numbers rise upwards: the last of a column is its highest
  for (const std::int64_t cell : cells) layers[static_cast<std::size_t>(cell % a_layer)] = cell / a_layer;
  return layers;
}

/// The cell between `edges` that a coordinate lies in.
std::optional<std::size_t> cell_at(const std::vector<double>& edges, double at) {
  if (!(at >= edges.front() && at <= edges.back())) return std::nullopt;
  const auto above = std::upper_bound(edges.begin(), edges.end(), at);
  return std::min(static_cast<std::size_t>(above - edges.begin()), edges.size() - 1) - 1;
}

/// The column of cells that a point lies in, above or below.
std::optional<std::size_t> column_at(const CellEdges& edges, const Points& points, std::size_t i) {
  const auto east = cell_at(edges[0], points.easting[i]), north = cell_at(edges[1], points.northing[i]);
  if (!east || !north) return std::nullopt;
  return *north * (edges[0].size() - 1) + *east;
}

/// How far below a height a point may be to lie on it, metres: 4 ulp and what was rounded before.
double tolerance_at(double height, double rounding) {
  return 4 * std::numeric_limits<double>::epsilon() * std::abs(height) + rounding;
}

/// Active cells that something is wrong with.
struct WrongCells {
  /// the first of them, an active cell
  std::size_t first = 0;
  /// "2 active cells, the first of which is cell 7 (...)"; empty: no errors
  std::string text;
};

/// `is_wrong`: of an active cell's number.
template <class IsWrong>
WrongCells wrong_cells(const ActiveCells& cells, const IsWrong& is_wrong) {
  WrongCells result;
  std::int64_t count = 0;
  for (std::int64_t j = cells.size(); j-- > 0;) {
    if (!is_wrong(static_cast<std::size_t>(j))) continue;
    ++count;
    result.first = static_cast<std::size_t>(j);
  }
  if (count == 0) return result;
  result.text = fmt::format("{}, the first of which is {}", counted(count, "active cell"),
                            cell_name(cells.counts(), cells.cell(static_cast<std::int64_t>(result.first))));
  return result;
}

std::string coordinates_text(const Points& points, std::size_t i) {
  return fmt::format("easting {}, northing {}, upward {}", points.easting[i], points.northing[i], points.upward[i]);
}

/// "line 7 of 2021.csv", "point 5 of 2021.h5"
std::string point_text(const DataSet& data, std::size_t i) {
  return data.lines.empty() ? fmt::format("point {} of {}", i, data.name)
                            : fmt::format("line {} of {}", data.lines[i], data.name);
}

/// Throws InputError where an epoch has other stations or fields than the first: one G serves all.
void check_epoch(const DataSet& epoch, const DataSet& first, const InputFile& file) {
  if (epoch.fields != first.fields) {
    const std::size_t at = file.key.rfind(".epochs");
    throw file.error(fmt::format("has other fields than {}; epochs need the same, say which by {}.fields", first.name,
                                 file.key.substr(0, at)));
  }
  // what nobody measures, but units and digits may leave
  constexpr double alike = 1e-3;
  const auto n = static_cast<std::size_t>(std::min(epoch.points.size(), first.points.size()));
  std::int64_t others = 0;
  std::size_t other = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_same = std::abs(epoch.points.easting[i] - first.points.easting[i]) <= alike &&
                         std::abs(epoch.points.northing[i] - first.points.northing[i]) <= alike &&
                         std::abs(epoch.points.upward[i] - first.points.upward[i]) <= alike;
    if (is_same) continue;
    if (others++ == 0) other = i;
  }
  constexpr const char* remedy = "epochs need the same stations in the same order";
  const std::string sizes =
      epoch.points.size() == first.points.size()
          ? ""
          : fmt::format("{} has {}, {} has {}; ", epoch.name, counted(epoch.points.size(), "station"), first.name,
                        grouped(first.points.size()));
  if (others > 0) {
    const std::string rest = others > 1 ? fmt::format(", and {} more differ", grouped(others - 1)) : "";
    throw file.error(fmt::format("has another station than the first epoch: {} is at {}, {} at {}{}; {}{}",
                                 point_text(epoch, other), coordinates_text(epoch.points, other),
                                 point_text(first, other), coordinates_text(first.points, other), rest, sizes, remedy));
  }
  if (!sizes.empty()) throw file.error(fmt::format("has another number of stations: {}{}", sizes, remedy));
}

/// Gives every rank what rank 0 made; the others' is not looked at. Collective.
void share(InversionInputs& inputs, const Communicator& communicator) {
  if (communicator.size() == 1) return;
  CellEdges edges;
  std::array<double, 3> rounding{};
  std::vector<std::int64_t> active;
  if (inputs.cells) {
    edges = inputs.cells->edges();
    rounding = inputs.cells->rounding();
    if (inputs.cells->size() < inputs.cells->total()) active = inputs.cells->cells();
  }
  broadcast_all(communicator, edges[0], edges[1], edges[2], rounding, active);
  if (!inputs.cells && active.empty()) inputs.cells = std::make_unique<ActiveCells>(std::move(edges), rounding);
  if (!inputs.cells) inputs.cells = std::make_unique<ActiveCells>(std::move(edges), rounding, std::move(active));
  auto sets = static_cast<std::int64_t>(inputs.data.size());
  broadcast(communicator, sets);
  inputs.data.resize(static_cast<std::size_t>(sets));
  for (DataSet& set : inputs.data) {
    Points& points = set.points;
    broadcast_all(communicator, set.name, points.easting, points.northing, points.upward, points.grid_easting,
                  points.grid_northing, points.rounding, set.values, set.sigma, set.fields, set.sigma_is_unknown);
  }
  broadcast_all(communicator, inputs.epochs, inputs.reference, inputs.lower, inputs.upper, inputs.cell_weights,
                inputs.start, inputs.notes, inputs.warnings);
}

/// Makes the inputs on one rank.
class InversionMaker {
public:
  explicit InversionMaker(const Case& run) : m_run(run), m_spec(*run.inversion) {}

  InversionInputs make() {
    m_problems.collect([&] { read_data(); });
    if (m_spec.settings.unknown == Unknown::susceptibility &&
        m_run.magnetic.inducing_field == std::array<double, 3>{}) {
      m_problems.add("", "magnetic.inducing_field",
                     fmt::format("is missing; a susceptibility is magnetised by it: {}", inducing_field_remedy));
    }
    m_problems.collect([&] { make_cells(); });
    if (m_result.cells) {
      m_problems.collect([&] {
        make_bounds();
        m_result.reference = model_of(m_spec.reference, "reference");
        if (m_spec.start) m_result.start = model_of(*m_spec.start, "start");
        // those of a file are of each component
        for (std::vector<double>* bounds : {&m_result.lower, &m_result.upper}) {
          const std::vector<double> of_one = *bounds;
          for (std::int64_t c = 1; c < components(m_spec.settings.unknown); ++c) {
            bounds->insert(bounds->end(), of_one.begin(), of_one.end());
          }
        }
      });
      m_problems.collect([&] { make_weights(); });
      for (const std::size_t set : m_first_epochs) {
        // heights say nothing where places are wrong
        if (!check_place(set) || m_is_underground[set]) continue;
        check_stations(set);
        check_heights(set);
      }
    }
    m_problems.throw_if_any();
    return std::move(m_result);
  }

private:
  void read_data() {
    ObservedDefaults defaults;
    defaults.axes = m_run.axes;
    defaults.inducing_field = m_run.magnetic.inducing_field;
    if (m_run.fields_given) defaults.fields = m_run.fields;
    defaults.has_other_files = static_cast<std::int64_t>(m_spec.data.size()) > m_spec.n_epochs;
    defaults.unknown = m_spec.settings.unknown;
    defaults.sigma = m_spec.sigma;
    defaults.sigma_may_be_unknown = !m_spec.settings.beta && m_spec.settings.beta_choice != BetaChoice::target;
    bool is_first = true;
    for (std::size_t i = 0; i < m_spec.data.size(); ++i) {
      if (static_cast<std::int64_t>(i) % m_spec.n_epochs == 0) is_first = true;
      const ObservedDataFile& spec = m_spec.data[i];
      m_problems.collect([&] {
        const InputFile file = input_file(m_run, spec.file, m_spec.data_keys[i]);
        m_result.data.push_back(read_observed_data(file, spec, defaults, m_result.notes));
        m_data_keys.push_back(m_spec.data_keys[i]);
        m_is_underground.push_back(spec.is_underground);
        const std::string doubt = point_height_warning(bounds_of(m_result.data.back().points));
        if (!doubt.empty()) m_result.warnings.push_back(fmt::format("{}: {}", m_result.data.back().name, doubt));
        const Points& points = m_result.data.back().points;
        const std::array<const std::vector<double>*, 3> places{&points.easting, &points.northing, &points.upward};
        if (const std::string place = find_dummy_places(places).doubt; !place.empty()) {
          m_result.warnings.push_back(fmt::format("{}: {}", m_result.data.back().name, place));
        }
        warn_of_deviations(m_result.data.back());
        if (!is_first) return check_epoch(m_result.data.back(), m_result.data[m_first_epochs.back()], file);
        is_first = false;
        m_first_epochs.push_back(m_result.data.size() - 1);
      });
    }
    name_epochs();
    check_sigma();
    if (m_run.fields_given && m_result.data.size() == m_spec.data.size()) check_fields();
  }

  /// What the case asks for and no file has.
  void check_fields() {
    FieldList there;
    for (const DataSet& data : m_result.data) there.add(data.fields);
    for (const FieldInfo& field : m_run.fields) {
      const bool is_of_files = std::any_of(m_spec.data.begin(), m_spec.data.end(),
                                           [](const ObservedDataFile& file) { return !file.fields; });
      if (is_of_files && !there.contains(field.field)) {
        m_problems.add("", "fields", fmt::format("asks for {}, which no file of inversion.data has", field.name));
      }
    }
  }

  /// A number as sigma is of one field's unit; where nothing states sigma the user should know what stands for it.
  void check_sigma() {
    FieldList fields;
    std::vector<std::string> unknown;
    for (const DataSet& data : m_result.data) {
      fields.add(data.fields);
      if (data.sigma_is_unknown) unknown.push_back(data.name);
    }
    if (m_spec.sigma_is_of_one_field && fields.size() > 1) {
      const double sigma = m_spec.sigma->floor.begin()->second;
      std::string floors;
      for (const std::string& name : names_of(fields)) {
        floors += fmt::format("{}{}: {}", floors.empty() ? "" : ", ", name, sigma);
      }
      m_problems.add(
          "", "inversion.sigma",
          fmt::format("is {}, which is for data of one field; these have {}: write {{floor: {{{}}}}} with the "
                      "sigma of each, in mGal, Eotvos, nT and nT/m",
                      sigma, fmt::join(names_of(fields), ", "), floors));
    }
    if (unknown.empty()) return;
    m_result.notes.push_back(
        fmt::format("inversion.sigma: none for {}; 1 mGal, 1 Eotvos, 1 m2 s-2, 1 nT or 1 nT/m stands for each, so "
                    "phi_d and chi are of no meaning",
                    fmt::join(unknown, ", ")));
  }

  void name_epochs() {
    if (m_spec.n_epochs == 1) return;
    m_result.epochs = m_spec.epoch_labels;
    if (!m_result.epochs.empty()) return;
    const auto are_distinct = [&] {
      return std::set<std::string>(m_result.epochs.begin(), m_result.epochs.end()).size() == m_result.epochs.size();
    };
    // files' names; where these are alike the folders too, and numbers where that does not help
    for (const bool with_folder : {false, true}) {
      m_result.epochs.clear();
      for (std::size_t e = 0; e < static_cast<std::size_t>(m_spec.n_epochs); ++e) {
        const std::filesystem::path& file = m_spec.data[e].file;
        m_result.epochs.push_back(((with_folder ? file.parent_path().filename() : "") / file.filename()).string());
      }
      if (are_distinct()) return;
    }
    for (std::size_t e = 0; e < m_result.epochs.size(); ++e) m_result.epochs[e] = fmt::format("epoch {}", e + 1);
  }

  void read_topography(const CellEdges& edges) {
    if (!m_spec.topography) return;
    const auto centers = [](const std::vector<double>& along) {
      std::vector<double> result;
      for (std::size_t i = 0; i + 1 < along.size(); ++i) result.push_back(along[i] + (along[i + 1] - along[i]) / 2);
      return result;
    };
    m_topography.emplace(input_file(m_run, m_spec.topography->file, "inversion.topography.file"),
                         m_spec.topography->columns);
    for (const std::string& warning : m_topography->warnings()) {
      m_result.warnings.push_back("inversion.topography: " + warning);
    }
    std::string note, of_corners;
    m_heights = m_topography->on_grid(centers(edges[0]), centers(edges[1]), note);
    if (!note.empty()) m_result.notes.push_back("inversion.topography: " + note);
    const std::vector<double> corners = m_topography->on_grid(edges[0], edges[1], of_corners);
    m_lowest = m_heights;
    const std::size_t n_east = edges[0].size() - 1;
    for (std::size_t column = 0; column < m_lowest.size(); ++column) {
      const std::size_t first = column / n_east * edges[0].size() + column % n_east;
      for (const std::size_t corner : {first, first + 1, first + edges[0].size(), first + edges[0].size() + 1}) {
        m_lowest[column] = std::min(m_lowest[column], corners[corner]);
      }
    }
  }

  /// The ground at each station of a data set, metres: the least height of the topography there, in the middle of the
  /// column of cells and at its corners, between which the steps of cells and of nearest points lie; NaN beside the
  /// cells.
  std::vector<double> ground_at_stations(std::size_t set, const CellEdges& edges) const {
    const Points& points = m_result.data[set].points;
    std::vector<double> ground = m_topography->at(points.easting, points.northing);
    for (std::size_t i = 0; i < ground.size(); ++i) {
      const auto column = column_at(edges, points, i);
      ground[i] = column ? std::min(ground[i], m_lowest[*column]) : std::numeric_limits<double>::quiet_NaN();
    }
    return ground;
  }

  /// The lowest station in each column of cells that may stand on the ground: (northing, easting), metres, infinite for
  /// none. `cells`: numbers of cells that would be active.
  std::vector<double> ceilings_of_stations(const CellEdges& edges, const std::vector<std::int64_t>& cells) const {
    const std::vector<std::int64_t> layers = highest_layers(counts_of(edges), cells);
    std::vector<double> ceilings(layers.size(), unbounded);
    for (const std::size_t set : m_first_epochs) {
      if (m_is_underground[set]) continue;
      const Points& points = m_result.data[set].points;
      const std::vector<double> ground = ground_at_stations(set, edges);
      for (std::size_t i = 0; i < ground.size(); ++i) {
        const auto column = column_at(edges, points, i);
        if (!column || layers[*column] < 0) continue;
        const auto layer = static_cast<std::size_t>(layers[*column]);
        const double height = edges[2][layer + 1] - edges[2][layer];
        const double upward = points.upward[i];
        if (ground[i] - upward > std::max(height, most_below_topography)) continue;
        ceilings[*column] =
            std::min(ceilings[*column], upward + tolerance_at(edges[2][layer + 1], m_rounding[2] + points.rounding[2]));
      }
    }
    return ceilings;
  }

  /// Leaves the cells that inversion.active marks by 1.
  void take_marked(const CellEdges& edges, std::vector<std::int64_t>& cells) {
    if (!m_spec.active) return;
    const InputFile file = input_file(m_run, m_spec.active->file, "inversion.active.file");
    const std::vector<double> marks = read_densities(file, *m_spec.active, edges, NanDensities::kept);
    const auto mark = [&](std::int64_t cell) { return marks[static_cast<std::size_t>(cell)]; };
    for (std::size_t cell = 0; cell < marks.size(); ++cell) {
      if (std::isnan(marks[cell]) || marks[cell] == 0 || marks[cell] == 1) continue;
      throw file.error(fmt::format("has {} for {}; 1, for an active cell, or 0 is expected", marks[cell],
                                   cell_name(counts_of(edges), static_cast<std::int64_t>(cell))));
    }
    std::erase_if(cells, [&](std::int64_t cell) { return mark(cell) != 1; });
    if (cells.empty()) {
      throw file.error(m_spec.topography ? "marks no cell below inversion.topography by 1" : "marks no cell by 1");
    }
  }

  /// Numbers of the cells that are active, where a topography or a file decides; says so in notes.
  std::vector<std::int64_t> active_cells(const CellEdges& edges) {
    const CellCounts counts = counts_of(edges);
    std::vector<std::int64_t> cells(static_cast<std::size_t>(counts[0] * counts[1] * counts[2]));
    std::iota(cells.begin(), cells.end(), std::int64_t{0});
    const std::string total = counted(static_cast<std::int64_t>(cells.size()), "cell");
    if (m_topography) cells = cells_below(edges, m_heights);
    if (cells.empty()) {
      const auto [low, high] = std::minmax_element(m_heights.begin(), m_heights.end());
      throw InputError("", "inversion.topography",
                       fmt::format("leaves no active cell: its heights, {:.6g} to {:.6g} m, are below the centres of "
                                   "all cells, which reach from {:.6g} to {:.6g} m; heights are upward, in metres",
                                   *low, *high, edges[2].front(), edges[2].back()));
    }
    const auto below = static_cast<std::int64_t>(cells.size());
    take_marked(edges, cells);
    const auto before = static_cast<std::int64_t>(cells.size());
    if (m_topography) cells = cells_under(edges, ceilings_of_stations(edges, cells), cells);
    if (cells.empty()) {
      throw InputError("", "inversion.topography", "leaves no cell that is below the stations; make the cells thinner");
    }
    const auto n = static_cast<std::int64_t>(cells.size());
    if (m_topography) {
      m_result.notes.push_back(fmt::format("inversion.topography: {} of {} are below it{}", grouped(below), total,
                                           n == below ? " and active" : ""));
      if (n < before) {
        m_result.notes.back() +=
            fmt::format("; {} of these reach above a station in their column and are inactive", grouped(before - n));
      }
    }
    if (m_spec.active)
      m_result.notes.push_back(fmt::format("inversion.active: {} of {} are active", grouped(n), total));
    return cells;
  }

  void make_cells() {
    CellGrid grid = make_cell_grid(m_run);
    // columns of G have numbers of 32 bits; the product of the counts was checked
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const CellCounts counts = counts_of(grid.edges);
    if (const std::int64_t total = counts[0] * counts[1] * counts[2]; total > most) {
      throw InputError("", "model",
                       fmt::format("has {} cells; an inversion takes at most {}", grouped(total), grouped(most)));
    }
    m_rounding = grid.rounding;
    read_topography(grid.edges);
    if (!m_topography && !m_spec.active) {
      m_result.cells = std::make_unique<ActiveCells>(std::move(grid.edges), grid.rounding);
      return;
    }
    std::vector<std::int64_t> cells = active_cells(grid.edges);
    m_result.cells = std::make_unique<ActiveCells>(std::move(grid.edges), grid.rounding, std::move(cells));
  }

  /// Warns of standard deviations that look like dummies beside the others, in the unit of the output.
  void warn_of_deviations(const DataSet& data) {
    auto next = data.sigma.begin();
    for (const FieldInfo& field : data.fields) {
      std::vector<double> sigma;
      const double unit = std::abs(output_factor(field.field, Axes::z_up));
      for (std::int64_t i = 0; i < data.points.size(); ++i) sigma.push_back(in_unit(*next++, 1 / unit));
      const std::vector<bool> found = find_dummies(sigma);
      if (found.empty()) continue;
      const auto first = static_cast<std::size_t>(std::find(found.begin(), found.end(), true) - found.begin());
      m_result.warnings.push_back(
          fmt::format("{}: {} of {}: {}; it is taken as it is", data.name,
                      counted(std::count(found.begin(), found.end(), true), "standard deviation"), field.name,
                      dummy_text(sigma[first])));
    }
  }

  /// Bounds of each cell, out of the datasets of a file.
  void make_bounds() {
    if (!m_spec.bounds) return;
    const ActiveCells& cells = *m_result.cells;
    const InputFile file = input_file(m_run, m_spec.bounds->file, "inversion.bounds.file");
    if (!is_array_file(file)) {
      throw file.error(
          "is text, which holds one list of values; HDF5 or netCDF-4 with the datasets lower, upper or both "
          "is needed");
    }
    const auto read = [&](const char* dataset, double none) {
      if (!ArrayFile(file).has(std::string("/") + dataset)) return std::vector<double>();
      DensityFile spec = *m_spec.bounds;
      spec.dataset = dataset;
      std::vector<double> bounds =
          cells.of_all(read_densities(file, spec, cells.edges(), NanDensities::kept_with_infinities));
      std::vector<double> finite = bounds;
      for (double& bound : finite) bound = std::isfinite(bound) ? bound : std::numeric_limits<double>::quiet_NaN();
      if (const std::string dummies = dummies_in({&finite}); !dummies.empty()) {
        m_result.warnings.push_back(
            fmt::format("{}: '{}' {}; it is taken as a bound: NaN is none", dataset, file.path.string(), dummies));
      }
      for (double& bound : bounds) bound = std::isnan(bound) ? none : bound;
      return bounds;
    };
    std::vector<double> lower = read("lower", -unbounded), upper = read("upper", unbounded);
    if (lower.empty() && upper.empty()) {
      throw file.error(fmt::format("has neither a dataset lower nor upper; its datasets are: {}",
                                   shown_list(ArrayFile(file).dataset_names("/"))));
    }
    const auto n = static_cast<std::size_t>(cells.size());
    if (lower.empty()) lower.assign(n, -unbounded);
    if (upper.empty()) upper.assign(n, unbounded);
    const WrongCells wrong = wrong_cells(cells, [&](std::size_t j) {
      return !(lower[j] <= upper[j]) || lower[j] == unbounded || upper[j] == -unbounded;
    });
    if (!wrong.text.empty()) {
      throw file.error(fmt::format("has no {} between lower and upper for {}: lower {}, upper {} {}", unknown_name(),
                                   wrong.text, lower[wrong.first], upper[wrong.first], unknown_unit()));
    }
    m_result.lower = std::move(lower);
    m_result.upper = std::move(upper);
  }

  void make_weights() {
    if (!m_spec.cell_weights) return;
    const ActiveCells& cells = *m_result.cells;
    const InputFile file = input_file(m_run, m_spec.cell_weights->file, "inversion.cell_weights.file");
    std::vector<double> weights =
        cells.of_all(read_densities(file, *m_spec.cell_weights, cells.edges(), NanDensities::kept));
    if (const std::string dummies = dummies_in({&weights}); !dummies.empty()) {
      m_result.warnings.push_back(fmt::format("{}: '{}' {}", file.key, file.path.filename().string(), dummies));
    }
    const WrongCells wrong = wrong_cells(cells, [&](std::size_t j) { return !(weights[j] > 0); });
    if (!wrong.text.empty()) {
      throw file.error(fmt::format("has weights that are not above 0 for {}: {}", wrong.text, weights[wrong.first]));
    }
    m_result.cell_weights = std::move(weights);
  }

  [[nodiscard]] const char* unknown_name() const { return name(m_spec.settings.unknown); }
  [[nodiscard]] const char* unknown_unit() const { return unit(m_spec.settings.unknown); }

  /// Throws InputError where a file's values, `what`, have dummies in active cells, in SI or in g/cm3.
  static void refuse_dummies(const InputFile& file, const std::vector<double>& values, const std::string& what) {
    constexpr double of_grams = 1000;
    for (const double to_si : {1.0, of_grams}) {
      const std::string dummies = dummies_in({&values, to_si});
      if (dummies.empty()) continue;
      throw file.error(fmt::format("{}; {} has a value in each active cell", dummies, what));
    }
  }

  /// What a file has for each active cell, one component after the other.
  std::vector<double> model_of_file(const InputFile& file, const DensityFile& spec, const std::string& what) {
    const ActiveCells& cells = *m_result.cells;
    if (components(m_spec.settings.unknown) > 1) {
      std::vector<double> all;
      for (const std::vector<double>& component :
           read_cell_magnetizations(m_run, file, spec, cells.edges(), m_result.notes)) {
        const std::vector<double> of_active = cells.of_all(component);
        all.insert(all.end(), of_active.begin(), of_active.end());
      }
      refuse_dummies(file, all, what);
      return all;
    }
    if (std::string note = ubc_model_note(file, spec); !note.empty()) m_result.notes.push_back(std::move(note));
    // the model of an earlier inversion lacks values where its cells were inactive
    std::vector<double> values = cells.of_all(read_densities(file, spec, cells.edges(), NanDensities::kept));
    const auto lacking = std::count_if(values.begin(), values.end(), [](double x) { return std::isnan(x); });
    refuse_dummies(file, values, what);
    if (lacking == 0) return values;
    throw file.error(
        fmt::format("has NaN for {}; a {} has a {} for each", counted(lacking, "active cell"), what, unknown_name()));
  }

  /// Values of the unknowns of an epoch that `what`, reference or start, says. Throws InputError where bounds leave
  /// them out.
  std::vector<double> model_of(const CellModelSpec& spec, const std::string& what) {
    const ActiveCells& cells = *m_result.cells;
    const auto n = static_cast<std::size_t>(cells.size());
    const auto n_components = static_cast<std::size_t>(components(m_spec.settings.unknown));
    const std::string key = "inversion." + what;
    std::vector<double> values;
    std::optional<InputFile> file;
    if (const auto* of_file = std::get_if<DensityFile>(&spec)) {
      file = input_file(m_run, of_file->file, key + ".file");
      values = model_of_file(*file, *of_file, what);
    } else {
      for (std::size_t c = 0; c < n_components; ++c) {
        const auto* vector = std::get_if<std::array<double, 3>>(&spec);
        values.insert(values.end(), n, vector != nullptr ? (*vector)[c] : std::get<double>(spec));
      }
    }
    const auto bounds_at = [&](std::size_t j) {
      return m_result.lower.empty() ? m_spec.settings.bounds.value_or(Range{-unbounded, unbounded})
                                    : Range{m_result.lower[j], m_result.upper[j]};
    };
    for (std::size_t first = 0; first < values.size(); first += n) {
      const WrongCells outside = wrong_cells(cells, [&](std::size_t j) {
        return values[first + j] < bounds_at(j).min || values[first + j] > bounds_at(j).max;
      });
      if (outside.text.empty()) continue;
      const std::string text =
          fmt::format("is outside inversion.bounds in {}: {:.6g} {}, bounds {}; change one of the two", outside.text,
                      values[first + outside.first], unknown_unit(), bounds_text(bounds_at(outside.first)));
      throw file ? file->error(text) : InputError("", key, text);
    }
    return values;
  }

  /// Stations in or below active cells: what to write where they are underground, and what to mend where they are not.
  void check_stations(std::size_t set) {
    const ActiveCells& cells = *m_result.cells;
    const CellEdges& edges = cells.edges();
    const Points& points = m_result.data[set].points;
    const std::vector<std::int64_t> layers = highest_layers(cells.counts(), cells.cells());
    const std::vector<double> ground = m_topography ? ground_at_stations(set, edges) : std::vector<double>();
    std::vector<std::size_t> buried;
    std::size_t deepest = 0;
    double most = 0;
    for (std::size_t i = 0; i < points.upward.size(); ++i) {
      const auto column = column_at(edges, points, i);
      if (!column || layers[*column] < 0) continue;
      const double top = edges[2][static_cast<std::size_t>(layers[*column]) + 1];
      if (!(top - points.upward[i] > tolerance_at(top, cells.rounding()[2] + points.rounding[2]))) continue;
      const double below = (m_topography ? ground[i] : top) - points.upward[i];
      if (buried.empty() || below > most) most = below, deepest = i;
      buried.push_back(i);
    }
    if (buried.empty()) return;
    const std::size_t column = *column_at(edges, points, deepest), n_east = edges[0].size() - 1;
    const auto layer = cell_at(edges[2], points.upward[deepest]).value_or(0);
    const std::string above =
        m_topography ? "check what their heights and those of the topography are measured from"
                     : fmt::format(
                           "the cells above them are air: give inversion.topography, or mark these cells by 0 in "
                           "a file inversion.active, above the deepest easting {}, northing {}, upward {} to {} "
                           "(from 0)",
                           column % n_east, column / n_east, layer, layers[column]);
    const DataSet& data = m_result.data[set];
    m_problems.add(
        "", m_data_keys[set],
        fmt::format("{}: {} in or below active cells, the deepest is {} ({}), {:.6g} m below the {}. If "
                    "they are in boreholes or tunnels, write underground: true beside the file: {{file: {}, "
                    "underground: true}}. If they are on "
                    "the ground, {}",
                    data.name, buried.size() == 1 ? "1 station is" : grouped(std::ssize(buried)) + " stations are",
                    point_text(data, deepest), coordinates_text(points, deepest), most,
                    m_topography ? "topography" : "top of the cells there", data.name, above));
  }

  void check_heights(std::size_t set) {
    if (!m_topography) return;
    const Points& points = m_result.data[set].points;
    const std::vector<double> ground = ground_at_stations(set, m_result.cells->edges());
    std::int64_t below = 0;
    double most = 0;
    for (std::size_t i = 0; i < ground.size(); ++i) {
      // false for NaN
      if (!(ground[i] - points.upward[i] > least_below_topography)) continue;
      ++below;
      most = std::max(most, ground[i] - points.upward[i]);
    }
    if (below == 0) return;
    m_result.warnings.push_back(
        fmt::format("{}: {} below the topography, by up to {:.3g} m; compare what its heights "
                    "and those of the topography are measured from",
                    m_result.data[set].name, below == 1 ? "1 point is" : grouped(below) + " points are", most));
  }

  /// False, with an error, where the coordinates are degrees.
  bool check_place(std::size_t set) {
    const DataSet& data = m_result.data[set];
    const DegreesDoubt degrees = degrees_doubt(m_result.cells->bounds(), bounds_of(data.points));
    const std::string what = degrees.text.empty() ? misplaced(data.points, m_result.cells->edges()) : degrees.text;
    if (degrees.is_certain) {
      m_problems.add("", m_data_keys[set], data.name + ": " + what);
    } else if (!what.empty()) {
      m_result.warnings.push_back(fmt::format("{}: {}", data.name, what));
    }
    return !degrees.is_certain;
  }

  const Case& m_run;
  const InversionSpec& m_spec;
  ProblemList m_problems;
  InversionInputs m_result;
  /// of the cells' edges
  std::array<double, 3> m_rounding{};
  std::optional<HeightSurface> m_topography;
  /// of the topography over the centre of each column of cells, and the least there and at its corners, (northing,
  /// easting), metres; empty without one
  std::vector<double> m_heights, m_lowest;
  /// the key of each data set that was read
  std::vector<std::string> m_data_keys;
  std::vector<bool> m_is_underground;
  /// those whose stations stand for all epochs: the first that was read of each
  std::vector<std::size_t> m_first_epochs;
};

}  // namespace

InversionInputs make_inversion(const Case& run, const Communicator& communicator) {
  return at_places_of(run, [&] {
    InversionInputs inputs;
    agree_on_input(communicator, [&] {
      if (!run.inversion) throw InputError("", "inversion", "is missing; a map with data is needed");
      if (communicator.rank() == 0) inputs = InversionMaker(run).make();
    });
    share(inputs, communicator);
    return inputs;
  });
}

}  // namespace prismfield
