// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <prismfield/communicator.hpp>

#include "inversion/cell_columns.hpp"
#include "inversion/data_subspace.hpp"
#include "inversion/data_term.hpp"
#include "inversion/low_rank_algebra.hpp"
#include "inversion/vector_math.hpp"

namespace prismfield {

/// out(i) = 1 / d(i)
template <class Memory>
struct Invert {
  Kokkos::View<const double*, Memory> d;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out(i) = 1 / d(i); }
};

/// z(i) = w(i) (r(i) - z(i)) * scale
template <class Memory>
struct WeighDifference {
  Kokkos::View<const double*, Memory> w, r;
  double scale;
  Kokkos::View<double*, Memory> z;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { z(i) = scale * w(i) * (r(i) - z(i)); }
};

/// |a(i) - b(i)|
template <class Memory>
struct AbsoluteDifference {
  Kokkos::View<const double*, Memory> a, b;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const { return Kokkos::abs(a(i) - b(i)); }
};

/// M = beta D + F F', D the diagonal of R, F = A'Q, A = P W G, Q a basis of few directions of the data: before H in
/// conjugate gradients. By Woodbury's formula
///
///     M^-1 = (D^-1 - D^-1 F (beta I + T)^-1 F'D^-1) / beta, T = F'D^-1 F,
///
/// symmetric and positive definite for every beta and D. Q is found once, for the first D; another D, as compact norms
/// have it at each step, costs T anew, which needs no product with G.
template <class ExecutionSpace>
class LowRankPreconditioner {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Memory = typename Math::Memory;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;
  using Tell = std::function<void(std::int64_t done, std::int64_t all)>;

  /// `diagonal`: D, (cell). `rank` products with G' and with G. Collective.
  LowRankPreconditioner(Math& math, DataTerm<ExecutionSpace>& data, const Communicator& communicator,
                        const ConstVector& diagonal, std::int64_t rank, const Tell& tell);

  /// For this beta and D from now on.
  void set(double beta, const ConstVector& diagonal);
  /// z = M^-1 r, both (cell)
  void apply(const ConstVector& r, const Vector& z);

private:
  Math& m_math;
  std::int64_t m_n;
  CellColumns<ExecutionSpace> m_columns;
  /// (cell): D, and 1/D
  Vector m_diagonal, m_inverse;
  std::vector<double> m_t;
  double m_beta = 0;
  std::optional<ShiftedMatrix> m_factor;
};

template <class ExecutionSpace>
LowRankPreconditioner<ExecutionSpace>::LowRankPreconditioner(Math& math, DataTerm<ExecutionSpace>& data,
                                                             const Communicator& communicator,
                                                             const ConstVector& diagonal, std::int64_t rank,
                                                             const Tell& tell)
    : m_math(math),
      m_n(static_cast<std::int64_t>(diagonal.extent(0))),
      m_columns(math, m_n, std::min(rank, data.size())),
      m_diagonal(math.zeros("diagonal_of_model", m_n)),
      m_inverse(math.zeros("inverse_diagonal", m_n)) {
  m_math.each("invert_diagonal", m_n, Invert<Memory>{diagonal, m_inverse});
  SubspaceSteps<ExecutionSpace> steps;
  steps.solve = [&](const ConstVector& f, const Vector& x) {
    m_math.each("divide", m_n, ScaleBy<Memory>{m_inverse, f, x});
  };
  steps.keep = [&](std::int64_t j, const ConstVector& f, const ConstVector&) { m_columns.set(j, f); };
  steps.tell = tell;
  m_columns.shorten(find_data_subspace(m_math, data, communicator, m_n, m_columns.size(), steps).size);
}

template <class ExecutionSpace>
void LowRankPreconditioner<ExecutionSpace>::set(double beta, const ConstVector& diagonal) {
  const bool is_same =
      !m_t.empty() && m_math.sum("compare_diagonals", m_n, AbsoluteDifference<Memory>{diagonal, m_diagonal}) == 0;
  if (is_same && beta == m_beta) return;
  if (!is_same) {
    m_math.copy(m_diagonal, diagonal);
    m_math.each("invert_diagonal", m_n, Invert<Memory>{diagonal, m_inverse});
    // of the columns as they are kept, floats: M is what it is applied as
    m_t = m_columns.gram(m_inverse);
  }
  m_beta = beta;
  m_factor.emplace(beta, m_t, m_columns.size());
}

template <class ExecutionSpace>
void LowRankPreconditioner<ExecutionSpace>::apply(const ConstVector& r, const Vector& z) {
  m_math.each("divide", m_n, ScaleBy<Memory>{m_inverse, r, z});
  m_columns.combine(m_factor->solve(m_columns.products(z)), z);
  m_math.each("precondition", m_n, WeighDifference<Memory>{m_inverse, r, 1 / m_beta, z});
}

}  // namespace prismfield
