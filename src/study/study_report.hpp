// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace prismfield {

/// Analyses the runs of a report folder and writes all that follows from them beside. Returns what users are told,
/// lines with their ends. Throws InputError for a folder whose tables cannot be read, RunError.
[[nodiscard]] std::string finish_study(const std::filesystem::path& folder);

/// Makes one report in `out` of those in several folders, each of a machine. Returns what users are told. Throws
/// InputError, RunError.
[[nodiscard]] std::string join_studies(const std::vector<std::filesystem::path>& folders,
                                       const std::filesystem::path& out);

}  // namespace prismfield
