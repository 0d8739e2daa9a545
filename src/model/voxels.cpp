// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/voxels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include <prismfield/error.hpp>

namespace prismfield {
namespace {

/// Cells [begin, end) of a direction.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Squared distances of cell centres from a sphere's centre in one direction, as far as they are within its radius.
struct Distances {
  /// the cell of squares[0]
  std::int64_t first = 0;
  std::vector<double> squares;
  /// index of the least
  std::ptrdiff_t least = 0;

  [[nodiscard]] double of(std::int64_t cell) const { return squares[static_cast<std::size_t>(cell - first)]; }
  [[nodiscard]] double smallest() const { return squares[static_cast<std::size_t>(least)]; }

  /// The cells for whose square `inside` is true; it must hold up to some value and not beyond.
  template <class Inside>
  [[nodiscard]] Interval where(const Inside& inside) const {
    const auto at = squares.begin() + least;
    const auto begin = std::partition_point(squares.begin(), at, [&](double d) { return !inside(d); });
    const auto end = std::partition_point(at, squares.end(), inside);
    return {first + (begin - squares.begin()), first + (end - squares.begin())};
  }
};

/// A sphere or box over the cells: the layers, rows and cells that it covers.
struct Shape {
  Properties properties{};
  bool is_sphere = false;
  Interval layers;
  /// box only: of every layer
  Interval rows;
  /// box only: of every row
  Interval cells;
  /// sphere only
  std::array<Distances, 3> distances;
  double squared_radius = 0;

  // The sum is that of (dx^2 + dy^2) + dz^2 <= r^2 in plain double, which rounding keeps monotone in each distance:
  // the ends can be found by bisection.
  [[nodiscard]] bool holds(double x2, double y2, double z2) const noexcept { return (x2 + y2) + z2 <= squared_radius; }

  [[nodiscard]] Interval layers_of_sphere() const {
    const double x2 = distances[0].smallest(), y2 = distances[1].smallest();
    return distances[2].where([&](double z2) { return holds(x2, y2, z2); });
  }
  [[nodiscard]] Interval rows_of_layer(std::int64_t k) const {
    if (!is_sphere) return rows;
    const double x2 = distances[0].smallest(), z2 = distances[2].of(k);
    return distances[1].where([&](double y2) { return holds(x2, y2, z2); });
  }
  [[nodiscard]] Interval cells_of_row(std::int64_t j, std::int64_t k) const {
    if (!is_sphere) return cells;
    const double y2 = distances[1].of(j), z2 = distances[2].of(k);
    return distances[0].where([&](double x2) { return holds(x2, y2, z2); });
  }
};

using Centers = std::array<std::vector<double>, 3>;

Shape sphere_shape(const Sphere& sphere, const Centers& centers) {
  Shape shape;
  shape.properties = sphere.properties;
  shape.is_sphere = true;
  shape.squared_radius = rounded_product(sphere.radius, sphere.radius);
  for (std::size_t d = 0; d < 3; ++d) {
    Distances& distances = shape.distances[d];
    for (const double center : centers[d]) {
      const double distance = center - sphere.center[d];
      distances.squares.push_back(rounded_product(distance, distance));
    }
    const auto least = [&] {
      return std::min_element(distances.squares.begin(), distances.squares.end()) - distances.squares.begin();
    };
    distances.least = least();
    const Interval near = distances.where([&](double square) { return square <= shape.squared_radius; });
    if (near.begin >= near.end) return shape;
    distances.squares = {distances.squares.begin() + near.begin, distances.squares.begin() + near.end};
    distances.first = near.begin;
    distances.least = least();
  }
  shape.layers = shape.layers_of_sphere();
  return shape;
}

Interval centers_in(const Range& range, const std::vector<double>& centers) {
  const auto begin = std::lower_bound(centers.begin(), centers.end(), range.min);
  const auto end = std::lower_bound(begin, centers.end(), range.max);
  return {begin - centers.begin(), end - centers.begin()};
}

Shape box_shape(const Box& box, const Centers& centers) {
  Shape shape;
  shape.properties = box.properties;
  shape.cells = centers_in(box.easting, centers[0]);
  shape.rows = centers_in(box.northing, centers[1]);
  shape.layers = centers_in(box.upward, centers[2]);
  if (shape.cells.begin == shape.cells.end || shape.rows.begin == shape.rows.end) shape.layers.end = shape.layers.begin;
  return shape;
}

/// Paints [begin, end) over what is there, which stays sorted and without overlaps.
void paint(std::vector<PaintedCells>& row, const Interval& cells, const Properties& properties,
           std::vector<PaintedCells>& scratch) {
  if (cells.begin >= cells.end) return;
  scratch.clear();
  bool placed = false;
  const auto place = [&] {
    if (!placed) scratch.push_back({cells.begin, cells.end - cells.begin, properties});
    placed = true;
  };
  for (const PaintedCells& old : row) {
    const std::int64_t old_end = old.first + old.count;
    if (old.first < cells.begin) {
      scratch.push_back({old.first, std::min(old_end, cells.begin) - old.first, old.properties});
    }
    if (old_end > cells.begin) place();
    if (old_end > cells.end) {
      const std::int64_t first = std::max(old.first, cells.end);
      scratch.push_back({first, old_end - first, old.properties});
    }
  }
  place();
  row.swap(scratch);
}

/// A shape with the layers or rows that it covers.
struct Covering {
  Interval interval;
  std::size_t shape;
};

/// Calls visit(begin, end, shapes) for the stretches of a direction that some of `coverings` cover, in ascending order;
/// `shapes` in ascending order and the same all along the stretch.
template <class Visit>
void for_each_stretch(std::vector<Covering> coverings, const Visit& visit) {
  std::erase_if(coverings, [](const Covering& c) { return c.interval.begin >= c.interval.end; });
  std::sort(coverings.begin(), coverings.end(),
            [](const Covering& a, const Covering& b) { return a.interval.begin < b.interval.begin; });
  std::vector<Covering> active;
  std::size_t next = 0;
  std::int64_t at = 0;
  while (next < coverings.size() || !active.empty()) {
    if (active.empty()) at = coverings[next].interval.begin;
    for (; next < coverings.size() && coverings[next].interval.begin == at; ++next) {
      const auto behind = std::upper_bound(active.begin(), active.end(), coverings[next],
                                           [](const Covering& a, const Covering& b) { return a.shape < b.shape; });
      active.insert(behind, coverings[next]);
    }
    std::int64_t end = next < coverings.size() ? coverings[next].interval.begin : active.front().interval.end;
    for (const Covering& c : active) end = std::min(end, c.interval.end);
    visit(at, end, active);
    std::erase_if(active, [&](const Covering& c) { return c.interval.end == end; });
    at = end;
  }
}

class Painter {
public:
  Painter(const std::vector<Shape>& shapes, const CellCounts& counts, CellsBuilder& builder)
      : m_shapes(shapes), m_counts(counts), m_builder(builder) {}

