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

/// What was computed, and where it is to go.
struct Computed {
  std::filesystem::path file;
  /// about
  std::int64_t bytes = 0;
  /// holds what was done, once it is there
  std::optional<std::filesystem::path> checkpoint;
  /// writes it as a file of this name; throws RunError, NoRoomError
  std::function<void(const std::filesystem::path&)> write;
};

/// Writes what was computed. Where that fails, it is written to the first other folder that takes it (the working
/// folder, the home, $TMPDIR or /tmp), and RunError says where it is. When none has room and no checkpoint holds what
/// was done, it is kept until there is some: as long as somebody sits at the terminal, else for an hour. `warn` tells
/// so meanwhile. Throws RunError, Stopped.
void write_or_keep(const Computed& computed, const std::function<void(const std::string&)>& warn);

}  // namespace prismfield
