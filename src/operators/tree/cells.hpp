// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <prismfield/fields.hpp>

#include "operators/tree/expansion_tables.hpp"

namespace prismfield::fast {

/// Cells of a tree, the root first, level by level; the two children of a cell follow one another.
template <class Memory>
struct Cells {
  /// (cell, 3) metres: middle of a box around all that the cell holds
  Kokkos::View<double* [3], Kokkos::LayoutRight, Memory> centre;
  /// (cell) metres from there to the furthest of it: of prisms to their corners
  Kokkos::View<double*, Memory> radius;
  /// (cell) metres in which the cell's expansion counts lengths, > 0
  Kokkos::View<double*, Memory> scale;
  /// (cell) items [begin, end) in the tree's order
  Kokkos::View<std::int64_t*, Memory> begin, end;
  /// (cell) the first child, no_child: a leaf; the parent, -1: the root
  Kokkos::View<std::int32_t*, Memory> child, parent;
};

/// Of a leaf, and of a cell of another rank's tree of which only the moments are here.
inline constexpr std::int32_t no_child = -1;

/// A tree's cells and an expansion of each: moments of what they hold, or locals of what others hold.
template <class Memory>
struct Expansions {
  Cells<Memory> cells;
  /// (cell, 2 n_terms): real parts, then imaginary ones
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> values;
};

/// Which cells a cell takes expansions from: rows by cell that takes.
template <class Memory>
struct ExchangeRows {
  /// (cell + 1)
  Kokkos::View<const std::int64_t*, Memory> begin;
  /// (pair) the other cell, and the total degree
  Kokkos::View<const std::int32_t*, Memory> partner, degree;
};

/// Prisms in the order of their tree.
template <class Memory>
struct TreePrisms {
  /// (3, n + lanes): centres, and half edges, metres
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> centre, half;
  /// (n + lanes) what moments are made of, density, or magnitude of the magnetisation, times volume; and what sums of
  /// prisms go to
  Kokkos::View<double*, Memory> mass, sums;
  /// (3, n + lanes) of magnetised prisms: along the magnetisation, of length 1, or 0 where there is none
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> direction;

  /// Whether prisms are sources of the magnetic potential, by their magnetisation, and not of gravity.
  [[nodiscard]] KOKKOS_FUNCTION bool are_magnetised() const { return direction.extent(0) > 0; }
};

/// Points in the order of their tree, each leaf padded with copies of its last point to whole lanes.
template <class Memory>
struct TreePoints {
  /// (3, n_padded) metres
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> place;
  /// (cell) the first padded point of a leaf
  Kokkos::View<std::int64_t*, Memory> first;
  /// (field of `fields`, n_padded): fields, or factors of a transposed product, zero for padding
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> values;
};

/// The steps of the far field, see operators/tree/far_steps.hpp.
enum class FarStep {
  moments_of_prisms,
  sums_of_prisms,
  moments_to_parents,
  locals_to_children,
  exchange,
  fields_at_points,
  moments_of_points
};

/// All that a step of the far field reads and writes.
template <class Memory>
struct FarData {
  ExpansionTables<Memory> tables;
  /// of all expansions
  int degree = 0;
  /// whose expansions are read in an exchange, and those that this step makes
  Expansions<Memory> from, to;
  ExchangeRows<Memory> rows;
  /// leaves of `to`, for steps of leaves
  Kokkos::View<const std::int32_t*, Memory> leaves;
  /// cells of a level's children, for shifts: [first, last)
  std::int32_t first = 0, last = 0;
  TreePrisms<Memory> prisms;
  TreePoints<Memory> points;
  /// the derivatives of the potential that are wanted, by the numbers of the native fields of gravity, rising
  int n_fields = 0;
  int field[n_gravity_fields] = {};
};

}  // namespace prismfield::fast
