// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/input_paths.hpp"

namespace prismfield {
namespace {

void collect(YamlNode& node, const std::string& key, std::vector<InputPath>& paths) {
  for (YamlEntry& entry : node.entries) {
    const std::string path = join_key(key, entry.key);
    const bool names_file =
        entry.key == "file" || (key == "model.mesh.ubc" && (entry.key == "mesh" || entry.key == "density"));
    if (names_file && entry.value.kind == YamlNode::Kind::scalar) paths.push_back({path, &entry.value});
    collect(entry.value, path, paths);
  }
}

}  // namespace

std::vector<InputPath> input_paths(YamlNode& root) {
  std::vector<InputPath> paths;
  for (const char* section : {"model", "observations"}) {
    if (YamlNode* const node = root.find(section)) collect(*node, section, paths);
  }
  return paths;
}

}  // namespace prismfield
