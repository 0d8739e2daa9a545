// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/file_lock.hpp"
#include "study/machine_record.hpp"
#include "study/problem.hpp"
#include "study/study_file.hpp"

namespace prismfield {

/// What a folder holds for a study.
enum class FolderState {
  /// it is not there, or empty
  fresh,
  /// runs of this very study, made on a machine of this kind
  same_study
};

/// Looks at the folder that a study's report goes to, and changes nothing. Throws InputError for one that cannot be
/// made or holds anything but a report of the same study. `resume`: runs are to be added to those that it holds.
[[nodiscard]] FolderState look_at_folder(const StudySpec& spec, const StudyPlan& plan, const MachineRecord& machine,
                                         bool resume);

/// The folder of a study's report, kept for one study while it lives. Tables and what else users read lie in it,
/// work/ has what only the study needs.
class ReportFolder {
public:
  /// Makes the folder, or goes on with the one that is there, or begins anew in it: the tables of a study that is
  /// replaced move to previous/. Throws InputError as look_at_folder() does, also when another study has the folder,
  /// and RunError.
  ReportFolder(const StudySpec& spec, const StudyPlan& plan, const MachineRecord& machine, bool resume);

  /// Whether it holds runs to go on from.
  [[nodiscard]] bool goes_on() const noexcept { return m_goes_on; }
  /// Whether it held runs whose tables moved to previous/.
  [[nodiscard]] bool replaces() const noexcept { return m_replaces; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return m_path; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return m_path / name; }

  /// Writes study.yaml and, for a study that begins, machine.json, and makes the folders within. Throws RunError.
  void begin(const StudySpec& spec, const StudyPlan& plan, const MachineRecord& machine) const;
  /// Removes what only the study needed.
  void remove_work() const;

private:
  void write_machine_record(const StudySpec& spec, const StudyPlan& plan, const MachineRecord& machine) const;

  std::filesystem::path m_path;
  std::unique_ptr<FileLock> m_lock;
  bool m_goes_on = false, m_replaces = false;
};

}  // namespace prismfield
