// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>

#include "case/key_table.hpp"
#include "case/yaml_tree.hpp"

namespace prismfield {

enum class CaseUse;

/// The case without the keys that the result of its use does not depend on, by the table of keys, in alphabetical
/// order, as YAML. A key that the table does not have stays.
[[nodiscard]] std::string identity_of(YamlNode root, CaseUse use, const KeyTable& table = case_key_table());

/// Puts the keys of every map in alphabetical order.
void sort_keys(YamlNode& node);

}  // namespace prismfield
