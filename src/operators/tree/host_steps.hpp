// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "operators/tree/cells.hpp"

/// What hosts compute in lanes, compiled once for Serial and OpenMP (host_steps.cpp).
namespace prismfield::fast {

/// Points that a host takes side by side.
[[nodiscard]] int lanes_of_host();

/// Children of one item of a shift on a host.
[[nodiscard]] int children_of_host();

/// One item of a step.
void step_on_host(FarStep step, const FarData<Kokkos::HostSpace>& data, std::int64_t item);

}  // namespace prismfield::fast
