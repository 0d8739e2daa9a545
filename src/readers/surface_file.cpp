// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/surface_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "base/number_text.hpp"
#include "formats/grid_formats.hpp"
#include "formats/text_lines.hpp"
#include "formats/text_table.hpp"
#include "model/cells.hpp"
#include "model/extents.hpp"
#include "model/nearest_points.hpp"
#include "model/plausible.hpp"
#include "readers/file_content.hpp"
#include "readers/point_columns.hpp"

namespace prismfield {
namespace {

InputError geographic(const InputFile& file, const std::string& names) {
  return file.error(
      fmt::format("has longitudes and latitudes ({}); prisms need metres of a map projection: project it first, e.g. "
                  "gdalwarp -t_srs EPSG:32719 -of netCDF in.nc out.nc, or gmt grdproject",
                  names));
}

/// Throws InputError for heights of a file without units whose places can hardly be metres apart: within the degrees
/// that there are, closer than 1, and steeper from end to end than any ground.
void refuse_degrees(const InputFile& file, const Surface& surface) {
  // a terrain as high as twice its length; with 111 km to a degree 10 m over 5 degrees are that
  constexpr double closest = 1, steepest = 2;
  const double points_a_side = std::sqrt(static_cast<double>(surface.values.size()));
  const auto ends_of = [&](const std::vector<double>& along, bool& is_fine) {
    const auto [least, most] = std::minmax_element(along.begin(), along.end());
    const double n = surface.is_grid ? static_cast<double>(along.size()) : points_a_side;
    is_fine = is_fine && n > 1 && *most - *least < closest * (n - 1);
    return std::pair(*least, *most);
  };
  bool is_fine = true;
  const auto [west, east] = ends_of(surface.easting, is_fine);
  const auto [south, north] = ends_of(surface.northing, is_fine);
  if (!is_fine || !could_be_degrees({west, east, south, north, 0, 0})) return;
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  for (const double height : surface.values) {
    // as they are where the height is NaN
    lowest = std::min(lowest, height);
    highest = std::max(highest, height);
  }
  if (!(highest - lowest > steepest * std::max(east - west, north - south))) return;
  throw file.error(fmt::format(
      "has places that look like degrees (easting {:.10g} to {:.10g}, northing {:.10g} to {:.10g}, heights {:.6g} to "
      "{:.6g} m); prisms need metres of a map projection: project it first, e.g. gdalwarp -s_srs EPSG:4326 -t_srs "
      "EPSG:32719 -of netCDF in.asc out.nc. Coordinates whose file says that they are metres are taken as such",
      west, east, south, north, lowest, highest));
}

/// The factor to metres of a file's own unit of length, 1 for none. Throws InputError for one that is not known.
double needed_factor(const InputFile& file, const std::string& name, const std::string& unit) {
  if (unit.empty()) return 1;
  const std::optional<double> factor = metres_in(unit);
  if (!factor) {
    throw file.error(fmt::format("has {} in {}; metres, km, feet or US survey feet are known", name, excerpt(unit)));
  }
  return *factor;
}

void scale(std::vector<double>& values, double factor) {
  if (factor == 1) return;
  for (double& value : values) value *= factor;
}

const char* quantity(const SurfaceRequest& request) { return request.density_to_si ? "density" : "height"; }

/// drop_dummies() with a note.
void drop_values(const InputFile& file, std::vector<double>& values, const SurfaceRequest& request, const char* noun,
                 std::vector<std::string>& notes) {
  const std::string note = drop_dummies(file, values, noun, fmt::format("a {}", quantity(request)));
  if (!note.empty()) notes.push_back(note);
}

/// A grid out of its file's units.
Surface surface_of_grid(const InputFile& file, GridVariable grid, const SurfaceRequest& request) {
  const bool has_units = !grid.easting_unit.empty() || !grid.northing_unit.empty();
  if (grid.is_geographic) throw geographic(file, "by its reference system");
  if (are_angles(grid.easting_name, grid.easting_unit) || are_angles(grid.northing_name, grid.northing_unit)) {
    throw geographic(file, grid.easting_name + ", " + grid.northing_name);
  }
  Surface surface;
  if (!grid.doubt.empty()) surface.notes.push_back(fmt::format("'{}': {}", file.path.string(), grid.doubt));
  drop_values(file, grid.values, request, "node", surface.notes);
  scale(grid.easting, needed_factor(file, grid.easting_name, grid.easting_unit));
  scale(grid.northing, needed_factor(file, grid.northing_name, grid.northing_unit));
  if (request.density_to_si) {
    scale(grid.values, *request.density_to_si);
  } else {
    scale(grid.values, (grid.is_depth ? -1 : 1) * needed_factor(file, grid.name, grid.unit));
    if (grid.is_depth) {
      surface.notes.push_back(fmt::format("'{}': {} is taken as the depth below height 0: heights are minus depth",
                                          file.path.string(), excerpt(grid.name)));
    }
  }
  surface.easting = std::move(grid.easting);
  surface.northing = std::move(grid.northing);
  surface.values = std::move(grid.values);
  if (!request.density_to_si && !has_units) refuse_degrees(file, surface);
  return surface;
}

/// UBC's topography: the number of its points, then easting, northing, elevation of each.
Table read_counted(const InputFile& file, const SurfaceRequest& request) {
  std::vector<std::string> given = request.columns.value_or(std::vector<std::string>());
  for (std::string& name : given) name = place_named(name);
  if (!given.empty() && given != place_columns().needed) {
    throw InputError(file.where, file.key_beside("columns"),
                     fmt::format("'{}' begins with the number of its points, whose columns are known: easting, "
                                 "northing, elevation; take the key out",
                                 file.path.string()));
  }
  Table table;
  table.columns.resize(3);
  table.units.resize(3);
  ProblemList problems;
  NumberRows rows(file, "point", problems);
  static_cast<void>(rows.read_count());
  for (std::vector<double> row; rows.next(row);) {
    if (row.size() != table.columns.size()) {
      rows.refuse("rows of more or fewer numbers",
                  fmt::format("has {} numbers; easting, northing, elevation are needed", row.size()));
      continue;
    }
    for (std::size_t d = 0; d < row.size(); ++d) table.columns[d].push_back(row[d]);
    table.lines.push_back(rows.line());
  }
  problems.throw_if_any();
  return table;
}

/// Throws InputError where a table says that its densities are in another unit than the one that `to_si` stands for.
void check_density_unit(const InputFile& file, const Table& table, double to_si) {
  const std::string& unit = table.units[2];
  const std::string wanted = to_si == 1 ? "kg/m3" : "g/cm3";
  if (unit.empty() || property_factor("density", unit) == to_si) return;
  throw InputError(
      table.units_where, table.named_key,
      fmt::format("column density is in {}, {} is {}", excerpt(unit), file.key_beside("density_unit"), wanted));
}

/// A table of places and values, and `factors` from its numbers to metres or kg/m3.
Table read_columns(const InputFile& file, const SurfaceRequest& request, std::vector<double>& factors,
                   std::vector<std::string>& notes) {
  TableRequest wanted = place_columns();
  wanted.skips_dummies = true;
  wanted.n_places = 2;
  if (request.columns) {
    wanted.columns = *request.columns;
    wanted.columns_key = file.key_beside("columns");
  }
  if (request.density_to_si) {
    wanted.needed.back() = "density";
    std::erase_if(wanted.aliases, [](const auto& alias) { return alias.name == "upward"; });
  }
  ProblemList problems;
  Table table = read_table(file, wanted, problems);
  TableColumns places = table;
  if (request.density_to_si) places.at.resize(2);
  factors = place_factors(file, places, {}, problems, notes);
  problems.throw_if_any();
  if (request.density_to_si) {
    check_density_unit(file, table, *request.density_to_si);
    factors.push_back(*request.density_to_si);
  }
  notes.insert(notes.end(), table.notes.begin(), table.notes.end());
  return table;
}

/// Removes rows without a place, and adds notes about these and other rows left out.
void drop_places(const InputFile& file, Table& table, std::vector<std::string>& notes) {
  leave_dummies_out(table, 2, 2);
  if (table.n_dummies == 0) return;
  notes.push_back(
      fmt::format("{} left out: {}",
                  some_of(file, table.n_dummies, static_cast<std::size_t>(table.n_dummies + table.rows()), "point"),
                  table.dummies_text()));
}

/// The places of nodes along one direction, out of those of points.
struct NodePlaces {
  /// of each node, rising: the least of its points' coordinates, and the middle of them
  std::vector<double> least, middle;

