// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/inversion_settings.hpp>

#include "base/random.hpp"
#include "compute/vector_functors.hpp"
#include "inversion/cell_weights.hpp"
#include "inversion/vector_math.hpp"

namespace prismfield {

/// The four terms of phi_m and their weights. Arrays are (cell); a face belongs to the cell on its lower side.
template <class Memory>
struct RegularizationTerms {
  using Vector = Kokkos::View<double*, Memory>;
  using Neighbors = Kokkos::View<std::int32_t*, Memory>;

  /// columns of the cells beyond the upper and the lower face of each direction; -1: none
  Kokkos::Array<Neighbors, 3> next, last;
  /// a_s v w, and a_k v_f w_f / h_f^2 of the faces, times the weights of compact norms
  Vector cell;
  Kokkos::Array<Vector, 3> face;
};

/// out(i) += scale * (R p)(i)
template <class Memory>
struct AddRegularization {
  RegularizationTerms<Memory> terms;
  double scale;
  Kokkos::View<const double*, Memory> p;
  Kokkos::View<double*, Memory> out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double sum = terms.cell(i) * p(i);
    for (int d = 0; d < 3; ++d) {
      const std::int32_t next = terms.next[d](i);
      const std::int32_t last = terms.last[d](i);
      if (next >= 0) sum += terms.face[d](i) * (p(i) - p(next));
      if (last >= 0) sum += terms.face[d](last) * (p(i) - p(last));
    }
    out(i) += scale * sum;
  }
};

/// out(i) = the diagonal of R
template <class Memory>
struct DiagonalOfRegularization {
  RegularizationTerms<Memory> terms;
  Kokkos::View<double*, Memory> out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double sum = terms.cell(i);
    for (int d = 0; d < 3; ++d) {
      const std::int32_t last = terms.last[d](i);
      if (terms.next[d](i) >= 0) sum += terms.face[d](i);
      if (last >= 0) sum += terms.face[d](last);
    }
    out(i) = sum;
  }
};

/// A cell's part of phi_m.
template <class Memory>
struct RegularizationValue {
  RegularizationTerms<Memory> terms;
  Kokkos::View<const double*, Memory> model, reference;
  bool reference_in_smoothness;

  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    const double off = model(i) - reference(i);
    double sum = terms.cell(i) * off * off;
    for (int d = 0; d < 3; ++d) {
      const std::int32_t next = terms.next[d](i);
      if (next < 0) continue;
      double step = model(next) - model(i);
      if (reference_in_smoothness) step -= reference(next) - reference(i);
      sum += terms.face[d](i) * step * step;
    }
    return sum;
  }
};

/// out(i) = the part of R that comes from smallness, times p
template <class Memory>
struct SmallnessProduct {
  RegularizationTerms<Memory> terms;
  double scale;
  Kokkos::View<const double*, Memory> p;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out(i) += scale * terms.cell(i) * p(i); }
};

/// |f| of a term at a cell or its upper face: model less reference, or the gradient per metre.
template <class Memory>
struct TermSize {
  /// 0: smallness, 1 to 3: gradients
  int term;
  RegularizationTerms<Memory> terms;
  Kokkos::Array<Kokkos::View<double*, Memory>, 3> spacing;
  Kokkos::View<const double*, Memory> model, reference;
  bool reference_in_smoothness;

  KOKKOS_FUNCTION double value(std::int64_t i) const {
    if (term == 0) return model(i) - reference(i);
    const int d = term - 1;
    const std::int32_t next = terms.next[d](i);
    if (next < 0) return 0;
    double step = model(next) - model(i);
    if (reference_in_smoothness) step -= reference(next) - reference(i);
    return step / spacing[d](i);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& most) const {
    most = Kokkos::max(most, Kokkos::abs(value(i)));
  }
};

/// weight(i) = base(i) lambda / (f(i)^2 + epsilon^2)^(1 - p/2)
template <class Memory>
struct CompactWeight {
  TermSize<Memory> size;
  double lambda, epsilon, exponent;
  Kokkos::View<const double*, Memory> base;
  Kokkos::View<double*, Memory> weight;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double f = size.value(i);
    weight(i) = base(i) * lambda * Kokkos::pow(f * f + epsilon * epsilon, -exponent);
  }
};

