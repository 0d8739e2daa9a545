// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/inversion_settings.hpp>

#include "base/random.hpp"
#include "compute/vector_functors.hpp"
#include "inversion/cell_weights.hpp"
#include "inversion/vector_math.hpp"

namespace prismfield {

/// The four terms of phi_m in every block and their weights: a block is an epoch, or a component of the magnetisation
/// in one. Vectors are (block, cell), numbered by k; a face belongs to the cell on its lower side.
template <class Memory>
struct RegularizationTerms {
  using Vector = Kokkos::View<double*, Memory>;
  using Neighbors = Kokkos::View<std::int32_t*, Memory>;

  std::int64_t n_cells = 0;
  /// columns of the cells beyond the upper and the lower face of each direction, (cell); -1: none
  Kokkos::Array<Neighbors, 3> next, last;
  /// a_s v w, and a_k v_f w_f / h_f^2 of the faces, times the weights of compact norms
  Vector cell;
  Kokkos::Array<Vector, 3> face;

  /// The cell of k: without a division in the first block, which often is the only one.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t cell_of(std::int64_t k) const { return k < n_cells ? k : k % n_cells; }
  /// The number of the neighbour of k in its block; -1: none.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t neighbor(const Neighbors& of, std::int64_t k) const {
    const std::int64_t i = cell_of(k);
    const std::int32_t j = of(i);
    return j < 0 ? -1 : k - i + j;
  }
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
      const std::int64_t next = terms.neighbor(terms.next[d], i);
      const std::int64_t last = terms.neighbor(terms.last[d], i);
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
      const std::int64_t last = terms.neighbor(terms.last[d], i);
      if (terms.neighbor(terms.next[d], i) >= 0) sum += terms.face[d](i);
      if (last >= 0) sum += terms.face[d](last);
    }
    out(i) = sum;
  }
};

/// A cell's part of phi_m in a block.
template <class Memory>
struct RegularizationValue {
  RegularizationTerms<Memory> terms;
  Kokkos::View<const double*, Memory> model, reference;
  bool reference_in_smoothness;

  KOKKOS_FUNCTION double operator()(std::int64_t cell, std::int64_t block) const {
    const std::int64_t i = block * terms.n_cells + cell;
    const double off = model(i) - reference(i);
    double sum = terms.cell(i) * off * off;
    for (int d = 0; d < 3; ++d) {
      const std::int64_t next = terms.neighbor(terms.next[d], i);
      if (next < 0) continue;
      double step = model(next) - model(i);
      if (reference_in_smoothness) step -= reference(next) - reference(i);
      sum += terms.face[d](i) * step * step;
    }
    return sum;
  }
};

/// f of a term at a cell or its upper face: model less reference, or the gradient per metre; and the square of its
/// magnitude, of a magnetisation over all components, so that no direction is preferred.
template <class Memory>
struct TermSize {
  std::int64_t n_components;
  /// 0: smallness, 1 to 3: gradients
  int term;
  RegularizationTerms<Memory> terms;
  Kokkos::Array<Kokkos::View<double*, Memory>, 3> spacing;
  Kokkos::View<const double*, Memory> model, reference;
  bool reference_in_smoothness;

  KOKKOS_FUNCTION double value(std::int64_t i) const {
    if (term == 0) return model(i) - reference(i);
    const int d = term - 1;
    const std::int64_t next = terms.neighbor(terms.next[d], i);
    if (next < 0) return 0;
    double step = model(next) - model(i);
    if (reference_in_smoothness) step -= reference(next) - reference(i);
    return step / spacing[d](terms.cell_of(i));
  }
  KOKKOS_FUNCTION double square(std::int64_t i) const {
    const std::int64_t first = i - i / terms.n_cells % n_components * terms.n_cells;
    double sum = 0;
    for (std::int64_t c = 0; c < n_components; ++c) {
      const double f = value(first + c * terms.n_cells);
      sum += f * f;
    }
    return sum;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& most) const { most = Kokkos::max(most, square(i)); }
};