  [[nodiscard]] std::size_t size() const noexcept { return least.size(); }
  [[nodiscard]] std::size_t node_of(double place) const {
    return static_cast<std::size_t>(std::upper_bound(least.begin(), least.end(), place) - least.begin()) - 1;
  }
};

/// Places closer than `part` of the gaps between the others are of one node.
NodePlaces node_places(std::vector<double> places, double part) {
  const auto drop_repeated = [&] { places.erase(std::unique(places.begin(), places.end()), places.end()); };
  // rows of a grid have one northing: few are left to sort
  drop_repeated();
  std::sort(places.begin(), places.end());
  drop_repeated();
  std::vector<double> gaps;
  for (std::size_t i = 1; i < places.size(); ++i) gaps.push_back(places[i] - places[i - 1]);
  std::sort(gaps.begin(), gaps.end());
  double apart = 0;
  for (std::size_t i = gaps.size(); i-- > 1 && apart == 0;) {
    if (gaps[i - 1] < part * gaps[i]) apart = part * gaps[i];
  }
  NodePlaces nodes;
  for (const double place : places) {
    if (nodes.least.empty() || place - nodes.least.back() > apart) {
      nodes.least.push_back(place);
      nodes.middle.push_back(place);
    }
    nodes.middle.back() = nodes.least.back() + (place - nodes.least.back()) / 2;
  }
  return nodes;
}

Problem two_values(const InputFile& file, const Table& table, std::size_t a, std::size_t b) {
  const auto& [easting, northing, value] = std::tie(table.columns[0], table.columns[1], table.columns[2]);
  return {line_of(file, table.lines[b]), "",
          fmt::format("easting {}, northing {} has {}, in line {} it has {}", easting[b], northing[b], value[b],
                      table.lines[a], value[a])};
}

/// Puts points in the order of the grid that they make; false where they make none. `part`: see node_places().
bool put_on_grid(const InputFile& file, const Table& table, double part, Surface& surface) {
  const auto& [easting, northing, value] = std::tie(table.columns[0], table.columns[1], table.columns[2]);
  NodePlaces across = node_places(easting, part), along = node_places(northing, part);
  const std::size_t n = value.size(), longest = std::max(across.size(), along.size());
  // a grid with most of its nodes missing is none
  constexpr std::size_t most_nodes_a_point = 4;
  if (across.size() > most_nodes_a_point * n / along.size()) return false;
  const std::size_t n_nodes = across.size() * along.size();
  constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> point_at(n_nodes, nobody);
  std::size_t found = 0;
  ProblemList problems;
  LimitedProblems limited(problems, file.path.string());
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t& first = point_at[along.node_of(northing[p]) * across.size() + across.node_of(easting[p])];
    if (first == nobody) {
      first = p;
      ++found;
    } else if (easting[first] != easting[p] || northing[first] != northing[p]) {
      // two points of one node: the places are closer than nodes are, not rounded
      return false;
    } else if (std::isnan(value[first])) {
      first = p;
    } else if (!std::isnan(value[p]) && value[first] != value[p]) {
      limited.add("nodes with two values", [&] { return two_values(file, table, first, p); });
    }
  }
  const bool is_sparse = n_nodes > most_nodes_a_point * found || 2 * found < 3 * longest;
  if (found < n_nodes && is_sparse) return false;
  limited.finish();
  problems.throw_if_any();
  surface.values.resize(n_nodes);
  for (std::size_t node = 0; node < n_nodes; ++node) {
    surface.values[node] = point_at[node] == nobody ? std::numeric_limits<double>::quiet_NaN() : value[point_at[node]];
  }
  surface.easting = std::move(across.middle);
  surface.northing = std::move(along.middle);
  return true;
}

/// The same place twice is an error where the values differ.
void check_twice(const InputFile& file, const Table& table) {
  std::vector<std::size_t> order(table.lines.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&](std::size_t i) { return std::pair(table.columns[1][i], table.columns[0][i]); };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(place(a), a) < std::pair(place(b), b); });
  ProblemList problems;
  LimitedProblems limited(problems, file.path.string());
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t before = order[i - 1], here = order[i];
    if (place(before) != place(here) || table.columns[2][before] == table.columns[2][here]) continue;
    limited.add("places with two values", [&] { return two_values(file, table, before, here); });
  }
  limited.finish();
  problems.throw_if_any();
}

