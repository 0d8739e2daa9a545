// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "case/yaml_tree.hpp"

namespace prismfield {

/// A value of a case that names a file to be read.
struct InputPath {
  /// the key path, such as model.prisms.file
  std::string key;
  YamlNode* value = nullptr;
};

/// Every value below model, observations and inversion that names a file: those that Case::input_files() resolves for
/// any use of the case, but for the case itself. They point into `root`.
[[nodiscard]] std::vector<InputPath> input_paths(YamlNode& root);

}  // namespace prismfield
