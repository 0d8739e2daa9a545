// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <span>

#include <prismfield/forward.hpp>

#include "compute/method.hpp"

namespace prismfield {

/// As forward() and, with `values`, forward_into() of the library, of work that was made for this rank and with a
/// guard: each rank must be able to read the prisms of its work. Throws, beside what forward() throws, Stopped on every
/// rank when the guard of one wanted to stop. Collective.
[[nodiscard]] Fields forward(const PrismSource& prisms, const Points& points, const Request& request, RankWork& work,
                             const Communicator& communicator, Observer* observer, RunGuard* guard = nullptr,
                             std::span<double> values = {});

}  // namespace prismfield