/// Text of points.
Surface surface_of_points(const InputFile& file, const SurfaceRequest& request) {
  Surface surface;
  std::vector<double> factors(3, 1);
  std::error_code code;
  const bool is_counted = !request.density_to_si && std::filesystem::is_regular_file(file.path, code) &&
                          begins_with_count(start_of_text(file, 2));
  Table table = is_counted ? read_counted(file, request) : read_columns(file, request, factors, surface.notes);
  drop_places(file, table, surface.notes);
  drop_values(file, table.columns[2], request, "point", surface.notes);
  for (std::size_t d = 0; d < factors.size(); ++d) {
    if (factors[d] == 1) continue;
    for (double& value : table.columns[d]) value = decimal_product(value, factors[d]);
  }
  const std::size_t n = table.lines.size();
  if (n == 0) return surface;
  // as short as coordinates are often written
  constexpr double rounded = 1e-3;
  surface.is_grid = put_on_grid(file, table, rounded, surface) || put_on_grid(file, table, 0, surface);
  // columns, the lines' numbers, sorted coordinates, points of nodes
  constexpr std::size_t held = 7;
  surface.peak_bytes = static_cast<std::int64_t>(held * std::max(n, surface.values.size()) * sizeof(double));
  if (!surface.is_grid) {
    std::vector<bool> kept;
    for (const double value : table.columns[2]) kept.push_back(!std::isnan(value));
    for (std::vector<double>& column : table.columns) keep_rows(column, kept);
    keep_rows(table.lines, kept);
    check_twice(file, table);
    surface.easting = std::move(table.columns[0]);
    surface.northing = std::move(table.columns[1]);
    surface.values = std::move(table.columns[2]);
  }
  const bool has_units = !table.units[0].empty() && !table.units[1].empty();
  if (!request.density_to_si && !has_units && !surface.values.empty()) refuse_degrees(file, surface);
  return surface;
}