/// weight(i) = base(i) lambda / (|f(i)|^2 + epsilon^2)^(1 - p/2)
template <class Memory>
struct CompactWeight {
  TermSize<Memory> size;
  double lambda, epsilon, exponent;
  Kokkos::View<const double*, Memory> base;
  Kokkos::View<double*, Memory> weight;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    weight(i) = base(size.terms.cell_of(i)) * lambda * Kokkos::pow(size.square(i) + epsilon * epsilon, -exponent);
  }
};

/// out(i) += sqrt(scale) D' sqrt(W) e, e: (block, 4, cell) standard normal: of covariance scale R.
template <class Memory>
struct AddRegularizationSample {
  RegularizationTerms<Memory> terms;
  double root_of_scale;
  Kokkos::View<const double***, Kokkos::LayoutRight, Memory> normals;
  Kokkos::View<double*, Memory> out;

  [[nodiscard]] KOKKOS_FUNCTION double normal(int term, std::int64_t i) const {
    return normals(i / terms.n_cells, term, terms.cell_of(i));
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double sum = Kokkos::sqrt(terms.cell(i)) * normal(0, i);
    for (int d = 0; d < 3; ++d) {
      const std::int64_t last = terms.neighbor(terms.last[d], i);
      if (terms.neighbor(terms.next[d], i) >= 0) sum -= Kokkos::sqrt(terms.face[d](i)) * normal(d + 1, i);
      if (last >= 0) sum += Kokkos::sqrt(terms.face[d](last)) * normal(d + 1, last);
    }
    out(i) += root_of_scale * sum;
  }
};

/// The change of the model from one epoch to the next. Vectors are (epoch, component, cell), numbered by k.
template <class Memory>
struct EpochChange {
  /// change v w, (cell)
  Kokkos::View<const double*, Memory> weights;
  std::int64_t n_cells = 0, of_epoch = 0, n_epochs = 1;

  [[nodiscard]] KOKKOS_FUNCTION double weight(std::int64_t k) const { return weights(k % n_cells); }
  [[nodiscard]] KOKKOS_FUNCTION bool has_last(std::int64_t k) const { return k >= of_epoch; }
  [[nodiscard]] KOKKOS_FUNCTION bool has_next(std::int64_t k) const { return k < (n_epochs - 1) * of_epoch; }
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
    if (change.has_last(k)) sum += p(k) - p(k - change.of_epoch);
    if (change.has_next(k)) sum += p(k) - p(k + change.of_epoch);
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
    const double step = model(k + change.of_epoch) - model(k);
    return change.weight(k) * step * step;
  }
};

/// out(k) += sqrt(scale) D' sqrt(V) e, e standard normal, (epoch but the last, component, cell): of covariance scale C.
template <class Memory>
struct AddChangeSample {
  EpochChange<Memory> change;
  double root_of_scale;
  Kokkos::View<const double*, Memory> normals;
  Kokkos::View<double*, Memory> out;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    double sum = 0;
    if (change.has_last(k)) sum += normals(k - change.of_epoch);
    if (change.has_next(k)) sum -= normals(k);
    out(k) += root_of_scale * Kokkos::sqrt(change.weight(k)) * sum;
  }
};

/// phi_m = m'Rm of smallness and smoothness on the active cells, with compact norms by reweighting, summed over epochs
/// and components, and of the change between epochs. Vectors are (epoch, component, cell); v, w and what compact norms
/// are scaled by are the same for all epochs, so that these differ by their data alone. Compact norms weigh the
/// components of a magnetisation alike, by its magnitude and that of its gradient. The same on every rank, which all
/// hold every cell. Source: docs/inversion.md; the sum over faces between two active cells, f the face, v_f and w_f
/// means of its cells: phi_m = a_s sum_i v_i w_i (m - r)_i^2 + sum over directions k of a_k sum_f v_f w_f ((m_hi -
/// m_lo) / h_f)^2, and change sum_e sum_i v_i w_i (m_{e+1,i} - m_{e,i})^2: the constraint along time of Kim, Yi, Park
/// and Kim, J. Appl. Geophys. 68 (2009) 522-532, with v w as weights.
template <class ExecutionSpace>
class Regularization {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Memory = typename Math::Memory;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;

