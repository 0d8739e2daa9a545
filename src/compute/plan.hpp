// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/plan.hpp>

namespace prismfield {

class PrismSource;
class Communicator;
struct Points;

/// Throws InputError with every value that no run can have, by the key of a case that says the same: an empty list of
/// fields, numbers out of their range, methods that this version does not have.
void check_request(const Request& request);

/// The machine that this rank runs on, as `request` uses it. Kokkos must run. Throws InputError, by key, for a space
/// that was not built or has no device.
[[nodiscard]] Machine machine_here(const Request& request, const Communicator& communicator);

/// The size of an ensemble's fields at points.
[[nodiscard]] ProblemSize problem_size(const PrismSource& prisms, const Points& points);

/// Fewer slots, then tiles of points, until the scratch fits the limit, bytes.
void fit_scratch(Plan& plan, const EngineTraits& traits, std::int64_t limit);

/// Bytes that the plan takes at its peak, on the device and on the host: while the engine computes, or while rank 0
/// gathers `n_asked` fields of all points after it. Scratch has the plan's own line.
void count_memory(Plan& plan, const EngineTraits& traits, const ProblemSize& problem, std::int64_t n_asked, int rank);

}  // namespace prismfield
