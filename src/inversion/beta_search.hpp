// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include <prismfield/inverted_model.hpp>

namespace prismfield {

/// The search for the beta whose model has phi_d on the target: first steps until the target lies between two
/// solutions, then the beta that a power law through three of them has there, at least a twentieth of the bracket away
/// from its ends, in log beta, or its middle after three solutions on one side. The bracket's ends are the last
/// solutions above and below the target: phi_d rises with beta, and where two solutions say otherwise, because one is
/// not accurate, the older one is dropped. Source: shared numerics of this project, see docs/inversion.md.
class BetaSearch {
public:
  enum class Status {
    searching,
    /// the last solution is as near the target as asked for
    on_target,
    /// in three steps, in which beta fell to an eighth or less, phi_d fell by less than a tenth and is above the target
    slow,
    /// beta is known to rounding and phi_d jumps over the target
    stuck,
    /// the solver gave up
    unsettled
  };
  /// So that 2 % hold when rounded.
  static constexpr double tolerance = 0.018;

  /// Steps by `step` while all solutions are on one side: always that much when `cools`, else at most that much, as far
  /// as the last two solutions say. `within`: the part of the target that the last solution may be off.
  BetaSearch(double first_beta, double target, double step, bool cools, double within = tolerance);
  /// Goes on from these solutions, as solutions() returned them, to the same betas, bit for bit.
  void go_on(const std::vector<std::array<double, 2>>& solutions);

  /// The beta to be solved for next.
  [[nodiscard]] double beta() const noexcept { return std::exp(m_log_beta); }
  [[nodiscard]] Status status() const noexcept { return m_status; }
  /// Whether the target lies between two solutions.
  [[nodiscard]] bool has_bracket() const noexcept { return m_has_bracket; }
  /// Whether phi_d for beta() is expected near the target, so that it has to be good to a per cent.
  [[nodiscard]] bool needs_accuracy() const noexcept { return m_has_bracket || !m_cools; }
  /// Whether it is, now that it is known roughly: near the target, or hardly below the last one.
  [[nodiscard]] bool needs_accuracy(double phi_d) const noexcept;
  /// The solutions within a bracket so far.
  [[nodiscard]] int bracketed() const noexcept { return m_bracketed; }
  /// Takes the phi_d, above 0, of the model for beta(); `gave_up`: no better one can be had.
  void add(double phi_d, bool gave_up = false);
  /// (log beta, log phi_d) in the order of add().
  [[nodiscard]] const std::vector<std::array<double, 2>>& solutions() const noexcept { return m_solutions; }

private:
  void add_logarithms(const std::array<double, 2>& solution);
  void step_on(double log_phi);
  /// Of the bracket: by phi_d = a + b beta^power, which goes through its ends and the last solution outside of it.
  [[nodiscard]] double log_beta_at_target() const;

  double m_log_beta, m_log_target, m_step, m_within;
  bool m_cools;
  bool m_has_bracket = false;
  /// of the last solution: 1 above the target, else -1; solutions on this side within the bracket, after the first
  double m_last_sign = 0;
  int m_in_a_row = 0, m_bracketed = 0;
  std::optional<std::array<double, 2>> m_above, m_below;
  Status m_status = Status::searching;
  std::vector<std::array<double, 2>> m_solutions;
};

/// A beta chosen without a target, as pairs (log beta, score) of betas that fall: whether so many scores since the
/// lowest one are higher, and where a parabola through the lowest one and its neighbours is lowest.
[[nodiscard]] bool is_past_minimum(const std::vector<std::array<double, 2>>& scores, std::size_t higher) noexcept;
[[nodiscard]] double place_of_minimum(const std::vector<std::array<double, 2>>& scores) noexcept;

/// Fills the scores: the curvature of (log phi_d, log phi_m) along the last rows, as many, by their neighbours,
/// negative and lowest at the corner; 0 at both ends. Source: Hansen and O'Leary, SIAM J. Sci. Comput. 14 (1993)
/// 1487-1503.
void bend_of_l_curve(const std::vector<ConvergenceRow>& rows, std::vector<std::array<double, 2>>& scores);

}  // namespace prismfield
