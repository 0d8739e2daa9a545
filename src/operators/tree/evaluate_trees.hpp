// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/communicator.hpp>
#include <prismfield/prisms.hpp>

#include "compute/operator_work.hpp"

namespace prismfield::fast {

/// These prisms, which are all of a run's rank, by trees in double, within bounds that hold for the densities that the
/// prisms have; among several `ranks`, whose parts are parts of space, with what each needs of the others' trees.
/// Collective over `ranks`; it and what it makes throw as the operator.
[[nodiscard]] Evaluate evaluate_trees(const RankProblem& problem, PrismBlock prisms, const Communicator& ranks = {});

}  // namespace prismfield::fast
