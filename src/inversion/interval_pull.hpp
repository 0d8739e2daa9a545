// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "inversion/vector_math.hpp"
#include "model/axis.hpp"

namespace prismfield {

/// Allowed values, rising and disjoint: (interval, minimum and maximum).
template <class Memory>
struct Intervals {
  Kokkos::View<double* [2], Kokkos::LayoutRight, Memory> ends;

  /// The number of the interval that is nearest to a value.
  [[nodiscard]] KOKKOS_FUNCTION int nearest(double value) const {
    int best = 0;
    for (int k = 1; k < static_cast<int>(ends.extent(0)); ++k) {
      // the gap before interval k belongs to both sides alike
      if (value > (ends(k - 1, 1) + ends(k, 0)) / 2) best = k;
    }
    return best;
  }
  [[nodiscard]] KOKKOS_FUNCTION double project(double value) const {
    const int k = nearest(value);
    return Kokkos::min(Kokkos::max(value, ends(k, 0)), ends(k, 1));
  }
};

/// Takes a step: dual(i) += m(i) - z(i), wanted(i) = z(i) - dual(i), z the allowed value nearest to m(i) + dual(i).
template <class Memory>
struct StepOfPull {
  Intervals<Memory> intervals;
  Kokkos::View<const double*, Memory> model;
  Kokkos::View<double*, Memory> dual, wanted;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double z = intervals.project(model(i) + dual(i));
    dual(i) += model(i) - z;
    wanted(i) = z - dual(i);
  }
};

/// The same for (epoch, component, cell) number i of a component's cells: z of at most this magnitude.
template <class Memory>
struct StepOfAmplitudePull {
  double most;
  std::int64_t n_cells;
  Kokkos::View<const double*, Memory> model;
  Kokkos::View<double*, Memory> dual, wanted;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t first = i / n_cells * 3 * n_cells + i % n_cells;
    double square = 0;
    for (std::int64_t k = first; k < first + 3 * n_cells; k += n_cells) {
      square += (model(k) + dual(k)) * (model(k) + dual(k));
    }
    const double part = square > most * most ? most / Kokkos::sqrt(square) : 1;
    for (std::int64_t k = first; k < first + 3 * n_cells; k += n_cells) {
      const double z = part * (model(k) + dual(k));
      dual(k) += model(k) - z;
      wanted(k) = z - dual(k);
    }
  }
};

/// Bounds of each cell: the interval nearest to m(i) + dual(i).
template <class Memory>
struct BoundsOfIntervals {
  Intervals<Memory> intervals;
  Kokkos::View<const double*, Memory> model, dual;
  Kokkos::View<double*, Memory> low, high;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int k = intervals.nearest(model(i) + dual(i));
    low(i) = intervals.ends(k, 0);
    high(i) = intervals.ends(k, 1);
  }
};

/// out(i) += scale penalty(i) (p(i) - from(i)); `from` empty: 0
template <class Memory>
struct AddPull {
  double scale;
  Kokkos::View<const double*, Memory> penalty, p, from;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    out(i) += scale * penalty(i) * (from.extent(0) == 0 ? p(i) : p(i) - from(i));
  }
};

/// A cell's change over the gap beside its interval.
struct Flip {
  /// of half of phi, if no other cell changes; below 0
  double gain = 0;
  std::size_t cell = 0;
  /// the interval that it comes to
  Range to;
};

/// Changes over a gap to which the gradient presses cells that are at the end of their interval, and which lower phi;
/// the best first. `gradient`, `diagonal`: of half of phi and of H, (cell).
[[nodiscard]] inline std::vector<Flip> find_flips(const std::vector<Range>& intervals, const std::vector<double>& model,
                                                  const std::vector<double>& low, const std::vector<double>& high,
                                                  const std::vector<double>& gradient,
                                                  const std::vector<double>& diagonal) {
  std::vector<Flip> flips;
  for (std::size_t i = 0; i < model.size(); ++i) {
    const auto own = std::find_if(intervals.begin(), intervals.end(), [&](const Range& r) { return r.min == low[i]; });
    const bool is_down = model[i] <= low[i] && gradient[i] > 0 && own != intervals.begin();
    const bool is_up = model[i] >= high[i] && gradient[i] < 0 && own + 1 != intervals.end();
    if (!is_down && !is_up) continue;
    const Range to = is_down ? *(own - 1) : *(own + 1);
    const double step = (is_down ? to.max : to.min) - model[i];
    const double gain = gradient[i] * step + diagonal[i] * step * step / 2;
    if (gain < 0) flips.push_back({gain, i, to});
  }
  std::sort(flips.begin(), flips.end(), [](const Flip& a, const Flip& b) { return a.gain < b.gain; });
  return flips;
}

