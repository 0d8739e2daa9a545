// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "fast/make_tree_share.hpp"

#include "engine/instances/with_space.hpp"

namespace prismfield::fast {

std::unique_ptr<ShareProduct> make_tree_share(const ProductShare& share) {
  return with_space(share.plan.space, [&](const auto& space) { return make_tree_share_on(space, share); });
}

}  // namespace prismfield::fast
