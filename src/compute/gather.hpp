// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/result.hpp>

#include "compute/work_state.hpp"
#include "engine/engine.hpp"

namespace prismfield {

/// Adds up what the ranks computed, G included, on rank 0, which alone takes memory for all points: fields, contacts
/// and pairs by form. `before`: what earlier runs did, on rank 0; may be null. `as_planned`: this rank's work is its
/// share of the plan, shares of which do not overlap; then ranks of one part of points are added along a fixed tree.
/// `values`: where rank 0 puts the fields, (asked field, point); empty: result.values. Empties `state`. Collective.
void gather_fields(RankState& state, const RankState* before, bool as_planned, double gravitational_constant,
                   const Plan& plan, const Communicator& communicator, std::span<double> values, Fields& result);

/// A rank's busy times on rank 0, in seconds since `start`, nanoseconds of the steady clock. Collective.
[[nodiscard]] std::vector<RankBusy> gather_busy(const std::vector<BusyInterval>& mine, std::int64_t start,
                                                const Communicator& communicator);

}  // namespace prismfield
