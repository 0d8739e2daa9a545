// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/cli.hpp"
#include "case/case.hpp"
#include "case/make_model.hpp"
#include "model/points.hpp"

namespace prismfield {

class Communicator;

/// Adds to `problems`, before anything is read for the case: a space that this build lacks, outputs that cannot be
/// written, --resume (`resumes`) without a checkpoint, and on rank 0 what check_place(file) says of the checkpoint's
/// place and a colour map of the figure that a Python that draws does not know.
void check_before_reading(const Case& run, bool resumes,
                          const std::function<void(const std::filesystem::path&)>& check_place, int rank,
                          ProblemList& problems);

/// Everything that a case names, read and validated.
struct Inputs {
  Case run;
  std::optional<Model> model;
  Points points;
  /// what users should know of the points' files; on rank 0
  std::vector<std::string> point_notes;
};

/// Reads the case, for a forward run or sensitivities, and what it names, large files once. Throws AgreedFailure with
/// the errors of all of them. Collective.
[[nodiscard]] Inputs read_inputs(const CaseOptions& options, const Communicator& communicator,
                                 CaseUse use = CaseUse::forward);

}  // namespace prismfield