/// Brings values into disjoint intervals by alternating directions: a term sum_i p_i (m_i - z_i + u_i)^2 beside
/// phi_m pulls to the allowed values z nearest to m + u, whose dual variables u add up what is missing. At the end
/// each cell is bounded by the interval that it is nearest to. Not convex: it finds one of many solutions. Magnitudes
/// of a magnetisation are brought below the largest that is allowed in the same way, which is convex. Source: Boyd,
/// Parikh, Chu, Peleato and Eckstein, Found. Trends Mach. Learn. 3 (2011), section 9.1; for gravity Ogarko, Giraud,
/// Martin and Jessell, Geophysics 86 (2021) G1-G14.
template <class ExecutionSpace>
class IntervalPull {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Memory = typename Math::Memory;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;

  /// `penalty`: p, one an unknown, before it grows. `steps`, `dual`: those of an inversion that goes on; dual is empty
  /// before the first step.
  IntervalPull(Math& math, const std::vector<Range>& intervals, const Vector& penalty, std::int64_t steps,
               std::span<const double> dual)
      : m_math(math),
        m_n(static_cast<std::int64_t>(penalty.extent(0))),
        m_penalty(penalty),
        m_dual(dual.empty() ? math.zeros("dual", m_n) : math.from_host("dual", dual)),
        m_wanted(math.zeros("wanted", m_n)) {
    const Kokkos::View<double* [2], Kokkos::LayoutRight, Kokkos::HostSpace> host("prismfield::intervals",
                                                                                 intervals.size());
    for (std::size_t k = 0; k < intervals.size(); ++k) {
      host(k, 0) = intervals[k].min;
      host(k, 1) = intervals[k].max;
    }
    m_intervals.ends = Kokkos::create_mirror_view_and_copy(Memory(), host);
    for (std::int64_t step = 0; step < steps; ++step) m_scale *= growth;
  }

  /// To the allowed values nearest to this model; the penalty grows.
  void step(const ConstVector& model) {
    grow();
    m_math.each("step_of_pull", m_n, StepOfPull<Memory>{m_intervals, model, m_dual, m_wanted});
  }
  /// To the nearest magnetisations, of so many cells, of at most this magnitude, A/m.
  void step(const ConstVector& model, double most, std::int64_t n_cells) {
    grow();
    m_math.each("step_of_amplitudes", m_n / 3, StepOfAmplitudePull<Memory>{most, n_cells, model, m_dual, m_wanted});
  }
  /// out += scale times the term's product with p, and half its gradient.
  void add(double scale, const ConstVector& p, const Vector& out) const {
    m_math.each("add_pull", m_n, AddPull<Memory>{scale * m_scale, m_penalty, p, {}, out});
  }
  void add_gradient(double scale, const ConstVector& model, const Vector& out) const {
    m_math.each("add_pull", m_n, AddPull<Memory>{scale * m_scale, m_penalty, model, m_wanted, out});
  }
  void add_diagonal(const Vector& out) const { m_math.add(m_scale, m_penalty, 1, out); }
  /// The bounds that each cell of this model gets.
  void find_bounds(const ConstVector& model, const Vector& low, const Vector& high) const {
    m_math.each("bounds", m_n, BoundsOfIntervals<Memory>{m_intervals, model, m_dual, low, high});
  }
  [[nodiscard]] std::vector<double> dual() const { return m_math.to_host(m_dual); }

  /// The allowed values of the last step.
  void copy_allowed(const Vector& model) const {
    m_math.copy(model, m_wanted);
    m_math.add(1, m_dual, 1, model);
  }
  /// The largest difference between the model and the allowed values of the last step.
  [[nodiscard]] double largest_miss(const ConstVector& model) const {
    const Vector miss = m_math.zeros("miss", m_n);
    copy_allowed(miss);
    m_math.add(-1, model, 1, miss);
    const auto range = m_math.range(miss);
    return std::max(range.max_val, -range.min_val);
  }

private:
  static constexpr double growth = 1.2;

  void grow() {
    m_scale *= growth;
    m_math.add(1 / growth - 1, m_dual, 1, m_dual);
  }

  Math& m_math;
  std::int64_t m_n;
  double m_scale = 1;
  Intervals<Memory> m_intervals;
  /// (epoch, cell)
  Vector m_penalty, m_dual, m_wanted;
};

}  // namespace prismfield
