// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "fast/convolution_product.hpp"

#include <utility>

#include "engine/instances/with_space.hpp"
#include "fast/convolution_layout.hpp"
#include "fast/fft.hpp"

namespace prismfield {

void check_transforms(Space space) {
  with_space(space, [](auto of) {
    if constexpr (space_key<decltype(of)> == Space::hip) {
      refuse_fft("it computes on hosts and NVIDIA's devices; give execution.space openmp or serial");
    } else if (!Fft<decltype(of)>::is_built()) {
      refuse_fft("this library was built without transforms for a device; give execution.space openmp or serial");
    }
  });
}

std::unique_ptr<fast::ShareProduct> make_convolution_product(const fast::ProductShare& share, ConvolutionPlan plan) {
  return with_space(share.plan.space, [&](auto space) -> std::unique_ptr<fast::ShareProduct> {
    // see check_transforms()
    if constexpr (space_key<decltype(space)> == Space::hip) {
      return nullptr;
    } else {
      return make_convolution_product_on(space, share, std::move(plan));
    }
  });
}

}  // namespace prismfield
