// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>

#include "case/yaml_tree.hpp"

namespace prismfield {

/// The case without what no field depends on, with sorted keys, as YAML.
[[nodiscard]] std::string identity_of(YamlNode root);

/// What the model that an inversion finds depends on, likewise: not how its cells are filled, which it finds out.
[[nodiscard]] std::string inversion_identity_of(YamlNode root);

/// Puts the keys of every map in alphabetical order.
void sort_keys(YamlNode& node);

}  // namespace prismfield
