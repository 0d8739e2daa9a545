// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/make_inversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "case/case.hpp"
#include "case/make_cells.hpp"
#include "case/places.hpp"
#include "io/density_file.hpp"
#include "io/height_grid.hpp"
#include "io/observed_data.hpp"
#include "parallel/agreement.hpp"

namespace prismfield {
namespace {

/// An area seen from above, metres.
struct Area {
  double west = 0, east = 0, south = 0, north = 0;

  [[nodiscard]] bool meets(const Area& other) const noexcept {
    return west <= other.east && other.west <= east && south <= other.north && other.south <= north;
  }
  [[nodiscard]] double extent() const noexcept { return std::max(east - west, north - south); }
  [[nodiscard]] Area times(double factor) const noexcept {
    return {west * factor, east * factor, south * factor, north * factor};
  }
};

Area area_of(const Points& points) {
  const auto [west, east] = std::minmax_element(points.easting.begin(), points.easting.end());
  const auto [south, north] = std::minmax_element(points.northing.begin(), points.northing.end());
  return {*west, *east, *south, *north};
}

Area area_of(const CellEdges& edges) { return {edges[0].front(), edges[0].back(), edges[1].front(), edges[1].back()}; }

/// What is suspicious in where a data set lies over the cells; "" when nothing is.
std::string misplaced(const Area& data, const Area& cells) {
  // far smaller than any survey of a model is, if the coordinates were metres
  constexpr double tiny = 0.005;
  const bool meets = data.meets(cells);
  const double part = data.extent() / cells.extent();
  if (meets && (part == 0 || part >= tiny)) return "";
  constexpr double km = 1000, alike = 10;
  if (data.times(km).meets(cells) && part * km <= alike && part * km >= 1 / alike) {
    return "has coordinates that look like kilometres; if they are, write length_unit: km beside its file";
  }
  constexpr double half_turn = 180, turn = 360, quarter_turn = 90;
  const bool like_degrees =
      data.west >= -half_turn && data.east <= turn && data.south >= -quarter_turn && data.north <= quarter_turn;
  if (like_degrees) return "has coordinates that look like degrees; easting and northing in metres are expected";
  return meets ? "" : "has no point above or below the model's cells; compare their coordinates";
}

/// Height of the highest active cell's top in every column of cells, (northing, easting), metres; columns without an
/// active cell have none.
std::vector<double> tops_of(const ActiveCells& cells) {
  const CellCounts counts = cells.counts();
  std::vector<double> tops(static_cast<std::size_t>(counts[0] * counts[1]), -std::numeric_limits<double>::infinity());
  const std::int64_t a_layer = counts[0] * counts[1];
  // numbers rise upwards: the last of a column is its highest
  for (std::int64_t column = 0; column < cells.size(); ++column) {
    const std::int64_t cell = cells.cell(column);
    tops[static_cast<std::size_t>(cell % a_layer)] = cells.edges()[2][static_cast<std::size_t>(cell / a_layer) + 1];
  }
  return tops;
}

/// The cell between `edges` that a coordinate lies in.
std::optional<std::size_t> cell_at(const std::vector<double>& edges, double at) {
  if (!(at >= edges.front() && at <= edges.back())) return std::nullopt;
  const auto above = std::upper_bound(edges.begin(), edges.end(), at);
  return std::min(static_cast<std::size_t>(above - edges.begin()), edges.size() - 1) - 1;
}

/// How far below a height a point may be to lie on it, metres: 4 ulp and what was rounded before.
double tolerance_at(double height, double rounding) {
  return 4 * std::numeric_limits<double>::epsilon() * std::abs(height) + rounding;
}

/// Throws InputError for densities of active cells that an inversion could not reach.
void check_bounds(const std::vector<double>& densities, const Range& bounds, const InputFile& file) {
  const auto is_outside = [&](double density) { return density < bounds.min || density > bounds.max; };
  const auto outside = std::count_if(densities.begin(), densities.end(), is_outside);
  if (outside == 0) return;
  const auto [least, most] = std::minmax_element(densities.begin(), densities.end());
  throw file.error(
      fmt::format("has densities from {:.6g} to {:.6g} kg/m3, {} outside inversion.bounds, [{}, {}]; "
                  "change one of the two",
                  *least, *most, counted(outside, "active cell"), bounds.min, bounds.max));
}

std::string place_text(const Points& points, std::size_t i) {
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
                                 point_text(epoch, other), place_text(epoch.points, other), point_text(first, other),
                                 place_text(first.points, other), rest, sizes, remedy));
  }
  if (!sizes.empty()) throw file.error(fmt::format("has another number of stations: {}{}", sizes, remedy));
}

/// Makes the inputs on one rank.
class InversionMaker {
public:
  explicit InversionMaker(const Case& run) : m_run(run), m_spec(*run.inversion) {}

