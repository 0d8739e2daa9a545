// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/input_paths.hpp"

#include <cstddef>

namespace prismfield {
namespace {

/// A data set is a map that names a file or those of its epochs, or the name alone; there is one or a list of them.
void collect_data(YamlNode& node, const std::string& key, std::vector<InputPath>& paths) {
  if (node.kind == YamlNode::Kind::scalar) paths.push_back({key, &node});
  if (YamlNode* const file = node.find("file"); file != nullptr && file->kind == YamlNode::Kind::scalar) {
    paths.push_back({join_key(key, "file"), file});
  }
  if (YamlNode* const epochs = node.find("epochs")) {
    for (std::size_t i = 0; i < epochs->items.size(); ++i) {
      YamlNode& epoch = epochs->items[i];
      if (epoch.kind == YamlNode::Kind::scalar) {
        paths.push_back({join_key(join_key(key, "epochs"), std::to_string(i)), &epoch});
      }
    }
  }
  for (std::size_t i = 0; i < node.items.size(); ++i)
    collect_data(node.items[i], join_key(key, std::to_string(i)), paths);
}

void collect(YamlNode& node, const std::string& key, std::vector<InputPath>& paths) {
  for (YamlEntry& entry : node.entries) {
    const std::string path = join_key(key, entry.key);
    const bool names_file =
        entry.key == "file" || (key == "model.mesh.ubc" && (entry.key == "mesh" || entry.key == "density"));
    if (names_file && entry.value.kind == YamlNode::Kind::scalar) paths.push_back({path, &entry.value});
    if (path == "inversion.data") {
      collect_data(entry.value, path, paths);
    } else {
      collect(entry.value, path, paths);
    }
  }
}

}  // namespace

std::vector<InputPath> input_paths(YamlNode& root) {
  std::vector<InputPath> paths;
  for (const char* section : {"model", "observations", "inversion"}) {
    if (YamlNode* const node = root.find(section)) collect(*node, section, paths);
  }
  return paths;
}

}  // namespace prismfield
