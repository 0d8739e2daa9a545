// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/request.hpp>

#include "fuzz_input.hpp"
#include "model/terrain.hpp"
#include "readers/observed_data.hpp"
#include "readers/surface_file.hpp"

namespace prismfield::fuzz {

/// 3 x 2 x 2 cells, a metre wide.
inline CellEdges few_cells() { return {{{0, 1, 2, 3}, {0, 1, 2}, {0, 1, 2}}}; }

/// Heights of a surface, of any kind of file.
inline void read_surface(const InputFile& file, unsigned how) {
  std::vector<std::string> columns;
  if ((how & 1U) != 0) columns = {"-", "y", "x", "z"};
  const std::vector<double> easting = {-1e9, 0, 0.5, 2}, northing = {0, 50, 1e7};
  std::string note;
  const std::vector<double> heights = HeightSurface(file, columns).on_grid(easting, northing, note);
  require(heights.size() == easting.size() * northing.size(), "heights are missing");
  for (const double height : heights) require(std::isfinite(height), "a height that is none");
}

/// Heights of a grid of 3 x 2 points.
inline std::vector<double> read_draped(const InputFile& file) {
  std::vector<std::string> notes;
  return read_heights(file, {0, 1, 2}, {0, 100}, notes);
}

/// A digital elevation model of any kind of file, and what becomes of it.
inline void read_terrain(const InputFile& file) {
  TerrainContent content;
  content.heights = read_dem(file, "").grid;
  const NodeGrid& heights = content.heights;
  require(heights.easting.size() >= 2 && heights.northing.size() >= 2 &&
              heights.values.size() == heights.easting.size() * heights.northing.size(),
          "a grid of other nodes");
  const Terrain terrain(std::move(content));
  PrismBlock prisms;
  terrain.read({0, std::min<std::int64_t>(terrain.size(), 1000)}, prisms);
  for (std::size_t i = 0; i < prisms.west.size(); ++i) {
    require(prisms.west[i] < prisms.east[i] && prisms.south[i] < prisms.north[i] && prisms.bottom[i] < prisms.top[i],
            "a prism without volume");
    require(std::isfinite(prisms.top[i] - prisms.bottom[i]) && std::isfinite(prisms.density[i]),
            "a prism that is none");
  }
  (void)terrain.height_at(0.5, 50);
}

/// Observed data, of any kind of file.
inline void read_measurements(const InputFile& file, unsigned how) {
  ObservedDataFile spec;
  spec.file = file.path;
  if ((how & 1U) != 0) spec.columns = {"x", "y", "z", "-", "gz [mGal]", "sigma"};
  if ((how & 2U) != 0) spec.axes = Axes::z_up;
  if ((how & 4U) != 0) spec.fields = FieldList{Field::gz};
  if ((how & 8U) != 0) spec.length_to_si = 1000;
  ObservedDefaults defaults;
  defaults.inducing_field = vector_of(60, 10, 5e-5);
  if ((how & 16U) != 0) defaults.sigma = SigmaRule{{{Field::gz, 0.1}, {Field::gxx, 0}}, {{Field::gxx, 1e-3}}};
  std::vector<std::string> notes;
  const DataSet data = read_observed_data(file, spec, defaults, notes);
  const Points& points = data.points;
  const std::size_t n = points.easting.size();
  require(n > 0 && !data.fields.empty() && points.northing.size() == n && points.upward.size() == n,
          "data without places");
  require(points.grid_easting.size() * points.grid_northing.size() == (points.is_grid() ? n : 0),
          "a grid of other points");
  const auto size = static_cast<std::size_t>(data.size());
  require(data.values.size() == size && data.sigma.size() == size, "values are missing");
  require((how & 4U) == 0 || data.fields == FieldList{Field::gz}, "other fields than those asked for");
  for (const auto* column : {&points.easting, &points.northing, &points.upward, &data.values}) {
    for (const double value : *column) require(std::isfinite(value), "a number that is none");
  }
  for (const double sigma : data.sigma) require(sigma > 0 && std::isfinite(sigma), "a sigma that is none");
}

}  // namespace prismfield::fuzz
