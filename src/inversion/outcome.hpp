// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <prismfield/inversion_settings.hpp>
#include <prismfield/inversion_state.hpp>
#include <prismfield/inverted_model.hpp>

#include "inversion/beta_search.hpp"

namespace prismfield {

/// Products with G'WG after which the solver gives up: on one solution, and in all.
inline constexpr std::int64_t most_products_of_solution = 2000, most_products = 10'000;

/// Products that an inversion takes about, from those of the cases of docs/inversion.md.
[[nodiscard]] std::int64_t usual_products(const InversionSettings& settings) noexcept;

/// Why a search for beta ended off the target, as far as its solutions, the last of `rows`, show it, and what to do.
[[nodiscard]] std::string off_target_message(BetaSearch::Status status, const std::vector<ConvergenceRow>& rows,
                                             bool is_bounded, const InversionSettings& settings);
/// The same for a reference that fits the data better than asked for.
[[nodiscard]] std::string reference_fits_message(const InversionSettings& settings);

/// The same for a beta that was given, or chosen without a target, whose solution the solver gave up.
[[nodiscard]] std::string gave_up_message(const std::vector<ConvergenceRow>& rows, bool is_bounded);

/// The steps of compact norms in which epsilon falls; at most max_iterations follow.
inline constexpr std::int64_t compact_falls = 17;
/// How little the model's value changes when the weights of compact norms have settled.
inline constexpr double least_compact_change = 1e-3;
/// Whether a compact step has changed the model's value by so little.
[[nodiscard]] bool has_settled(double last_phi_m, double phi_m) noexcept;
/// What to say of compact steps that max_iterations ended before the model had settled; "" otherwise.
[[nodiscard]] std::string unsettled_message(const std::vector<ConvergenceRow>& rows, const InversionSettings& settings);

/// Bytes of a rank's vectors, about: of cells, of unknowns, and of its `n_rows` rows of each epoch's data; G and low
/// ranks left out.
[[nodiscard]] std::int64_t vector_bytes(const InversionSettings& settings, bool is_bounded, std::int64_t n_cells,
                                        std::int64_t n_epochs, std::int64_t n_rows) noexcept;

/// Standard deviations and the trace of the resolution matrix from the samples drawn.
void add_uncertainty(const InversionState& state, InvertedModel& model);

/// |m2 - m1| / |r2 - r1| of the models of two references that differ by a constant, one an active cell, at most 1: near
/// 0 where the data decide, near 1 where the reference does. Source: Oldenburg and Li, Geophysics 64 (1999),
/// equation 5.
void add_depth_of_investigation(const InversionState& state, InvertedModel& model);

}  // namespace prismfield
