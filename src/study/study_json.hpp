// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>

#include "study/study_data.hpp"

namespace prismfield {

/// study.json: all that a study came to, schema prismfield-study, version 1; docs/studies.md describes it. What is not
/// known is null.
[[nodiscard]] std::string study_json(const StudyData& study);

}  // namespace prismfield