/// out(i) += sqrt(scale) D' sqrt(W) e, e: (4, cell) standard normal: of covariance scale R.
template <class Memory>
struct AddRegularizationSample {
  RegularizationTerms<Memory> terms;
  double root_of_scale;
  Kokkos::View<const double**, Kokkos::LayoutRight, Memory> normals;
  Kokkos::View<double*, Memory> out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double sum = Kokkos::sqrt(terms.cell(i)) * normals(0, i);
    for (int d = 0; d < 3; ++d) {
      const std::int32_t last = terms.last[d](i);
      if (terms.next[d](i) >= 0) sum -= Kokkos::sqrt(terms.face[d](i)) * normals(d + 1, i);
      if (last >= 0) sum += Kokkos::sqrt(terms.face[d](last)) * normals(d + 1, last);
    }
    out(i) += root_of_scale * sum;
  }
};

/// phi_m = m'Rm of smallness and smoothness on the active cells, with compact norms by reweighting. The same on every
/// rank, which all hold every cell.
/// Source: docs/inversion.md; the sum over faces between two active cells, f the face, v_f and w_f means of its cells:
/// phi_m = a_s sum_i v_i w_i (m - r)_i^2 + sum over directions k of a_k sum_f v_f w_f ((m_hi - m_lo) / h_f)^2.
template <class ExecutionSpace>
class Regularization {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Memory = typename Math::Memory;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;

  /// `weights`: w, one a cell. `reference`: (cell), kg/m3.
  Regularization(Math& math, const ActiveCells& cells, const InversionSettings& settings,
                 const std::vector<double>& weights, const ConstVector& reference);
  /// The same terms for another model of the same cells, with compact weights of its own.
  [[nodiscard]] Regularization another() const {
    Regularization copy = *this;
    copy.own_weights();
    return copy;
  }

  /// out += scale R p
  void add(double scale, const ConstVector& p, const Vector& out) const {
    m_math.each("add_regularization", m_n, AddRegularization<Memory>{m_terms, scale, p, out});
  }
  /// out += scale (R r as phi_m has it): what pulls the model to the reference.
  void add_pull(double scale, const ConstVector& reference, const Vector& out) const {
    if (m_settings.reference_in_smoothness) {
      add(scale, reference, out);
    } else {
      m_math.each("add_pull", m_n, SmallnessProduct<Memory>{m_terms, scale, reference, out});
    }
  }
  void diagonal(const Vector& out) const {
    m_math.each("diagonal_of_regularization", m_n, DiagonalOfRegularization<Memory>{m_terms, out});
  }
  [[nodiscard]] double value(const ConstVector& model) const {
    return m_math.sum("phi_m", m_n,
                      RegularizationValue<Memory>{m_terms, model, m_reference, m_settings.reference_in_smoothness});
  }
  /// Largest |f| of smallness, kg/m3, and of the gradients, kg/m3 per metre.
  [[nodiscard]] std::array<double, 4> largest(const ConstVector& model) const;
  /// Weights of the compact norms for this model and these epsilons, one a term; `most`: largest() of it and of all
  /// that is to be weighted alike.
  void reweight(const ConstVector& model, const std::array<double, 4>& epsilon, const std::array<double, 4>& most);
  /// out += a random vector of covariance scale R; a function of seed and sample alone.
  void add_sample(double scale, std::uint64_t seed, std::int64_t sample, const Vector& out) const;

private:
  [[nodiscard]] TermSize<Memory> size_of(int term, const ConstVector& model) const {
    return {term, m_terms, m_spacing, model, m_reference, m_settings.reference_in_smoothness};
  }
  void add_faces(const ActiveCells& cells, std::size_t d, const std::vector<double>& weights);
  /// Memory for the weights of compact norms.
  void own_weights();

  Math& m_math;
  InversionSettings m_settings;
  std::int64_t m_n;
  ConstVector m_reference;
  RegularizationTerms<Memory> m_terms;
  /// the weights without those of compact norms, which are those of `m_terms` when no norm is compact; spacing of the
  /// cells on both sides of a face, metres, for compact norms only
  Vector m_base_cell;
  Kokkos::Array<Vector, 3> m_base_face, m_spacing;
};

template <class ExecutionSpace>
Regularization<ExecutionSpace>::Regularization(Math& math, const ActiveCells& cells, const InversionSettings& settings,
                                               const std::vector<double>& weights, const ConstVector& reference)
    : m_math(math), m_settings(settings), m_n(cells.size()), m_reference(reference) {
  std::vector<double> values(weights.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [x, y, z] = cells.widths(static_cast<std::int64_t>(i));
    values[i] = settings.smallness * x * y * z * weights[i];
  }
  m_base_cell = m_math.from_host("cell_weights", values);
  for (std::size_t d = 0; d < 3; ++d) add_faces(cells, d, weights);
  m_terms.cell = m_base_cell;
  m_terms.face = m_base_face;
  own_weights();
}

