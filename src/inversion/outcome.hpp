// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>

#include "inversion/beta_search.hpp"
#include "model/inversion_settings.hpp"
#include "model/inversion_state.hpp"
#include "model/inverted_model.hpp"

namespace prismfield {

/// Why a search for beta ended off the target, and what to do.
[[nodiscard]] std::string off_target_message(BetaSearch::Status status, double phi_d, double target,
                                             std::int64_t n_data, const InversionSettings& settings);
/// The same for a reference that fits the data better than asked for.
[[nodiscard]] std::string reference_fits_message(double target, std::int64_t n_data);

/// Standard deviations and the trace of the resolution matrix from the samples drawn.
void add_uncertainty(const InversionState& state, InvertedModel& model);

/// |m2 - m1| / |r2 - r1| of the models of two references that differ by a constant, at most 1: near 0 where the data
/// decide, near 1 where the reference does. Source: Oldenburg and Li, Geophysics 64 (1999), equation 5.
void add_depth_of_investigation(const InversionState& state, InvertedModel& model);

}  // namespace prismfield
