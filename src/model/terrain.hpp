// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "model/axis.hpp"
#include "model/node_grid.hpp"

namespace prismfield {

/// The masses between a surface and a reference height.
struct TerrainMasses {
  /// metres; densities are anomalies relative to an Earth of rock up to `reference` with nothing above
  double reference = 0;
  /// density of rock, kg/m3, unless each column has its own
  double density = 2670;
  /// kg/m3; unset: no water
  std::optional<double> water_density;
  /// metres: water fills up to here
  double sea_level = 0;
};

/// The data of a Terrain. It is plain, so that ranks can broadcast it.
struct TerrainContent {
  /// metres
  NodeGrid heights;
  /// density of rock, kg/m3, on the same nodes, NaN for none; empty: masses.density
  NodeValues densities;
  TerrainMasses masses;
  /// remarks on the files for users
  std::vector<std::string> notes;
  /// host memory during reading, bytes
  std::int64_t peak_bytes = 0;
};

/// The prisms of one column of a terrain, from bottom to top; they touch but do not overlap.
struct TerrainColumn {
  struct Part {
    double bottom, top, density;
  };
  std::array<Part, 2> parts;
  int count = 0;
};

/// The prisms between a surface at `height` and the reference. Above the reference rock has its density, below it
/// missing rock has the negative density, and water fills from the surface up to sea level. There is no prism of zero
/// height or density, and none for NaN.
[[nodiscard]] TerrainColumn terrain_column(const TerrainMasses& masses, double height, double density) noexcept;

/// Mass over area of a column, kg/m2, with anomalous densities (TerrainMasses::reference).
[[nodiscard]] double mass_of(const TerrainColumn& column) noexcept;

/// Points so near to the ground that the steps between columns matter.
struct NearGround {
  /// number of points within a column's width of the surface between nodes
  std::int64_t count = 0;
  /// the one with the largest `mass`
  std::int64_t worst = 0;
  /// at that point: distance between column and surface, metres
  double step = 0;
  /// at that point: difference of column and surface in mass over area, kg/m2, damped by exp(-2 pi h/w) at height h
  /// over the surface of a column of width w
  double mass = 0;
  /// at that point: shorter side of the column, metres
  double spacing = 0;
};

/// A digital elevation model as prisms, made on demand: one column per node with edges half-way between nodes. Columns
/// are numbered easting fastest, then northing; prisms column by column, upwards. A prefix count per block of nodes
/// leads from a prism's number to its node.
class Terrain final : public PrismSource {
public:
  /// Throws InputError, by keys such as model.terrain.density, for coordinates and densities beyond the limits.
  explicit Terrain(TerrainContent content);

  [[nodiscard]] std::int64_t size() const noexcept override { return m_before.back(); }
  [[nodiscard]] Bounds bounds() const noexcept override { return m_bounds; }
  void read(IndexRange range, PrismBlock& out) const override;

  /// Host memory now, bytes.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// Host memory at its peak, during reading, bytes.
  [[nodiscard]] std::int64_t peak_memory_bytes() const noexcept;
  /// One line, e.g. "terrain 500 x 500, 250000 prisms".
  [[nodiscard]] std::string description() const;
  /// Range of the densities of its prisms, kg/m3.
  [[nodiscard]] Range densities() const noexcept { return m_density_range; }
  /// Warnings for the user; the run goes on.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return m_warnings; }

  [[nodiscard]] const TerrainContent& content() const noexcept { return m_content; }
  /// Height of the surface between the nodes, see value_at().
  [[nodiscard]] double height_at(double easting, double northing) const noexcept {
    return value_at(m_content.heights, easting, northing);
  }
  /// The column of the slab below a place: the surface's height between nodes, and the density of the column there.
  /// Empty outside.
  [[nodiscard]] TerrainColumn slab_at(double easting, double northing) const noexcept;
  /// Downward attraction over G, kg/m2, of the Bouguer plate below a point: slab_at() cut at the DEM's edges, the outer
  /// faces of its outermost columns. Valid on faces, edges and corners; NaN outside and where there is no height.
  [[nodiscard]] double plate_attraction(double easting, double northing, double upward) const noexcept;
  /// Numbers of points below the top of rock in their column.
  [[nodiscard]] std::vector<std::int64_t> points_below(const Points& points) const;
  [[nodiscard]] NearGround near_ground(const Points& points) const;

private:
  [[nodiscard]] TerrainColumn column(std::size_t node) const noexcept;
  [[nodiscard]] std::optional<std::size_t> node_of(double easting, double northing) const noexcept;
  void count_prisms();
  void check_limits() const;
  void find_warnings();

  TerrainContent m_content;
  /// edges of the columns along easting and northing
  std::array<std::vector<double>, 2> m_edges;
  /// prisms before each block of nodes, and all
  std::vector<std::int64_t> m_before;
  Bounds m_bounds;
  Range m_density_range;
  std::vector<std::string> m_warnings;
};

}  // namespace prismfield
