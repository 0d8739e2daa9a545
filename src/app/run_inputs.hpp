// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/result.hpp>

#include "app/cli.hpp"
#include "case/case.hpp"
#include "case/make_model.hpp"
#include "io/station_file.hpp"
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
  /// of the stations' file; on rank 0
  StationColumns stations;
  /// what users should know of the points' files; on rank 0
  std::vector<std::string> point_notes;
};

/// Reads the case, for a forward run or sensitivities, and what it names, large files once. Throws AgreedFailure with
/// the errors of all of them. Collective.
[[nodiscard]] Inputs read_inputs(const CaseOptions& options, const Communicator& communicator,
                                 CaseUse use = CaseUse::forward);

/// "gx, gy, gz", and for the group vector how to get the tensor, too.
[[nodiscard]] std::string fields_text(FieldList fields);

/// The number of pairs of prisms and points, "3,779,190,000".
[[nodiscard]] std::string pairs_text(const Plan& plan);

/// Tells, unless options.quiet, the notes, the keys that are not used and where the figure goes, on standard error.
void tell_notes(const CaseOptions& options, const Case& run, std::vector<std::string> notes);

/// Tells the warnings of model and points, and notes as tell_notes() does.
void tell_inputs(const CaseOptions& options, const Inputs& inputs);

/// What a user should know of points in, on and at the edges of prisms. `terrain`: the model when it is one;
/// tell_inputs() told of the points below it.
[[nodiscard]] std::vector<std::string> point_warnings(const Points& points, const Fields& result,
                                                      const Terrain* terrain = nullptr);

}  // namespace prismfield
