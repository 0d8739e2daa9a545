// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <prismfield/communicator.hpp>

#include "base/random.hpp"
#include "inversion/data_term.hpp"
#include "inversion/low_rank_algebra.hpp"
#include "inversion/vector_math.hpp"

namespace prismfield {

/// K = A S A' seen from few directions of the data: T = Q'KQ, Q orthonormal, A = P W G, P off the trend.
struct DataSubspace {
  std::int64_t size = 0;
  /// the first columns of Q, random ones
  std::int64_t n_random = 0;
  /// Q is square: K is known wholly
  bool is_whole = false;
  /// (size, size)
  std::vector<double> t;
};

/// What an inversion's low rank is made of: S for a right side f, both (cell); what becomes of column j, x = S A'q_j;
/// and word of every column done.
template <class ExecutionSpace>
struct SubspaceSteps {
  using Vector = typename VectorMath<ExecutionSpace>::Vector;
  using ConstVector = typename VectorMath<ExecutionSpace>::ConstVector;
  std::function<void(const ConstVector& f, const Vector& x)> solve;
  std::function<void(std::int64_t j, const ConstVector& x)> keep;
  std::function<void(std::int64_t done, std::int64_t all)> tell;
};

/// A Krylov space of K from random directions, of at most `most` of them: one product with G' and one with G each. Of
/// as many products its largest eigenvalues are nearer to K's than those of a randomised range finder with power steps.
/// Source: band Lanczos, Bai, Demmel, Dongarra, Ruhe and van der Vorst, Templates for the Solution of Algebraic
/// Eigenvalue Problems (2000), section 7.10, each vector against all. Collective; the same on every rank.
template <class ExecutionSpace>
[[nodiscard]] DataSubspace find_data_subspace(VectorMath<ExecutionSpace>& math, DataTerm<ExecutionSpace>& data,
                                              const Communicator& communicator, std::int64_t n_cells, std::int64_t most,
                                              const SubspaceSteps<ExecutionSpace>& steps) {
  constexpr std::uint64_t seed = 1;
  most = std::min(most, data.size());
  // several, for eigenvalues that are there more than once and for the trace; few, for a long Krylov space
  constexpr std::int64_t most_starts = 8, steps_of_a_start = 5;
  const std::int64_t starts = std::clamp<std::int64_t>(most / steps_of_a_start, 2, most_starts);
  OrthonormalRows basis(communicator);
  std::int64_t draws = 0;
  const auto add_random = [&] { return basis.add(data.normals(RandomStream::low_rank, seed, draws++)); };
  while (basis.size() < std::min(starts, most) && add_random()) {
  }
  DataSubspace subspace;
  subspace.n_random = basis.size();
  const auto n = static_cast<std::size_t>(most);
  std::vector<double> t(n * n, 0.0);
  const auto f = math.zeros("subspace_image", n_cells);
  const auto x = math.zeros("subspace_solution", n_cells);
  for (std::int64_t j = 0; j < most; ++j) {
    // K of the last ones lies in what is there already
    if (j == basis.size() && !add_random()) break;
    math.fill(f, 0);
    data.add_weighted_transpose(basis[j], f);
    steps.solve(f, x);
    steps.keep(j, x);
    std::vector<double> y = data.weighted_fields(x);
    const std::vector<double> products = basis.products(y);
    for (std::int64_t a = 0; a <= j; ++a) {
      const auto row = static_cast<std::size_t>(a), column = static_cast<std::size_t>(j);
      t[row * n + column] = t[column * n + row] = products[row];
    }
    if (basis.size() < most) basis.add(std::move(y));
    subspace.size = j + 1;
    steps.tell(j + 1, most);
  }
  const auto size = static_cast<std::size_t>(subspace.size);
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size; ++b) subspace.t.push_back(t[a * n + b]);
  }
  subspace.is_whole = subspace.size == data.size();
  return subspace;
}

}  // namespace prismfield
