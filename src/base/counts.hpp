// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <limits>

namespace prismfield {

/// The largest count, which also stands for all that are larger.
inline constexpr std::int64_t most_countable = std::numeric_limits<std::int64_t>::max();

/// Product and sum of counts, of at least 0, or the largest count.
[[nodiscard]] constexpr std::int64_t product_or_most(std::int64_t a, std::int64_t b) noexcept {
  return b > 0 && a > most_countable / b ? most_countable : a * b;
}
[[nodiscard]] constexpr std::int64_t sum_or_most(std::int64_t a, std::int64_t b) noexcept {
  return a > most_countable - b ? most_countable : a + b;
}

}  // namespace prismfield
