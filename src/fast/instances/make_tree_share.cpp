// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "fast/make_tree_share.hpp"

#include <utility>

#include "engine/instances/with_space.hpp"

namespace prismfield::fast {

std::unique_ptr<ShareProduct> make_tree_share(const ProductShare& share) {
  PrismBlock prisms;
  share.prisms.read(share.plan.prisms(), prisms);
  return with_space(share.plan.space,
                    [&](const auto& space) { return make_tree_product_on(space, share, std::move(prisms), true); });
}

std::unique_ptr<TreeProduct> make_tree_part(const ProductShare& share, PrismBlock prisms) {
  return with_space(share.plan.space,
                    [&](const auto& space) { return make_tree_product_on(space, share, std::move(prisms), false); });
}

}  // namespace prismfield::fast
