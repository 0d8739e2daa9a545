// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/model_export.hpp"
#include "app/run_inputs.hpp"
#include "io/result_file.hpp"

namespace prismfield {

/// Throws InputError, before anything is computed, when the disks of the result and the checkpoint have less room than
/// these take. `checkpoint_bytes`: of all ranks together. For rank 0.
void check_disk(const Inputs& inputs, std::int64_t checkpoint_bytes);

/// The same for an inversion: the files that it writes.
void check_model_disks(const Case& run, const std::vector<ModelFileSize>& files);

/// Writes what was computed. Throws RunError, which names the checkpoint where there is one: it holds what was done.
void write_computed(const std::optional<std::filesystem::path>& checkpoint, const std::function<void()>& write);

}  // namespace prismfield
