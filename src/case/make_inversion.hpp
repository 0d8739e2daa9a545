// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/active_cells.hpp"
#include "model/survey.hpp"

namespace prismfield {

class Communicator;
struct Case;

/// What an inversion is made from, the same on every rank.
struct InversionInputs {
  std::unique_ptr<ActiveCells> cells;
  std::vector<DataSet> data;
  /// one an active cell, kg/m3
  std::vector<double> reference;
  /// what was done with the files
  std::vector<std::string> notes;
  /// what the user should be told though the inversion goes on
  std::vector<std::string> warnings;
};

/// Makes the cells, data and reference of a case read for CaseUse::inversion. Files are read by rank 0 alone. Throws
/// InputError with every mistake found, the same on every rank: beside those of the files stations under active cells'
/// tops, references outside the bounds, no active cell. Collective.
[[nodiscard]] InversionInputs make_inversion(const Case& run, const Communicator& communicator);

}  // namespace prismfield
