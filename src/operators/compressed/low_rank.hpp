// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <vector>

/// Matrices as sums of few products of a column and a row.
namespace prismfield {

/// A matrix that gives single rows and columns. It computes each at most once.
class MatrixLines {
public:
  virtual ~MatrixLines() = default;
  [[nodiscard]] virtual std::int64_t rows() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t columns() const noexcept = 0;
  /// (columns()) and (rows()); stays until the next call of the same function.
  [[nodiscard]] virtual const double* row(std::int64_t i) = 0;
  [[nodiscard]] virtual const double* column(std::int64_t j) = 0;
  [[nodiscard]] virtual bool has_row(std::int64_t i) const noexcept = 0;
  [[nodiscard]] virtual bool has_column(std::int64_t j) const noexcept = 0;
};

/// The sum over l < rank of column u_l times row v_l.
struct LowRank {
  std::int64_t rank = 0;
  /// (rank, rows) and (rank, columns)
  std::vector<double> u, v;
};

/// Adaptive cross approximation with partial pivoting: crosses of a row and a column are taken off until the last one
/// is below `tolerance` times the Frobenius norm of all, and further rows agree. Pivots are the largest entries left;
/// of rows and columns that are there already a third of that suffices. False: this rank saves nothing, and `out` is of
/// no use. Source: Bebendorf, Approximation of boundary element matrices, Numerische Mathematik 86, 2000.
[[nodiscard]] bool approximate_by_crosses(MatrixLines& matrix, double tolerance, LowRank& out);

/// The smallest rank whose error is at most `tolerance` times the Frobenius norm: by singular values. The columns u_l
/// are orthogonal, the rows v_l orthonormal, the largest first.
void recompress(std::int64_t rows, std::int64_t columns, double tolerance, LowRank& matrix);

}  // namespace prismfield