  void paint_all() {
    std::vector<Covering> coverings;
    for (std::size_t s = 0; s < m_shapes.size(); ++s) coverings.push_back({m_shapes[s].layers, s});
    for_each_stretch(std::move(coverings), [&](std::int64_t begin, std::int64_t end, const auto& active) {
      for (std::int64_t k = begin; k < end; ++k) paint_layer(k, active);
    });
  }

private:
  void paint_layer(std::int64_t k, const std::vector<Covering>& active) {
    std::vector<Covering> coverings;
    for (const Covering& c : active) coverings.push_back({m_shapes[c.shape].rows_of_layer(k), c.shape});
    for_each_stretch(std::move(coverings), [&](std::int64_t begin, std::int64_t end, const auto& in_rows) {
      const bool all_alike =
          std::none_of(in_rows.begin(), in_rows.end(), [&](const Covering& c) { return m_shapes[c.shape].is_sphere; });
      const std::int64_t rows = all_alike ? end - begin : 1;
      for (std::int64_t j = begin; j < end; j += rows) {
        m_row.clear();
        for (const Covering& c : in_rows) {
          const Shape& shape = m_shapes[c.shape];
          paint(m_row, shape.cells_of_row(j, k), shape.properties, m_scratch);
        }
        m_builder.add_rows(k * m_counts[1] + j, rows, m_row);
      }
    });
  }

  const std::vector<Shape>& m_shapes;
  CellCounts m_counts;
  CellsBuilder& m_builder;
  std::vector<PaintedCells> m_row, m_scratch;
};

}  // namespace

CellEdges voxel_edges(const Voxels& spec) {
  const std::string key = "model.voxels";
  const std::array<const Axis*, 3> axes = {&spec.easting, &spec.northing, &spec.upward};
  const CellCounts counts = {spec.easting.count, spec.northing.count, spec.upward.count};
  check_cell_counts(counts, key);

  ProblemList problems;
  CellEdges edges;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string axis_key = key + "." + direction_names[d];
    if (!(axes[d]->min < axes[d]->max)) {
      problems.add("", axis_key, fmt::format("min {} is not below max {}", axes[d]->min, axes[d]->max));
      continue;
    }
    edges[d] = cell_edges(*axes[d]);
    if (std::adjacent_find(edges[d].begin(), edges[d].end(), std::greater_equal<>()) != edges[d].end()) {
      problems.add("", axis_key,
                   fmt::format("{} cells between {} and {} are thinner than double precision can tell apart", counts[d],
                               axes[d]->min, axes[d]->max));
    }
  }
  problems.throw_if_any();
  return edges;
}

std::array<double, 3> rounding_of_voxels(const CellEdges& edges) {
  return {rounding_of_edges(edges[0]), rounding_of_edges(edges[1]), rounding_of_edges(edges[2])};
}

std::unique_ptr<Cells> make_voxels(const Voxels& spec, const MakeBackground& background) {
  CellEdges edges = voxel_edges(spec);
  const CellCounts counts = counts_of(edges);
  const Centers centers = {cell_centers(spec.easting), cell_centers(spec.northing), cell_centers(spec.upward)};

  std::vector<Shape> shapes;
  for (const Sphere& sphere : spec.spheres) shapes.push_back(sphere_shape(sphere, centers));
  for (const Box& box : spec.boxes) shapes.push_back(box_shape(box, centers));

  const std::array<double, 3> rounding = rounding_of_voxels(edges);
  CellBackground filled = background(edges);
  CellsBuilder builder("voxels", std::move(edges), std::move(filled));
  Painter(shapes, counts, builder).paint_all();
  std::unique_ptr<Cells> cells = builder.build();
  cells->set_rounding(rounding);
  if (cells->size() == 0) {
    throw InputError("", "model.voxels",
                     "no cell has a density; give a density other than 0 (or a susceptibility or magnetization), or "
                     "spheres or boxes that cover the centre of a cell");
  }
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    if (shapes[s].layers.begin < shapes[s].layers.end) continue;
    const bool is_sphere = s < spec.spheres.size();
    cells->add_warning(fmt::format("model.voxels.{}[{}] covers the centre of no cell", is_sphere ? "spheres" : "boxes",
                                   is_sphere ? s : s - spec.spheres.size()));
  }
  return cells;
}

}  // namespace prismfield
