// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

#include "fast/convolution_plan.hpp"
#include "fast/product_work.hpp"

namespace prismfield {

/// A rank's forward run by a plan that has all that a convolution needs; in instances/, where its space is found.
/// Throws as ConvolutionOperator.
[[nodiscard]] std::unique_ptr<fast::ShareProduct> make_convolution_product(const fast::ProductShare& share,
                                                                           ConvolutionPlan plan);

/// That in one space; in one source a space.
template <class ExecutionSpace>
[[nodiscard]] std::unique_ptr<fast::ShareProduct> make_convolution_product_on(const ExecutionSpace& space,
                                                                              const fast::ProductShare& share,
                                                                              ConvolutionPlan plan);

}  // namespace prismfield
