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

/// threads, ranks or devices of a point, as a scaling is along one of them; -1: not known.
[[nodiscard]] std::int64_t count_of(const StudyPoint& point, std::string_view key);

/// The key that scaling is along, and the index of the axis that sets it; an empty key when none is swept.
struct ScalingAxis {
  std::string key;
  std::size_t axis = 0;
};
[[nodiscard]] ScalingAxis scaling_axis(const StudyData& study);

}  // namespace prismfield
