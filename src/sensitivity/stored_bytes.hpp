// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

#include <prismfield/storage.hpp>

namespace prismfield {

/// Columns of a tile of a stored G, and what the width of the last tile is a multiple of.
inline constexpr int stored_tile = 512;
inline constexpr int stored_step = 32;
/// Rows at least of a part whose products with columns are summed by themselves.
inline constexpr std::int64_t least_rows_of_part = 128;
/// Vectors that kernels take at once: their parts of a tile fit the nearest cache, or registers.
inline constexpr int most_vectors = 4;

/// Bytes that a StoredOperator of so many rows and columns keeps, padding included: what a product reads.
[[nodiscard]] std::int64_t stored_bytes(StoredPrecision precision, std::int64_t rows, std::int64_t columns) noexcept;

}  // namespace prismfield
