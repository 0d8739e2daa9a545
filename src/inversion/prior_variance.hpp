// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <prismfield/cells.hpp>

#include "base/random.hpp"
#include "compute/vector_functors.hpp"
#include "inversion/vector_math.hpp"

namespace prismfield {

/// Colours of active cells, so that those of one colour lie apart.
struct ProbeColors {
  /// cells from one of a colour to the next, towards easting, northing, upward
  std::array<std::int64_t, 3> spacing{};
  /// one an active cell, of [0, count)
  std::vector<std::int32_t> color;
  std::int64_t count = 0;
};

/// A grid of colours, `apart` cells from each other in a direction where `lengths`, metres, the regularisation's, is a
/// mean cell or less, further by as much as it is more; a direction of no length needs none.
[[nodiscard]] inline ProbeColors probe_colors(const ActiveCells& cells, const std::array<double, 3>& lengths,
                                              double apart) {
  ProbeColors colors;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<double>& edges = cells.edges()[d];
    const auto count = static_cast<double>(edges.size() - 1);
    const double cells_of_length = std::max(lengths[d] * count / (edges.back() - edges.front()), 1.0);
    const double wanted = std::max(std::ceil(apart * cells_of_length), 2.0);
    colors.spacing[d] = lengths[d] > 0 ? static_cast<std::int64_t>(std::min(wanted, count)) : 1;
  }
  const auto& spacing = colors.spacing;
  colors.count = spacing[0] * spacing[1] * spacing[2];
  for (std::int64_t j = 0; j < cells.size(); ++j) {
    const auto place = cells.place(j);
    const std::int64_t number =
        (place[2] % spacing[2] * spacing[1] + place[1] % spacing[1]) * spacing[0] + place[0] % spacing[0];
    colors.color.push_back(static_cast<std::int32_t>(number));
  }
  return colors;
}

/// out(i) = sign(i) where cell i has the colour, else 0
template <class Memory>
struct MakeProbe {
  Kokkos::View<const std::int32_t*, Memory> color;
  std::int32_t wanted;
  Kokkos::View<const double*, Memory> sign;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out(i) = color(i) == wanted ? sign(i) : 0.0; }
};

/// The diagonal of S = (beta R)^-1, the variances of the prior, by probing. For each colour of cells, z has random
/// signs there and 0 elsewhere. (S z)_i z_i is then S_ii plus small covariances with cells of the same colour, which
/// lie far apart. Source: Tang and Saad, Numer. Linear Algebra Appl. 19 (2012); random signs: Bekas, Kokiopoulou and
/// Saad, Appl. Numer. Math. 57 (2007). For the same number of solutions it is some tens of times more accurate than
/// samples of the prior (docs/inversion.md).
template <class ExecutionSpace>
class PriorVariance {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Memory = typename Math::Memory;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;
  /// x = S f
  using Solve = std::function<void(const ConstVector& f, const Vector& x)>;
  using Tell = std::function<void(std::int64_t done, std::int64_t all)>;

  /// `lengths`: of the regularisation towards easting, northing, upward, metres.
  PriorVariance(Math& math, const ActiveCells& cells, const std::array<double, 3>& lengths, Solve solve)
      : m_math(math),
        m_n(cells.size()),
        m_solve(std::move(solve)),
        m_variance(math.zeros("prior_variance", m_n)),
        m_probe(math.zeros("probe", m_n)),
        m_answer(math.zeros("probe_answer", m_n)),
        m_color("prismfield::color", static_cast<std::size_t>(m_n)) {
    for (std::size_t k = 0; k < 2; ++k) m_signs[k] = make_signs(k);
    choose_colors(cells, lengths);
  }

