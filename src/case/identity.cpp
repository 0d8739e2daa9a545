// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/identity.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "case/keys.hpp"

namespace prismfield {
namespace {

using Words = std::vector<std::string>;

void keep_only(YamlNode& map, const Words& kept) {
  std::erase_if(map.entries,
                [&](const YamlEntry& e) { return std::find(kept.begin(), kept.end(), e.key) == kept.end(); });
}

/// Keeps some keys of a section, and the section when it has any.
void keep_in_section(YamlNode& root, const std::string& section, const Words& kept) {
  YamlNode* const map = root.find(section);
  if (map == nullptr) return;
  keep_only(*map, kept);
  if (map->entries.empty()) std::erase_if(root.entries, [&](const YamlEntry& e) { return e.key == section; });
}

const Words kept_of_execution = {"kernel", "precision", "method", "tolerance"};

}  // namespace

void sort_keys(YamlNode& node) {
  std::sort(node.entries.begin(), node.entries.end(),
            [](const YamlEntry& a, const YamlEntry& b) { return a.key < b.key; });
  for (YamlEntry& entry : node.entries) sort_keys(entry.value);
  for (YamlNode& item : node.items) sort_keys(item);
}

std::string identity_of(YamlNode root) {
  keep_only(root, {"model", "observations", "fields", "gravitational_constant", "execution"});
  if (YamlNode* observations = root.find("observations")) {
    std::erase_if(observations->entries, [](const YamlEntry& e) { return e.key == "noise"; });
  }
  keep_in_section(root, "execution", kept_of_execution);
  sort_keys(root);
  return to_yaml(root);
}

std::string inversion_identity_of(YamlNode root) {
  keep_only(root, {"model", "inversion", "sensitivity", "gravitational_constant", "fields", "axes", "execution"});
  for (const std::string& key : case_keys::densities) {
    YamlNode* map = &root;
    std::size_t begin = 0;
    for (std::size_t dot = key.find('.'); map != nullptr && dot != std::string::npos; dot = key.find('.', begin)) {
      map = map->find(key.substr(begin, dot - begin));
      begin = dot + 1;
    }
    if (map != nullptr) std::erase_if(map->entries, [&](const YamlEntry& e) { return e.key == key.substr(begin); });
  }
  keep_in_section(root, "sensitivity", {"precision", "compression"});
  keep_in_section(root, "execution", kept_of_execution);
  sort_keys(root);
  return to_yaml(root);
}

}  // namespace prismfield