/// Throws InputError for points that make no grid.
void need_grid(const InputFile& file, const Surface& surface) {
  if (surface.is_grid) return;
  const auto [west, east] = std::minmax_element(surface.easting.begin(), surface.easting.end());
  const auto [south, north] = std::minmax_element(surface.northing.begin(), surface.northing.end());
  throw file.error(fmt::format(
      "makes no grid: its {} have {} eastings and {} northings; make a grid of them first, e.g. gmt surface in.xyz "
      "-R{:.0f}/{:.0f}/{:.0f}/{:.0f} -I50 -Gout.nc, or gdal_grid",
      counted(static_cast<std::int64_t>(surface.values.size()), "point"), node_places(surface.easting, 0).size(),
      node_places(surface.northing, 0).size(), *west, *east, *south, *north));
}

/// Throws InputError unless the nodes of a file are those wanted: to a thousandth of the spacing, and to what single
/// precision loses, as grid files often hold coordinates in it, while that stays well below the spacing.
void check_nodes(const InputFile& file, const char* direction, const std::vector<double>& found,
                 const std::vector<double>& wanted, const char* whose, const char* need) {
  const double largest = std::max(std::fabs(wanted.front()), std::fabs(wanted.back()));
  double tolerance = 1e-6 * std::max(largest, 1.0);
  if (wanted.size() > 1) {
    const double spacing = (wanted.back() - wanted.front()) / static_cast<double>(wanted.size() - 1);
    tolerance = std::max(1e-3 * spacing, std::min(1.2e-7 * largest, 0.05 * spacing));
  }
  const auto near = [tolerance](double a, double b) { return std::fabs(a - b) <= tolerance; };
  if (std::equal(found.begin(), found.end(), wanted.begin(), wanted.end(), near)) return;
  throw file.error(fmt::format("has {} {}, {} to {}; {} {}, {} to {}, and {}", found.size(), direction, found.front(),
                               found.back(), whose, wanted.size(), wanted.front(), wanted.back(), need));
}

}  // namespace

