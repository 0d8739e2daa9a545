// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/read_study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "base/checksum.hpp"
#include "base/counts.hpp"
#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "study/report_csv.hpp"
#include "study/sweep.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError(file.string(), "", "cannot be read; a report folder of prismfield study has it");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string file_and_line(const fs::path& file, const std::string& text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return fmt::format("{}:{}", file.string(), 1 + std::count(text.begin(), end, '\n'));
}

// ---- machine.json

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string value_text(const Json& json) {
  return shown(json.dump(-1, ' ', false, Json::error_handler_t::replace), longest_name);
}

/// The peaks of one space; a value that is no positive number is a mistake.
SpacePeak peak_of(const Json& json, const std::string& key, const std::string& where, ProblemList& problems) {
  SpacePeak peak;
  const auto read = [&](const char* name, double& to) {
    const auto found = json.find(name);
    if (found == json.end() || found->is_null()) return;
    if (!found->is_number() || !(found->get<double>() > 0)) {
      problems.add(where, key + "." + name, fmt::format("is {}; a number above 0 is expected", value_text(*found)));
      return;
    }
    to = found->get<double>();
  };
  read("peak_double", peak.peak_double);
  read("peak_single", peak.peak_single);
  read("bandwidth", peak.bandwidth);
  const auto threads = json.find("threads");
  if (threads == json.end() || threads->is_null()) return peak;
  if (!threads->is_number_integer() || threads->get<std::int64_t>() < 1) {
    problems.add(where, key + ".threads",
                 fmt::format("is {}; a whole number of at least 1 is expected", value_text(*threads)));
    return peak;
  }
  peak.threads = threads->get<std::int64_t>();
  return peak;
}

StudyMachine read_machine(const fs::path& file, StudyData& study, ProblemList& problems) {
  const std::string text = content(file);
  StudyMachine machine;
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    // its own text names a byte
    problems.add(file_and_line(file, text, error.byte), "", "is no JSON from here on");
    return machine;
  }
  const std::string where = file.string();
  if (!json.is_object()) {
    problems.add(where, "", "holds no JSON object");
    return machine;
  }
  machine.json = text;
  machine.name = text_at(json, "name");
  if (machine.name.empty()) machine.name = text_at(json, "host");
  if (machine.name.empty()) machine.name = "unnamed machine";
  machine.version = text_at(json, "version");
  machine.git = text_at(json, "git");
  study.hash = text_at(json, "study_hash");
  study.reduced = json.contains("reduced") && json["reduced"].is_boolean() && json["reduced"].get<bool>();
  const auto calibration = json.find("calibration");
  if (calibration == json.end() || calibration->is_null()) return machine;
  if (!calibration->is_object()) {
    problems.add(where, "calibration", "is no JSON object");
    return machine;
  }
  for (const auto& [space, peaks] : calibration->items()) {
    if (!peaks.is_object()) continue;
    machine.peaks[space] = peak_of(peaks, "calibration." + space, where, problems);
  }
  return machine;
}

// ---- study.yaml

/// The keys of study.yaml that matter here; the runner has checked them all before it wrote the file.
class StudyReader {
public:
  StudyReader(const YamlNode& root, const fs::path& file, ProblemList& problems)
      : m_root(root), m_file(file.string()), m_problems(problems) {}

  /// The value of a key, nullptr without one.
  [[nodiscard]] const YamlNode* find(const char* key) const {
    const YamlNode* const node = m_root.find(key);
    const bool empty = node == nullptr || node->kind == YamlNode::Kind::null || node->kind == YamlNode::Kind::removed;
    return empty ? nullptr : node;
  }
  void bad(const YamlNode& node, const std::string& key, const std::string& expected) {
    const std::string is = node.kind == YamlNode::Kind::scalar ? excerpt(node.text)
                           : node.kind == YamlNode::Kind::list ? "a list"
                           : node.kind == YamlNode::Kind::map  ? "a map"
                                                               : "empty";
    m_problems.add(where_of(node, m_file), key, fmt::format("is {}; {} is expected", is, expected));
  }
  void text(const char* key, std::string& to, const char* expected, const std::vector<std::string>& words = {}) {
    const YamlNode* const node = find(key);
    if (node == nullptr) return;
    const bool allowed = words.empty() || std::find(words.begin(), words.end(), node->text) != words.end();
    if (node->kind != YamlNode::Kind::scalar || !allowed) return bad(*node, key, expected);
    to = node->text;
  }
  template <class Integer>
  void whole(const char* key, Integer& to, Integer least) {
    const YamlNode* const node = find(key);
    if (node == nullptr) return;
    Integer value{};
    if (node->kind != YamlNode::Kind::scalar || parse_integer(node->text, value) != NumberStatus::ok || value < least) {
      return bad(*node, key, fmt::format("a whole number of at least {}", least));
    }
    to = value;
  }
  void number(const char* key, double& to) {
    const YamlNode* const node = find(key);
    if (node == nullptr) return;
    double value = 0;
    if (node->kind != YamlNode::Kind::scalar || parse_number(node->text, value) != NumberStatus::ok || !(value >= 0)) {
      return bad(*node, key, "a number of at least 0");
    }
    to = value;
  }
  void truth(const char* key, bool& to) {
    const YamlNode* const node = find(key);
    if (node == nullptr) return;
    if (node->kind != YamlNode::Kind::scalar || (node->text != "true" && node->text != "false")) {
      return bad(*node, key, "true or false");
    }
    to = node->text == "true";
  }

private:
  const YamlNode& m_root;
  std::string m_file;
  ProblemList& m_problems;
};

