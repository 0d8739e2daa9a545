// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/beta_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace prismfield {

BetaSearch::BetaSearch(double first_beta, double target, double step, bool cools)
    : m_log_beta(std::log(first_beta)), m_log_target(std::log(target)), m_step(step), m_cools(cools) {}

void BetaSearch::go_on(const std::vector<std::array<double, 2>>& solutions) {
  for (const auto& solution : solutions) add_logarithms(solution);
}

void BetaSearch::step_on(double log_phi) {
  const std::size_t n = m_solutions.size();
  const double missing = m_log_target - log_phi;
  const double most = std::log(m_step);
  if (m_cools) {
    m_log_beta += std::copysign(most, missing);
  } else {
    // phi_d as the square of beta at first, then as the last two solutions have it
    double power = 2;
    if (n >= 2) {
      const double rise = m_solutions[n - 1][1] - m_solutions[n - 2][1];
      const double step = m_solutions[n - 1][0] - m_solutions[n - 2][0];
      constexpr double least_power = 0.01;
      power = std::max(rise / step, least_power);
    }
    m_log_beta += std::clamp(missing / power, -most, most);
  }
  constexpr std::size_t first_slow = 6;
  if (missing >= 0 || n < first_slow) return;
  constexpr double nine_tenths = 0.9, three_halvings = 8;
  const bool is_far = m_solutions[n - 4][0] - m_solutions[n - 1][0] >= std::log(three_halvings);
  const bool is_slow = m_solutions[n - 1][1] - m_solutions[n - 4][1] > std::log(nine_tenths);
  if (is_far && is_slow) m_status = Status::unreachable;
}

void BetaSearch::add_logarithms(const std::array<double, 2>& solution) {
  m_log_beta = solution[0];
  m_solutions.push_back(solution);
  if (std::abs(std::expm1(solution[1] - m_log_target)) <= tolerance) {
    m_status = Status::on_target;
    return;
  }
  // the nearest beta on either side
  std::optional<std::array<double, 2>> above, below;
  for (const auto& other : m_solutions) {
    if (other[1] > m_log_target) {
      if (!above || other[0] < (*above)[0]) above = other;
    } else if (!below || other[0] > (*below)[0]) {
      below = other;
    }
  }
  m_has_bracket = above && below;
  if (!m_has_bracket) {
    step_on(solution[1]);
    return;
  }
  const double width = (*above)[0] - (*below)[0];
  constexpr double narrow = 1e-9;
  if (std::abs(width) < narrow) {
    m_status = Status::stuck;
    return;
  }
  constexpr double margin = 0.1;
  const double part = (m_log_target - (*below)[1]) / ((*above)[1] - (*below)[1]);
  m_log_beta = (*below)[0] + std::clamp(part, margin, 1 - margin) * width;
}

}  // namespace prismfield
