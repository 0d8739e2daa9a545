// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/study_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

Settings settings_of(const StudyAxis& axis, const std::string& label) {
  const auto found = std::find(axis.values.begin(), axis.values.end(), label);
  const auto i = static_cast<std::size_t>(found - axis.values.begin());
  return i < axis.settings.size() ? axis.settings[i] : Settings{};
}

}  // namespace prismfield
