// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <sstream>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/child_process.hpp"
#include "base/number_text.hpp"
#include "base/temporary_file.hpp"
#include "study/schedule.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone when it goes out of scope.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "prismfield-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw RunError("no temporary folder can be made in " + name);
    m_path = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(m_path, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const fs::path& path() const noexcept { return m_path; }

private:
  fs::path m_path;
};

}  // namespace

double seconds_in(const std::string& text) {
  static const std::map<std::string, double> units = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
  std::istringstream words(text);
  double seconds = 0;
  std::string number, unit;
  bool any = false;
  while (words >> number >> unit) {
    std::erase(number, ',');
    double value = 0;
    const auto found = units.find(unit);
    if (found == units.end() || parse_number(number, value) != NumberStatus::ok) return not_known;
    seconds += value * found->second;
    any = true;
  }
  return any ? seconds : not_known;
}

RunEstimate estimate_in(const std::string& dry_run) {
  RunEstimate estimate;
  std::istringstream lines(dry_run);
  for (std::string line; std::getline(lines, line);) {
    // columns of the table that a dry run prints
    constexpr std::size_t begin = 2, width = 18;
    const auto value_of = [&](const std::string& label) -> std::string {
      if (line.size() <= begin + width) return "";
      return line.substr(begin, width) == fmt::format("{:<{}}", label, width) ? line.substr(begin + width) : "";
    };
    if (const std::string time = value_of("estimated time"); !time.empty()) estimate.seconds = seconds_in(time);
    if (const std::string memory = value_of("memory"); !memory.empty()) {
      estimate.memory = memory.substr(0, memory.find(','));
    }
  }
  return estimate;
}

std::vector<RunEstimate> estimate_runs(const StudySpec& spec, const StudyPlan& plan, const MachineRecord& machine,
                                       const RunnerSettings& settings) {
  const ScratchFolder folder;
  std::map<std::string, RunEstimate> known;
  std::vector<RunEstimate> estimates(plan.points.size());
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    if (!why_not(plan, i).empty()) continue;
    const StudyJob& job = plan.points[i].job;
    const RunFiles files{
        folder.path() / fmt::format("case-{}.yaml", job.case_number + 1), folder.path() / "result.h5", {}};
    ChildCommand command;
    command.words = run_words(spec, machine, settings, job.start, files);
    command.words.insert(std::find(command.words.begin(), command.words.end(), "--quiet"), "--dry-run");
    std::erase(command.words, "--quiet");
    command.environment = run_environment(spec, machine, job.start);
    command.own_group = true;
    command.most_seconds = spec.run_limit;
    command.signal_when_orphaned = job.start.ranks == 1 ? SIGKILL : SIGTERM;
    const std::string key =
        fmt::format("{} {} {} {}", job.case_number, job.start.ranks, job.start.threads, job.start.devices);
    const auto [estimate, is_new] = known.try_emplace(key);
    if (is_new) {
      TemporaryFile made(files.input);
      const std::string text = case_text(spec, plan.cases[job.case_number], folder.path());
      made.write(text.data(), text.size());
      made.move_to_target();
      estimate->second = estimate_in(output_of_child(command).value_or(""));
    }
    estimates[i] = estimate->second;
  }
  return estimates;
}

}  // namespace prismfield
