// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "fast/convolution_product.hpp"

#include <utility>

#include "engine/instances/with_space.hpp"

namespace prismfield {

std::unique_ptr<fast::ShareProduct> make_convolution_product(const fast::ProductShare& share, ConvolutionPlan plan) {
  return with_space(share.plan.space, [&](auto space) -> std::unique_ptr<fast::ShareProduct> {
    // for which there are no transforms, as the method's check says
    if constexpr (space_key<decltype(space)> == Space::hip) {
      return nullptr;
    } else {
      return make_convolution_product_on(space, share, std::move(plan));
    }
  });
}

}  // namespace prismfield
