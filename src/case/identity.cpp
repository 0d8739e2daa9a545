// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/identity.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <prismfield/communicator.hpp>

#include "case/case.hpp"
#include "case/make_model.hpp"
#include "case/make_points.hpp"

namespace prismfield {
namespace {

/// What a command's result depends on.
class Dependencies {
public:
  Dependencies(const KeyTable& table, Commands command) : m_table(table), m_command(command) {}

  void keep(YamlNode& node, const std::string& path) const {
    std::vector<YamlEntry> kept;
    for (YamlEntry& entry : node.entries) {
      if (keep_entry(entry, join_key(path, entry.key))) kept.push_back(std::move(entry));
    }
    node.entries = std::move(kept);
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      if (has_keys(node.items[i])) keep(node.items[i], join_key(path, std::to_string(i)));
    }
  }

private:
  static bool has_keys(const YamlNode& node) {
    return !node.entries.empty() || std::any_of(node.items.begin(), node.items.end(), has_keys);
  }

  /// Sections that do not count themselves are kept for the keys in them that do.
  bool keep_entry(YamlEntry& entry, const std::string& path) const {
    if (entry.value.kind == YamlNode::Kind::removed) return false;
    const KeyRow* const row = m_table.find(path);
    const KeyEffects effects = row != nullptr ? row->effects : KeyEffects();
    if ((effects.used_by & m_command) == 0) return false;
    keep(entry.value, path);
    return (effects.changes_result & m_command) != 0 || has_keys(entry.value);
  }

  const KeyTable& m_table;
  Commands m_command;
};

/// Puts the keys of every map in alphabetical order.
void sort_keys(YamlNode& node) {
  std::sort(node.entries.begin(), node.entries.end(),
            [](const YamlEntry& a, const YamlEntry& b) { return a.key < b.key; });
  for (YamlEntry& entry : node.entries) sort_keys(entry.value);
  for (YamlNode& item : node.items) sort_keys(item);
}

}  // namespace

std::string identity_of(YamlNode root, CaseUse use, const KeyTable& table) {
  Dependencies(table, command_of(use)).keep(root, "");
  sort_keys(root);
  return to_yaml(root);
}

Digest case_hash(const Case& run, const Model& model, const Points& points, const Communicator& communicator) {
  Checksum checksum;
  checksum.add(std::string_view(run.identity));
  checksum.add(model.digest(communicator));
  const auto* grid = std::get_if<GridSpec>(&run.observations);
  if (std::holds_alternative<StationsFile>(run.observations) || (grid != nullptr && grid->dem)) {
    checksum.add(points.easting);
    checksum.add(points.northing);
  }
  if (points_from_files(run)) checksum.add(points.upward);
  return checksum.digest();
}

}  // namespace prismfield
