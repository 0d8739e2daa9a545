// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>

#include "study/study_data.hpp"

namespace prismfield {

/// Writes what follows from an analysed study into a folder that exists: study.json, study.h5, tables.md, tables.tex,
/// p3.csv and foms.txt, each under a temporary name and renamed when complete. Throws RunError.
void write_report_files(const StudyData& study, const std::filesystem::path& folder);

}  // namespace prismfield
