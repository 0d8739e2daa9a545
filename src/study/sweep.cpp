// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <prismfield/error.hpp>

#include "base/counts.hpp"
#include "base/human_text.hpp"
#include "case/key_table.hpp"

namespace prismfield {
namespace {

constexpr std::int64_t most_points = 10'000;
constexpr std::size_t most_axes = 16;
constexpr std::int64_t most_processes = 1'000'000;
const Words bindings = {"spread", "close", "primary", "none"};

std::string first_word(const std::string& key) { return key.substr(0, key.find('.')); }
std::string last_word(const std::string& key) { return key.substr(key.rfind('.') + 1); }

bool is_placement(const std::string& name) {
  const Words& names = placement_axes();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The label of a value of an axis.
std::string label_of(const YamlNode& node) {
  std::vector<std::string> parts;
  switch (node.kind) {
    case YamlNode::Kind::scalar: return node.text;
    case YamlNode::Kind::list:
      for (const YamlNode& item : node.items) parts.push_back(label_of(item));
      return fmt::format("[{}]", fmt::join(parts, ", "));
    case YamlNode::Kind::map:
      for (const YamlEntry& entry : node.entries) parts.push_back(entry.key + ": " + label_of(entry.value));
      return fmt::format("{{{}}}", fmt::join(parts, ", "));
    case YamlNode::Kind::null:
    case YamlNode::Kind::removed: break;
  }
  return "null";
}

/// Names each value as tables have room for it.
std::string short_label(const std::string& text) {
  constexpr std::size_t longest = 60;
  return shown(text, longest);
}

/// The section sweep, and maps of settings.
class SweepReader : public CaseReader {
public:
  SweepReader(const CaseReader& values, CaseUse use) : CaseReader(values), m_use(use) {}

  std::vector<SweepAxis> sweep(const Value& value);
  AxisValue settings(const Value& map);

private:
  /// The value of entry i of a map.
  Value entry(const Value& map, const YamlEntry& entry) const {
    return {&entry.value, join_key(map.path, entry.key), place(entry.value, entry.key_line)};
  }
  void axis(const std::string& name, const Value& value, std::vector<SweepAxis>& axes);
  AxisValue axis_value(const std::string& name, const Value& value);
  void add_setting(const std::string& key, const Value& value, AxisValue& result);
  bool may_be_swept(const std::string& key, const Value& value);
  void check_labels(const SweepAxis& axis, const Value& value);
  void check_overlaps(const std::vector<SweepAxis>& axes);

  CaseUse m_use;
};

/// Whether a study of this command measures nothing by a key of the case.
bool is_unused(const std::string& key, CaseUse use) {
  const std::string first = first_word(key);
  if (first == "observations") return use == CaseUse::inversion;
  if (first == "sensitivity") return use == CaseUse::forward || key == "sensitivity.file";
  if (first == "inversion") return use != CaseUse::inversion;
  return first == "output" || first == "title";
}

/// False, with a problem, for a key that is none of a case or that a study does not leave to it.
bool SweepReader::may_be_swept(const std::string& key, const Value& value) {
  if (is_unused(key, m_use)) {
    problem(value, fmt::format("changes nothing that a study measures; take {} out", first_word(key)));
    return false;
  }
  if (is_case_key(key)) return true;
  Words full = placement_axes();
  for (const KeySection* const home : case_key_table().upper_sections()) {
    for (const std::string& word : home->keys) {
      if (const std::string path = join_key(home->path, word); is_case_key(path)) full.push_back(path);
    }
  }
  // "precision" is meant to be execution.precision
  std::string meant;
  for (const std::string& candidate : full) {
    if (meant.empty() && last_word(candidate) == key) meant = candidate;
  }
  if (meant.empty()) meant = nearest_spelling(key, full);
  if (only_counted()) return false;
  problem(value, fmt::format("is neither a key of the case nor {}{}", joined(placement_axes()),
                             meant.empty() ? "; a key path such as execution.slots is expected"
                                           : "; did you mean " + meant + "?"));
  return false;
}

void SweepReader::add_setting(const std::string& key, const Value& value, AxisValue& result) {
  if (value.node->kind == Kind::removed) return;
  Placement& placement = result.placement;
  if (is_placement(key)) {
    placement.where = value.where;
    if (key == "ranks") placement.ranks = whole(value, 1, most_processes);
    if (key == "threads") placement.threads = whole(value, 1, most_processes);
    if (key == "devices") placement.devices = whole(value, 1, most_processes);
    if (key != "bind") return;
    if (std::find(bindings.begin(), bindings.end(), value.node->text) != bindings.end()) {
      placement.bind = value.node->text;
    } else {
      problem(value, "is " + kind_name(*value.node) + allowed(value.node->text, bindings));
    }
    return;
  }
  if (may_be_swept(key, value)) result.settings.push_back({key, *value.node, value.where});
}

AxisValue SweepReader::settings(const Value& map) {
  AxisValue result;
  Words words;
  for (const YamlEntry& e : map.node->entries) words.push_back(last_word(e.key));
  std::string made;
  for (const YamlEntry& e : map.node->entries) {
    const Value value = entry(map, e);
    if (e.key == "label") {
      result.label = this->words(value, "what tables and figures call this value").value_or("");
      continue;
    }
    const std::string word = last_word(e.key);
    const bool is_clear = std::count(words.begin(), words.end(), word) == 1;
    made += (made.empty() ? "" : ", ") + (is_clear ? word : e.key) + "=" + label_of(e.value);
    add_setting(e.key, value, result);
  }
  if (result.label.empty()) result.label = made;
  result.label = short_label(result.label);
  return result;
}

AxisValue SweepReader::axis_value(const std::string& name, const Value& value) {
  if (value.node->kind == Kind::null || value.node->kind == Kind::removed) {
    problem(value, "has no value; write one or take it out of the list");
    return {};
  }
  if (is_placement(name) || is_case_key(name)) {
    AxisValue result;
    result.label = short_label(label_of(*value.node));
    add_setting(name, value, result);
    return result;
  }
  if (value.node->kind == Kind::map) return settings(value);
  static_cast<void>(may_be_swept(name, value));
  return {};
}

void SweepReader::check_labels(const SweepAxis& axis, const Value& value) {
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    const auto [first, is_new] = seen.try_emplace(axis.values[i].label, i);
    if (is_new || first->first.empty() || only_counted()) continue;
    problem(item(value, i), fmt::format("is {} like value {} of this axis; take one out, or name maps by a label",
                                        excerpt(first->first), first->second));
  }
}

void SweepReader::axis(const std::string& name, const Value& value, std::vector<SweepAxis>& axes) {
  if (value.node->kind == Kind::removed) return;
  // execution: {precision: [double, single]} is execution.precision
  if (value.node->kind == Kind::map && is_case_key(name)) {
    for (const YamlEntry& e : value.node->entries) axis(name + "." + e.key, entry(value, e), axes);
    return;
  }
  if (!is_list(value, "a list of values")) return;
  if (value.node->items.empty()) {
    problem(value, "is an empty list; a value or more is expected");
    return;
  }
  constexpr std::size_t longest_name = 100;
  if (shown(name, longest_name) != name || name.empty()) {
    problem(value, "is no name of an axis");
    return;
  }
  const auto is_this = [&](const SweepAxis& other) { return other.name == name; };
  if (std::any_of(axes.begin(), axes.end(), is_this)) {
    problem(value, "is an axis twice; keep one");
    return;
  }
  SweepAxis result{name, value.where, {}};
  for (std::size_t i = 0; i < value.node->items.size() && i < most_points; ++i) {
    result.values.push_back(axis_value(name, item(value, i)));
  }
  check_labels(result, value);
  axes.push_back(std::move(result));
}

std::set<std::string> keys_of(const SweepAxis& axis) {
  std::set<std::string> keys;
  for (const AxisValue& value : axis.values) {
    for (const CaseSetting& setting : value.settings) keys.insert(setting.key);
    if (value.placement.ranks) keys.insert("ranks");
    if (value.placement.threads) keys.insert("threads");
    if (value.placement.devices) keys.insert("devices");
    if (!value.placement.bind.empty()) keys.insert("bind");
  }
  return keys;
}

/// Two axes may not set one key, nor a later one replace what an earlier one set.
void SweepReader::check_overlaps(const std::vector<SweepAxis>& axes) {
  std::vector<std::set<std::string>> keys;
  for (const SweepAxis& axis : axes) {
    keys.push_back(keys_of(axis));
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
      for (const std::string& key : keys.back()) {
        const auto below = keys[i].lower_bound(key + ".");
        const bool is_same = keys[i].count(key) > 0;
        if (!is_same && (below == keys[i].end() || !below->starts_with(key + "."))) continue;
        if (only_counted()) return;
        problem_at(axis.where, join_key("sweep", axis.name),
                   is_same ? fmt::format("sets {}, which the axis {} sets too", key, axes[i].name)
                           : fmt::format("sets {} as a whole behind the axis {}, which sets {}; write this axis above "
                                         "that one",
                                         key, axes[i].name, *below));
      }
    }
  }
}

std::vector<SweepAxis> SweepReader::sweep(const Value& value) {
  std::vector<SweepAxis> axes;
  if (value.node->kind != Kind::map) {
    problem(value,
            fmt::format("is {}; a map of axes is expected, such as {{threads: [1, 2]}}", kind_name(*value.node)));
    return axes;
  }
  for (const YamlEntry& e : value.node->entries) axis(e.key, entry(value, e), axes);
  if (axes.size() > most_axes) {
    problem(value, fmt::format("has {} axes; {} are the most of one study", axes.size(), most_axes));
    return {};
  }
  check_overlaps(axes);
  return axes;
}

}  // namespace

