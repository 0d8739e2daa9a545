// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/program_facts.hpp"
#include "study/nvml.hpp"
#include "study/run_row.hpp"

namespace prismfield {

struct CacheRecord {
  int level = 0;
  /// Data, Instruction, Unified
  std::string type;
  std::int64_t bytes = 0;
  /// hardware threads that share one
  std::int64_t shared_by = 1;
};

/// The machine that a study runs on, as far as the system tells: -1, NaN or "" where it does not.
struct MachineRecord {
  /// what tables and figures call it
  std::string name;
  std::string host, system, kernel, architecture, processor, hypervisor, governor;
  std::int64_t sockets = 1;
  /// of this process: of each node, where there are several
  std::int64_t cores = 1, hardware_threads = 1;
  std::int64_t nodes = 1;
  std::int64_t numa_nodes = 1;
  std::vector<CacheRecord> caches;
  std::int64_t memory_bytes = 0;
  /// MHz
  double clock = not_known, least_clock = not_known, most_clock = not_known;
  double load = not_known;
  /// what of the energy is counted
  std::string energy;
  std::vector<DeviceRecord> devices;
  ProgramFacts program;
  /// variables of the environment that change runs, or say where they were made
  std::vector<std::pair<std::string, std::string>> openmp, slurm;
  /// measured limits as the program gives them, JSON; "" for none
  std::string calibration;

  [[nodiscard]] std::int64_t all_cores() const noexcept { return cores * nodes; }
  [[nodiscard]] std::int64_t all_hardware_threads() const noexcept { return hardware_threads * nodes; }
  /// By which a study that goes on knows that it is on a machine of the same kind.
  [[nodiscard]] std::string kind() const;
};

/// What a program says of itself, as machine.json and `prismfield info --json` hold it.
[[nodiscard]] nlohmann::ordered_json program_json(const ProgramFacts& program);

/// Asks the system. `name`: "" for the host's. `root`: the folder that holds proc and sys.
[[nodiscard]] MachineRecord record_machine(ProgramFacts program, const std::string& name,
                                           const std::filesystem::path& root = "/");

/// What a record tells of the study that was run on the machine.
struct RecordedStudy {
  std::string hash, title;
  bool is_reduced = false;
};

/// The text of machine.json.
[[nodiscard]] std::string machine_json(const MachineRecord& machine, const RecordedStudy& study);

/// The machine's load average of a minute; NaN where the system does not tell.
[[nodiscard]] double load_average();

}  // namespace prismfield
