// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>

#include <prismfield/request.hpp>

namespace prismfield::testing {

/// Where a prism's forms follow each other, metres.
struct Switches {
  /// distances from the centre from which the orders 12, 10, 8, 6, 4, 2, 0 are used
  std::array<double, 7> multipole{};
  /// distance from the surface up to which the compact form is used
  double compact = 0;
};

/// Of prisms with these edge lengths, metres.
[[nodiscard]] Switches switches_of(const std::array<double, 3>& edges, Precision precision);

}  // namespace prismfield::testing
