// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <KokkosBlas1_reciprocal.hpp>
#include <prismfield/communicator.hpp>

#include "inversion/cell_columns.hpp"
#include "inversion/data_subspace.hpp"
#include "inversion/data_term.hpp"
#include "inversion/low_rank_algebra.hpp"
#include "inversion/vector_math.hpp"

namespace prismfield {

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
                        const ConstVector& diagonal, std::int64_t rank, const Tell& tell)
      : m_math(math),
        m_n(static_cast<std::int64_t>(diagonal.extent(0))),
        m_columns(math, m_n, std::min(rank, data.size())),
        m_diagonal(math.zeros("diagonal_of_model", m_n)),
        m_inverse(math.zeros("inverse_diagonal", m_n)) {
    KokkosBlas::reciprocal(m_math.space(), m_inverse, diagonal);
    SubspaceSteps<ExecutionSpace> steps;
    steps.solve = [&](const ConstVector& f, const Vector& x) { m_math.multiply(1, m_inverse, f, 0, x); };
    steps.keep = [&](std::int64_t j, const ConstVector& f, const ConstVector&) { m_columns.set(j, f); };
    steps.tell = tell;
    m_columns.shorten(find_data_subspace(m_math, data, communicator, m_n, m_columns.size(), steps).size);
  }

  /// For this beta and D from now on.
  void set(double beta, const ConstVector& diagonal) {
    const bool is_same =
        !m_t.empty() && m_math.sum("compare_diagonals", m_n, AbsoluteDifference<Memory>{diagonal, m_diagonal}) == 0;
    if (is_same && beta == m_beta) return;
    if (!is_same) {
      m_math.copy(m_diagonal, diagonal);
      KokkosBlas::reciprocal(m_math.space(), m_inverse, diagonal);
      // of the columns as they are kept, floats: M is what it is applied as
      m_t = m_columns.gram(m_inverse);
    }
    m_beta = beta;
    m_factor.emplace(beta, m_t, m_columns.size());
  }
  /// z = M^-1 r, both (cell)
  void apply(const ConstVector& r, const Vector& z) {
    m_math.multiply(1, m_inverse, r, 0, z);
    m_columns.combine(m_factor->solve(m_columns.products(z)), z);
    m_math.add(1, r, -1, z);
    m_math.multiply(1 / m_beta, m_inverse, z, 0, z);
  }

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

}  // namespace prismfield