Surface read_surface(const InputFile& file, const SurfaceRequest& request) {
  std::optional<GridVariable> grid = read_grid(file, request.variable);
  Surface surface = grid ? surface_of_grid(file, std::move(*grid), request) : surface_of_points(file, request);
  for (double& value : surface.values) {
    if (!std::isfinite(value)) value = std::numeric_limits<double>::quiet_NaN();
  }
  if (std::all_of(surface.values.begin(), surface.values.end(), [](double value) { return std::isnan(value); })) {
    throw file.error(fmt::format("has no {}: each is missing or a number that stands for none", quantity(request)));
  }
  surface.peak_bytes += static_cast<std::int64_t>(surface.values.capacity() * sizeof(double));
  return surface;
}

Dem read_dem(const InputFile& file, const std::string& variable, std::optional<double> density_to_si) {
  Surface surface = read_surface(file, {variable, {}, density_to_si});
  need_grid(file, surface);
  for (const std::vector<double>* nodes : {&surface.easting, &surface.northing}) {
    if (nodes->size() >= 2 && static_cast<std::int64_t>(nodes->size()) < most_cells_in_a_direction) continue;
    throw file.error(fmt::format("has {} x {} nodes; 2 to {} along easting and northing are needed",
                                 surface.easting.size(), surface.northing.size(), most_cells_in_a_direction));
  }
  Dem dem;
  dem.grid.easting = std::move(surface.easting);
  dem.grid.northing = std::move(surface.northing);
  dem.grid.values = NodeValues(std::move(surface.values));
  dem.notes = std::move(surface.notes);
  dem.peak_bytes = surface.peak_bytes + (dem.grid.values.single().empty() ? 0 : dem.grid.values.memory_bytes());
  return dem;
}

void check_same_nodes(const InputFile& file, const NodeGrid& densities, const NodeGrid& heights) {
  constexpr const char *whose = "the heights have", *need = "densities are needed at their nodes";
  check_nodes(file, "eastings", densities.easting, heights.easting, whose, need);
  check_nodes(file, "northings", densities.northing, heights.northing, whose, need);
}

std::vector<double> read_heights(const InputFile& file, const std::vector<double>& easting,
                                 const std::vector<double>& northing, std::vector<std::string>& notes) {
  Surface surface = read_surface(file);
  need_grid(file, surface);
  constexpr const char *whose = "the grid has", *need = "heights are needed at its own points";
  check_nodes(file, "eastings", surface.easting, easting, whose, need);
  check_nodes(file, "northings", surface.northing, northing, whose, need);
  const auto gap = std::find_if(surface.values.begin(), surface.values.end(), [](double v) { return std::isnan(v); });
  if (gap != surface.values.end()) {
    const auto node = static_cast<std::size_t>(gap - surface.values.begin());
    const auto gaps = std::count_if(gap, surface.values.end(), [](double v) { return std::isnan(v); });
    throw file.error(fmt::format("has no height at {} of {}, the first at easting {}, northing {}{}{}", grouped(gaps),
                                 counted(static_cast<std::int64_t>(surface.values.size()), "point"),
                                 easting[node % easting.size()], northing[node / easting.size()],
                                 surface.notes.empty() ? "" : "; ", fmt::join(surface.notes, "; ")));
  }
  notes.insert(notes.end(), surface.notes.begin(), surface.notes.end());
  return std::move(surface.values);
}

HeightSurface::HeightSurface(const InputFile& file, const std::vector<std::string>& columns)
    : m_name(file.path.string()), m_surface(read_surface(file, {{}, columns, {}})) {
  if (m_surface.is_grid) {
    fill_gaps();
  } else {
    m_notes.emplace_back("its points make no grid, the height of the nearest counts");
  }
  const auto [least, most] = std::minmax_element(m_surface.values.begin(), m_surface.values.end());
  const std::string doubt = height_warning({*least, *most});
  if (!doubt.empty()) m_surface.notes.push_back(fmt::format("'{}' has heights of {}", m_name, doubt));
}

