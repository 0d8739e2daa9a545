// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/result.hpp>

#include "app/run_inputs.hpp"
#include "sensitivity/host_operator.hpp"

namespace prismfield {

/// The lines with which the command begins: model, points, shape of G.
[[nodiscard]] std::string sensitivity_heading(const Inputs& inputs, const ActiveCells& cells);

/// What --dry-run prints behind the heading: bytes of G by precision for so many ranks, of memory that is free, of
/// files.
[[nodiscard]] std::string sensitivity_sizes(const Inputs& inputs, const ActiveCells& cells, int ranks,
                                            const std::string& ranks_text);

/// What was measured.
struct SensitivityTimes {
  double build_seconds = 0;
  ProductSeconds kept;
  /// computed anew; 0: not measured
  ProductSeconds anew;
};

/// Products, of G and of its transposed alike, after which storing has paid; nothing where it does not, or where G was
/// not made or not measured.
[[nodiscard]] std::optional<std::int64_t> products_that_pay(const StorageChoice& choice, const SensitivityTimes& times);

/// How G is kept, how long making it and its products take and how often these must be wanted for storing to pay.
[[nodiscard]] std::string sensitivity_report(const Inputs& inputs, const ActiveCells& cells,
                                             const StorageChoice& choice, const SensitivityTimes& times);

/// That G is in its file.
[[nodiscard]] std::string written_text(const std::string& file, double seconds);

/// Largest differences of G m from fields that were computed directly at `n_points` points, relative to the largest
/// value of each field: `differences` in the order of `fields`.
[[nodiscard]] std::string difference_text(FieldList fields, const std::vector<double>& differences,
                                          std::int64_t n_points);

}  // namespace prismfield
