// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

namespace prismfield {

/// The middle one of the values in their order, of an even number the upper of the two; there is one value at least.
[[nodiscard]] inline double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace prismfield
