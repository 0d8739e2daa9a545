// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/tomofast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "io/point_fields.hpp"
#include "io/text_lines.hpp"

namespace prismfield {
namespace {

/// mGal in a m/s2
constexpr double milligals = 1e5;

// 0 - z, so that 0 does not become -0.
double other_way(double z) { return 0.0 - z; }

/// Indices i, j, k of a row, from 1; false when these are no such numbers.
bool indices_of(const double* from, std::array<std::int64_t, 3>& indices) {
  for (std::size_t d = 0; d < 3; ++d) {
    const double value = from[d];
    if (!(value >= 1 && value <= static_cast<double>(most_cells_in_a_direction)) || value != std::floor(value)) {
      return false;
    }
    indices[d] = static_cast<std::int64_t>(value);
  }
  return true;
}

/// Puts the rows of a grid together.
class GridRows {
public:
  void add(const std::array<double, 6>& box, double value, const std::array<std::int64_t, 3>& indices) {
    m_grid.cells.west.push_back(box[0]);
    m_grid.cells.east.push_back(box[1]);
    m_grid.cells.south.push_back(box[2]);
    m_grid.cells.north.push_back(box[3]);
    m_grid.cells.bottom.push_back(other_way(box[5]));
    m_grid.cells.top.push_back(other_way(box[4]));
    m_grid.cells.density.push_back(value);
    m_indices.push_back(indices);
  }

  /// Throws InputError unless every cell of i x j x k is there once.
  TomofastGrid finish(const InputFile& file, bool has_values) {
    m_grid.has_values = has_values;
    for (const auto& indices : m_indices) {
      for (std::size_t d = 0; d < 3; ++d) m_counts[d] = std::max(m_counts[d], indices[d]);
    }
    const auto rows = static_cast<std::int64_t>(m_indices.size());
    // divided, because the product may be too large to count
    const bool fits = rows % m_counts[0] == 0 && rows / m_counts[0] % m_counts[1] == 0 &&
                      rows / m_counts[0] / m_counts[1] == m_counts[2];
    if (!fits) {
      throw file.error(fmt::format("has {} for i to {}, j to {}, k to {}; a row for each cell is needed",
                                   counted(rows, "row"), m_counts[0], m_counts[1], m_counts[2]));
    }
    check_each_once(file);
    find_edges();
    return std::move(m_grid);
  }

private:
  /// The faces along an axis, ascending, and which index counts along it.
  struct Faces {
    std::vector<double> edges;
    std::size_t index = 0;
    bool rising = true;
  };

  void check_each_once(const InputFile& file) const {
    std::vector<bool> seen(m_indices.size());
    for (const auto& [i, j, k] : m_indices) {
      const auto place = static_cast<std::size_t>(((k - 1) * m_counts[1] + j - 1) * m_counts[0] + i - 1);
      if (seen[place]) throw file.error(fmt::format("has the cell i = {}, j = {}, k = {} twice", i, j, k));
      seen[place] = true;
    }
  }

  /// Edges of a rectilinear grid. The boxes say along which axis each index counts, and in which direction.
  void find_edges() {
    std::array<std::size_t, 3> order{0, 1, 2};
    do {
      std::array<std::optional<Faces>, 3> axes;
      for (std::size_t d = 0; d < 3; ++d) {
        axes[d] = faces_along(d, order[d]);
        if (!axes[d]) break;
      }
      if (axes[0] && axes[1] && axes[2]) return take({*axes[0], *axes[1], *axes[2]});
    } while (std::next_permutation(order.begin(), order.end()));
  }

  [[nodiscard]] std::size_t position(std::size_t row, std::size_t index, bool rising) const {
    const std::int64_t number = m_indices[row][index];
    return static_cast<std::size_t>(rising ? number - 1 : m_counts[index] - number);
  }