void read_axis(const std::string& name, const YamlNode& node, StudyReader& reader, std::vector<StudyAxis>& axes) {
  if (node.kind == YamlNode::Kind::removed) return;
  // execution: {precision: [double, single]} is execution.precision
  if (node.kind == YamlNode::Kind::map && is_case_key(name)) {
    for (const YamlEntry& entry : node.entries) read_axis(join_key(name, entry.key), entry.value, reader, axes);
    return;
  }
  StudyAxis axis{name, {}, {}, {}};
  if (node.kind != YamlNode::Kind::list || node.items.empty()) reader.bad(node, "sweep." + name, "a list of values");
  for (const YamlNode& item : node.items) {
    axis.values.push_back(label_of(item));
    Settings& settings = axis.settings.emplace_back();
    // a map at a key of the case is that key's value, as execution.partition: [{ranks: [4, 2]}]
    if (item.kind != YamlNode::Kind::map || is_case_key(name)) {
      settings.emplace_back(axis.name, label_of(item));
      continue;
    }
    for (const YamlEntry& set : item.entries) {
      // what a map is called is no key of the case
      if (set.key == "label") continue;
      settings.emplace_back(set.key, label_of(set.value));
      if (!axis.sets(set.key)) axis.keys.push_back(set.key);
    }
  }
  if (axis.keys.empty()) axis.keys.push_back(axis.name);
  axes.push_back(std::move(axis));
}

std::vector<StudyAxis> read_axes(StudyReader& reader) {
  std::vector<StudyAxis> axes;
  const YamlNode* const sweep = reader.find("sweep");
  if (sweep == nullptr) return axes;
  if (sweep->kind != YamlNode::Kind::map) {
    reader.bad(*sweep, "sweep", "a map of axes");
    return axes;
  }
  for (const YamlEntry& entry : sweep->entries) read_axis(entry.key, entry.value, reader, axes);
  return axes;
}

void read_rules(StudyReader& reader, StudyRules& rules) {
  reader.text("command", rules.command, "run, sensitivity or invert", {"run", "sensitivity", "invert"});
  reader.number("tolerance", rules.tolerance);
  reader.whole("repeats", rules.repeats, std::int64_t{1});
  reader.whole("warmup", rules.warmup, std::int64_t{0});
  reader.whole("seed", rules.seed, std::uint64_t{0});
  reader.text("order", rules.order, "random or as_written", {"random", "as_written"});
  reader.text("scaling", rules.scaling, "threads, ranks, devices or none", {"threads", "ranks", "devices", "none"});
  reader.truth("weak", rules.weak);
  if (const YamlNode* const baseline = reader.find("baseline")) {
    if (baseline->kind != YamlNode::Kind::map) reader.bad(*baseline, "baseline", "a map of axes and values");
    for (const YamlEntry& entry : baseline->entries) {
      rules.baseline.emplace_back(entry.key, label_of(entry.value));
    }
  }
}

/// The items of a list, or the value itself.
std::vector<YamlNode> items_of(const StudyReader& reader, const char* key) {
  const YamlNode* const node = reader.find(key);
  if (node == nullptr) return {};
  return node->kind == YamlNode::Kind::list ? node->items : std::vector<YamlNode>{*node};
}

void read_study_yaml(const fs::path& file, StudyData& study, ProblemList& problems) {
  const std::string text = read_yaml_text(file);
  const YamlNode root = parse_yaml(text, file.string(), problems);
  if (root.kind != YamlNode::Kind::map) throw InputError(file.string(), "", "holds no map of keys");
  StudyReader reader(root, file, problems);
  reader.text("title", study.title, "a title");
  study.axes = read_axes(reader);
  read_rules(reader, study.rules);
  study.figures = items_of(reader, "figure");
  study.compare_with = items_of(reader, "compare_with");
  if (study.hash.empty()) study.hash = hex(digest_of(text.data(), text.size()));
}

// ---- together