  InversionInputs make();

private:
  void read_data();
  void name_epochs();
  std::vector<double> heights_over(const CellEdges& edges);
  void make_cells();
  void make_reference();
  void check_stations(std::size_t set);
  void check_heights(std::size_t set);
  void check_place(std::size_t set);
  /// Runs a step; what it throws is kept, so that the next one is tried too.
  template <class Step>
  void collect(const Step& step) {
    try {
      step();
    } catch (const InputError& error) {
      m_problems.add(error);
    }
  }

  const Case& m_run;
  const InversionSpec& m_spec;
  ProblemList m_problems;
  InversionInputs m_result;
  /// of the topography over each column of cells, (northing, easting), metres; empty without one
  std::vector<double> m_heights;
  /// the key of each data set that was read
  std::vector<std::string> m_data_keys;
  /// those whose stations stand for all epochs: the first that was read of each
  std::vector<std::size_t> m_first_epochs;
};

void InversionMaker::read_data() {
  ObservedDefaults defaults;
  defaults.axes = m_run.axes;
  if (m_run.fields_given) defaults.fields = m_run.fields;
  defaults.sigma = m_spec.sigma;
  bool is_first = true;
  for (std::size_t i = 0; i < m_spec.data.size(); ++i) {
    if (static_cast<std::int64_t>(i) % m_spec.n_epochs == 0) is_first = true;
    const ObservedDataFile& spec = m_spec.data[i];
    collect([&] {
      const InputFile file = input_file(m_run, spec.file, m_spec.data_keys[i]);
      m_result.data.push_back(read_observed_data(file, spec, defaults));
      m_data_keys.push_back(m_spec.data_keys[i]);
      if (!is_first) return check_epoch(m_result.data.back(), m_result.data[m_first_epochs.back()], file);
      is_first = false;
      m_first_epochs.push_back(m_result.data.size() - 1);
    });
  }
  name_epochs();
}

void InversionMaker::name_epochs() {
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

std::vector<double> InversionMaker::heights_over(const CellEdges& edges) {
  const auto centers = [](const std::vector<double>& along) {
    std::vector<double> result;
    for (std::size_t i = 0; i + 1 < along.size(); ++i) result.push_back(along[i] + (along[i + 1] - along[i]) / 2);
    return result;
  };
  std::string note;
  std::vector<double> heights =
      read_height_grid(input_file(m_run, m_spec.topography->file, "inversion.topography.file"),
                       m_spec.topography->columns, centers(edges[0]), centers(edges[1]), note);
  if (!note.empty()) m_result.notes.push_back("inversion.topography: " + note);
  return heights;
}

void InversionMaker::make_cells() {
  CellGrid grid = make_cell_grid(m_run);
  // columns of G have numbers of 32 bits; the product of the counts was checked
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const CellCounts counts = counts_of(grid.edges);
  if (const std::int64_t total = counts[0] * counts[1] * counts[2]; total > most) {
    throw InputError("", "model",
                     fmt::format("has {} cells; an inversion takes at most {}", grouped(total), grouped(most)));
  }
  if (!m_spec.topography) {
    m_result.cells = std::make_unique<ActiveCells>(std::move(grid.edges), grid.rounding);
  } else {
    m_heights = heights_over(grid.edges);
    std::vector<std::int64_t> active = cells_below(grid.edges, m_heights);
    if (active.empty()) {
      const auto [low, high] = std::minmax_element(m_heights.begin(), m_heights.end());
      throw InputError("", "inversion.topography",
                       fmt::format("leaves no active cell: its heights, {:.6g} to {:.6g} m, are below the centres of "
                                   "all cells, which reach from {:.6g} to {:.6g} m; heights are upward, in metres",
                                   *low, *high, grid.edges[2].front(), grid.edges[2].back()));
    }
    m_result.cells = std::make_unique<ActiveCells>(std::move(grid.edges), grid.rounding, std::move(active));
    m_result.notes.push_back(fmt::format("inversion.topography: {} of {} are below it and active",
                                         grouped(m_result.cells->size()), counted(m_result.cells->total(), "cell")));
  }
}

void InversionMaker::make_reference() {
  const ActiveCells& cells = *m_result.cells;
  if (const auto* density = std::get_if<double>(&m_spec.reference)) {
    m_result.reference.assign(static_cast<std::size_t>(cells.size()), *density);
    return;
  }
  const auto& spec = std::get<DensityFile>(m_spec.reference);
  const InputFile file = input_file(m_run, spec.file, "inversion.reference.file");
  // the model of an earlier inversion lacks densities where its cells were inactive
  const std::vector<double> densities = cells.of_all(read_densities(file, spec, cells.counts(), NanDensities::kept));
  const auto lacking = std::count_if(densities.begin(), densities.end(), [](double x) { return std::isnan(x); });
  if (lacking > 0) {
    throw file.error(
        fmt::format("has NaN for {}; a reference has a density for each", counted(lacking, "active cell")));
  }
  if (m_spec.settings.bounds) check_bounds(densities, *m_spec.settings.bounds, file);
  m_result.reference = densities;
}

void InversionMaker::check_stations(std::size_t set) {
  const ActiveCells& cells = *m_result.cells;
  const CellEdges& edges = cells.edges();
  const Points& points = m_result.data[set].points;
  const std::vector<double> tops = tops_of(cells);
  std::int64_t buried = 0;
  std::size_t first = 0, deepest = 0;
  double first_top = 0, most = 0;
  for (std::size_t i = 0; i < points.upward.size(); ++i) {
    const auto east = cell_at(edges[0], points.easting[i]), north = cell_at(edges[1], points.northing[i]);
    if (!east || !north) continue;
    const double top = tops[*north * (edges[0].size() - 1) + *east];
    const double below = top - points.upward[i];
    if (!(below > tolerance_at(top, cells.rounding()[2] + points.rounding[2]))) continue;
    if (buried == 0) first = i, first_top = top;
    if (below > most) most = below, deepest = i;
    ++buried;
  }
  if (buried == 0) return;
  const std::string rest = buried == 1 ? ""
                                       : fmt::format(", and {} more; the deepest is point {}, {:.6g} m below",
                                                     grouped(buried - 1), deepest, most);
  m_problems.add("", m_data_keys[set],
                 fmt::format("{}: point {} at easting {}, northing {} has height {}, but the active cells below the "
                             "surface reach up to {} there{}; stations must be above active cells: check the heights, "
                             "give {}inversion.topography, or make the cells at the surface thinner",
                             m_result.data[set].name, first, points.easting[first], points.northing[first],
                             points.upward[first], first_top, rest, m_spec.topography ? "a finer " : ""));
}

void InversionMaker::check_heights(std::size_t set) {
  if (m_heights.empty()) return;
  const CellEdges& edges = m_result.cells->edges();
  const std::size_t n_east = edges[0].size() - 1, n_north = edges[1].size() - 1;
  const Points& points = m_result.data[set].points;
  std::int64_t below = 0;
  for (std::size_t i = 0; i < points.upward.size(); ++i) {
    const auto east = cell_at(edges[0], points.easting[i]), north = cell_at(edges[1], points.northing[i]);
    if (!east || !north) continue;
    // Heights are known at the centres of columns: on a slope a station on the ground is between those around it.
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t j = std::max<std::size_t>(*north, 1) - 1; j <= std::min(*north + 1, n_north - 1); ++j) {
      for (std::size_t k = std::max<std::size_t>(*east, 1) - 1; k <= std::min(*east + 1, n_east - 1); ++k) {
        lowest = std::min(lowest, m_heights[j * n_east + k]);
      }
    }
    if (points.upward[i] < lowest - tolerance_at(lowest, 0)) ++below;
  }
  if (below == 0) return;
  m_result.warnings.push_back(
      fmt::format("{}: {} below the topography around; compare what its heights and those of "
                  "the topography are measured from",
                  m_result.data[set].name, below == 1 ? "1 point is" : grouped(below) + " points are"));
}