  /// `weights`: w, one a cell. `reference`: (epoch, component, cell), the same in every epoch.
  Regularization(Math& math, const ActiveCells& cells, std::int64_t n_epochs, const InversionSettings& settings,
                 const std::vector<double>& weights, const ConstVector& reference)
      : m_math(math),
        m_settings(settings),
        m_n(n_epochs * components(settings.unknown) * cells.size()),
        m_reference(reference),
        m_changes(n_epochs > 1 && settings.change > 0) {
    m_terms.n_cells = cells.size();
    std::vector<double> of_cells(weights.size()), of_change(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto [x, y, z] = cells.widths(static_cast<std::int64_t>(i));
      of_cells[i] = settings.smallness * x * y * z * weights[i];
      of_change[i] = settings.change * x * y * z * weights[i];
    }
    m_base_cell = m_math.from_host("cell_weights", of_cells);
    m_terms.cell = of_all_blocks("cell_weights", m_base_cell);
    for (std::size_t d = 0; d < 3; ++d) add_faces(cells, d, weights);
    for (int d = 0; d < 3; ++d) m_terms.face[d] = of_all_blocks("face_weights", m_base_face[d]);
    if (m_changes)
      m_change = {m_math.from_host("change_weights", of_change), m_terms.n_cells, m_n / n_epochs, n_epochs};
  }

