// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Numbers by which models mark cells that are inactive, such as air.

namespace prismfield {

/// The number by which a model seems to mark its cells of air.
struct AirMark {
  /// SI
  double value = 0;
  /// No rock has it: an error where it would be computed. Otherwise a warning.
  bool is_certain = false;
  /// e.g. "has -100 g/cm3, beyond any rock, in 400 of its 1,000 cells"
  std::string text;
};

/// The mark of air in a model's densities or susceptibilities, SI; NaN is passed over, `to_si` is the factor from the
/// file's unit. Certain: the one density beyond any rock that several cells have and other cells have not, or a
/// susceptibility below -1. Otherwise the least value where it is negative, in more than 1 % of the cells, further from
/// the next than that from the largest, and no contrast (5 g/cm3 or more below 0, none of the others as far), no
/// density beside others of rock, or a susceptibility below -0.1.
[[nodiscard]] std::optional<AirMark> find_air_mark(const std::vector<double>& values, std::size_t property,
                                                   double to_si);

/// Numbers of cells, and the factor from a file's unit to theirs.
struct CellNumbers {
  const std::vector<double>* values;
  double to_si = 1;
};

/// Columns of a file whose unit is `to_si`: one, or the three of a vector, of which the third points down in the file.
[[nodiscard]] std::vector<CellNumbers> numbers_of(std::span<const std::vector<double>> columns, double to_si);

/// What to say of numbers that look like dummies beside the others (find_dummies()), in the file's unit; NaN is passed
/// over. "has 99999 in 1 of its 8 cells: 99999 looks like a dummy, a number that stands for none"; "" for none.
[[nodiscard]] std::string dummies_in(const CellNumbers& column);

/// How many cells are inactive: their numbers are all `mark`, or one is where it looks like a dummy.
[[nodiscard]] std::int64_t count_mark(const std::vector<CellNumbers>& columns, double mark);

/// Replaces the numbers of every inactive cell in a file whose unit is `to_si`, columns as in numbers_of(). Returns how
/// many cells.
std::int64_t replace_mark(std::span<std::vector<double>> columns, double mark, double to_si, double replacement);

/// What to say of a number that marks inactive cells, NaN in the columns, by all their numbers: that it lies within the
/// range of the active ones; "" otherwise. Throws InputError, with `option`, where all numbers of an active cell are
/// it.
[[nodiscard]] std::string check_mark(const std::vector<CellNumbers>& columns, double mark, const std::string& option);

}  // namespace prismfield