void InversionMaker::check_place(std::size_t set) {
  const std::string what = misplaced(area_of(m_result.data[set].points), area_of(m_result.cells->edges()));
  if (!what.empty()) m_result.warnings.push_back(fmt::format("{}: {}", m_result.data[set].name, what));
}

InversionInputs InversionMaker::make() {
  collect([&] { read_data(); });
  collect([&] { make_cells(); });
  if (m_result.cells) {
    collect([&] { make_reference(); });
    for (const std::size_t set : m_first_epochs) {
      check_stations(set);
      check_heights(set);
      check_place(set);
    }
  }
  m_problems.throw_if_any();
  return std::move(m_result);
}

void share(DataSet& set, const Communicator& communicator) {
  broadcast(communicator, set.name);
  for (std::vector<double>* column : {&set.points.easting, &set.points.northing, &set.points.upward,
                                      &set.points.grid_easting, &set.points.grid_northing, &set.values, &set.sigma}) {
    broadcast(communicator, *column);
  }
  broadcast(communicator, set.points.rounding);
  broadcast(communicator, set.fields);
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
  for (std::vector<double>& along : edges) broadcast(communicator, along);
  broadcast(communicator, rounding);
  broadcast(communicator, active);
  if (!inputs.cells && active.empty()) inputs.cells = std::make_unique<ActiveCells>(std::move(edges), rounding);
  if (!inputs.cells) inputs.cells = std::make_unique<ActiveCells>(std::move(edges), rounding, std::move(active));
  auto sets = static_cast<std::int64_t>(inputs.data.size());
  broadcast(communicator, sets);
  inputs.data.resize(static_cast<std::size_t>(sets));
  for (DataSet& set : inputs.data) share(set, communicator);
  broadcast(communicator, inputs.epochs);
  broadcast(communicator, inputs.reference);
  broadcast(communicator, inputs.notes);
  broadcast(communicator, inputs.warnings);
}

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
