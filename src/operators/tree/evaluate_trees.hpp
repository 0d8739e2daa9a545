// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "compute/operator_work.hpp"

namespace prismfield::fast {

/// A rank's prisms of a run by trees in double, within bounds that hold for the densities that the prisms have. It and
/// what it makes throw as the operator.
[[nodiscard]] Evaluate evaluate_trees(const RankProblem& problem);

}  // namespace prismfield::fast
