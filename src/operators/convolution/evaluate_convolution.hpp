// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "compute/operator_work.hpp"
#include "operators/convolution/convolution_plan.hpp"

namespace prismfield {

/// A rank's prisms of a run by convolutions, by a plan that has all that these need but the points. It and what it
/// makes throw as the operator.
[[nodiscard]] Evaluate evaluate_convolution(const RankProblem& problem, ConvolutionPlan plan);

}  // namespace prismfield
