// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>

#include "study/study_data.hpp"

namespace prismfield {

/// Reads a report folder: study.yaml, machine.json and runs.csv, and of errors.csv, histograms.csv, trace.csv, maps.csv
/// and busy.csv those that are there. Throws InputError with every mistake by file and line; a last line of runs.csv
/// that was cut by the end of the study is left out and noted.
[[nodiscard]] StudyData read_study(const std::filesystem::path& folder);

}  // namespace prismfield
