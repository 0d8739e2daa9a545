// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

#include "operators/tree/worker.hpp"

/// Between numbers of several rows and lanes: 8 x 8 blocks by 24 instructions, where numbers one by one would be
/// written as such and read as lanes, which waits for each.
namespace prismfield::fast {
inline namespace PRISMFIELD_LANES {

namespace detail {
template <int width>
struct Vector {
  typedef double type __attribute__((vector_size(width * sizeof(double))));
};

/// Of two rows the lower halves, or the upper ones, of each `2 half` neighbours.
template <int width, int half, bool upper>
struct Halves {
  using V = typename Vector<width>::type;
  static constexpr int at(int j) { return (j & half) == 0 ? j + (upper ? half : 0) : width + j - (upper ? 0 : half); }
  PRISMFIELD_INLINE_FUNCTION static V of(const V& a, const V& b) {
    if constexpr (width == 8) {
      return __builtin_shufflevector(a, b, at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7));
    } else if constexpr (width == 4) {
      return __builtin_shufflevector(a, b, at(0), at(1), at(2), at(3));
    } else {
      return __builtin_shufflevector(a, b, at(0), at(1));
    }
  }
};

template <int half, class L>
PRISMFIELD_INLINE_FUNCTION void swap_blocks(L (&rows)[kernel::lanes_v<L>]) {
  constexpr int width = kernel::lanes_v<L>;
  using V = typename Vector<width>::type;
  static_assert(sizeof(V) == sizeof(L));
  for (int i = 0; i < width; ++i) {
    if ((i & half) != 0) continue;
    const V a = kernel::bit_cast<V>(rows[i]), b = kernel::bit_cast<V>(rows[i + half]);
    rows[i] = kernel::bit_cast<L>(Halves<width, half, false>::of(a, b));
    rows[i + half] = kernel::bit_cast<L>(Halves<width, half, true>::of(a, b));
  }
  if constexpr (half > 1) swap_blocks<half / 2>(rows);
}
}  // namespace detail

/// Lane j of row i to lane i of row j.
template <class L>
PRISMFIELD_INLINE_FUNCTION void transpose(L (&rows)[kernel::lanes_v<L>]) {
  if constexpr (kernel::lanes_v < L >> 1) detail::swap_blocks<kernel::lanes_v<L> / 2>(rows);
}

/// Numbers 0 ... n - 1 of each lane's row, as lanes.
template <class L, class Worker>
PRISMFIELD_INLINE_FUNCTION void read_rows(const Worker& worker, const double* const (&row)[kernel::lanes_v<L>], int n,
                                          double* lanes) {
  constexpr int width = kernel::lanes_v<L>;
  int whole = 0;
  if constexpr (width > 1) {
    for (; whole + width <= n; whole += width) {
      L block[width];
      for (int j = 0; j < width; ++j) block[j] = kernel::load<L>(row[j] + whole);
      transpose(block);
      for (int j = 0; j < width; ++j) put(block[j], lanes, whole + j);
    }
  }
  share(worker, n - whole, [&](int i) {
    for (int j = 0; j < width; ++j) lanes[(whole + i) * width + j] = row[j][whole + i];
  });
}

/// Calls f(first, block) for whole blocks of lanes' numbers 0 ... n - 1, transposed; returns how many numbers these
/// are.
template <class L, class F>
PRISMFIELD_INLINE_FUNCTION int for_each_block(const double* lanes, int n, const F& f) {
  constexpr int width = kernel::lanes_v<L>;
  int whole = 0;
  if constexpr (width > 1) {
    for (; whole + width <= n; whole += width) {
      L block[width];
      for (int j = 0; j < width; ++j) block[j] = lane<L>(lanes, whole + j);
      transpose(block);
      f(whole, block);
    }
  }
  return whole;
}

/// Rows of all lanes that hold nothing yet.
inline constexpr std::uint32_t all_rows_are_new = ~std::uint32_t{0};

/// Adds lanes' numbers 0 ... n - 1 to the rows of the first `valid` lanes, one lane after another. Bit j of `new_rows`:
/// the row of lane j holds nothing yet, and the numbers are written.
template <class L, class Worker>
PRISMFIELD_INLINE_FUNCTION void add_to_rows(const Worker& worker, const double* lanes, int n, int valid,
                                            std::uint32_t new_rows, double* const (&row)[kernel::lanes_v<L>]) {
  constexpr int width = kernel::lanes_v<L>;
  const auto is_new = [new_rows](int j) { return (new_rows >> j & 1) != 0; };
  const int whole = for_each_block<L>(lanes, n, [&](int first, L(&block)[width]) {
    for (int j = 0; j < valid; ++j) {
      kernel::store(is_new(j) ? block[j] : kernel::load<L>(row[j] + first) + block[j], row[j] + first);
    }
  });
  share(worker, n - whole, [&](int i) {
    for (int j = 0; j < valid; ++j) {
      const double number = lanes[(whole + i) * width + j];
      row[j][whole + i] = is_new(j) ? number : row[j][whole + i] + number;
    }
  });
}

/// The sum of each lane array's lanes, from the first on.
template <class L, class Worker>
PRISMFIELD_INLINE_FUNCTION void sum_lanes(const Worker& worker, const double* lanes, int n, double* sums) {
  constexpr int width = kernel::lanes_v<L>;
  const int whole = for_each_block<L>(lanes, n, [&](int first, L(&block)[width]) {
    for (int j = 1; j < width; ++j) block[0] = block[0] + block[j];
    kernel::store(block[0], sums + first);
  });
  share(worker, n - whole, [&](int i) {
    const double* const of = lanes + (whole + i) * width;
    double sum = of[0];
    for (int j = 1; j < width; ++j) sum += of[j];
    sums[whole + i] = sum;
  });
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::fast
