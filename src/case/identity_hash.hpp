// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/points.hpp>

#include "base/checksum.hpp"

namespace prismfield {

class Communicator;
class Model;
struct Case;

/// Of all that a case's fields depend on: its identity and what was read from its files, model and points as they are
/// computed with. The model is as make_model() left it, each prism on one rank. The same on every rank, for any number
/// of ranks. Collective.
[[nodiscard]] Digest case_hash(const Case& run, const Model& model, const Points& points,
                               const Communicator& communicator);

}  // namespace prismfield
