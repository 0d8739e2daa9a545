// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "study/energy.hpp"
#include "study/machine_record.hpp"
#include "study/problem.hpp"
#include "study/run_row.hpp"
#include "study/study_file.hpp"

namespace prismfield {

/// The words that start a run of the program, and what every run gets.
struct RunnerSettings {
  std::filesystem::path program;
  /// passed on to every run
  std::vector<std::string> kokkos_options;
};

/// The files of one run.
struct RunFiles {
  std::filesystem::path input, result, log;
};

/// The variables that a run is started with: threads, their places, the devices that it may see, and nothing of the
/// launcher of this process.
[[nodiscard]] Environment run_environment(const StudySpec& spec, const MachineRecord& machine, const RunStart& start);

/// `prismfield run` of a case, or the command that `start` says, started as asked for.
[[nodiscard]] std::vector<std::string> run_words(const StudySpec& spec, const MachineRecord& machine,
                                                 const RunnerSettings& settings, const RunStart& start,
                                                 const RunFiles& files);

/// Makes a run and measures it. The row has its status, ok, failed, not run or too slow, and all that does not depend
/// on other runs. `watch` is called now and then. Throws Stopped when this process was asked to stop, RunError.
[[nodiscard]] RunRow make_run(const StudySpec& spec, const MachineRecord& machine, const RunnerSettings& settings,
                              const RunStart& start, const RunFiles& files, EnergyMeter& energy,
                              const std::function<void()>& watch);

/// Lines that a run printed which warn of something.
[[nodiscard]] std::vector<std::string> warnings_in(const std::filesystem::path& log);

/// Lines of busy.csv from a result. Throws RunError.
[[nodiscard]] std::string busy_lines(std::int64_t point, const std::filesystem::path& result);

}  // namespace prismfield