  /// Faces along axis `d`; nothing unless the boxes of one index have the same, and those of the next begin where they
  /// end. The text of both neighbours of a face may be rounded.
  [[nodiscard]] std::optional<Faces> faces_along(std::size_t d, std::size_t index) const {
    constexpr double tolerance = 1e-3;
    const PrismBlock& c = m_grid.cells;
    const std::vector<double>& lower = *std::array{&c.west, &c.south, &c.bottom}[d];
    const std::vector<double>& upper = *std::array{&c.east, &c.north, &c.top}[d];
    double first = 0, last = 0;
    for (std::size_t row = 0; row < lower.size(); ++row) {
      if (m_indices[row][index] == 1) first = lower[row];
      if (m_indices[row][index] == m_counts[index]) last = lower[row];
    }
    Faces faces{std::vector<double>(static_cast<std::size_t>(m_counts[index]) + 1), index, first <= last};
    for (std::size_t row = 0; row < lower.size(); ++row) {
      const std::size_t at = position(row, index, faces.rising);
      faces.edges[at + 1] = upper[row];
      if (at == 0) faces.edges[0] = lower[row];
    }
    for (std::size_t row = 0; row < lower.size(); ++row) {
      const double most = tolerance * (upper[row] - lower[row]);
      const std::size_t at = position(row, index, faces.rising);
      if (std::fabs(faces.edges[at] - lower[row]) > most) return {};
      if (std::fabs(faces.edges[at + 1] - upper[row]) > most) return {};
    }
    return faces;
  }

  void take(std::array<Faces, 3> axes) {
    for (std::size_t row = 0; row < m_indices.size(); ++row) {
      std::int64_t cell = 0;
      for (std::size_t d = 3; d-- > 0;) {
        const auto at = static_cast<std::int64_t>(position(row, axes[d].index, axes[d].rising));
        cell = cell * m_counts[axes[d].index] + at;
      }
      m_grid.cell_of_row.push_back(cell);
    }
    m_grid.edges = {std::move(axes[0].edges), std::move(axes[1].edges), std::move(axes[2].edges)};
  }

