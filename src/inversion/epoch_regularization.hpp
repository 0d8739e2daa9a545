// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/inversion_settings.hpp>

#include "base/random.hpp"
#include "inversion/regularization.hpp"
#include "inversion/vector_math.hpp"

namespace prismfield {

/// The change of the model from one epoch to the next. Vectors are (epoch, cell), numbered by k.
template <class Memory>
struct EpochChange {
  /// change v w, (cell)
  Kokkos::View<const double*, Memory> weights;
  std::int64_t n_cells = 0, n_epochs = 1;

  [[nodiscard]] KOKKOS_FUNCTION double weight(std::int64_t k) const { return weights(k % n_cells); }
  [[nodiscard]] KOKKOS_FUNCTION bool has_last(std::int64_t k) const { return k >= n_cells; }
  [[nodiscard]] KOKKOS_FUNCTION bool has_next(std::int64_t k) const { return k < (n_epochs - 1) * n_cells; }
};

/// out(k) += scale * (C p)(k), p'Cp being the term
template <class Memory>
struct AddChange {
  EpochChange<Memory> change;
  double scale;
  Kokkos::View<const double*, Memory> p;
  Kokkos::View<double*, Memory> out;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    double sum = 0;
    if (change.has_last(k)) sum += p(k) - p(k - change.n_cells);
    if (change.has_next(k)) sum += p(k) - p(k + change.n_cells);
    out(k) += scale * change.weight(k) * sum;
  }
};

/// out(k) += the diagonal of C
template <class Memory>
struct AddDiagonalOfChange {
  EpochChange<Memory> change;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    out(k) += change.weight(k) * ((change.has_last(k) ? 1 : 0) + (change.has_next(k) ? 1 : 0));
  }
};

/// A cell's part of the term, from its epoch to the next.
template <class Memory>
struct ChangeValue {
  EpochChange<Memory> change;
  Kokkos::View<const double*, Memory> model;
  KOKKOS_FUNCTION double operator()(std::int64_t k) const {
    const double step = model(k + change.n_cells) - model(k);
    return change.weight(k) * step * step;
  }
};

/// out(k) += sqrt(scale) D' sqrt(V) e, e standard normal, (epoch but the last, cell): of covariance scale C.
template <class Memory>
struct AddChangeSample {
  EpochChange<Memory> change;
  double root_of_scale;
  Kokkos::View<const double*, Memory> normals;
  Kokkos::View<double*, Memory> out;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    double sum = 0;
    if (change.has_last(k)) sum += normals(k - change.n_cells);
    if (change.has_next(k)) sum -= normals(k);
    out(k) += root_of_scale * Kokkos::sqrt(change.weight(k)) * sum;
  }
};

/// phi_m of several epochs: the sum of what Regularization has for each, and of the change between them,
/// change sum_e sum_i v_i w_i (m_{e+1,i} - m_{e,i})^2. Vectors are (epoch, cell); the reference is the same for all
/// epochs, v, w and what compact norms are scaled by are too, so that epochs differ by their data alone. Of one epoch
/// it is the Regularization itself.
/// Source: the constraint along time of Kim, Yi, Park and Kim, J. Appl. Geophys. 68 (2009) 522-532, with v w as
/// weights; see docs/inversion.md.
template <class ExecutionSpace>
class EpochRegularization {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Memory = typename Math::Memory;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;

  /// `weights`: w, one a cell. `reference`: (cell), kg/m3.
  EpochRegularization(Math& math, const ActiveCells& cells, std::int64_t n_epochs, const InversionSettings& settings,
                      const std::vector<double>& weights, const ConstVector& reference)
      : m_math(math), m_n(cells.size()), m_changes(n_epochs > 1 && settings.change > 0) {
    m_epochs.emplace_back(math, cells, settings, weights, reference);
    for (std::int64_t e = 1; e < n_epochs; ++e) m_epochs.push_back(m_epochs.front().another());
    if (!m_changes) return;
    std::vector<double> of_change(weights.size());
    for (std::size_t i = 0; i < of_change.size(); ++i) {
      const auto [x, y, z] = cells.widths(static_cast<std::int64_t>(i));
      of_change[i] = settings.change * x * y * z * weights[i];
    }
    m_change = {m_math.from_host("change_weights", of_change), m_n, n_epochs};
  }