void HeightSurface::fill_gaps() {
  const std::size_t n_easting = m_surface.easting.size(), n = m_surface.values.size();
  std::vector<double>& values = m_surface.values;
  const auto is_gap = [&](std::size_t node) { return std::isnan(values[node]); };
  // the node nearest to a gap is beside one: a step from it towards the gap would lead closer
  const auto is_beside_gap = [&](std::size_t node) {
    const std::size_t i = node % n_easting;
    return (i > 0 && is_gap(node - 1)) || (i + 1 < n_easting && is_gap(node + 1)) ||
           (node >= n_easting && is_gap(node - n_easting)) || (node + n_easting < n && is_gap(node + n_easting));
  };
  std::vector<double> easting, northing, heights;
  std::vector<std::size_t> gaps;
  for (std::size_t node = 0; node < n; ++node) {
    if (is_gap(node)) {
      gaps.push_back(node);
    } else if (is_beside_gap(node)) {
      easting.push_back(m_surface.easting[node % n_easting]);
      northing.push_back(m_surface.northing[node / n_easting]);
      heights.push_back(values[node]);
    }
  }
  if (gaps.empty()) return;
  const NearestPoints known(easting, northing);
  for (const std::size_t node : gaps) {
    std::size_t nearest = 0;
    known.find({m_surface.easting[node % n_easting], m_surface.northing[node / n_easting], 0}, std::span(&nearest, 1));
    values[node] = heights[nearest];
  }
  m_notes.push_back(fmt::format("{} of {} without a height get that of the nearest node",
                                grouped(static_cast<std::int64_t>(gaps.size())),
                                counted(static_cast<std::int64_t>(n), "node")));
}

std::vector<double> HeightSurface::on_grid(const std::vector<double>& easting, const std::vector<double>& northing,
                                           std::string& note) const {
  const auto [west, east] = std::minmax_element(m_surface.easting.begin(), m_surface.easting.end());
  const auto [south, north] = std::minmax_element(m_surface.northing.begin(), m_surface.northing.end());
  const double largest = std::max({std::abs(*west), std::abs(*east), std::abs(*south), std::abs(*north)});
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * largest;
  std::vector<double> eastings, northings;
  std::int64_t outside = 0;
  double farthest = 0;
  for (const double y : northing) {
    for (const double x : easting) {
      eastings.push_back(x);
      northings.push_back(y);
      const double distance =
          std::hypot(std::max({*west - x, x - *east, 0.0}), std::max({*south - y, y - *north, 0.0}));
      if (distance <= rounding) continue;
      ++outside;
      farthest = std::max(farthest, distance);
    }
  }
  std::vector<std::string> notes = m_notes;
  if (outside > 0) {
    notes.push_back(
        fmt::format("{} of {} lie beyond its area, by up to {:.4g} m, the nearest height inside counts there",
                    grouped(outside), counted(static_cast<std::int64_t>(eastings.size()), "place"), farthest));
  }
  note = notes.empty() ? "" : fmt::format("'{}': {}", m_name, fmt::join(notes, "; "));
  return at(eastings, northings);
}

std::vector<double> HeightSurface::at(const std::vector<double>& easting, const std::vector<double>& northing) const {
  const Surface& s = m_surface;
  std::vector<double> heights;
  heights.reserve(easting.size());
  if (s.is_grid) {
    for (std::size_t p = 0; p < easting.size(); ++p) {
      heights.push_back(bilinear(between(s.easting, easting[p]), between(s.northing, northing[p]),
                                 [&](std::size_t j, std::size_t i) { return s.values[j * s.easting.size() + i]; }));
    }
    return heights;
  }
  const NearestPoints points(s.easting, s.northing);
  for (std::size_t p = 0; p < easting.size(); ++p) {
    std::size_t nearest = 0;
    points.find({easting[p], northing[p], 0}, std::span(&nearest, 1));
    heights.push_back(s.values[nearest]);
  }
  return heights;
}

}  // namespace prismfield
