// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/beta_search.hpp"

#include <algorithm>
#include <cmath>

namespace prismfield {
namespace {

/// Of the power law between two solutions: 1.23 to 1.27 in smooth models of gz and tensors, 1,600 to 4e6 cells.
constexpr double expected_power = 1.25, least_power = 0.1, most_power = 4;

/// Of phi_d = a + b beta^power, which goes through both solutions, log beta at the target; -infinity where a is above.
double at_target(const std::array<double, 2>& one, const std::array<double, 2>& other, double power,
                 double log_target) {
  const double least = std::exp(one[1]);
  const double part = (std::exp(log_target) - least) / (std::exp(other[1]) - least);
  return one[0] + std::log1p(std::max(part * std::expm1(power * (other[0] - one[0])), -1.0)) / power;
}

}  // namespace

BetaSearch::BetaSearch(double first_beta, double target, double step, bool cools, double within)
    : m_log_beta(std::log(first_beta)),
      m_log_target(std::log(target)),
      m_step(step),
      m_within(within),
      m_cools(cools) {}

void BetaSearch::go_on(const std::vector<std::array<double, 2>>& solutions) {
  for (const auto& solution : solutions) add_logarithms(solution);
}

void BetaSearch::step_on(double log_phi) {
  const std::size_t n = m_solutions.size();
  const double missing = m_log_target - log_phi;
  const double most = std::log(m_step);
  if (m_cools && n >= 2 && missing < 0 && missing > -expected_power * most) {
    const double aim = at_target(m_solutions[n - 1], m_solutions[n - 2], expected_power, m_log_target);
    m_log_beta = std::max(aim, m_log_beta - most);
  } else if (m_cools) {
    m_log_beta += std::copysign(most, missing);
  } else {
    // phi_d ~ beta^2 at first, then with the power of the last two solutions
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
  if (is_far && is_slow) m_status = Status::slow;
}

bool BetaSearch::needs_accuracy(double phi_d) const noexcept {
  // one that is not accurate has too large a phi_d, since it comes from a larger beta
  constexpr double near_above = 1.25, near_below = 0.9, hardly = 0.8;
  const double log_phi = std::log(phi_d);
  if (log_phi > m_log_target + std::log(near_below) && log_phi < m_log_target + std::log(near_above)) return true;
  return !m_solutions.empty() && log_phi > m_log_target && log_phi > m_solutions.back()[1] + std::log(hardly);
}

void BetaSearch::add(double phi_d, bool gave_up) {
  add_logarithms({m_log_beta, std::log(phi_d)});
  if (gave_up && m_status == Status::searching) m_status = Status::unsettled;
}

void BetaSearch::add_logarithms(const std::array<double, 2>& solution) {
  m_log_beta = solution[0];
  m_solutions.push_back(solution);
  if (std::abs(std::expm1(solution[1] - m_log_target)) <= m_within) {
    m_status = Status::on_target;
    return;
  }
  auto& same_side = solution[1] > m_log_target ? m_above : m_below;
  auto& other_side = solution[1] > m_log_target ? m_below : m_above;
  same_side = solution;
  const double sign = solution[1] > m_log_target ? 1 : -1;
  if (other_side && sign * (solution[0] - (*other_side)[0]) < 0) other_side.reset();
  m_in_a_row = m_has_bracket && sign == m_last_sign ? m_in_a_row + 1 : 0;
  m_last_sign = sign;
  m_has_bracket = m_above && m_below;
  if (!m_has_bracket) {
    step_on(solution[1]);
    return;
  }
  ++m_bracketed;
  const double width = (*m_above)[0] - (*m_below)[0];
  constexpr double narrow = 1e-9;
  if (std::abs(width) < narrow) {
    m_status = Status::stuck;
    return;
  }
  constexpr double margin = 0.05;
  // where phi_d bends more than a power law, the law comes nearer from one side alone
  constexpr int most_in_a_row = 2;
  const double part = m_in_a_row >= most_in_a_row ? 0.5 : (log_beta_at_target() - (*m_below)[0]) / width;
  m_log_beta = (*m_below)[0] + std::clamp(part, margin, 1 - margin) * width;
}

double BetaSearch::log_beta_at_target() const {
  const double low = (*m_below)[0], least = std::exp((*m_below)[1]), rise = std::exp((*m_above)[1]) - least;
  // (beta / beta of the lower end)^power - 1
  const auto raised = [&](double log_beta, double power) { return std::expm1(power * (log_beta - low)); };
  const double high = (*m_above)[0];
  double power = expected_power;
  const auto is_outside = [&](const std::array<double, 2>& solution) {
    return (solution[0] - low) * (solution[0] - high) > 0;
  };
  const auto third = std::find_if(m_solutions.rbegin(), m_solutions.rend(), is_outside);
  if (third != m_solutions.rend()) {
    const double wanted = (std::exp((*third)[1]) - least) / rise;
    double from = least_power, to = most_power;
    // the ratio rises with the power
    for (int halving = 0; halving < 40; ++halving) {
      power = (from + to) / 2;
      (raised((*third)[0], power) / raised(high, power) < wanted ? from : to) = power;
    }
  }
  return at_target(*m_below, *m_above, power, m_log_target);
}

namespace {

std::size_t lowest(const std::vector<std::array<double, 2>>& scores) noexcept {
  const auto is_lower = [](const auto& a, const auto& b) { return a[1] < b[1]; };
  return static_cast<std::size_t>(std::min_element(scores.begin(), scores.end(), is_lower) - scores.begin());
}

}  // namespace

bool is_past_minimum(const std::vector<std::array<double, 2>>& scores, std::size_t higher) noexcept {
  return scores.size() >= 2 * (higher + 1) && lowest(scores) + higher < scores.size();
}

double place_of_minimum(const std::vector<std::array<double, 2>>& scores) noexcept {
  const std::size_t k = lowest(scores);
  if (k == 0 || k + 1 == scores.size()) return scores[k][0];
  // betas fall evenly
  const double below = scores[k + 1][1] - scores[k][1], above = scores[k - 1][1] - scores[k][1];
  const double step = scores[k - 1][0] - scores[k][0];
  const double bend = above + below;
  return bend > 0 ? scores[k][0] + step * (below - above) / (2 * bend) : scores[k][0];
}

void bend_of_l_curve(const std::vector<ConvergenceRow>& rows, std::vector<std::array<double, 2>>& scores) {
  const ConvergenceRow* const row = rows.data() + (rows.size() - scores.size());
  for (std::size_t k = 1; k + 1 < scores.size(); ++k) {
    const auto along = [&](double ConvergenceRow::*value) {
      const double last = std::log(row[k - 1].*value), here = std::log(row[k].*value),
                   next = std::log(row[k + 1].*value);
      return std::array{(next - last) / 2, next - 2 * here + last};
    };
    const auto [x1, x2] = along(&ConvergenceRow::phi_d);
    const auto [y1, y2] = along(&ConvergenceRow::phi_m);
    scores[k][1] = (x1 * y2 - x2 * y1) / std::pow(x1 * x1 + y1 * y1, 1.5);
  }
}

}  // namespace prismfield
