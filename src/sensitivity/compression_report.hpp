// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

namespace prismfield {

/// What compression came to, over all ranks.
struct CompressionReport {
  /// what was asked for, and what rows computed anew show: the largest over the fields
  double tolerance = 0, error = 0;
  /// rows that were computed anew
  std::int64_t checked_rows = 0;
  /// bytes of the blocks, and how many times as many G takes in double
  std::int64_t bytes = 0;
  double ratio = 0;
  /// pairs of a point and a cell: all, and those that were computed to build it, rows of the check left out
  std::int64_t pairs = 0, evaluated_pairs = 0;
  std::int64_t dense_blocks = 0, low_rank_blocks = 0;
  /// times that fields were built again more tightly
  int rounds = 0;
  double seconds = 0;
};

}  // namespace prismfield
