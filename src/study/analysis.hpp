// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <vector>

#include "study/study_data.hpp"

namespace prismfield {

/// Makes of the runs of a study its points, speed-ups, serial fractions, rooflines and performance portability, and
/// notes which rules could not be kept. The same for the same runs: resampling is seeded by the study's seed.
void analyse(StudyData& study);

/// Where a point ran, by machine and device or space.
[[nodiscard]] std::string platform_of(const StudyData& study, const StudyPoint& point);

/// The labels of a point that stay the same on every platform: of axes that set anything but what a user chooses anew
/// for a machine, such as threads, space, slots and partition.
[[nodiscard]] Settings kept_labels(const StudyData& study, const StudyPoint& point);

/// Whether a point ran and its fields are right.
[[nodiscard]] bool has_speed(const StudyPoint& point);

}  // namespace prismfield
