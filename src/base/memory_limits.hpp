// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

namespace prismfield {

/// Who bounds the memory of a process.
enum class MemoryBound { machine, control_group, address_space, data };

/// Memory that a process may still take, as one of its bounds has it.
struct MemoryLimit {
  MemoryBound bound = MemoryBound::machine;
  std::int64_t bytes = 0;
  /// processes of one machine whose limits have the same number share these bytes; 0: they are this process's alone
  std::int64_t group = 0;
};

/// Limits of a process on its own memory, bytes: ulimit -v and ulimit -d.
struct ProcessLimits {
  std::int64_t address_space = std::numeric_limits<std::int64_t>::max();
  std::int64_t data = std::numeric_limits<std::int64_t>::max();
};
[[nodiscard]] ProcessLimits process_limits();

/// Every bound on the memory of this process, less what is taken already: what the machine hands out without swapping,
/// the control groups (cgroups of version 1 and 2) that the process is in and all above them, and its own limits. Page
/// cache that a group would give back does not count as taken. Where the system does not tell, there is no bound.
/// `root`: the folder that holds proc and sys.
[[nodiscard]] std::vector<MemoryLimit> memory_limits(const std::filesystem::path& root = "/",
                                                     const ProcessLimits& limits = process_limits());

/// Bytes that each of `processes` of one machine may take alike, where all have these bounds; the largest number where
/// there is none.
[[nodiscard]] std::int64_t share_of(const std::vector<MemoryLimit>& limits, std::int64_t processes) noexcept;

/// "this machine's free memory", "the memory limit of this batch job or container (cgroup)", ...
[[nodiscard]] const char* description(MemoryBound bound) noexcept;

}  // namespace prismfield
