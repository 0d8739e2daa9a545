// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

#include "fast/convolution_plan.hpp"
#include "fast/product_work.hpp"

namespace prismfield {

/// A rank's forward run by a plan that has all that a convolution needs. Throws as ConvolutionOperator.
[[nodiscard]] std::unique_ptr<fast::ShareProduct> make_convolution_product(const fast::ProductShare& share,
                                                                           ConvolutionPlan plan);

}  // namespace prismfield
