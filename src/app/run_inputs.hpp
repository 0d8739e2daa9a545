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
#include "compute/checkpoint.hpp"
#include "model/points.hpp"
#include "readers/station_file.hpp"

namespace prismfield {

class Communicator;

/// Reads the case. Adds to `problems`, before anything that it names is read: a space that this build lacks, outputs
/// that cannot be written, --resume without a checkpoint, and on rank 0 what is in the checkpoint's place and must not
/// be replaced, and a colour map of the figure that a Python that draws does not know. Throws AgreedFailure.
/// Collective.
[[nodiscard]] Case read_checked_case(const CaseOptions& options, CaseUse use, const Communicator& communicator,
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

/// Prints to standard error, unless options.quiet: notes, unused keys, and the figure's file.
void tell_notes(const CaseOptions& options, const Case& run, std::vector<std::string> notes);

/// Prints the warnings about model and points, then notes as tell_notes() does.
void tell_inputs(const CaseOptions& options, const Inputs& inputs);

/// Goes on from the case's checkpoint, if the options want it and there is one: whether there is. `n_files`: that may
/// be written at its place, `read`: read_checkpoint(), on each rank by itself. Throws AgreedFailure, also when
/// something is there that is not to be replaced, and when ranks read different files. Collective.
[[nodiscard]] bool go_on(const CaseOptions& options, const Case& run, const Digest& hash, int n_files,
                         const Communicator& communicator, const std::function<std::optional<FoundCheckpoint>()>& read);

/// Prints the state of the checkpoint: its progress (unless options.quiet) where the run resumes from it, or that the
/// run replaces it.
void tell_checkpoint(const CaseOptions& options, const std::filesystem::path& file, const std::string& how_far);

/// Warnings about points in, on and at the edges of prisms. `magnetic`: settings of the run; `terrain`: the model, if
/// it is one. tell_inputs() covers the points below a terrain.
[[nodiscard]] std::vector<std::string> point_warnings(const Points& points, const Fields& result,
                                                      const Magnetic& magnetic, const Terrain* terrain = nullptr);

/// The warning where tmi is asked of fields that are more than 1 % of the inducing field.
[[nodiscard]] std::vector<std::string> linearity_warnings(const Fields& result, const Magnetic& magnetic);

}  // namespace prismfield
