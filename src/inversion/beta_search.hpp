// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cmath>
#include <vector>

namespace prismfield {

/// The search for the beta whose model has phi_d on the target: first steps until the target lies between two
/// solutions, then log beta by a straight line through log phi_d, at least a tenth of the bracket away from its ends.
/// Source: shared numerics of this project, see docs/inversion.md.
class BetaSearch {
public:
  enum class Status {
    searching,
    /// the last solution is within 2 % of the target
    on_target,
    /// in three steps, in which beta fell to an eighth or less, phi_d fell by less than a tenth and is above the
    /// target: bounds or mesh cannot fit the data
    unreachable,
    /// beta is known to rounding and phi_d jumps over the target
    stuck
  };
  static constexpr double tolerance = 0.02;

  /// Steps by `step` while all solutions are on one side: always that much when `cools`, else at most that much, as far
  /// as the last two solutions say.
  BetaSearch(double first_beta, double target, double step, bool cools);
  /// Goes on from these solutions, as solutions() returned them, to the same betas, bit for bit.
  void go_on(const std::vector<std::array<double, 2>>& solutions);

  /// The beta to be solved for next.
  [[nodiscard]] double beta() const noexcept { return std::exp(m_log_beta); }
  [[nodiscard]] Status status() const noexcept { return m_status; }
  /// Whether the target lies between two solutions.
  [[nodiscard]] bool has_bracket() const noexcept { return m_has_bracket; }
  /// Takes the phi_d, above 0, of the model for beta().
  void add(double phi_d) { add_logarithms({m_log_beta, std::log(phi_d)}); }
  /// (log beta, log phi_d) in the order of add().
  [[nodiscard]] const std::vector<std::array<double, 2>>& solutions() const noexcept { return m_solutions; }

private:
  void add_logarithms(const std::array<double, 2>& solution);
  void step_on(double log_phi);

  double m_log_beta, m_log_target, m_step;
  bool m_cools;
  bool m_has_bracket = false;
  Status m_status = Status::searching;
  std::vector<std::array<double, 2>> m_solutions;
};

}  // namespace prismfield
