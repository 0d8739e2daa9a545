// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "partition.hpp"

#include <algorithm>

namespace prismfield {

IndexRange balanced_part(std::int64_t n, std::int64_t part, std::int64_t parts) noexcept {
  const std::int64_t size = n / parts;
  const std::int64_t rest = n % parts;
  const std::int64_t begin = part * size + std::min(part, rest);
  return {begin, begin + size + (part < rest ? 1 : 0)};
}

RankShare rank_share(std::int64_t n_prisms, std::int64_t n_points, int rank, int prism_parts,
                     int point_parts) noexcept {
  return {balanced_part(n_prisms, rank % prism_parts, prism_parts),
          balanced_part(n_points, rank / prism_parts, point_parts)};
}

}  // namespace prismfield
