// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/ranges.hpp>

#include "operators/convolution/fft_shape.hpp"

namespace prismfield {

/// Prisms or points on a lattice, in the order of their places there. Some may be at one place.
struct LatticeEntries {
  /// which of this rank's prisms, or of the points, each is
  std::vector<std::int32_t> number;
  /// its double in transforms, which lie one behind another
  std::vector<std::int64_t> place;
};

/// Points whose fields are one convolution of a layer: at one place within the mesh's cells, and at one height or, all
/// of them together, at one level between heights.
struct ConvolutionPlane {
  /// from the south-west corner of a cell, in cells, [0, 1)
  double easting = 0, northing = 0;
  /// metres
  double upward = 0;
  /// its points among ConvolutionLayout::points
  IndexRange points;
  /// of ConvolutionLayout::levels; -1: its points are at its height
  int level = -1;
};

/// Prisms as layers of a regular mesh, and points as planes of a lattice with the mesh's cells as steps: the fields of
/// a layer at a plane are a convolution in two dimensions. Cells without a prism have density 0.
///
/// With nx x ny cells, and points within px x py steps from the lattice's point (first), kernel number (a, b) of a
/// plane is the field of a cell at the point (first[0] - (nx - 1) + a, first[1] - (ny - 1) + b) steps east and north of
/// it. Cell (i, j) is at double (i, j) of a transform, point (i, j) at (nx - 1 + i, ny - 1 + j): sums over cells are
/// sums over kernels without any that wrap around.
struct ConvolutionLayout {
  /// of all prisms, those of `prisms`, which are numbered from the first of these; what heights were taken for
  IndexRange range;
  double tolerance = 0;
  /// south-west corner of the mesh and edges of a cell, metres
  std::array<double, 2> corner{}, edge{};
  /// how far from the mesh's lines, in cells, a coordinate may be that is taken to be on one
  std::array<double, 2> slack{};
  /// along easting and northing: cells, steps that the points take, the first of these from the corner
  std::array<std::int64_t, 2> cells{}, window{}, first{};
  /// magnetisations of the magnetic kernels, A/m: one where all prisms share a direction, otherwise one along each
  /// axis; none: kernels of density
  std::vector<std::array<double, 3>> magnetizations;
  /// of this rank's prisms: bottom and top, metres; once for each magnetisation
  std::vector<std::array<double, 2>> layers;
  /// places are those of transforms of this shape, layer by layer
  FftShape shape;
  LatticeEntries prisms;
  /// of each of these, how much of the magnetisation of its layer it has; empty: of density
  std::vector<double> amounts;
  /// entries of prisms at which layers end
  std::vector<std::int64_t> layer_ends;
  /// places within one transform, plane by plane
  LatticeEntries points;
  std::vector<ConvolutionPlane> planes;
  /// Chebyshev's nodes between the lowest and the highest point, and every point of `points`, both on [-2, 2]; empty
  /// where planes are at the heights of their points
  std::vector<double> levels, on_levels;

  /// Rows of a transform in which cells and points are.
  [[nodiscard]] IndexRange cell_rows() const noexcept { return {0, cells[1]}; }
  [[nodiscard]] IndexRange point_rows() const noexcept { return {cells[1] - 1, cells[1] - 1 + window[1]}; }
  /// Rows of a transform that kernels have.
  [[nodiscard]] IndexRange kernel_rows() const noexcept { return {0, cells[1] - 1 + window[1]}; }
  [[nodiscard]] std::int64_t n_layers() const noexcept { return static_cast<std::int64_t>(layers.size()); }
  /// Of one magnetisation, whose layers come one after the other.
  [[nodiscard]] std::int64_t n_layers_of_prisms() const noexcept {
    return magnetizations.empty() ? n_layers() : n_layers() / std::ssize(magnetizations);
  }
  [[nodiscard]] std::int64_t n_planes() const noexcept { return static_cast<std::int64_t>(planes.size()); }
  /// Entries of prisms in these layers.
  [[nodiscard]] IndexRange prisms_in(IndexRange of_layers) const noexcept {
    const auto end_of = [&](std::int64_t layer) {
      return layer == 0 ? 0 : layer_ends[static_cast<std::size_t>(layer - 1)];
    };
    return {end_of(of_layers.begin), end_of(of_layers.end)};
  }
};

/// Throws InputError, by execution.method: "fft cannot serve: " and why.
[[noreturn]] void refuse_fft(const std::string& why);

/// Finds the layout of `range` of the prisms and of all points.
///
/// Prisms must have equal edges along easting and along northing and lie on one mesh; there may be few different
/// bottoms and tops. Points must lie at few places within the mesh's cells, as on grids with a spacing in a ratio of
/// small whole numbers to the cells, and at few heights. With `tolerance` above default_tolerance they may instead all
/// lie above the prisms at any height: Chebyshev levels then stand for the heights, enough to keep the error of the
/// tensor, or of B and its gradient, below a fifth of `tolerance` of its largest value. Points may repeat and have any
/// order and place.
///
/// Coordinates within 8 ulp of the largest, plus the rounding of the sources, of the lattice count as on it: as for
/// faces of prisms, such differences are rounding.
///
/// `set`: the fields to compute; magnetic ones need prisms with a magnetisation.
///
/// Throws InputError with the reason, in one line, why a convolution cannot serve.
[[nodiscard]] ConvolutionLayout find_convolution(const PrismSource& prisms, IndexRange range,
                                                 const PointColumns& points, double tolerance,
                                                 FieldList fields = FieldList::all());

}  // namespace prismfield
