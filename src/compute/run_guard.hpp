// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <optional>

#include "compute/work_state.hpp"

namespace prismfield {

/// What somebody who guards a run against its end is asked at the end of every chunk of prisms, on each rank by itself.
class RunGuard {
public:
  virtual ~RunGuard() = default;
  /// Where this rank begins; nothing: at the start of its share.
  [[nodiscard]] virtual std::optional<RankState> begin() = 0;
  /// Whether to hand over the state now, and whether to stop then.
  [[nodiscard]] virtual bool wants_state() = 0;
  [[nodiscard]] virtual bool wants_stop() = 0;
  virtual void keep(const RankState& state) = 0;
  /// What earlier runs did on other ranks: added to the result on rank 0. Null: nothing.
  [[nodiscard]] virtual const RankState* done_before() const = 0;
};

}  // namespace prismfield