  /// out += scale R p
  void add(double scale, const ConstVector& p, const Vector& out) const {
    for (std::size_t e = 0; e < m_epochs.size(); ++e) m_epochs[e].add(scale, of_epoch(p, e), of_epoch(out, e));
    if (m_changes) m_math.each("add_change", size(), AddChange<Memory>{m_change, scale, p, out});
  }
  /// out += scale (R r as phi_m has it) for `reference`, (epoch, cell), the same in every epoch: what pulls the model
  /// there.
  void add_pull(double scale, const ConstVector& reference, const Vector& out) const {
    for (std::size_t e = 0; e < m_epochs.size(); ++e) {
      m_epochs[e].add_pull(scale, of_epoch(reference, e), of_epoch(out, e));
    }
  }
  void diagonal(const Vector& out) const {
    for (std::size_t e = 0; e < m_epochs.size(); ++e) m_epochs[e].diagonal(of_epoch(out, e));
    if (m_changes) m_math.each("diagonal_of_change", size(), AddDiagonalOfChange<Memory>{m_change, out});
  }
  [[nodiscard]] double value(const ConstVector& model) const {
    double sum = 0;
    for (std::size_t e = 0; e < m_epochs.size(); ++e) sum += m_epochs[e].value(of_epoch(model, e));
    if (m_changes) sum += m_math.sum("change", size() - m_n, ChangeValue<Memory>{m_change, model});
    return sum;
  }
  /// Largest |f| of smallness, kg/m3, and of the gradients, kg/m3 per metre, in all epochs.
  [[nodiscard]] std::array<double, 4> largest(const ConstVector& model) const {
    std::array<double, 4> most{};
    for (std::size_t e = 0; e < m_epochs.size(); ++e) {
      const std::array<double, 4> here = m_epochs[e].largest(of_epoch(model, e));
      for (std::size_t t = 0; t < most.size(); ++t) most[t] = std::max(most[t], here[t]);
    }
    return most;
  }
  /// Weights of the compact norms for this model and these epsilons, one a term.
  void reweight(const ConstVector& model, const std::array<double, 4>& epsilon) {
    const std::array<double, 4> most = largest(model);
    for (std::size_t e = 0; e < m_epochs.size(); ++e) m_epochs[e].reweight(of_epoch(model, e), epsilon, most);
  }
  /// out += a random vector of covariance scale R; a function of seed and sample alone.
  void add_sample(double scale, std::uint64_t seed, std::int64_t sample, const Vector& out) const {
    const auto n_epochs = static_cast<std::int64_t>(m_epochs.size());
    for (std::size_t e = 0; e < m_epochs.size(); ++e) {
      m_epochs[e].add_sample(scale, seed, sample * n_epochs + static_cast<std::int64_t>(e), of_epoch(out, e));
    }
    if (!m_changes) return;
    std::vector<double> normals(static_cast<std::size_t>(size() - m_n));
    const std::uint64_t first = static_cast<std::uint64_t>(sample) * normals.size();
    for (std::size_t i = 0; i < normals.size(); ++i) {
      normals[i] = random_normal(seed, RandomStream::posterior_change, first + i);
    }
    const Vector there = m_math.from_host("normals_of_change", normals);
    m_math.each("add_change_sample", size(), AddChangeSample<Memory>{m_change, std::sqrt(scale), there, out});
    m_math.space().fence("prismfield: sample of the change added");
  }

  /// That of one epoch, (cell).
  [[nodiscard]] const Regularization<ExecutionSpace>& of_first_epoch() const { return m_epochs.front(); }

private:
  [[nodiscard]] std::int64_t size() const { return m_n * static_cast<std::int64_t>(m_epochs.size()); }
  template <class View>
  [[nodiscard]] View of_epoch(const View& values, std::size_t epoch) const {
    const auto n = static_cast<std::size_t>(m_n);
    return View(values.data() + epoch * n, n);
  }

  Math& m_math;
  std::int64_t m_n;
  bool m_changes;
  std::vector<Regularization<ExecutionSpace>> m_epochs;
  EpochChange<Memory> m_change;
};

}  // namespace prismfield
