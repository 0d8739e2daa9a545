// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace prismfield {

/// Columns of a point's row of contacts with prisms, which kernels fill and forward() and operators read. At a point on
/// an edge the edge's logarithm diverges once per side along the edge. The first six columns sum sign times density (or
/// a measure of magnetisation) over sides towards west, east, south, north, below, above. Where all six cancel, the
/// tensor and B have values.
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
    /// number of prisms that have the point inside or on their surface
    prisms
  };
};

inline constexpr int n_contact_columns = Contact::prisms + 1;

/// Whether the point of a row (n_contact_columns) lies inside or on a prism.
[[nodiscard]] inline bool touches_prism(const double* row) noexcept { return row[Contact::prisms] > 0; }

/// Whether the gradient tensor, B or its gradient has no value at the point of a row (n_contact_columns).
[[nodiscard]] inline bool tensor_diverges(const double* row) noexcept {
  // the sums have few terms: what is left below this is rounding
  constexpr double rounding = 1e-12;
  for (int column = Contact::west; column <= Contact::above; ++column) {
    if (std::abs(row[column]) > rounding * row[Contact::parts]) return true;
  }
  return false;
}

/// Adds the contacts of a second product of the same prisms and points: what diverges in one product diverges in the
/// sum.
inline void add_product_contacts(std::span<const double> of_product, std::span<double> all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % n_contact_columns != Contact::prisms) all[i] += of_product[i];
  }
}

}  // namespace prismfield
