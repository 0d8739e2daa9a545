// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

namespace prismfield {

/// What bounds the memory of a process.
enum class MemoryBound { machine, control_group, address_space, data };

/// The memory that a process may still take by one bound.
struct MemoryLimit {
  MemoryBound bound = MemoryBound::machine;
  std::int64_t bytes = 0;
  /// processes of one machine with the same number share these bytes; 0: only this process has them
  std::int64_t group = 0;
};

/// The limits of a process on its own memory, bytes: ulimit -v and ulimit -d.
struct ProcessLimits {
  std::int64_t address_space = std::numeric_limits<std::int64_t>::max();
  std::int64_t data = std::numeric_limits<std::int64_t>::max();
};
[[nodiscard]] ProcessLimits process_limits();

/// All bounds on the memory of this process, less what is in use: what the machine can give without swapping, the
/// control groups of the process (cgroups versions 1 and 2) and all above them, and its own limits. Page cache that a
/// group would give back does not count as in use. A bound that the system does not report is left out. `root`: the
/// folder that holds proc and sys.
[[nodiscard]] std::vector<MemoryLimit> memory_limits(const std::filesystem::path& root = "/",
                                                     const ProcessLimits& limits = process_limits());

/// Equal shares, bytes, for `processes` of one machine that all have these bounds; the largest number without bounds.
[[nodiscard]] std::int64_t share_of(const std::vector<MemoryLimit>& limits, std::int64_t processes) noexcept;

/// "this machine's free memory", "the memory limit of this batch job or container (cgroup)", ...
[[nodiscard]] const char* description(MemoryBound bound) noexcept;

}  // namespace prismfield
