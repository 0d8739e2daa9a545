// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "fast/make_tree_share.hpp"
#include "fast/product_work.hpp"
#include "fast/space_parts.hpp"

namespace prismfield::fast {

/// A rank's work by trees where prisms and points are both shared out in space: each rank reads its range of the
/// prisms, hands them to the ranks whose parts of space they are in, makes trees of its part, and gives to others what
/// they need of its tree of prisms.
class EssentialWork final : public ProductWork {
public:
  EssentialWork(const Plan& plan, int rank) : ProductWork(plan, rank, make_tree_share) {}

  void prepare(const PrismSource& prisms, const PointColumns& points, const Communicator& communicator) override;
  [[nodiscard]] WorkDone take() override;

  /// Of the last product, until take().
  [[nodiscard]] TreeCounts counts() const { return static_cast<const TreeProduct&>(*m_products.back()).counts(); }
  /// Of prisms, and of essential cells, that went to other ranks.
  [[nodiscard]] std::int64_t bytes_of_prisms() const noexcept { return m_bytes_of_prisms; }
  [[nodiscard]] std::int64_t bytes_of_cells() const noexcept { return m_bytes_of_cells; }

private:
  /// Finds the parts of the points: this rank's places and points, all of them on rank 0.
  void share_out_points(int ranks);
  /// This rank's prisms, which others have read.
  [[nodiscard]] PrismBlock fetch_prisms(const PrismSource& prisms, const Communicator& communicator);
  /// Makes the trees of a product of this rank's prisms, which are freed with the last one. Collective.
  void add_trees(const ProductShare& share, PrismBlock& block, const Communicator& communicator);
  [[nodiscard]] std::int64_t bytes_to_others(const std::vector<std::vector<double>>& lists) const;

  SpaceParts m_parts_of_points;
  Points m_mine;
  IndexRange m_places;
  std::vector<std::int64_t> m_order;
  std::int64_t m_bytes_of_prisms = 0, m_bytes_of_cells = 0;
};

}  // namespace prismfield::fast
