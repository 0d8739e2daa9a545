// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <prismfield/communicator.hpp>

/// Small dense algebra in the space of the data, on the host.
namespace prismfield {

/// Directions of the data that standard deviations by a rank take: half as many more, of those there are.
[[nodiscard]] std::int64_t subspace_size(std::int64_t rank, std::int64_t n_data) noexcept;

/// Bytes of that many vectors of floats, one a cell, and of the small matrices beside them.
[[nodiscard]] std::int64_t low_rank_bytes(std::int64_t n_cells, std::int64_t size) noexcept;
/// The error where a low rank needs more memory than is available.
[[nodiscard]] std::string low_rank_shortage(std::int64_t needed, std::int64_t available);

[[nodiscard]] double dot(const std::vector<double>& a, const std::vector<double>& b);

/// Vectors, with some rows on every rank, that become orthonormal one by one.
class OrthonormalRows {
public:
  explicit OrthonormalRows(const Communicator& communicator) : m_communicator(communicator) {}

  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(m_vectors.size()); }
  [[nodiscard]] const std::vector<double>& operator[](std::int64_t k) const {
    return m_vectors[static_cast<std::size_t>(k)];
  }
  /// Adds what of `vector` (this rank's rows) is orthogonal to those there, scaled to length 1; false, with nothing
  /// added, where rounding alone is left of it. Collective.
  bool add(std::vector<double> vector);
  /// Inner products with `vector`, (size()), the same on every rank. Collective.
  [[nodiscard]] std::vector<double> products(const std::vector<double>& vector) const;

private:
  const Communicator& m_communicator;
  std::vector<std::vector<double>> m_vectors;
};

/// The Cholesky factor of I + T.
class ShiftedMatrix {
public:
  /// `t`: (n, n), symmetric, of no negative eigenvalues but for rounding. Throws RunError where that does not hold.
  ShiftedMatrix(const std::vector<double>& t, std::int64_t n);

  /// (I + T)^-1, (n, n)
  [[nodiscard]] std::vector<double> inverse() const;

private:
  /// (I + T)^-1 b
  [[nodiscard]] std::vector<double> solve(std::vector<double> b) const;

  std::size_t m_n;
  /// (n, n), the lower triangle
  std::vector<double> m_factor;
};

/// The trace of K (I + K)^-1 of a matrix K of `n` rows, no negative eigenvalues, known by T = Q'KQ.
struct TraceEstimate {
  /// by quadrature from the first vectors of Q, which are random; its standard error, and what half of the directions
  /// are further off
  double value = 0, error = 0;
  /// no more than the trace: what T itself has
  double least = 0;
};
/// `t`: T, (size, size); the first `n_random` columns of Q are random and the next ones of the Krylov
/// space of K from these. `is_whole`: Q is square, and nothing is estimated. Source: stochastic Lanczos quadrature,
/// Ubaru, Chen and Saad, SIAM J. Matrix Anal. Appl. 38 (2017); the lower bound is Cauchy's interlacing.
[[nodiscard]] TraceEstimate resolution_trace(const std::vector<double>& t, std::int64_t size, std::int64_t n_random,
                                             std::int64_t n, bool is_whole);

}  // namespace prismfield
