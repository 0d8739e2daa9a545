// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>

#include <prismfield/points.hpp>

#include "base/checksum.hpp"
#include "case/key_table.hpp"
#include "case/yaml_tree.hpp"

namespace prismfield {

class Communicator;
class Model;
enum class CaseUse;
struct Case;

/// The case without the keys that the result of its use does not depend on, by the table of keys, in alphabetical
/// order, as YAML. A key that the table does not have stays.
[[nodiscard]] std::string identity_of(YamlNode root, CaseUse use, const KeyTable& table = case_key_table());

/// Of all that a case's fields depend on: its identity and what was read from its files, model and points as they are
/// computed with. The model is as make_model() left it, each prism on one rank. The same on every rank, for any number
/// of ranks. Collective.
[[nodiscard]] Digest case_hash(const Case& run, const Model& model, const Points& points,
                               const Communicator& communicator);

}  // namespace prismfield
