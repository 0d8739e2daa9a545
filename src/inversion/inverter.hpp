// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/invert.hpp>

namespace prismfield {

/// Throws InputError, by key, with every error of what an inversion is made from. A case's inputs have none: their
/// reader names files and lines.
void check_input(const InversionInput& input);

/// Seconds of the slowest rank: to compute and keep G once, and of a product with G'WG.
struct InversionSeconds {
  double setup = 0, product = 0;
};

/// Measured on a sample of the stations with G stored, or, where it does not fit, as the plan has a product; Kokkos
/// must run. Collective; the same on every rank.
[[nodiscard]] InversionSeconds estimated_inversion(const InversionInput& input, const Communicator& communicator);

}  // namespace prismfield
