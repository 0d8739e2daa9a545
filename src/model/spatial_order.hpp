// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/ranges.hpp>

namespace prismfield {

/// Numbers of the points [range.begin, range.end) in the order in which they are worked on: along a Z-curve, so that
/// points side by side in a lane group or warp see a prism at nearly the same distance and take the same form.
[[nodiscard]] std::vector<std::int64_t> spatial_order(const Points& points, IndexRange range);

}  // namespace prismfield
