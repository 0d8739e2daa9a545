// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/run_inputs.hpp"
#include "io/result_file.hpp"

namespace prismfield {

/// Throws InputError, before anything is computed, when the disks of the result and the checkpoint have less room than
/// these take. `checkpoint_bytes`: of all ranks together. For rank 0.
void check_disk(const Inputs& inputs, std::int64_t checkpoint_bytes);

/// Writes the result as write_result does. Where that fails, it is written to the first other folder that takes it (the
/// working folder, the home, $TMPDIR or /tmp), and RunError says where it is. When none has room and no checkpoint
/// holds what was done, it is kept until there is some: as long as somebody sits at the terminal, else for an hour.
/// `warn` tells so meanwhile. Throws RunError, Stopped.
std::vector<std::string> write_or_keep(const Inputs& inputs, const Fields& result, const RunTimes& times,
                                       const std::function<void(const std::string&)>& warn);

}  // namespace prismfield
