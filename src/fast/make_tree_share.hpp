// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

#include "fast/product_work.hpp"

namespace prismfield::fast {

/// A rank's share by trees, in the plan's space, in double precision.
[[nodiscard]] std::unique_ptr<ShareProduct> make_tree_share(const ProductShare& share);

/// The same in a space; instantiated in one source file each.
template <class Space>
[[nodiscard]] std::unique_ptr<ShareProduct> make_tree_share_on(const Space& space, const ProductShare& share);

}  // namespace prismfield::fast
