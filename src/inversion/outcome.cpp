// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/human_text.hpp"

namespace prismfield {

std::int64_t usual_products(const InversionSettings& settings) noexcept {
  return 100 + (settings.is_compact() ? 200 : 0) + (settings.intervals.empty() && !settings.most_amplitude ? 0 : 300) +
         30 * settings.uncertainty.samples + 2 * settings.uncertainty.rank;
}

std::string off_target_message(BetaSearch::Status status, const std::vector<ConvergenceRow>& rows, bool is_bounded,
                               const InversionSettings& settings) {
  const ConvergenceRow& last = rows.back();
  const std::string where =
      fmt::format("chi is {:.3g} at beta {:.3g}, the target is {:.3g}", last.chi, last.beta, settings.target_misfit);
  const std::string remedies = last.chi < settings.target_misfit
                                   ? "larger sigma or a norm nearer to 2 can help"
                                   : fmt::format("larger sigma, {}finer cells or a mesh that reaches further can help",
                                                 is_bounded ? "wider bounds, " : "");
  switch (status) {
    case BetaSearch::Status::slow:
      return fmt::format(
          "the target was not reached: {}, and the last three steps to smaller betas lowered chi by less "
          "than a tenth; {}",
          where, remedies);
    case BetaSearch::Status::unsettled:
      return fmt::format("the target was not reached: {}, where the solver gave up, after {} products in all; {}",
                         where, grouped(last.products), remedies);
    case BetaSearch::Status::stuck:
      return fmt::format("no beta gives the target misfit: {}; the model jumps there", where);
    default:
      return fmt::format("the target was not reached in {} solutions: {}; raise inversion.max_iterations",
                         settings.max_iterations, where);
  }
}

std::string gave_up_message(const std::vector<ConvergenceRow>& rows, bool is_bounded) {
  return fmt::format("the model for beta {:.3g} had not settled after {} products; a larger beta{} can help",
                     rows.back().beta, grouped(rows.back().products),
                     is_bounded ? ", or bounds that bind fewer cells," : "");
}

std::string reference_fits_message(const InversionSettings& settings) {
  return fmt::format(
      "the reference fits the data already, chi is below the target {:.3g}: sigma may be too large, or "
      "the data hold nothing",
      settings.target_misfit);
}

bool has_settled(double last_phi_m, double phi_m) noexcept {
  return std::abs(phi_m - last_phi_m) < least_compact_change * phi_m;
}

std::string unsettled_message(const std::vector<ConvergenceRow>& rows, const InversionSettings& settings) {
  std::vector<double> values;
  for (const ConvergenceRow& row : rows) {
    if (row.stage == "compact") values.push_back(row.phi_m);
  }
  const auto steps = static_cast<std::int64_t>(values.size());
  if (steps < compact_falls + settings.max_iterations) return "";
  if (has_settled(values[values.size() - 2], values.back())) return "";
  return fmt::format("the compact model had not settled after {} steps; raise inversion.max_iterations", steps);
}

std::int64_t vector_bytes(const InversionSettings& settings, bool is_bounded, std::int64_t n_cells,
                          std::int64_t n_epochs, std::int64_t n_rows) noexcept {
  const bool is_compact = settings.is_compact(), is_huber = settings.data_norm == DataNorm::huber;
  const auto if_so = [](bool is_so, std::int64_t vectors) { return is_so ? vectors : 0; };
  const std::int64_t blocks = n_epochs * components(settings.unknown);
  // six neighbours; weights of cell and faces, the reference, the cell's number and w on the host; spacing; changes
  const std::int64_t of_cell = 6 * 4 + 8 * (4 + 3 + if_so(is_compact, 3) + if_so(n_epochs > 1, 1));
  // of inverter and state, of the solver; weights that are not those of the cell; bounds; what pulls into intervals
  const std::int64_t of_unknown = 8 * (8 + 8 + if_so(is_compact || blocks > 1, 4) + if_so(is_bounded, 2) +
                                       if_so(!settings.intervals.empty() || settings.most_amplitude, 3));
  // data, 1/sigma, weights, fields of the model and residuals; what Huber's norm weighs by
  const std::int64_t of_row = 8 * (5 + if_so(is_huber, 2));
  return n_cells * of_cell + blocks * n_cells * of_unknown + n_epochs * n_rows * of_row;
}

void add_uncertainty(const InversionState& state, InvertedModel& model) {
  if (state.samples == 0) return;
  const auto n = static_cast<double>(state.samples);
  model.samples = state.samples;
  model.sigma.resize(state.squares.size());
  for (std::size_t i = 0; i < state.squares.size(); ++i) model.sigma[i] = std::sqrt(state.squares[i] / n);
  model.resolution_trace = state.trace / n;
  const double variance = std::max(state.trace_squared / n - *model.resolution_trace * *model.resolution_trace, 0.0);
  model.resolution_trace_error = std::sqrt(variance / n);
}

void add_depth_of_investigation(const InversionState& state, InvertedModel& model) {
  const double step = std::sqrt(static_cast<double>(components(model.unknown)));
  model.depth_of_investigation = amplitude_of(state.depth_of_investigation, model.unknown, std::ssize(model.cells));
  for (double& value : model.depth_of_investigation) value = std::min(std::abs(value) / step, 1.0);
}

}  // namespace prismfield
