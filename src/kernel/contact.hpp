// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace prismfield {

/// Columns of a point's row of contacts with prisms. The logarithm of an edge through the point diverges, once for the
/// part of the edge on either side of the point along it: the first six columns add sign times density, or what stands
/// for a magnetisation, for the parts towards west, east, south, north, below, above. Where all six cancel over the
/// prisms, the tensor and B have a value.
struct Contact {
  enum Column : int {
    west,
    east,
    south,
    north,
    below,
    above,
    /// sum of the magnitudes of all parts
    parts,
    /// number of prisms that hold the point, inside or on their surface
    prisms
  };
};

inline constexpr int n_contact_columns = Contact::prisms + 1;

/// Whether a point of this row (n_contact_columns) lies inside or on a prism.
[[nodiscard]] inline bool touches_prism(const double* row) noexcept { return row[Contact::prisms] > 0; }

/// Whether the gradient tensor, B or its gradient has no value at a point of this row (n_contact_columns).
[[nodiscard]] inline bool tensor_diverges(const double* row) noexcept {
  // sums of few numbers: what is left below this is rounding
  constexpr double rounding = 1e-12;
  for (int column = Contact::west; column <= Contact::above; ++column) {
    if (std::abs(row[column]) > rounding * row[Contact::parts]) return true;
  }
  return false;
}

/// Adds the rows of contacts of a second product of the same prisms at the same points: what diverges in one of two
/// products does in their sum.
inline void add_product_contacts(std::span<const double> of_product, std::span<double> all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % n_contact_columns != Contact::prisms) all[i] += of_product[i];
  }
}

}  // namespace prismfield
