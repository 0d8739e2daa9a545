// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/join.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>

#include "study/read_study.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> axis_names(const StudyData& study) {
  std::vector<std::string> names;
  for (const StudyAxis& axis : study.axes) names.push_back(axis.name);
  return names;
}

/// A name that none of the machines has.
std::string new_name(const std::string& name, const std::vector<StudyMachine>& machines) {
  const auto taken = [&](const std::string& candidate) {
    return std::any_of(machines.begin(), machines.end(),
                       [&](const StudyMachine& machine) { return machine.name == candidate; });
  };
  std::string candidate = name;
  for (int i = 2; taken(candidate); ++i) candidate = fmt::format("{} ({})", name, i);
  return candidate;
}

template <class Row>
void append(std::vector<Row>& to, std::vector<Row> from, std::int64_t points_before) {
  for (Row& row : from) {
    row.point += points_before;
    to.push_back(std::move(row));
  }
}

/// The largest numbers of points and runs, from which those of another folder, which begin at 1, are counted on.
struct LargestNumbers {
  std::int64_t point = 0, run = 0;
};
LargestNumbers largest_numbers(const StudyData& study) {
  LargestNumbers largest;
  for (const RunRow& row : study.runs) {
    largest.point = std::max(largest.point, row.point);
    largest.run = std::max(largest.run, row.run);
  }
  return largest;
}

/// Whether a folder is one of the others, by whatever name.
bool is_among(const fs::path& folder, std::span<const fs::path> others) {
  return std::any_of(others.begin(), others.end(), [&](const fs::path& other) {
    std::error_code error;
    return fs::equivalent(folder, other, error) && !error;
  });
}

/// Whether runs of both computed the same fields; true where one has none.
bool share_a_problem(const StudyData& a, const StudyData& b) {
  std::set<std::string> problems;
  for (const RunRow& row : a.runs) problems.insert(row.problem);
  return a.runs.empty() || b.runs.empty() ||
         std::any_of(b.runs.begin(), b.runs.end(), [&](const RunRow& row) { return problems.contains(row.problem); });
}

void add_study(StudyData& joined, StudyData study) {
  const LargestNumbers before = largest_numbers(joined);
  const std::size_t machine = joined.machines.size();
  StudyMachine record = std::move(study.machines.front());
  record.name = new_name(record.name, joined.machines);
  joined.axes[0].values.push_back(record.name);
  joined.axes[0].settings.push_back({{"machine", record.name}});
  for (std::size_t a = 0; a < study.axes.size(); ++a) {
    std::vector<std::string>& values = joined.axes[a + 1].values;
    for (std::size_t i = 0; i < study.axes[a].values.size(); ++i) {
      const std::string& value = study.axes[a].values[i];
      if (std::find(values.begin(), values.end(), value) != values.end()) continue;
      values.push_back(value);
      joined.axes[a + 1].settings.push_back(study.axes[a].settings[i]);
    }
  }
  if (!share_a_problem(joined, study)) {
    joined.rules.notes.push_back(fmt::format(
        "{}: none of its problems is one of the machines before it; their times cannot be compared", record.name));
  }
  for (RunRow& row : study.runs) {
    row.point += before.point;
    row.run += before.run;
    row.values.insert(row.values.begin(), record.name);
    joined.runs.push_back(std::move(row));
    joined.run_machines.push_back(machine);
  }
  append(joined.errors, std::move(study.errors), before.point);
  append(joined.histograms, std::move(study.histograms), before.point);
  append(joined.traces, std::move(study.traces), before.point);
  append(joined.busy, std::move(study.busy), before.point);
  for (FieldMap& map : study.maps) map.file = (study.folder / map.file).string();
  append(joined.maps, std::move(study.maps), before.point);
  for (const std::string& note : study.rules.notes) {
    joined.rules.notes.push_back(fmt::format("{}: {}", record.name, note));
  }
  if (study.rules.tolerance != joined.rules.tolerance) {
    joined.rules.notes.push_back(
        fmt::format("{}: the tolerance is {:g}, not {:g}", record.name, study.rules.tolerance, joined.rules.tolerance));
  }
  joined.reduced = joined.reduced || study.reduced;
  if (joined.started.empty() || (!study.started.empty() && study.started < joined.started)) {
    joined.started = study.started;
  }
  joined.ended = std::max(joined.ended, study.ended);
  joined.machines.push_back(std::move(record));
}

}  // namespace

StudyData join(const std::vector<fs::path>& folders) {
  if (folders.empty()) throw InputError("--join", "", "names no folder");
  ProblemList problems;
  std::optional<StudyData> joined;
  fs::path first;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const fs::path& folder = folders[i];
    try {
      StudyData study = read_study(folder);
      if (is_among(folder, std::span(folders).first(i))) {
        problems.add("--join", "", fmt::format("names {} twice; its runs count once", folder.string()));
        continue;
      }
      if (!joined) {
        joined.emplace();
        joined->title = study.title;
        joined->hash = study.hash;
        joined->joined = true;
        joined->rules = study.rules;
        joined->rules.notes.clear();
        joined->figures = study.figures;
        joined->compare_with = study.compare_with;
        joined->axes = study.axes;
        for (StudyAxis& axis : joined->axes) {
          axis.values.clear();
          axis.settings.clear();
        }
        joined->axes.insert(joined->axes.begin(), {"machine", {}, {"machine"}, {}});
        first = folder;
      }
      std::vector<std::string> names = axis_names(*joined);
      names.erase(names.begin());
      if (axis_names(study) != names) {
        problems.add(
            (folder / "study.yaml").string(), "sweep",
            fmt::format("has the axes {}, {} has {}; only runs of one study can be joined",
                        fmt::join(axis_names(study), ", "), (first / "study.yaml").string(), fmt::join(names, ", ")));
        continue;
      }
      if (study.rules.command != joined->rules.command) {
        problems.add((folder / "study.yaml").string(), "command",
                     fmt::format("is {}, that of {} is {}; only runs of one study can be joined", study.rules.command,
                                 (first / "study.yaml").string(), joined->rules.command));
        continue;
      }
      add_study(*joined, std::move(study));
    } catch (const InputError& error) {
      problems.add(error);
    }
  }
  problems.throw_if_any();
  return std::move(*joined);
}

}  // namespace prismfield
