// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/ranges.hpp>

#include "compute/method.hpp"

namespace prismfield {

/// How large the parts of a field's sum are, whatever their signs, about: the sums of their absolute values, of masses
/// that stand for the prisms of a cell of space. Where prisms cancel, what is left is smaller than these by as much as
/// it has lost digits.
class AbsoluteSums {
public:
  /// `mine`: this rank's prisms; each prism is among those of so many ranks. Collective; all ranks hold the same.
  AbsoluteSums(const PrismSource& prisms, IndexRange mine, int ranks_of_each, const Communicator& communicator);

  /// At a point, in the units of FieldSizes: the sums of the parts of the potential, of the norms of vector and tensor,
  /// of B and its gradient; and what rounding may take from a direct sum in double.
  struct Parts {
    FieldSizes sums{}, rounding{};
  };
  [[nodiscard]] Parts at(double easting, double northing, double upward) const;

  /// The numbers of at most n points, where parts are largest, of those that are near one another the first.
  [[nodiscard]] std::vector<std::int64_t> largest_points(const PointColumns& points, std::int64_t n) const;

private:
  /// By which points are compared.
  [[nodiscard]] double cubes(double easting, double northing, double upward) const;

  /// What stands for the prisms of a cell: their middle, metres, density and magnetisation times volume, and the square
  /// of the distance within which one of them may take a closed form.
  struct Mass {
    double easting, northing, upward, mass, moment, near;
  };
  std::vector<Mass> m_masses;
  /// the square of half a cell's edge: no mass is nearer
  double m_nearest = 0;
  /// of far parts, relative
  double m_rounding = 0;
};

}  // namespace prismfield
