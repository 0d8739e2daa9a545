// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

namespace prismfield::fast {

/// Items of a leaf at most.
struct LeafSizes {
  std::int64_t prisms, points;
};

/// Points to a prism in equal volumes, about.
[[nodiscard]] double points_per_prism(const PrismSource& prisms, const PointColumns& points);

/// Leaves with which a product takes about the least time: of points and of prisms as large as one another.
[[nodiscard]] LeafSizes leaf_sizes(bool on_device, double points_per_prism, std::int64_t n_prisms);

}  // namespace prismfield::fast
