// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "compute/operator_work.hpp"
#include "operators/tree/space_parts.hpp"

namespace prismfield::fast {

/// A rank's work by trees where prisms and points are both shared out in space: each rank reads its range of the
/// prisms, hands them to the ranks whose parts of space they are in, makes trees of its part, and gives to others what
/// they need of its tree of prisms.
class EssentialWork final : public OperatorWork {
public:
  EssentialWork(const Plan& plan, int rank) : OperatorWork(plan, rank, nullptr) {}

  void prepare(const PrismSource& prisms, const PointColumns& points, const Communicator& communicator) override;
  [[nodiscard]] WorkDone take() override;

private:
  /// Finds the parts of the points: this rank's places and points, all of them on rank 0.
  void share_out_points(int ranks);
  /// This rank's prisms, which others have read.
  [[nodiscard]] PrismBlock fetch_prisms(const PrismSource& prisms, const Communicator& communicator);

  SpaceParts m_parts_of_points;
  Points m_mine;
  IndexRange m_places;
  std::vector<std::int64_t> m_order;
};

}  // namespace prismfield::fast
