// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <prismfield/fields.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

namespace prismfield {

/// So many pairs take one thread less time than planning and launching them.
inline constexpr std::int64_t few_pairs = 16384;

/// Fields of few prisms at few points, in double and in the calling thread; Kokkos need not run. The forms are those
/// that forward() takes. Writes `values`, (native field of sets_of(fields), point) for G = 1, and `contact`, (point,
/// n_contact_columns) as kernel/contact.hpp describes it; `inside`: see share_inside(). Prisms and points have to be
/// checked.
void sum_few_pairs(FieldList fields, const PrismColumns& prisms, const PointColumns& points,
                   const std::array<double, 3>& inside, std::span<double> values, std::span<double> contact);

/// How strong the edges of a prism of a block are where they add to contacts, in kernels of a set: along each
/// direction, see kernel::edge_strengths.
[[nodiscard]] std::array<double, 3> edge_strengths(FieldSet set, const PrismBlock& prisms, std::size_t number);

/// Adds what a prism of these faces, [direction][low, high], and edge_strengths() adds to a point's row of contacts
/// (n_contact_columns): nothing where the point is outside of it. `rounding`: of prisms and points together.
void add_contact(const double (&face)[3][2], const std::array<double, 3>& strength, const std::array<double, 3>& point,
                 const std::array<double, 3>& rounding, double* row);

}  // namespace prismfield