template <class ExecutionSpace>
void Regularization<ExecutionSpace>::own_weights() {
  if (!m_settings.is_compact()) return;
  m_terms.cell = m_math.zeros("compact_cell_weights", m_n);
  m_math.copy(m_terms.cell, m_base_cell);
  for (int d = 0; d < 3; ++d) {
    m_terms.face[d] = m_math.zeros("compact_face_weights", m_n);
    m_math.copy(m_terms.face[d], m_base_face[d]);
  }
}

template <class ExecutionSpace>
void Regularization<ExecutionSpace>::add_faces(const ActiveCells& cells, std::size_t d,
                                               const std::vector<double>& weights) {
  const std::vector<std::int32_t> next = cells.next(d);
  std::vector<std::int32_t> last(next.size(), -1);
  std::vector<double> face(next.size(), 0.0), spacing(next.size(), 1.0);
  const double length = smoothing_lengths(m_settings, cells.edges())[d];
  const double a = length * length;
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (next[i] < 0) continue;
    const auto j = static_cast<std::size_t>(next[i]);
    last[j] = static_cast<std::int32_t>(i);
    const auto lower = cells.widths(static_cast<std::int64_t>(i));
    const auto upper = cells.widths(static_cast<std::int64_t>(j));
    const double h = (lower[d] + upper[d]) / 2;
    const double volume = (lower[0] * lower[1] * lower[2] + upper[0] * upper[1] * upper[2]) / 2;
    face[i] = a * volume * (weights[i] + weights[j]) / 2 / (h * h);
    spacing[i] = h;
  }
  const auto k = static_cast<int>(d);
  const auto neighbors = [&](const char* label, const std::vector<std::int32_t>& of) {
    typename RegularizationTerms<Memory>::Neighbors view(std::string("prismfield::") + label, of.size());
    Kokkos::deep_copy(m_math.space(), view, OnHost<const std::int32_t>(of.data(), of.size()));
    m_math.space().fence("prismfield: neighbours copied");
    return view;
  };
  m_terms.next[k] = neighbors("next", next);
  m_terms.last[k] = neighbors("last", last);
  m_base_face[k] = m_math.from_host("face_weights", face);
  if (m_settings.is_compact()) m_spacing[k] = m_math.from_host("spacing", spacing);
}

template <class ExecutionSpace>
std::array<double, 4> Regularization<ExecutionSpace>::largest(const ConstVector& model) const {
  std::array<double, 4> most{};
  for (int term = 0; term < 4; ++term) {
    Kokkos::parallel_reduce("prismfield::largest_of_term", typename Math::Indices(m_math.space(), 0, m_n),
                            size_of(term, model), Kokkos::Max<double>(most[static_cast<std::size_t>(term)]));
  }
  return most;
}

template <class ExecutionSpace>
void Regularization<ExecutionSpace>::reweight(const ConstVector& model, const std::array<double, 4>& epsilon,
                                              const std::array<double, 4>& most) {
  for (int term = 0; term < 4; ++term) {
    const auto t = static_cast<std::size_t>(term);
    const double p = m_settings.norm[t];
    if (p >= 2) continue;
    const double exponent = 1 - p / 2;
    const double e = epsilon[t];
    // where the derivative of the reweighted term is largest, which is made as large as that of the square
    const double x = p >= 1 ? most[t] : e / std::sqrt(1 - p);
    const double lambda = x > 0 ? most[t] * std::pow(x * x + e * e, exponent) / x : 1;
    const Vector base = term == 0 ? m_base_cell : m_base_face[term - 1];
    const Vector weight = term == 0 ? m_terms.cell : m_terms.face[term - 1];
    m_math.each("compact_weight", m_n, CompactWeight<Memory>{size_of(term, model), lambda, e, exponent, base, weight});
  }
}

template <class ExecutionSpace>
void Regularization<ExecutionSpace>::add_sample(double scale, std::uint64_t seed, std::int64_t sample,
                                                const Vector& out) const {
  const auto n = static_cast<std::size_t>(m_n);
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> host("prismfield::normals", 4, n);
  const auto first = static_cast<std::uint64_t>(sample) * 4 * n;
  for (std::size_t i = 0; i < 4 * n; ++i) {
    host.data()[i] = random_normal(seed, RandomStream::posterior_cells, first + i);
  }
  const auto normals = Kokkos::create_mirror_view_and_copy(Memory(), host);
  m_math.each("add_regularization_sample", m_n,
              AddRegularizationSample<Memory>{m_terms, std::sqrt(scale), normals, out});
  m_math.space().fence("prismfield: sample added");
}

}  // namespace prismfield
