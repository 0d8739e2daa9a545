// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace prismfield {

/// What users are told of a report.
struct ReportText {
  /// tables and where the report is, lines with their ends
  std::string tables;
  /// why there are no figures, or ""
  std::string warning;
};

/// Analyses the runs of a report folder, writes all that follows from them beside and draws it; a
/// terminal shows which figure unless `quiet`. Throws InputError for a folder whose tables cannot be read, RunError.
[[nodiscard]] ReportText finish_study(const std::filesystem::path& folder, bool quiet);

/// Makes one report in `out` of those in several folders, each of a machine. `out` is made, or holds nothing but a
/// joined report, which is replaced. Throws InputError, RunError.
[[nodiscard]] ReportText join_studies(const std::vector<std::filesystem::path>& folders,
                                      const std::filesystem::path& out, bool quiet);

}  // namespace prismfield
