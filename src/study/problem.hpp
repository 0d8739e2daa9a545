// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "case/yaml_tree.hpp"
#include "study/machine_record.hpp"
#include "study/study_file.hpp"

namespace prismfield {

/// How a run is started on this machine.
struct RunStart {
  CaseUse use = CaseUse::forward;
  std::int64_t ranks = 1, threads = 1;
  /// devices that it may see; 0: all
  std::int64_t devices = 0;
  std::string bind;
  bool on_device = false;
  /// more ranks x threads than cores
  bool oversubscribed = false;
  /// more of them than cores, yet no more than hardware threads
  bool hyper_threads = false;
  /// why this machine cannot run it, "" when it can
  std::string why_not;
};

/// A run that can be asked for: which case, and how it is started.
struct StudyJob {
  /// in StudyPlan::cases
  std::size_t case_number = 0;
  RunStart start;
};

/// What all runs with the same fields have in common.
struct StudyProblem {
  /// of all that the fields depend on, but for how they are computed
  std::string hash;
  StudyJob reference;
};

struct PlannedPoint {
  SweepPoint point;
  /// in StudyPlan::problems
  std::size_t problem = 0;
  StudyJob job;
  /// whether its fields are computed in less than double precision
  bool is_rounded = false;
};

/// A study on this machine, before anything is run.
struct StudyPlan {
  /// the different cases, as trees whose inputs are relative to StudySpec::base_file
  std::vector<YamlNode> cases;
  std::vector<StudyProblem> problems;
  std::vector<PlannedPoint> points;
  /// of all by which a study that goes on is the same one
  std::string hash;
};

/// Checks every case by reading it, each different one once, and finds what this machine can run. Throws InputError
/// with every error. Reads the files that the cases name, to know them again.
[[nodiscard]] StudyPlan plan_study(const StudySpec& spec, const MachineRecord& machine);

/// Threads of each of so many ranks where nobody says how many: OMP_NUM_THREADS, else its share of the cores.
[[nodiscard]] std::int64_t default_threads(const MachineRecord& machine, std::int64_t ranks);

/// A command line that starts a run.
struct Launch {
  std::vector<std::string> words;
  /// whether each rank gets cores of its own, to which OpenMP may bind its threads
  bool gives_cores = true;
};

/// What starts `program` as often as asked for: the program alone for one rank, else the words of StudySpec::launcher,
/// or those that fit this machine's MPI, or srun inside of a Slurm job.
[[nodiscard]] Launch launch_of(const StudySpec& spec, const MachineRecord& machine, const RunStart& start,
                               const std::filesystem::path& program);

/// A case as text whose inputs are relative to `folder`, without output and with a title.
[[nodiscard]] std::string case_text(const StudySpec& spec, const YamlNode& tree, const std::filesystem::path& folder);
/// The study as it is run, its base inside, with inputs relative to `folder`.
[[nodiscard]] std::string study_text(const StudySpec& spec, const std::filesystem::path& folder);

}  // namespace prismfield
