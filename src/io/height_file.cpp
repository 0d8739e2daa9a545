// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/height_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "io/station_file.hpp"

namespace prismfield {
namespace {

std::string no_height(double easting, double northing) {
  return fmt::format("no height at easting {}, northing {}", easting, northing);
}

using Words = std::vector<std::string>;

const Words easting_names = {"easting", "x", "lon", "longitude"};
const Words northing_names = {"northing", "y", "lat", "latitude"};
const Words height_names = {"upward", "elevation", "height", "z"};

bool contains(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// How far a file's coordinate may lie from the grid's: a thousandth of the spacing, and what single precision
/// loses, as grid files often hold coordinates in it, while that stays well below the spacing.
double coordinate_tolerance(const std::vector<double>& grid) {
  const double largest = std::max(std::fabs(grid.front()), std::fabs(grid.back()));
  if (grid.size() == 1) return 1e-6 * std::max(largest, 1.0);
  const double spacing = (grid.back() - grid.front()) / static_cast<double>(grid.size() - 1);
  return std::max(1e-3 * spacing, std::min(1.2e-7 * largest, 0.05 * spacing));
}

/// Heights at the nodes of a grid from a file on the same grid.
class HeightFile {
public:
  HeightFile(const InputFile& file, const std::vector<double>& easting, const std::vector<double>& northing)
      : m_file(file), m_easting(easting), m_northing(northing) {}

  /// (northing, easting) in metres. Throws InputError with every mistake found.
  std::vector<double> read() const { return is_array_file(m_file) ? read_netcdf() : read_csv(); }

private:
  [[nodiscard]] std::size_t node(std::size_t j, std::size_t i) const noexcept { return j * m_easting.size() + i; }

  std::vector<double> read_netcdf() const {
    const ArrayFile arrays(m_file);
    const std::string variable = height_variable(arrays);
    std::vector<std::int64_t> shape = arrays.shape("/" + variable);
    Words dimensions = arrays.dimension_names("/" + variable);
    // leading dimensions of one value, a date or a band
    shape.erase(shape.begin(), shape.end() - 2);
    dimensions.erase(dimensions.begin(), dimensions.end() - 2);
    const bool transposed = contains(easting_names, dimensions[0]) || contains(northing_names, dimensions[1]);
    if (transposed) {
      std::swap(shape[0], shape[1]);
      std::swap(dimensions[0], dimensions[1]);
    }
    const bool north_first = ascends(arrays, dimensions[0], northing_names, "northing", shape[0], m_northing);
    const bool east_first = ascends(arrays, dimensions[1], easting_names, "easting", shape[1], m_easting);

    const std::vector<double> values = arrays.read("/" + variable);
    std::vector<double> heights(values.size());
    const std::size_t n_northing = m_northing.size(), n_easting = m_easting.size();
    for (std::size_t j = 0; j < n_northing; ++j) {
      const std::size_t row = north_first ? j : n_northing - 1 - j;
      for (std::size_t i = 0; i < n_easting; ++i) {
        const std::size_t column = east_first ? i : n_easting - 1 - i;
        heights[node(j, i)] = values[transposed ? column * n_northing + row : row * n_easting + column];
      }
    }
    check_finite(heights, variable);
    return heights;
  }

  /// The variable of two dimensions, by its name when there are several.
  std::string height_variable(const ArrayFile& arrays) const {
    Words candidates, named;
    for (const std::string& name : arrays.dataset_names("/")) {
      const std::vector<std::int64_t> shape = arrays.shape("/" + name);
      if (shape.size() < 2 || std::any_of(shape.begin(), shape.end() - 2, [](auto n) { return n != 1; })) continue;
      candidates.push_back(name);
      if (contains(height_names, name)) named.push_back(name);
    }
    if (candidates.size() == 1) return candidates.front();
    if (named.size() == 1) return named.front();
    throw m_file.error(candidates.empty()
                           ? "has no variable of two dimensions"
                           : fmt::format("has {} variables of two dimensions ({}); one of them must be named {}",
                                         candidates.size(), shown_list(candidates), fmt::join(height_names, ", ")));
  }

  /// True when the coordinates are the grid's in its order, false in the opposite order; throws when they are neither.
  bool ascends(const ArrayFile& arrays, const std::string& dimension, const Words& names, const std::string& direction,
               std::int64_t length, const std::vector<double>& grid) const {
    std::string coordinate;
    for (const std::string& name : names) {
      // a file of plain HDF5 says nothing of dimensions: its coordinates are known by their names
      if (coordinate.empty() && dimension.empty() && arrays.has("/" + name)) coordinate = name;
    }
    if (!dimension.empty() && arrays.has("/" + dimension)) coordinate = dimension;
    if (coordinate.empty()) {
      throw m_file.error(fmt::format("has no coordinates for {}; it needs the variable {}", direction, direction));
    }
    if (const auto lengths = arrays.shape("/" + coordinate); lengths != std::vector<std::int64_t>{length}) {
      throw m_file.error(fmt::format("has {} of shape {} for {} heights", coordinate, shape_text(lengths), length));
    }
    const std::vector<double> values = arrays.read("/" + coordinate);
    const double tolerance = coordinate_tolerance(grid);
    const auto near = [tolerance](double a, double b) { return std::fabs(a - b) <= tolerance; };
    if (values.size() == grid.size()) {
      if (std::equal(values.begin(), values.end(), grid.begin(), near)) return true;
      if (std::equal(values.rbegin(), values.rend(), grid.begin(), near)) return false;
    }
    throw m_file.error(fmt::format(
        "has {} ({}) at {} value{}, {} to {}; the grid has {}, {} to {}, and heights are needed at its "
        "own points",
        direction, coordinate, values.size(), values.size() == 1 ? "" : "s", values.empty() ? 0.0 : values.front(),
        values.empty() ? 0.0 : values.back(), grid.size(), grid.front(), grid.back()));
  }

  void check_finite(const std::vector<double>& heights, const std::string& variable) const {
    ProblemList problems;
    LimitedProblems limited(problems, m_file.path.string());
    for (std::size_t j = 0; j < m_northing.size(); ++j) {
      for (std::size_t i = 0; i < m_easting.size(); ++i) {
        if (std::isfinite(heights[node(j, i)])) continue;
        limited.add("heights that are NaN or infinite", [&] {
          return Problem{m_file.path.string(), variable, no_height(m_easting[i], m_northing[j])};
        });
      }
    }
    limited.finish();
    problems.throw_if_any();
  }

  /// The grid node of a coordinate, or nothing.
  static std::optional<std::size_t> nearest(const std::vector<double>& grid, double value, double tolerance) {
    const auto behind = std::lower_bound(grid.begin(), grid.end(), value);
    for (const auto at : {behind, behind == grid.begin() ? behind : behind - 1}) {
      if (at != grid.end() && std::fabs(*at - value) <= tolerance) return static_cast<std::size_t>(at - grid.begin());
    }
    return std::nullopt;
  }

  std::vector<double> read_csv() const {
    ProblemList problems;
    const Table table = read_table(m_file, station_columns(), problems);
    const bool all_read = problems.empty();
    LimitedProblems limited(problems, m_file.path.string());
    std::vector<double> heights(m_easting.size() * m_northing.size());
    std::vector<std::int64_t> line_of_node(heights.size(), 0);
    const double easting_tolerance = coordinate_tolerance(m_easting);
    const double northing_tolerance = coordinate_tolerance(m_northing);
    for (std::size_t r = 0; r < table.lines.size(); ++r) {
      const double easting = table.columns[0][r], northing = table.columns[1][r];
      const auto i = nearest(m_easting, easting, easting_tolerance);
      const auto j = nearest(m_northing, northing, northing_tolerance);
      const std::int64_t line = table.lines[r];
      if (!i || !j) {
        limited.add("points that are not on the grid", [&] {
          return Problem{line_of(m_file, line), "",
                         fmt::format("easting {}, northing {} is no point of the grid", easting, northing)};
        });
        continue;
      }
      std::int64_t& earlier = line_of_node[node(*j, *i)];
      if (earlier > 0) {
        limited.add("points given twice", [&] {
          return Problem{line_of(m_file, line), "",
                         fmt::format("easting {}, northing {} was given in line {}", easting, northing, earlier)};
        });
        continue;
      }
      earlier = line;
      heights[node(*j, *i)] = table.columns[2][r];
    }
    // lines with a mistake leave gaps that are no mistake of their own
    for (std::size_t n = 0; all_read && n < heights.size(); ++n) {
      if (line_of_node[n] > 0) continue;
      limited.add("grid points without a height", [&] {
        return Problem{m_file.path.string(), "",
                       no_height(m_easting[n % m_easting.size()], m_northing[n / m_easting.size()])};
      });
    }
    limited.finish();
    problems.throw_if_any();
    return heights;
  }

  const InputFile& m_file;
  const std::vector<double>& m_easting;
  const std::vector<double>& m_northing;
};

}  // namespace

std::vector<double> read_heights(const InputFile& file, const std::vector<double>& easting,
                                 const std::vector<double>& northing) {
  return HeightFile(file, easting, northing).read();
}

}  // namespace prismfield
