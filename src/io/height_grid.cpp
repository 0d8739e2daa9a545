// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/height_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "io/grid_variable.hpp"
#include "io/place_columns.hpp"
#include "model/node_grid.hpp"

namespace prismfield {
namespace {

/// Points of a surface by which the nearest to a place is found: halves of halves, by turns along easting and northing.
class NearestPoint {
public:
  NearestPoint(const std::vector<double>& easting, const std::vector<double>& northing)
      : m_at{&easting, &northing}, m_order(easting.size()) {
    std::iota(m_order.begin(), m_order.end(), std::size_t{0});
    split(0, m_order.size(), 0);
  }

  /// Of points equally far the first of the file.
  [[nodiscard]] std::size_t operator()(double easting, double northing) const {
    Best best;
    search({easting, northing}, 0, m_order.size(), 0, best);
    return best.point;
  }

private:
  struct Best {
    double distance = std::numeric_limits<double>::infinity();
    std::size_t point = 0;
  };

  void split(std::size_t begin, std::size_t end, std::size_t direction) {
    if (end - begin < 2) return;
    const std::size_t middle = begin + (end - begin) / 2;
    const std::vector<double>& along = *m_at[direction];
    const auto at = [&](std::size_t i) { return m_order.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(begin), at(middle), at(end),
                     [&](std::size_t a, std::size_t b) { return std::pair(along[a], a) < std::pair(along[b], b); });
    split(begin, middle, 1 - direction);
    split(middle + 1, end, 1 - direction);
  }

  void search(const std::array<double, 2>& place, std::size_t begin, std::size_t end, std::size_t direction,
              Best& best) const {
    if (begin == end) return;
    const std::size_t middle = begin + (end - begin) / 2, point = m_order[middle];
    const double distance = std::hypot((*m_at[0])[point] - place[0], (*m_at[1])[point] - place[1]);
    if (std::pair(distance, point) < std::pair(best.distance, best.point)) best = {distance, point};
    const double across = place[direction] - (*m_at[direction])[point];
    const bool low_first = across < 0;
    if (low_first) {
      search(place, begin, middle, 1 - direction, best);
    } else {
      search(place, middle + 1, end, 1 - direction, best);
    }
    // points equally far may lie on the other side
    if (std::abs(across) > best.distance) return;
    if (low_first) {
      search(place, middle + 1, end, 1 - direction, best);
    } else {
      search(place, begin, middle, 1 - direction, best);
    }
  }

  std::array<const std::vector<double>*, 2> m_at;
  std::vector<std::size_t> m_order;
};

/// How far each place lies beyond the file's coordinates, metres: 0 within rounding.
std::vector<double> beyond(const std::vector<double>& file, const std::vector<double>& places) {
  const auto [least, most] = std::minmax_element(file.begin(), file.end());
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(*least), std::abs(*most));
  std::vector<double> distances;
  for (const double place : places) {
    const double distance = std::max({*least - place, place - *most, 0.0});
    distances.push_back(distance > rounding ? distance : 0);
  }
  return distances;
}

}  // namespace

HeightSurface::HeightSurface(const InputFile& file, const std::vector<std::string>& columns)
    : m_name(file.path.string()) {
  if (is_array_file(file)) {
    read_arrays(file);
  } else {
    read_table_of(file, columns);
  }
}

std::vector<double> HeightSurface::on_grid(const std::vector<double>& easting, const std::vector<double>& northing,
                                           std::string& note) const {
  std::vector<double> eastings, northings;
  eastings.reserve(easting.size() * northing.size());
  northings.reserve(easting.size() * northing.size());
  for (const double north : northing) {
    eastings.insert(eastings.end(), easting.begin(), easting.end());
    northings.insert(northings.end(), easting.size(), north);
  }
  note = note_of(easting, northing);
  return at(eastings, northings);
}

std::vector<double> HeightSurface::at(const std::vector<double>& easting, const std::vector<double>& northing) const {
  std::vector<double> heights;
  heights.reserve(easting.size());
  if (m_is_grid) {
    for (std::size_t p = 0; p < easting.size(); ++p) {
      heights.push_back(bilinear(between(m_easting, easting[p]), between(m_northing, northing[p]),
                                 [&](std::size_t j, std::size_t i) { return height(j, i); }));
    }
    return heights;
  }
  const NearestPoint nearest(m_easting, m_northing);
  for (std::size_t p = 0; p < easting.size(); ++p) heights.push_back(m_heights[nearest(easting[p], northing[p])]);
  return heights;
}

