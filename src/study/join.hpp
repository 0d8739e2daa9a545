// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <vector>

#include "study/study_data.hpp"

namespace prismfield {

/// Reads report folders of several machines as one study: a first axis `machine` names where each point ran, points and
/// runs are numbered on. Title, figures and rules are those of the first folder. Throws InputError with the mistakes of
/// every folder, and for studies of other axes.
[[nodiscard]] StudyData join(const std::vector<std::filesystem::path>& folders);

}  // namespace prismfield