  /// Unknowns.
  [[nodiscard]] std::int64_t size() const noexcept { return m_n; }
  /// out += scale R p
  void add(double scale, const ConstVector& p, const Vector& out) const {
    m_math.each("add_regularization", m_n, AddRegularization<Memory>{m_terms, scale, p, out});
    if (m_changes) m_math.each("add_change", m_n, AddChange<Memory>{m_change, scale, p, out});
  }
  /// out += scale R r, r as in phi_m: the pull of the model to a reference, equal in all epochs.
  void add_pull(double scale, const ConstVector& reference, const Vector& out) const {
    if (m_settings.reference_in_smoothness) {
      m_math.each("add_regularization", m_n, AddRegularization<Memory>{m_terms, scale, reference, out});
    } else {
      m_math.multiply(scale, m_terms.cell, reference, 1, out);
    }
  }
  void diagonal(const Vector& out) const {
    m_math.each("diagonal_of_regularization", m_n, DiagonalOfRegularization<Memory>{m_terms, out});
    if (m_changes) m_math.each("diagonal_of_change", m_n, AddDiagonalOfChange<Memory>{m_change, out});
  }
  [[nodiscard]] double value(const ConstVector& model) const {
    const std::vector<double> of_blocks =
        m_math.sums("phi_m", m_terms.n_cells, m_n / m_terms.n_cells,
                    RegularizationValue<Memory>{m_terms, model, m_reference, m_settings.reference_in_smoothness});
    const double sum = std::accumulate(of_blocks.begin(), of_blocks.end(), 0.0);
    if (!m_changes) return sum;
    return sum + m_math.sum("change", m_n - m_change.of_epoch, ChangeValue<Memory>{m_change, model});
  }
  /// Largest |f| of smallness and of the gradients, per metre, in all epochs.
  [[nodiscard]] std::array<double, 4> largest(const ConstVector& model) const {
    std::array<double, 4> most{};
    for (int term = 0; term < 4; ++term) {
      Kokkos::parallel_reduce("prismfield::largest_of_term", typename Math::Indices(m_math.space(), 0, m_n),
                              size_of(term, model), Kokkos::Max<double>(most[static_cast<std::size_t>(term)]));
    }
    for (double& square : most) square = std::sqrt(square);
    return most;
  }
  /// Weights of the compact norms for this model and these epsilons, one a term.
  void reweight(const ConstVector& model, const std::array<double, 4>& epsilon) {
    const std::array<double, 4> most = largest(model);
    for (int term = 0; term < 4; ++term) {
      const auto t = static_cast<std::size_t>(term);
      const double p = m_settings.norm[t];
      if (p >= 2) continue;
      const double exponent = 1 - p / 2;
      const double e = epsilon[t];
      // where the derivative of the reweighted term is largest; it is scaled to that of the square
      const double x = p >= 1 ? most[t] : e / std::sqrt(1 - p);
      const double lambda = x > 0 ? most[t] * std::pow(x * x + e * e, exponent) / x : 1;
      const Vector base = term == 0 ? m_base_cell : m_base_face[term - 1];
      const Vector weight = term == 0 ? m_terms.cell : m_terms.face[term - 1];
      m_math.each("compact_weight", m_n,
                  CompactWeight<Memory>{size_of(term, model), lambda, e, exponent, base, weight});
    }
  }
  /// out += a random vector of covariance scale R; a function of seed and sample alone.
  void add_sample(double scale, std::uint64_t seed, std::int64_t sample, const Vector& out) const {
    const Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace> host(
        "prismfield::normals", m_n / m_terms.n_cells, 4, m_terms.n_cells);
    const auto first = static_cast<std::uint64_t>(sample) * host.size();
    for (std::size_t i = 0; i < host.size(); ++i) {
      host.data()[i] = random_normal(seed, RandomStream::posterior_cells, first + i);
    }
    const auto normals = Kokkos::create_mirror_view_and_copy(Memory(), host);
    m_math.each("add_regularization_sample", m_n,
                AddRegularizationSample<Memory>{m_terms, std::sqrt(scale), normals, out});
    if (m_changes) {
      std::vector<double> of_change(static_cast<std::size_t>(m_n - m_change.of_epoch));
      const std::uint64_t first_of_change = static_cast<std::uint64_t>(sample) * of_change.size();
      for (std::size_t i = 0; i < of_change.size(); ++i) {
        of_change[i] = random_normal(seed, RandomStream::posterior_change, first_of_change + i);
      }
      const Vector there = m_math.from_host("normals_of_change", of_change);
      m_math.each("add_change_sample", m_n, AddChangeSample<Memory>{m_change, std::sqrt(scale), there, out});
    }
    m_math.space().fence("prismfield: sample added");
  }

private:
  [[nodiscard]] TermSize<Memory> size_of(int term, const ConstVector& model) const {
    return {components(m_settings.unknown),    term, m_terms, m_spacing, model, m_reference,
            m_settings.reference_in_smoothness};
  }
  void add_faces(const ActiveCells& cells, std::size_t d, const std::vector<double>& weights) {
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
  /// (block, cell) of what is the same in every block, until compact norms weigh it.
  [[nodiscard]] Vector of_all_blocks(const char* label, const Vector& of_cells) const {
    if (m_n == m_terms.n_cells && !m_settings.is_compact()) return of_cells;
    const Vector all = m_math.zeros(label, m_n);
    for (std::int64_t k = 0; k < m_n; k += m_terms.n_cells) {
      m_math.copy(Kokkos::subview(all, std::make_pair(k, k + m_terms.n_cells)), of_cells);
    }
    return all;
  }

  Math& m_math;
  InversionSettings m_settings;
  /// epochs times components times cells
  std::int64_t m_n;
  ConstVector m_reference;
  RegularizationTerms<Memory> m_terms;
  bool m_changes;
  EpochChange<Memory> m_change;
  /// (cell): the weights without those of compact norms; spacing of the cells on both sides of a face, metres, for
  /// compact norms only
  Vector m_base_cell;
  Kokkos::Array<Vector, 3> m_base_face, m_spacing;
};

}  // namespace prismfield