  TomofastGrid m_grid;
  std::vector<std::array<std::int64_t, 3>> m_indices;
  /// of i, j and k
  CellCounts m_counts{1, 1, 1};
};

}  // namespace

TomofastGrid read_tomofast_grid(const InputFile& file, double to_si) {
  ProblemList problems;
  NumberRows rows(file, "cell", problems);
  static_cast<void>(rows.read_count());
  GridRows grid;
  std::vector<double> row;
  std::size_t columns = 0;
  while (rows.next(row)) {
    if (columns == 0) columns = row.size();
    if (row.size() != columns || (columns != 9 && columns != 10)) {
      rows.refuse(
          "lines with another number of columns",
          fmt::format("{} columns; X1 X2 Y1 Y2 Z1 Z2 i j k, or a value before i, are needed, in all lines alike",
                      row.size()));
      continue;
    }
    std::array<std::int64_t, 3> indices{};
    if (!indices_of(row.data() + columns - 3, indices)) {
      rows.refuse("indices that are none", fmt::format("i, j, k are {}, {}, {}; whole numbers from 1 are needed",
                                                       row[columns - 3], row[columns - 2], row[columns - 1]));
      continue;
    }
    if (!(row[0] < row[1] && row[2] < row[3] && row[4] < row[5])) {
      rows.refuse("cells without size", "X2, Y2 or Z2 is not above X1, Y1 or Z1; Z is the depth, Z1 the cell's top");
      continue;
    }
    const double value = columns == 10 ? row[6] * to_si : 0;
    if (!std::isfinite(value)) rows.refuse("values that are too large", "the value is too large in kg/m3");
    grid.add({row[0], row[1], row[2], row[3], row[4], row[5]}, value, indices);
  }
  problems.throw_if_any();
  return grid.finish(file, columns == 10);
}

std::vector<double> read_tomofast_values(const InputFile& file, double to_si, std::int64_t cells) {
  ProblemList problems;
  NumberRows rows(file, "value", problems);
  const std::int64_t count = rows.read_count();
  if (count != cells) {
    throw InputError(rows.where(), "",
                     fmt::format("{}, but the grid has {}; name the grid that they belong to by --mesh",
                                 counted(count, "value"), counted(cells, "cell")));
  }
  std::vector<double> values, row;
  while (rows.next(row)) {
    if (row.size() != 1) {
      rows.refuse("lines with more than one value", fmt::format("{} numbers; one a line is needed", row.size()));
      continue;
    }
    values.push_back(row[0] * to_si);
    if (!std::isfinite(values.back())) rows.refuse("values that are too large", "the value is too large in kg/m3");
  }
  problems.throw_if_any();
  return values;
}

std::vector<double> in_cell_order(const TomofastGrid& grid, const std::vector<double>& of_rows) {
  std::vector<double> values(of_rows.size());
  for (std::size_t row = 0; row < of_rows.size(); ++row) {
    values[static_cast<std::size_t>(grid.cell_of_row[row])] = of_rows[row];
  }
  return values;
}

PointFields read_tomofast_data(const InputFile& file, Axes axes) {
  ProblemList problems;
  NumberRows rows(file, "station", problems);
  static_cast<void>(rows.read_count());
  PointFields result;
  result.axes = axes;
  std::vector<double> values, row;
  std::size_t columns = 0;
  while (rows.next(row)) {
    if (columns == 0) columns = row.size();
    if (row.size() != columns || (columns != 3 && columns != 4)) {
      rows.refuse("lines with another number of columns",
                  fmt::format("{} columns; X, Y, Z and gz are needed, in all lines alike", row.size()));
      continue;
    }
    result.points.easting.push_back(row[0]);
    result.points.northing.push_back(row[1]);
    result.points.upward.push_back(other_way(row[2]));
    if (columns == 4) values.push_back(row[3] * milligals);
  }
  problems.throw_if_any();
  if (columns == 4) {
    result.fields.add(Field::gz);
    result.values.push_back(std::move(values));
    result.sigma.emplace_back();
  }
  return result;
}

void write_tomofast_grid(TextOutput& out, const CellEdges& edges) {
  const CellCounts counts = counts_of(edges);
  const auto& [x, y, z] = edges;
  const auto n = [&](std::size_t d) { return static_cast<std::size_t>(counts[d]); };
  out.add(fmt::format("{}\n", counts[0] * counts[1] * counts[2]));
  for (std::size_t k = 0; k < n(2); ++k) {
    const std::size_t layer = n(2) - 1 - k;
    const std::string depths = number_text(other_way(z[layer + 1])) + " " + number_text(other_way(z[layer]));
    for (std::size_t j = 0; j < n(1); ++j) {
      const std::string rest = fmt::format(" {} {} {} ", number_text(y[j]), number_text(y[j + 1]), depths);
      for (std::size_t i = 0; i < n(0); ++i) {
        out.add(x[i]);
        out.add(' ');
        out.add(x[i + 1]);
        out.add(rest);
        out.add(fmt::format("{} {} {}\n", i + 1, j + 1, k + 1));
      }
    }
  }
}

void write_tomofast_values(TextOutput& out, const std::vector<double>& values, const CellCounts& counts, double to_si,
                           double inactive) {
  out.add(fmt::format("{}\n", values.size()));
  const std::int64_t in_layer = counts[0] * counts[1];
  for (std::int64_t k = counts[2] - 1; k >= 0; --k) {
    for (std::int64_t cell = k * in_layer; cell < (k + 1) * in_layer; ++cell) {
      const double value = values[static_cast<std::size_t>(cell)];
      out.add(std::isnan(value) ? inactive : in_unit(value, to_si));
      out.add('\n');
    }
  }
}

void write_tomofast_data(TextOutput& out, const PointFields& points, Axes axes) {
  const bool has_values = points.fields.contains(Field::gz);
  const ColumnOfField column = has_values ? column_of(points, Field::gz, axes) : ColumnOfField{};
  check_no_nan({column.values, {}}, Field::gz, "Tomofast data");
  out.add(fmt::format("{}\n", points.points.size()));
  for (std::size_t i = 0; i < points.points.easting.size(); ++i) {
    out.add(points.points.easting[i]);
    out.add(' ');
    out.add(points.points.northing[i]);
    out.add(' ');
    out.add(other_way(points.points.upward[i]));
    out.add(' ');
    const double value = has_values ? column.values[i] : 0;
    out.add(readable(value, value / milligals, [](double written) { return written * milligals; }));
    out.add('\n');
  }
}

}  // namespace prismfield
