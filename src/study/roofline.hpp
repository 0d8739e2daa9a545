// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string_view>

#include <prismfield/fields.hpp>
#include <prismfield/forms.hpp>

#include "study/study_data.hpp"

namespace prismfield {

/// Floating-point operations: sums, products, quotients and roots count one, a fused multiply-add two; comparisons,
/// choices, signs and conversions none.
struct Operations {
  double in_double = 0, in_float = 0;
};

/// Of one prism-point pair, as they were counted: docs/numerics.md, Operations of a pair. `precision`: double, mixed or
/// single; NaN for another word.
[[nodiscard]] Operations operations_of_pair(Form form, FieldSet set, std::string_view precision);

/// Bytes of one pair that the kernel reads and writes beyond a batch of prisms, which stays in the nearest cache: for
/// each point its coordinates, and its fields there and back, once a batch. Caches can only make it less.
[[nodiscard]] double bytes_of_pair(FieldSet set, std::string_view precision, std::int64_t batch);

/// Where a point stands on the roofline of its machine. `peak`: of its space, nullptr when nobody measured it; what was
/// measured on more threads than the point has counts in proportion.
[[nodiscard]] Roofline roofline_of(const StudyPoint& point, FieldSet set, const SpacePeak* peak);

}  // namespace prismfield
