// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>

#include "study/study_data.hpp"

namespace prismfield {

/// Writes study.h5, which netCDF-4 programs open: groups `points`, `runs` and `errors`, a variable a column. A column
/// of words holds their numbers; its attributes flag_values and flag_meanings name them as CF has it. The dataset
/// `study` is study.json. Throws RunError.
void write_study_hdf5(const StudyData& study, const std::filesystem::path& file);

}  // namespace prismfield
