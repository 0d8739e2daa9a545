// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <vector>

#include "app/exit_codes.hpp"

namespace prismfield {

// Both run the tool study.finish of the Python package. It analyses runs, writes all that follows from them, draws it,
// prints the tables unless `quiet`, and reports errors in tables; without matplotlib it warns that there are no
// figures. A terminal shows which figure is drawn. Each returns how the program ends. Throws RunError where no Python
// has what the tool needs.

/// Makes the report of the runs in a report folder.
[[nodiscard]] ExitCode finish_study(const std::filesystem::path& folder, bool quiet);

/// Makes one report in `out` of those in several folders, each of a machine. `out` is made, or holds nothing but a
/// joined report, which is replaced.
[[nodiscard]] ExitCode join_studies(const std::vector<std::filesystem::path>& folders, const std::filesystem::path& out,
                                    bool quiet);

}  // namespace prismfield