/// Labels of the values of each axis as the runs have them: points are numbered from 1, the last axis fastest. What
/// they say has to fit; an axis without runs at a value keeps the study's own text.
void take_labels(const RunTable& table, const fs::path& file, StudyData& study, ProblemList& problems) {
  std::vector<std::vector<bool>> seen;
  for (const StudyAxis& axis : study.axes) seen.emplace_back(axis.values.size());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const RunRow& row = table.rows[i];
    if (row.kind == RunKind::reference) continue;
    std::int64_t rest = row.point - 1;
    bool fits = rest >= 0;
    for (std::size_t a = study.axes.size(); fits && a-- > 0;) {
      std::vector<std::string>& values = study.axes[a].values;
      const auto at = static_cast<std::size_t>(rest % static_cast<std::int64_t>(values.size()));
      rest /= static_cast<std::int64_t>(values.size());
      if (!seen[a][at]) values[at] = row.values[a];
      seen[a][at] = true;
      fits = values[at] == row.values[a];
    }
    if (fits && rest == 0) continue;
    problems.add(
        fmt::format("{}:{}", file.string(), table.lines[i]), "point",
        fmt::format("point {} of study.yaml has other values than {}", row.point, fmt::join(row.values, ", ")));
    return;
  }
}

/// The axes of runs.csv are those of the study, which says what their values set.
void take_axes(const RunTable& table, const fs::path& folder, StudyData& study, ProblemList& problems) {
  std::vector<std::string> names;
  for (const StudyAxis& axis : study.axes) names.push_back(axis.name);
  if (names == table.axes) return take_labels(table, folder / "runs.csv", study, problems);
  problems.add(fmt::format("{}:1", (folder / "runs.csv").string()), "",
               fmt::format("has the axes {}, study.yaml beside it has {}: they are of two studies",
                           fmt::join(table.axes, ", "), fmt::join(names, ", ")));
}

/// When the first run began and the last one; a run's end is its beginning and how long its process took, which a text
/// of the clock cannot carry over midnight: the beginning of the last one is told.
void take_times(StudyData& study) {
  for (const RunRow& row : study.runs) {
    if (row.started.empty()) continue;
    if (study.started.empty() || row.started < study.started) study.started = row.started;
    if (study.ended.empty() || study.ended < row.started) study.ended = row.started;
  }
}

/// The number of points that the axes make.
std::int64_t count_points(const std::vector<StudyAxis>& axes) {
  std::int64_t n = 1;
  for (const StudyAxis& axis : axes) n = product_or_most(n, std::ssize(axis.values));
  return n;
}

/// Takes out the rows of points without a run: a run's own row is the last that it writes, so they are of one that was
/// stopped before. Any other point is a mistake.
template <class Row>
void check_points(std::vector<Row>& rows, const std::set<std::int64_t>& with_runs, std::int64_t n_points,
                  const fs::path& file, ProblemList& problems) {
  std::set<std::int64_t> told;
  std::erase_if(rows, [&](const Row& row) {
    if (with_runs.contains(row.point)) return false;
    const bool is_known = row.point >= 1 && row.point <= n_points;
    if (!is_known && told.insert(row.point).second) {
      problems.add(file.string(), "point", fmt::format("{} is no point of the study", row.point));
    }
    return true;
  });
}

}  // namespace

StudyData read_study(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    throw InputError(folder.string(), "", "is no folder; the report folder of a study is expected");
  }
  StudyData study;
  study.folder = folder;
  ProblemList problems;
  const auto read = [&problems](const auto& action) {
    try {
      action();
    } catch (const InputError& error) {
      problems.add(error);
    }
  };
  read([&] { study.machines.push_back(read_machine(folder / "machine.json", study, problems)); });
  read([&] { read_study_yaml(folder / "study.yaml", study, problems); });
  if (study.title.empty()) study.title = fs::absolute(folder / ".").parent_path().filename().string();
  RunTable table;
  read([&] { table = read_runs(folder / "runs.csv", problems); });
  if (problems.empty()) take_axes(table, folder, study, problems);
  const auto read_if_there = [&](const char* name, auto& rows, auto how) {
    const fs::path file = folder / name;
    if (!fs::exists(file, ignored)) return;
    read([&] { rows = how(file, problems); });
  };
  read_if_there("errors.csv", study.errors, read_errors);
  read_if_there("histograms.csv", study.histograms, read_histograms);
  read_if_there("trace.csv", study.traces, read_traces);
  read_if_there("maps.csv", study.maps, read_maps);
  read_if_there("busy.csv", study.busy, read_busy);
  if (problems.empty()) {
    std::set<std::int64_t> with_runs;
    for (const RunRow& row : table.rows) with_runs.insert(row.point);
    const std::int64_t n_points = count_points(study.axes);
    const auto check = [&](auto& rows, const char* name) {
      check_points(rows, with_runs, n_points, folder / name, problems);
    };
    check(study.errors, "errors.csv");
    check(study.histograms, "histograms.csv");
    check(study.traces, "trace.csv");
    check(study.maps, "maps.csv");
    check(study.busy, "busy.csv");
  }
  problems.throw_if_any();
  if (table.cut) {
    study.rules.notes.emplace_back(
        "the last line of runs.csv is incomplete: the study was stopped while it was written");
  }
  study.runs = std::move(table.rows);
  study.run_machines.assign(study.runs.size(), 0);
  take_times(study);
  return study;
}

}  // namespace prismfield