  /// Solves for every colour.
  void find(const Tell& tell) {
    m_math.fill(m_variance, 0);
    for (std::int64_t color = 0; color < m_colors.count; ++color) {
      probe(static_cast<std::int32_t>(color), m_signs[0], m_variance);
      tell(color + 1, m_colors.count);
    }
  }
  /// (cell)
  [[nodiscard]] ConstVector variance() const { return m_variance; }
  /// Of some cells, spread over all, the squared standard error of their variance: half the squared difference of what
  /// two sequences of signs gave.
  [[nodiscard]] const std::vector<std::pair<std::int64_t, double>>& squared_errors() const noexcept {
    return m_squared_errors;
  }

private:
  /// Colours are set further apart until standard deviations are good to this, or are so many.
  static constexpr double wanted_error = 0.005;
  static constexpr double first_apart = 3, least_apart = 0.01, closer = 0.9;
  static constexpr std::int64_t most_colors = 512, most_tried = 4;

  [[nodiscard]] Vector make_signs(std::size_t sequence) const {
    std::vector<double> signs(static_cast<std::size_t>(m_n));
    for (std::size_t i = 0; i < signs.size(); ++i) {
      signs[i] = (random_bits(sequence, RandomStream::probe, i) & 1U) != 0 ? 1.0 : -1.0;
    }
    return m_math.from_host("signs", signs);
  }
  void choose_colors(const ActiveCells& cells, const std::array<double, 3>& lengths) {
    double apart = first_apart;
    // long ones: as far apart as so many colours can be
    while (probe_colors(cells, lengths, apart).count > most_colors && apart > least_apart) apart *= closer;
    for (;; ++apart) {
      ProbeColors colors = probe_colors(cells, lengths, apart);
      const bool is_first = m_colors.count == 0;
      if (!is_first && (colors.count > most_colors || colors.count == m_colors.count)) return;
      m_colors = std::move(colors);
      Kokkos::deep_copy(m_math.space(), m_color,
                        OnHost<const std::int32_t>(m_colors.color.data(), m_colors.color.size()));
      m_math.space().fence("prismfield: colours copied");
      if (measured_error() <= wanted_error) return;
    }
  }
  /// out(i) += (S z)_i z_i of the cells of a colour
  void probe(std::int32_t color, const Vector& signs, const Vector& out) {
    m_math.each("probe", m_n, MakeProbe<Memory>{m_color, color, signs, m_probe});
    m_solve(m_probe, m_answer);
    m_math.multiply(1, m_probe, m_answer, 1, out);
  }
  /// The relative standard error of a prior's standard deviation, by a few colours.
  [[nodiscard]] double measured_error() {
    std::vector<std::int32_t> tried;
    for (std::int64_t k = 0; k < most_tried; ++k) {
      const std::int32_t color = m_colors.color[static_cast<std::size_t>((2 * k + 1) * m_n / (2 * most_tried))];
      if (std::find(tried.begin(), tried.end(), color) == tried.end()) tried.push_back(color);
    }
    std::array<std::vector<double>, 2> found;
    for (std::size_t k = 0; k < 2; ++k) {
      m_math.fill(m_variance, 0);
      for (const std::int32_t color : tried) probe(color, m_signs[k], m_variance);
      found[k] = m_math.to_host(m_variance);
    }
    m_squared_errors.clear();
    double sum = 0;
    for (std::size_t i = 0; i < found[0].size(); ++i) {
      if (std::find(tried.begin(), tried.end(), m_colors.color[i]) == tried.end()) continue;
      const double difference = found[0][i] - found[1][i];
      const double square = difference * difference / 2;
      m_squared_errors.emplace_back(static_cast<std::int64_t>(i), square);
      const double variance = (found[0][i] + found[1][i]) / 2;
      sum += square / (4 * variance * variance);
    }
    return std::sqrt(sum / static_cast<double>(m_squared_errors.size()));
  }

  Math& m_math;
  std::int64_t m_n;
  Solve m_solve;
  /// (cell)
  Vector m_variance, m_probe, m_answer;
  Kokkos::View<std::int32_t*, Memory> m_color;
  std::array<Vector, 2> m_signs;
  ProbeColors m_colors;
  std::vector<std::pair<std::int64_t, double>> m_squared_errors;
};

}  // namespace prismfield
