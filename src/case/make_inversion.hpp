// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/data_set.hpp>

namespace prismfield {

class Communicator;
struct Case;

/// What an inversion is made from, the same on every rank.
struct InversionInputs {
  std::unique_ptr<ActiveCells> cells;
  /// names of the epochs; empty: one, without a name
  std::vector<std::string> epochs;
  /// data set by data set, each epoch by epoch
  std::vector<DataSet> data;
  /// one an unknown of an epoch, in its unit
  std::vector<double> reference;
  /// bounds of each active cell, infinite where there is none; empty: those of the settings
  std::vector<double> lower, upper;
  /// one an active cell, above 0; empty: 1
  std::vector<double> cell_weights;
  /// one an unknown of an epoch; empty: the reference
  std::vector<double> start;
  /// what was done with the files
  std::vector<std::string> notes;
  /// warnings for the user; the inversion goes on
  std::vector<std::string> warnings;

  [[nodiscard]] std::int64_t n_epochs() const noexcept { return epoch_count(epochs); }
};

/// Makes the cells, data and what is known of each cell, of a case read for CaseUse::inversion. Files are read by rank
/// 0 alone. With a topography, cells that reach above a station in their column are inactive. Throws InputError with
/// every error found, the same on every rank: beside those of the files stations far below the ground or inside active
/// cells, references outside the bounds, no active cell, no inducing field
/// where one is needed, epochs of other stations or fields. Collective.
[[nodiscard]] InversionInputs make_inversion(const Case& run, const Communicator& communicator);

}  // namespace prismfield
