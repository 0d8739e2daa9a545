// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/report_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/temporary_file.hpp"
#include "case/yaml_tree.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = ".lock";
/// Tables and records that move to previous/ when a study is replaced.
constexpr std::array kept_files = {"machine.json", "study.yaml", "runs.csv",       "errors.csv",
                                   "busy.csv",     "maps.csv",   "histograms.csv", "trace.csv"};
/// What follows from them.
constexpr std::array derived_files = {"study.json", "study.h5", "tables.md",  "tables.tex",
                                      "p3.csv",     "foms.txt", "report.html"};
/// Folders that are the study's own.
constexpr std::array own_folders = {"work", "cases", "logs", "results", "figures"};

/// What machine.json tells of the study that it belongs to.
struct Record {
  bool is_there = false;
  std::string study_hash, machine_kind, version, git, title;
};

Record read_record(const fs::path& folder) {
  const fs::path file = folder / "machine.json";
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  try {
    ProblemList ignored;
    const YamlNode root = parse_yaml(read_yaml_text(file), file.string(), ignored);
    const auto text = [&](const char* key) {
      const YamlNode* const node = root.find(key);
      return node == nullptr ? std::string() : node->text;
    };
    Record record{true, text("study_hash"), text("machine_kind"), text("version"), text("git"), text("study_title")};
    record.is_there = !record.study_hash.empty();
    return record;
  } catch (const InputError&) {
    // somebody else's
    return {};
  }
}

bool is_left_behind(const std::string& name) {
  if (name == lock_name) return true;
  for (const char* file : kept_files) {
    if (is_temporary_of(name, file)) return true;
  }
  return false;
}

/// True when nothing lies there but what a study leaves that was killed before it began.
bool holds_nothing(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!is_left_behind(entry.path().filename().string())) return false;
  }
  return !error;
}

std::string where_of_report(const StudySpec& spec) {
  const YamlNode* const node = spec.tree.find("report");
  return node == nullptr ? spec.file.string() : where_of(*node, spec.file.string());
}

InputError refusal(const StudySpec& spec, const std::string& what) {
  const std::string where = where_of_report(spec);
  return {where, where == "--output" ? "" : "report", fmt::format("{} {}", spec.report.string(), what)};
}

constexpr const char* other_folder = "choose another folder by --output";

/// Why runs cannot be added to those of this record, or "".
std::string why_another(const Record& record, const StudyPlan& plan, const MachineRecord& machine, bool resume) {
  const ProgramFacts& program = machine.program;
  if (record.study_hash != plan.hash) {
    if (record.version != program.version || record.git != program.git_hash) {
      return fmt::format("holds runs of prismfield {} (git {}), this is {} (git {}); {}", record.version, record.git,
                         program.version, program.git_hash, other_folder);
    }
    return fmt::format("holds another study, {}, or this one with other points, inputs, rules or OMP_NUM_THREADS; {}",
                       excerpt(record.title), other_folder);
  }
  if (resume && record.machine_kind != machine.kind()) {
    return fmt::format("holds runs of another machine, {}, this is {}; {}, and --join makes one report of both",
                       record.machine_kind, machine.kind(), other_folder);
  }
  return "";
}

void write_file(const fs::path& file, const std::string& text) {
  TemporaryFile temporary(file);
  temporary.write(text.data(), text.size());
  temporary.move_to_target();
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directory(folder, error);
  if (error) throw RunError(fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
}

/// Moves the tables of a study that is replaced out of the way.
void put_aside(const fs::path& folder) {
  std::error_code error;
  const fs::path previous = folder / "previous";
  const auto check = [&](const char* name) {
    if (!error) return;
    throw RunError(
        fmt::format("{}: cannot be moved to {}: {}", (folder / name).string(), previous.string(), error.message()));
  };
  if (fs::exists(folder / "runs.csv", error)) {
    for (const char* name : kept_files) fs::remove(previous / name, error);
  }
  if (!fs::exists(previous, error)) make_folder(previous);
  for (const char* name : kept_files) {
    if (!fs::exists(folder / name, error)) continue;
    // by machine.json the folder is known to be ours, so it stays until there is a new one
    if (std::string_view(name) == "machine.json") {
      fs::copy_file(folder / name, previous / name, fs::copy_options::overwrite_existing, error);
    } else {
      fs::rename(folder / name, previous / name, error);
    }
    check(name);
  }
  for (const char* name : derived_files) fs::remove(folder / name, error);
  for (const char* name : own_folders) fs::remove_all(folder / name, error);
}

}  // namespace

