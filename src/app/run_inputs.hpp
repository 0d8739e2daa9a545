// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

#include "app/cli.hpp"
#include "case/case.hpp"
#include "model/ensemble.hpp"
#include "model/points.hpp"

namespace prismfield {

class Communicator;

/// Everything that a case names, read and validated.
struct Inputs {
  Case run;
  std::unique_ptr<Ensemble> ensemble;
  Points points;
};

/// Reads the case and what it names, large files once. Throws AgreedFailure with the mistakes of all of them.
/// Collective.
[[nodiscard]] Inputs read_inputs(const RunOptions& options, const Communicator& communicator);

}  // namespace prismfield
