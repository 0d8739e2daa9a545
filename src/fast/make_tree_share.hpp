// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <prismfield/prisms.hpp>

#include "fast/product_work.hpp"

namespace prismfield::fast {

/// Numbers of a tree's work on a rank; cells of prisms: its own, and those that came from others.
struct TreeCounts {
  std::int64_t cells_of_points = 0, cells_of_prisms = 0, received_cells = 0, exchanges = 0, pairs_of_leaves = 0;
  int degree = 0;
};

/// The product of a rank's trees. Among other ranks, before it is computed, boxes() of all say where their points are,
/// essential() what each needs of these prisms, by ranks, and finish() takes what the others have for this one.
class TreeProduct : public ShareProduct {
public:
  [[nodiscard]] virtual std::vector<double> boxes() const = 0;
  /// `boxes`: of all ranks; `rank`: this one.
  [[nodiscard]] virtual std::vector<std::vector<double>> essential(const std::vector<double>& boxes,
                                                                   int rank) const = 0;
  virtual void finish(std::vector<std::vector<double>> received) = 0;
  [[nodiscard]] virtual TreeCounts counts() const = 0;
};

/// A rank's share by trees, in the plan's space, in double precision.
[[nodiscard]] std::unique_ptr<ShareProduct> make_tree_share(const ProductShare& share);
/// The same of these prisms, not those of the share, among other ranks: to be finished.
[[nodiscard]] std::unique_ptr<TreeProduct> make_tree_part(const ProductShare& share, PrismBlock prisms);

}  // namespace prismfield::fast