const Words& placement_axes() {
  static const Words names = {"threads", "ranks", "devices", "bind"};
  return names;
}

bool is_case_key(const std::string& key) {
  const std::string first = first_word(key);
  return first != "title" && case_key_table().find(first) != nullptr;
}

std::vector<SweepAxis> read_sweep(const CaseReader& values, const Value& sweep, CaseUse use) {
  return SweepReader(values, use).sweep(sweep);
}

AxisValue read_settings(const CaseReader& values, const Value& map, CaseUse use) {
  return SweepReader(values, use).settings(map);
}

std::vector<SweepPoint> points_of(const std::vector<SweepAxis>& axes) {
  std::int64_t n = 1;
  for (const SweepAxis& axis : axes) n = product_or_most(n, static_cast<std::int64_t>(axis.values.size()));
  if (n > most_points) {
    throw InputError(axes.front().where, "sweep",
                     fmt::format("has {} points; {} are the most of one study", grouped(n), grouped(most_points)));
  }
  std::vector<SweepPoint> points;
  for (std::int64_t i = 0; i < n; ++i) {
    SweepPoint point;
    point.id = i + 1;
    std::int64_t rest = i, below = n;
    for (const SweepAxis& axis : axes) {
      below /= static_cast<std::int64_t>(axis.values.size());
      const AxisValue& value = axis.values[static_cast<std::size_t>(rest / below)];
      rest %= below;
      point.labels.push_back(value.label);
      point.settings.insert(point.settings.end(), value.settings.begin(), value.settings.end());
      if (value.placement.ranks) point.placement.ranks = value.placement.ranks;
      if (value.placement.threads) point.placement.threads = value.placement.threads;
      if (value.placement.devices) point.placement.devices = value.placement.devices;
      if (!value.placement.bind.empty()) point.placement.bind = value.placement.bind;
      if (!value.placement.where.empty()) point.placement.where = value.placement.where;
    }
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace prismfield
