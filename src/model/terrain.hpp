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

/// What is between a surface and a reference height.
struct TerrainMasses {
  /// metres; densities are anomalies relative to an Earth of rock up to `reference` with nothing above
  double reference = 0;
  /// of rock, kg/m3, unless it has one a column
  double density = 2670;
  /// kg/m3; without it nothing is filled with water
  std::optional<double> water_density;
  /// metres: water stands up to here
  double sea_level = 0;
};

/// A digital elevation model as an ensemble, and what it is made of: plain data that ranks pass on to each other.
struct TerrainContent {
  /// metres
  NodeGrid heights;
  /// of rock, kg/m3, on the same nodes, NaN where there is none; empty: masses.density
  NodeValues densities;
  TerrainMasses masses;
  /// what users should know of the files
  std::vector<std::string> notes;
  /// host memory while they were being read, bytes
  std::int64_t peak_bytes = 0;
};

/// The prisms of one column of a terrain, from the bottom upwards; they touch at most.
struct TerrainColumn {
  struct Part {
    double bottom, top, density;
  };
  std::array<Part, 2> parts;
  int count = 0;
};

/// The prisms between a surface at `height` and the reference: rock above it with its density, below it, where rock is
/// missing, with the negative one, and water from the surface up to sea level. None of zero height or density, none for
/// NaN.
[[nodiscard]] TerrainColumn terrain_column(const TerrainMasses& masses, double height, double density) noexcept;

/// Mass over area of a column, kg/m2, against the world that its density counts from.
[[nodiscard]] double mass_of(const TerrainColumn& column) noexcept;

/// Points near the ground, where it matters that the columns make a staircase of the surface.
struct NearGround {
  /// points within a column's width of the surface between the nodes
  std::int64_t count = 0;
  /// of them that of the largest `mass`
  std::int64_t worst = 0;
  /// there: metres between the column and the surface, either way
  double step = 0;
  /// there: by how much the column and the surface at the point differ in mass over area, kg/m2, damped by
  /// exp(-2 pi h/w) at the height h above the surface over a column w wide
  double mass = 0;
  /// there: the column's shorter side, metres
  double spacing = 0;
};

/// A digital elevation model as prisms, never held as a list: one column a node, its edges half-way between nodes.
/// Prisms are numbered column by column, easting fastest, then northing, in a column upwards. A prefix count a block of
/// nodes leads from a prism's number to its node.
class Terrain final : public PrismSource {
public:
  /// Throws InputError, by keys such as model.terrain.density, for coordinates and densities beyond what is computed.
  explicit Terrain(TerrainContent content);

  [[nodiscard]] std::int64_t size() const noexcept override { return m_before.back(); }
  [[nodiscard]] Bounds bounds() const noexcept override { return m_bounds; }
  void read(IndexRange range, PrismBlock& out) const override;

  /// Host memory that it occupies, bytes.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// The same while it was being read and made.
  [[nodiscard]] std::int64_t peak_memory_bytes() const noexcept;
  /// One line, e.g. "terrain 500 x 500, 250000 prisms".
  [[nodiscard]] std::string description() const;
  /// Least and greatest density of its prisms, kg/m3.
  [[nodiscard]] Range densities() const noexcept { return m_density_range; }
  /// Warnings for the user; the run goes on.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return m_warnings; }

  [[nodiscard]] const TerrainContent& content() const noexcept { return m_content; }
  /// Height of the surface between the nodes, see value_at().
  [[nodiscard]] double height_at(double easting, double northing) const noexcept {
    return value_at(m_content.heights, easting, northing);
  }
  /// The column, its number of prisms and their heights, that the slab below a place has: of the surface's height
  /// between the nodes and the density of the column there. None outside.
  [[nodiscard]] TerrainColumn slab_at(double easting, double northing) const noexcept;
  /// Attraction at a point, downwards, over G, kg/m2, of the Bouguer plate: slab_at() its place, cut at the DEM's
  /// edges, the outermost columns' outer faces. On faces, edges and corners too; NaN outside and where there is no
  /// height.
  [[nodiscard]] double plate_attraction(double easting, double northing, double upward) const noexcept;
  /// Points that lie lower than the top of rock in the column they are in.
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
