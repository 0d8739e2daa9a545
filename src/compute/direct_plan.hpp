// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <functional>

#include <prismfield/plan.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "compute/plan.hpp"
#include "engine/engine.hpp"

namespace prismfield {

/// See ForwardMethod::plan: slots, batches, tiles, chunks.
void plan_direct(Plan& plan, const Request& request, const ProblemSize& problem, const Machine& machine);

/// The truncation error that a plan's tolerance allows to the multipole of a pair, relative to the pair's gradient
/// tensor; precisions have their own, below which it is without effect.
[[nodiscard]] double truncation_of(const Plan& plan) noexcept;

/// What an engine needs to know of a plan.
[[nodiscard]] EngineSettings engine_settings(const Plan& plan, const PrismSource& prisms, const PointColumns& points);

/// Calls make(plan); as long as it throws AllocationFailure, with a smaller plan, which `plan` then is. Throws RunError
/// when even the smallest finds no memory. `in_a_tile`: a checkpoint was taken in the midst of a tile, which must stay.
void make_fitting(Plan& plan, const EngineTraits& traits, bool in_a_tile, const std::function<void(const Plan&)>& make);

}  // namespace prismfield
