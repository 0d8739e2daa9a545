// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/height_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/limited_problems.hpp"
#include "io/grid_variable.hpp"
#include "io/place_columns.hpp"

namespace prismfield {
namespace {

std::string no_height(double easting, double northing) {
  return fmt::format("no height at easting {}, northing {}", easting, northing);
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

  /// (northing, easting) in metres. Throws InputError with every error found.
  std::vector<double> read() const { return is_array_file(m_file) ? read_netcdf() : read_csv(); }

private:
  [[nodiscard]] std::size_t node(std::size_t j, std::size_t i) const noexcept { return j * m_easting.size() + i; }

  std::vector<double> read_netcdf() const {
    const ArrayFile arrays(m_file);
    const std::string variable = height_variable(m_file, arrays);
    GridVariable grid = read_grid_variable(m_file, arrays, variable);
    check_coordinates("northing", grid.northing_name, grid.northing, m_northing);
    check_coordinates("easting", grid.easting_name, grid.easting, m_easting);
    check_finite(grid.values, variable);
    return std::move(grid.values);
  }

  /// Throws unless the coordinates are the grid's.
  void check_coordinates(const std::string& direction, const std::string& name, const std::vector<double>& values,
                         const std::vector<double>& grid) const {
    const double tolerance = coordinate_tolerance(grid);
    const auto near = [tolerance](double a, double b) { return std::fabs(a - b) <= tolerance; };
    if (values.size() == grid.size() && std::equal(values.begin(), values.end(), grid.begin(), near)) return;
    throw m_file.error(
        fmt::format("has {} ({}) at {} value{}, {} to {}; the grid has {}, {} to {}, and heights are needed at its "
                    "own points",
                    direction, name, values.size(), values.size() == 1 ? "" : "s", values.front(), values.back(),
                    grid.size(), grid.front(), grid.back()));
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
    Table table = read_table(m_file, place_columns(), problems);
    std::vector<std::string> notes;
    places_to_metres(m_file, table, {}, problems, notes);
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
    // lines with an error leave gaps that are no error of their own
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
