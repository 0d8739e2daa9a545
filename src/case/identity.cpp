// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/identity.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace prismfield {
namespace {

using Words = std::vector<std::string>;

}  // namespace

void sort_keys(YamlNode& node) {
  std::sort(node.entries.begin(), node.entries.end(),
            [](const YamlEntry& a, const YamlEntry& b) { return a.key < b.key; });
  for (YamlEntry& entry : node.entries) sort_keys(entry.value);
  for (YamlNode& item : node.items) sort_keys(item);
}

std::string identity_of(YamlNode root) {
  std::erase_if(root.entries, [](const YamlEntry& e) {
    const Words kept = {"model", "observations", "fields", "gravitational_constant", "execution"};
    return std::find(kept.begin(), kept.end(), e.key) == kept.end();
  });
  if (YamlNode* observations = root.find("observations")) {
    std::erase_if(observations->entries, [](const YamlEntry& e) { return e.key == "noise"; });
  }
  if (YamlNode* execution = root.find("execution")) {
    std::erase_if(execution->entries, [](const YamlEntry& e) {
      const Words kept = {"kernel", "precision", "method", "tolerance"};
      return std::find(kept.begin(), kept.end(), e.key) == kept.end();
    });
    if (execution->entries.empty())
      std::erase_if(root.entries, [](const YamlEntry& e) { return e.key == "execution"; });
  }
  sort_keys(root);
  return to_yaml(root);
}

}  // namespace prismfield