void HeightSurface::read_arrays(const InputFile& file) {
  const ArrayFile arrays(file);
  const std::string variable = height_variable(file, arrays);
  GridVariable grid = read_grid_variable(file, arrays, variable);
  ProblemList problems;
  for (const std::string& name : {grid.easting_name, grid.northing_name, variable}) {
    check_length_unit(file, arrays, name, 1, problems);
  }
  m_easting = std::move(grid.easting);
  m_northing = std::move(grid.northing);
  m_heights = std::move(grid.values);
  m_is_grid = true;
  LimitedProblems limited(problems, file.path.string());
  for (std::size_t n = 0; n < m_heights.size(); ++n) {
    if (std::isfinite(m_heights[n])) continue;
    limited.add("heights that are NaN or infinite", [&] {
      return Problem{file.path.string(), variable,
                     fmt::format("no height at easting {}, northing {}; fill the gap or write the file as a table "
                                 "without it",
                                 m_easting[n % m_easting.size()], m_northing[n / m_easting.size()])};
    });
  }
  limited.finish();
  problems.throw_if_any();
}

void HeightSurface::read_table_of(const InputFile& file, const std::vector<std::string>& columns) {
  TableRequest request = place_columns();
  request.columns = columns;
  request.columns_key = file.key_beside("columns");
  ProblemList problems;
  Table table = read_table(file, request, problems);
  std::vector<std::string> notes;
  places_to_metres(file, table, {}, problems, notes);
  m_easting = std::move(table.columns[0]);
  m_northing = std::move(table.columns[1]);
  m_heights = std::move(table.columns[2]);
  check_twice(file, table.lines, problems);
  problems.throw_if_any();
  make_grid();
}

/// The same place twice is an error where the heights differ.
void HeightSurface::check_twice(const InputFile& file, const std::vector<std::int64_t>& lines,
                                ProblemList& problems) const {
  std::vector<std::size_t> order(m_heights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&](std::size_t i) { return std::pair(m_northing[i], m_easting[i]); };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(place(a), a) < std::pair(place(b), b); });
  LimitedProblems limited(problems, file.path.string());
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t before = order[i - 1], here = order[i];
    if (place(before) != place(here) || m_heights[before] == m_heights[here]) continue;
    limited.add("places with two heights", [&] {
      return Problem{line_of(file, lines[here]), "",
                     fmt::format("easting {}, northing {} has the height {}, in line {} it has {}", m_easting[here],
                                 m_northing[here], m_heights[here], lines[before], m_heights[before])};
    });
  }
  limited.finish();
}

/// Puts the points in the order of a grid where they make a whole one.
void HeightSurface::make_grid() {
  const std::vector<double> easting = sorted_once(m_easting), northing = sorted_once(m_northing);
  const std::size_t n = m_heights.size();
  // points given twice, with one height, leave the grid what it is; fewer points than nodes do not fill it
  if (easting.size() > n / northing.size()) return;
  const std::size_t nodes = easting.size() * northing.size();
  std::vector<double> heights(nodes);
  std::vector<bool> known(nodes);
  std::size_t found = 0;
  for (std::size_t p = 0; p < n; ++p) {
    const auto index = [](const std::vector<double>& grid, double value) {
      return static_cast<std::size_t>(std::lower_bound(grid.begin(), grid.end(), value) - grid.begin());
    };
    const std::size_t node = index(northing, m_northing[p]) * easting.size() + index(easting, m_easting[p]);
    if (!known[node]) ++found;
    known[node] = true;
    heights[node] = m_heights[p];
  }
  if (found < nodes) return;
  m_easting = easting;
  m_northing = northing;
  m_heights = std::move(heights);
  m_is_grid = true;
}

std::string HeightSurface::note_of(const std::vector<double>& easting, const std::vector<double>& northing) const {
  std::string note;
  if (!m_is_grid) note = fmt::format("'{}': its points make no whole grid, the nearest counts", m_name);
  const std::vector<double> beyond_easting = beyond(m_easting, easting), beyond_northing = beyond(m_northing, northing);
  const auto inside = [](const std::vector<double>& distances) {
    return static_cast<std::int64_t>(std::count(distances.begin(), distances.end(), 0.0));
  };
  const auto all = static_cast<std::int64_t>(easting.size()) * static_cast<std::int64_t>(northing.size());
  const std::int64_t outside = all - inside(beyond_easting) * inside(beyond_northing);
  if (outside == 0) return note;
  const auto most = [](const std::vector<double>& distances) {
    return *std::max_element(distances.begin(), distances.end());
  };
  note += note.empty() ? fmt::format("'{}': ", m_name) : "; ";
  note += fmt::format("{} of {} lie beyond its area, by up to {:.4g} m, the nearest height inside counts there",
                      grouped(outside), counted(all, "place"), std::hypot(most(beyond_easting), most(beyond_northing)));
  return note;
}

}  // namespace prismfield
