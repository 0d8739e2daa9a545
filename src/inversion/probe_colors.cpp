// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/probe_colors.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace prismfield {

ProbeColors probe_colors(const ActiveCells& cells, const std::array<double, 3>& lengths, double apart) {
  ProbeColors colors;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<double>& edges = cells.edges()[d];
    const auto count = static_cast<double>(edges.size() - 1);
    const double cells_of_length = std::max(lengths[d] * count / (edges.back() - edges.front()), 1.0);
    const double wanted = std::max(std::ceil(apart * cells_of_length), 2.0);
    colors.spacing[d] = lengths[d] > 0 ? static_cast<std::int64_t>(std::min(wanted, count)) : 1;
  }
  const auto& spacing = colors.spacing;
  colors.count = spacing[0] * spacing[1] * spacing[2];
  for (std::int64_t j = 0; j < cells.size(); ++j) {
    const auto place = cells.place(j);
    const std::int64_t number =
        (place[2] % spacing[2] * spacing[1] + place[1] % spacing[1]) * spacing[0] + place[0] % spacing[0];
    colors.color.push_back(static_cast<std::int32_t>(number));
  }
  return colors;
}

}  // namespace prismfield
