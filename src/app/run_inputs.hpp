// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli.hpp"
#include "case/case.hpp"
#include "case/make_model.hpp"
#include "model/points.hpp"

namespace prismfield {

class Communicator;

/// Throws InputError, before anything is read for it, for a space that this build lacks and for sensitivities kept
/// where the space has no memory.
void check_space(const Case& run);

/// Throws InputError for a colour map of the figure that a Python that draws says is none. For rank 0.
void check_colour_map(const Case& run);

/// Everything that a case names, read and validated.
struct Inputs {
  Case run;
  std::optional<Model> model;
  Points points;
  /// what users should know of the points' files; on rank 0
  std::vector<std::string> point_notes;
};

/// Reads the case, for a forward run or sensitivities, and what it names, large files once. Throws AgreedFailure with
/// the mistakes of all of them. Collective.
[[nodiscard]] Inputs read_inputs(const CaseOptions& options, const Communicator& communicator,
                                 CaseUse use = CaseUse::forward);

}  // namespace prismfield
