// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/run_inputs.hpp"
#include "compute/forward.hpp"
#include "compute/plan.hpp"

namespace prismfield {

/// "gx, gy, gz", and for the group vector how to get the tensor, too.
[[nodiscard]] std::string fields_text(FieldList fields);

/// The lines with which a run begins. `ranks`: what placement_text says of them.
[[nodiscard]] std::string run_heading(const Inputs& inputs, const Plan& plan, const std::string& ranks);

/// What a user should know of a model and points that can hardly be meant so: units, coordinates.
[[nodiscard]] std::vector<std::string> input_warnings(const Inputs& inputs);

/// Tells, unless options.quiet, the notes, the keys that are not used and where the figure goes, on standard error.
void tell_notes(const CaseOptions& options, const Case& run, std::vector<std::string> notes);

/// Tells the warnings of model and points, and notes as tell_notes() does.
void tell_inputs(const CaseOptions& options, const Inputs& inputs);

/// Every rank's share and memory, as --dry-run tells it.
struct RankSizes {
  std::vector<std::int64_t> prisms, points, host, device;
};

/// What --dry-run prints. `need`: the tightest of memory. `ranks_text`: what placement_text says of the ranks.
/// `seconds`: that the run takes, but for its result.
[[nodiscard]] std::string dry_run_table(const Inputs& inputs, const Plan& plan, const RankSizes& ranks,
                                        const MemoryNeed& need, const std::string& ranks_text, double seconds);

/// What a user should know of points in, on and at the edges of prisms. `terrain`: the model when it is one;
/// input_warnings() told of the points below it.
[[nodiscard]] std::vector<std::string> point_warnings(const Points& points, const Fields& result,
                                                      const Terrain* terrain = nullptr);

/// How far a checkpoint was: `done_fraction` from 0 to 1, below 0 without one.
[[nodiscard]] std::string resume_text(const std::string& file, double done_fraction);

/// The last line of a run. `seconds`: since its start; `figure`: what drawn_text() says.
[[nodiscard]] std::string run_summary(const Inputs& inputs, const Fields& result, double seconds,
                                      const std::string& figure);

}  // namespace prismfield
