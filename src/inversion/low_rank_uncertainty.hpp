// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/inverted_model.hpp>

#include "inversion/bound_solver.hpp"
#include "inversion/cell_columns.hpp"
#include "inversion/data_subspace.hpp"
#include "inversion/data_term.hpp"
#include "inversion/prior_variance.hpp"
#include "inversion/regularization.hpp"
#include "inversion/vector_math.hpp"

namespace prismfield {

/// out(i) = the variance of cell i: the prior's less what the data take off, at least `1 / diagonal`
template <class Memory>
struct PosteriorVariance {
  Kokkos::View<const double*, Memory> prior, taken_off, diagonal;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    out(i) = Kokkos::max(prior(i) - taken_off(i), 1 / diagonal(i));
  }
};

/// What the errors of a prior's variances make of those of the standard deviations: relative, root of the mean square.
[[nodiscard]] inline double relative_error(const std::vector<std::pair<std::int64_t, double>>& squared_errors,
                                           const std::vector<double>& sigma) {
  double sum = 0;
  for (const auto& [cell, square] : squared_errors) {
    const double variance = sigma[static_cast<std::size_t>(cell)] * sigma[static_cast<std::size_t>(cell)];
    sum += square / (4 * variance * variance);
  }
  return squared_errors.empty() ? 0 : std::sqrt(sum / static_cast<double>(squared_errors.size()));
}

/// Posterior standard deviations of the quadratic problem by a low rank of the data term. With A = P W G,
/// S = (beta R)^-1, Q an orthonormal basis of a Krylov space of K = A S A', Z = S A'Q and T = Q'KQ:
///
///     C = (A'A + beta R)^-1 = S - S A'(I + K)^-1 A S, about S - Z (I + T)^-1 Z'.
///
/// What is left out would only lower variances: these are never too small but for the error of the prior's diagonal,
/// which is probed (PriorVariance). The space has half as many vectors more as `rank`, all of them used, and comes out
/// at least as near as the best approximation of that rank. 1/H_ii is a lower bound of C_ii and guards the difference.
template <class ExecutionSpace>
class LowRankUncertainty {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Memory = typename Math::Memory;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;
  /// `done` of `all` steps of what the word says
  using Tell = std::function<void(const char* what, std::int64_t done, std::int64_t all)>;

  LowRankUncertainty(Math& math, DataTerm<ExecutionSpace>& data, const Regularization<ExecutionSpace>& regularization,
                     const ActiveCells& cells, const Communicator& communicator)
      : m_math(math),
        m_data(data),
        m_regularization(regularization),
        m_cells(cells),
        m_communicator(communicator),
        m_n(regularization.size()),
        m_solver(math, m_n),
        m_diagonal(math.zeros("diagonal_of_prior", m_n)) {}

  /// Fills the model's standard deviations, their error, and the trace of the resolution. `diagonal`: of H, (cell), or
  /// more. `lengths`: of the regularisation, metres. Collective; the same on every rank.
  void find(double beta, std::int64_t rank, const std::array<double, 3>& lengths, const ConstVector& diagonal,
            const Tell& tell, InvertedModel& model) {
    // T holds the squares of singular values, which range over many decades; a probe's answer is good to less anyway
    constexpr double fine = 1e-6, enough = 1e-4;
    const Vector answer = m_math.zeros("diagonal_of_prior", m_n);
    m_regularization.diagonal(answer);
    m_math.add(beta, answer, 0, m_diagonal);

    const std::int64_t most = subspace_size(rank, m_data.size());
    CellColumns<ExecutionSpace> z(m_math, m_n, most);
    SubspaceSteps<ExecutionSpace> steps;
    steps.solve = [&](const ConstVector& f, const Vector& x) { solve(beta, fine, f, x); };
    steps.keep = [&](std::int64_t j, const ConstVector& x) { z.set(j, x); };
    steps.tell = [&](std::int64_t done, std::int64_t all) { tell("directions of the data", done, all); };
    const DataSubspace subspace = find_data_subspace(m_math, m_data, m_communicator, m_n, most, steps);
    z.shorten(subspace.size);
    const std::vector<double> inverse = ShiftedMatrix(subspace.t, subspace.size).inverse();

    // that of one component, whose cells do not pull at those of others
    const Vector right_side = m_math.zeros("prior_right_side", m_n), solution = m_math.zeros("prior_solution", m_n);
    const auto first = Kokkos::make_pair(std::int64_t{0}, m_cells.size());
    const Vector of_first = Kokkos::subview(right_side, first), solution_of_first = Kokkos::subview(solution, first);
    PriorVariance<ExecutionSpace> prior(m_math, m_cells, lengths, [&](const ConstVector& f, const Vector& x) {
      m_math.copy(of_first, f);
      solve(beta, enough, right_side, solution);
      m_math.copy(x, solution_of_first);
    });
    prior.find([&](std::int64_t done, std::int64_t all) { tell("variances of the prior", done, all); });
    z.diagonal(inverse, answer);
    const Vector of_prior = m_math.zeros("prior_variances", m_n), variance = m_math.zeros("posterior_variance", m_n);
    for (std::int64_t begin = 0; begin < m_n; begin += m_cells.size()) {
      m_math.copy(Kokkos::subview(of_prior, Kokkos::make_pair(begin, begin + m_cells.size())), prior.variance());
    }
    m_math.each("posterior_variance", m_n, PosteriorVariance<Memory>{of_prior, answer, diagonal, variance});
    model.sigma = m_math.to_host(variance);
    for (double& value : model.sigma) value = std::sqrt(value);

    const TraceEstimate trace =
        resolution_trace(subspace.t, subspace.size, subspace.n_random, m_data.size(), subspace.is_whole);
    model.resolution_trace = trace.value;
    model.resolution_trace_error = trace.error;
    model.resolution_trace_least = trace.least;
    model.rank = subspace.size;
    model.sigma_error = relative_error(prior.squared_errors(), model.sigma);
  }

private:
  /// x = (beta R)^-1 f: conjugate gradients without G
  void solve(double beta, double tolerance, const ConstVector& f, const Vector& x) {
    m_solver.solve(
        [this, beta](const ConstVector& p, const Vector& out) {
          m_math.fill(out, 0);
          m_regularization.add(beta, p, out);
        },
        f, m_diagonal, tolerance, x);
  }

  Math& m_math;
  DataTerm<ExecutionSpace>& m_data;
  const Regularization<ExecutionSpace>& m_regularization;
  const ActiveCells& m_cells;
  const Communicator& m_communicator;
  std::int64_t m_n;
  BoundSolver<ExecutionSpace> m_solver;
  /// (cell): of beta R
  Vector m_diagonal;
};

}  // namespace prismfield
