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

/// Implements ForwardMethod::plan: slots, batches, tiles, chunks.
void plan_direct(Plan& plan, const Request& request, const ProblemSize& problem, const Machine& machine);

/// The truncation error of a pair's multipole that a plan's tolerance allows, relative to the pair's gradient tensor.
/// Each precision has a least error, below which it has no effect.
[[nodiscard]] double truncation_of(const Plan& plan) noexcept;

/// The settings of an engine for a plan.
[[nodiscard]] EngineSettings engine_settings(const Plan& plan, const PrismSource& prisms, const PointColumns& points);

/// Calls make(plan), with ever smaller plans while it throws AllocationFailure; `plan` is then the last one. Throws
/// RunError when even the smallest does not fit. `in_a_tile`: a checkpoint inside a tile fixes the tile.
void make_fitting(Plan& plan, const EngineTraits& traits, bool in_a_tile, const std::function<void(const Plan&)>& make);

}  // namespace prismfield
