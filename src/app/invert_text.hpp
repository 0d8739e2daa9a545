// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include <prismfield/invert.hpp>

#include "case/case.hpp"
#include "case/make_inversion.hpp"

namespace prismfield {

/// The lines with which an inversion begins: cells, data, settings.
[[nodiscard]] std::string inversion_heading(const Case& run, const InversionInputs& inputs);
/// The names of the table's columns, and a row of it: at most 80 columns wide.
[[nodiscard]] std::string convergence_header();
[[nodiscard]] std::string convergence_line(const ConvergenceRow& row);
/// What --dry-run prints beside the heading: bytes of G by precision for so many ranks, of vectors, of the model and
/// the files beside it. `seconds`: in which all of G is computed once.
[[nodiscard]] std::string inversion_sizes(const Case& run, const InversionInputs& inputs, int ranks,
                                          const std::string& ranks_text, double seconds);
/// What a user should be told of bounds, a reference and data that can hardly be in their units, or whose sigma can
/// hardly be theirs; of densities that were found, likewise.
[[nodiscard]] std::vector<std::string> inversion_warnings(const Case& run, const InversionInputs& inputs);
[[nodiscard]] std::vector<std::string> outcome_warnings(const Case& run, const InversionOutcome& outcome);
/// How far a checkpoint was.
[[nodiscard]] std::string inversion_resume_text(const std::string& file, const InversionState* state);
/// The last lines: misfit by data set and field, densities, uncertainty. `figure`: what drawn_text() says.
[[nodiscard]] std::string inversion_summary(const Case& run, const InversionOutcome& outcome, double seconds,
                                            const std::string& figure);

}  // namespace prismfield