FolderState look_at_folder(const StudySpec& spec, const StudyPlan& plan, const MachineRecord& machine, bool resume) {
  const fs::path& folder = spec.report;
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) {
    if (fs::is_symlink(folder, error)) throw refusal(spec, fmt::format("is a link to nothing; {}", other_folder));
    const fs::path parent = folder_of(folder);
    if (!fs::is_directory(parent, error)) {
      throw refusal(spec, fmt::format("cannot be made: the folder {} does not exist; make it first", parent.string()));
    }
    return FolderState::fresh;
  }
  if (status.type() != fs::file_type::directory) {
    throw refusal(spec, fmt::format("is no folder, and a study has many files; {}", other_folder));
  }
  if (fs::equivalent(folder / "study.yaml", spec.file, error) && !error && !resume) {
    throw refusal(spec, fmt::format("holds {} itself, which would be replaced; {}", spec.file.string(), other_folder));
  }
  const Record record = read_record(folder);
  if (!record.is_there) {
    if (holds_nothing(folder)) return FolderState::fresh;
    throw refusal(spec, fmt::format("holds files that are no report of a study, and is left alone; {}", other_folder));
  }
  const std::string why = why_another(record, plan, machine, resume);
  if (!why.empty()) throw refusal(spec, why);
  return FolderState::same_study;
}

ReportFolder::ReportFolder(const StudySpec& spec, const StudyPlan& plan, const MachineRecord& machine, bool resume)
    // "-x" would be an option of the runs
    : m_path(spec.report.string().starts_with('-') ? "." / spec.report : spec.report) {
  std::error_code error;
  static_cast<void>(look_at_folder(spec, plan, machine, resume));
  if (!fs::exists(m_path, error)) make_folder(m_path);
  m_lock = std::make_unique<FileLock>(m_path / lock_name);
  if (m_lock->is_anothers()) {
    throw refusal(spec, fmt::format("is used by another study; wait for its end, or {}", other_folder));
  }
  // as it is now that nobody else has it
  const FolderState state = look_at_folder(spec, plan, machine, resume);
  m_goes_on = state == FolderState::same_study && resume;
  m_replaces = state == FolderState::same_study && !resume;
  if (m_replaces) put_aside(m_path);
  for (const auto& entry : fs::directory_iterator(m_path, error)) {
    const std::string name = entry.path().filename().string();
    if (name != lock_name && is_left_behind(name)) fs::remove(entry.path(), error);
  }
}

void ReportFolder::write_machine_record(const StudySpec& spec, const StudyPlan& plan,
                                        const MachineRecord& machine) const {
  write_file(m_path / "machine.json", machine_json(machine, {plan.hash, spec.title, spec.reduced}));
}

void ReportFolder::begin(const StudySpec& spec, const StudyPlan& plan, const MachineRecord& machine) const {
  std::error_code error;
  if (!m_goes_on) write_machine_record(spec, plan, machine);
  const bool is_own_input = fs::equivalent(m_path / "study.yaml", spec.file, error) && !error;
  if (!is_own_input) write_file(m_path / "study.yaml", study_text(spec, m_path));
  for (const char* name : {"work", "cases", "logs"}) make_folder(m_path / name);
  if (spec.keeps_results()) make_folder(m_path / "results");
}

void ReportFolder::remove_work() const {
  std::error_code error;
  fs::remove_all(m_path / "work", error);
  // empty ones only
  fs::remove(m_path / "logs", error);
}

}  // namespace prismfield
