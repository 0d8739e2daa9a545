// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/study_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <prismfield/error.hpp>

namespace prismfield {

bool StudyAxis::sets(std::string_view key) const { return std::find(keys.begin(), keys.end(), key) != keys.end(); }

std::int64_t StudyPoint::workers() const {
  if (devices > 0) return devices;
  return ranks > 0 && threads > 0 ? ranks * threads : -1;
}

const char* name(RunKind kind) noexcept {
  switch (kind) {
    case RunKind::reference: return "reference";
    case RunKind::warmup: return "warmup";
    case RunKind::timed: break;
  }
  return "timed";
}

const char* name(RunStatus status) noexcept {
  switch (status) {
    case RunStatus::not_run: return "not run";
    case RunStatus::failed: return "failed";
    case RunStatus::wrong: return "wrong";
    case RunStatus::too_slow: return "too slow";
    case RunStatus::out_of_budget: return "out of budget";
    case RunStatus::ok: break;
  }
  return "ok";
}

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

std::vector<std::pair<std::string, std::string>> settings_of(const StudyAxis& axis, const std::string& label) {
  if (axis.keys == std::vector<std::string>{axis.name}) return {{axis.name, label}};
  std::string text = label;
  if (!text.starts_with('{')) {
    for (char& c : text) c = c == '=' ? ':' : c;
    for (std::size_t at = text.find(':'); at != std::string::npos; at = text.find(':', at + 2))
      text.insert(at + 1, " ");
    text = "{" + text + "}";
  }
  ProblemList ignored;
  std::vector<std::pair<std::string, std::string>> settings;
  try {
    const YamlNode node = parse_yaml(text, "", ignored);
    for (const YamlEntry& entry : node.entries) settings.emplace_back(entry.key, label_of(entry.value));
  } catch (const InputError&) {
    // a label of another kind sets what nobody can tell
  }
  return settings;
}

}  // namespace prismfield
