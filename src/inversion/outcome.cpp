// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/human_text.hpp"

namespace prismfield {

std::string off_target_message(BetaSearch::Status status, double phi_d, double target, std::int64_t n_data,
                               const InversionSettings& settings) {
  const auto n = static_cast<double>(n_data);
  const std::string where = fmt::format("chi is {:.3g}, the target {:.3g}", phi_d / n, target / n);
  if (status == BetaSearch::Status::unreachable) {
    return fmt::format(
        "bounds or mesh cannot fit the data: {}, and smaller betas bring it no nearer; {}larger sigma, "
        "finer cells or a mesh that reaches further can",
        where, settings.bounds ? "wider bounds, " : "");
  }
  if (status == BetaSearch::Status::stuck) {
    return fmt::format("no beta gives the target misfit: {}; the model jumps there", where);
  }
  return fmt::format("the target was not reached in {} solutions: {}; raise inversion.max_iterations",
                     settings.max_iterations, where);
}

std::string reference_fits_message(double target, std::int64_t n_data) {
  return fmt::format(
      "the reference fits the data already, chi is below the target {:.3g}: sigma may be too large, or "
      "the data hold nothing",
      target / static_cast<double>(n_data));
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
  if (steps == 0 || steps < std::min(settings.max_iterations, most_compact_steps)) return "";
  const double last = steps > 1 ? values[values.size() - 2] : values.back();
  if (steps > 1 && has_settled(last, values.back())) return "";
  if (steps < most_compact_steps) {
    return fmt::format("the compact model had not settled after inversion.max_iterations, {}; raise it",
                       counted(steps, "step"));
  }
  return fmt::format("the compact model had not settled after {} steps: phi_m still changed by {:.2g} %", steps,
                     100 * std::abs(values.back() - last) / values.back());
}

void add_uncertainty(const InversionState& state, InvertedModel& model) {
  if (state.samples == 0) return;
  const auto n = static_cast<double>(state.samples);
  model.samples = state.samples;
  model.density_sigma.resize(state.squares.size());
  for (std::size_t i = 0; i < state.squares.size(); ++i) model.density_sigma[i] = std::sqrt(state.squares[i] / n);
  model.resolution_trace = state.trace / n;
  const double variance = std::max(state.trace_squared / n - *model.resolution_trace * *model.resolution_trace, 0.0);
  model.resolution_trace_error = std::sqrt(variance / n);
}

void add_depth_of_investigation(const InversionState& state, InvertedModel& model) {
  model.depth_of_investigation = state.depth_of_investigation;
  for (double& value : model.depth_of_investigation) value = std::min(std::abs(value), 1.0);
}

}  // namespace prismfield
