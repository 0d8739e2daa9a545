// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "base/number_text.hpp"
#include "model/choices.hpp"
#include "readers/point_fields.hpp"
#include "writers/write_content.hpp"

namespace prismfield {

namespace {

/// Widths, in the file's order, from which a reader gets `edges`, each with as few digits as that takes.
std::vector<double> widths_of(const std::vector<double>& edges) {
  std::vector<double> widths;
  double sum = edges.front(), lost = 0;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    const double width = (edges[i] - sum) - lost;
    // as edges_from_widths() adds up
    const auto edge = [&](double w, double& next_lost) {
      const double next = sum + w;
      const double part = next - sum;
      next_lost = lost + (sum - (next - part)) + (w - part);
      return next;
    };
    double best = width, best_lost = 0;
    for (int digits = 1; digits < 17; ++digits) {
      double shorter = 0;
      if (parse_number(fmt::format("{:.{}g}", width, digits), shorter) != NumberStatus::ok) break;
      const double next = edge(shorter, best_lost);
      if (next + best_lost != edges[i]) continue;
      best = shorter;
      break;
    }
    sum = edge(best, best_lost);
    lost = best_lost;
    widths.push_back(best);
  }
  return widths;
}

void add_place(TextOutput& out, const Points& points, std::size_t i, double z) {
  out.add(points.easting[i]);
  out.add(' ');
  out.add(points.northing[i]);
  out.add(' ');
  out.add(z);
}

/// Equal widths that follow each other are written once, with their number.
void write_widths(TextOutput& out, std::vector<double> widths) {
  for (double& width : widths) width = std::fabs(width);
  for (std::size_t i = 0; i < widths.size();) {
    std::size_t end = i + 1;
    while (end < widths.size() && widths[end] == widths[i]) ++end;
    if (i > 0) out.add(' ');
    if (end - i > 1) out.add(fmt::format("{}*", end - i));
    out.add(widths[i]);
    i = end;
  }
  out.add('\n');
}

}  // namespace

void write_ubc_mesh(TextOutput& out, const CellEdges& edges) {
  const CellCounts counts = counts_of(edges);
  out.add(fmt::format("{} {} {}\n", counts[0], counts[1], counts[2]));
  out.add(fmt::format("{} {} {}\n", number_text(edges[0].front()), number_text(edges[1].front()),
                      number_text(edges[2].back())));
  write_widths(out, widths_of(edges[0]));
  write_widths(out, widths_of(edges[1]));
  write_widths(out, widths_of({edges[2].rbegin(), edges[2].rend()}));
}

void write_cell_numbers(TextOutput& out, CellOrder order, const std::vector<CellNumbers>& columns,
                        const CellCounts& counts, double inactive) {
  if (order == CellOrder::tomofast) out.add(fmt::format("{}\n", counts[0] * counts[1] * counts[2]));
  each_cell(order, counts, [&](std::size_t cell) {
    bool is_first = true;
    for (const auto& [values, to_si] : columns) {
      if (!std::exchange(is_first, false)) out.add(' ');
      const double value = (*values)[cell];
      // + 0 makes -0 of a flipped sign 0
      out.add(std::isnan(value) ? inactive : in_unit(value, to_si) + 0.0);
    }
    out.add('\n');
  });
}

namespace {

/// The two lines above the number of magnetic data.
void write_magnetic_header(TextOutput& out, const PointFields& points, Field field, Axes axes) {
  if (!FieldList::magnetic().contains(field)) {
    throw InputError("--field", "",
                     fmt::format("UBC's magnetic data are {}; for {} choose another format",
                                 fmt::join(names_of(FieldList::magnetic()), ", "), info(field).name));
  }
  if (!points.inducing_field) {
    throw InputError("", "",
                     "UBC's magnetic data state the inducing field, and the input does not; say it by --inducing-field "
                     "INCLINATION,DECLINATION,INTENSITY");
  }
  const InducingField& of = *points.inducing_field;
  std::array<double, 3> anomaly{of.inclination, of.declination,
                                field == Field::amplitude ? no_direction : one_direction};
  for (const Projection& projection : projections) {
    if (projection.field != field || (info(field).odd_in_z && projection.axes != axes)) continue;
    anomaly = {projection.inclination, projection.declination, one_direction};
  }
  for (const auto& line : {std::array{of.inclination, of.declination, of.intensity}, anomaly}) {
    out.add(fmt::format("{} {} {}\n", number_text(line[0]), number_text(line[1]), number_text(line[2])));
  }
}

}  // namespace

void write_ubc_data(TextOutput& out, const PointFields& points, Field field, Axes axes) {
  const bool has_values = points.fields.contains(field);
  const ColumnOfField column = has_values ? column_of(points, field, axes) : ColumnOfField{};
  check_no_nan(column, field, "UBC data");
  if (has_values && info(field).is_magnetic) write_magnetic_header(out, points, field, axes);
  out.add(fmt::format("{}\n", points.points.size()));
  for (std::size_t i = 0; i < points.points.easting.size(); ++i) {
    add_place(out, points.points, i, points.points.upward[i]);
    for (const auto* values : {&column.values, &column.sigma}) {
      if (values->empty()) continue;
      out.add(' ');
      out.add((*values)[i]);
    }
    out.add('\n');
  }
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

void write_tomofast_data(TextOutput& out, const PointFields& points, FieldList fields, Axes axes) {
  std::vector<std::pair<std::vector<double>, double>> columns;
  for (const FieldInfo& field : fields) {
    const ColumnOfField column = column_of(points, field.field, axes);
    check_no_nan({column.values, {}}, field.field, "Tomofast data");
    columns.emplace_back(column.values, field.field == Field::gz ? milligals : 1.0);
  }
  out.add(fmt::format("{}\n", points.points.size()));
  for (std::size_t i = 0; i < points.points.easting.size(); ++i) {
    add_place(out, points.points, i, other_way(points.points.upward[i]));
    for (const auto& [values, to_output] : columns) {
      out.add(' ');
      out.add(in_unit(values[i], to_output));
    }
    if (columns.empty()) out.add(" 0");
    out.add('\n');
  }
}

}  // namespace prismfield
