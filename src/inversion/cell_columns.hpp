// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include "inversion/vector_math.hpp"

namespace prismfield {

/// out(i) = sum over a and b of columns(i, a) m(a, b) columns(i, b), by blocks of cells.
template <class Memory, int block_size>
struct QuadraticForm {
  Kokkos::View<const float**, Kokkos::LayoutLeft, Memory> columns;
  /// (column * column)
  Kokkos::View<const double*, Memory> m;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    const auto n = static_cast<std::int64_t>(out.extent(0));
    const auto p = static_cast<std::int64_t>(columns.extent(1));
    const std::int64_t begin = block * block_size;
    const auto size = static_cast<int>(Kokkos::min<std::int64_t>(block_size, n - begin));
    double sum[block_size] = {};
    for (std::int64_t a = 0; a < p; ++a) {
      double row[block_size] = {};
      for (std::int64_t b = 0; b < p; ++b) {
        for (int k = 0; k < size; ++k) row[k] += m(a * p + b) * columns(begin + k, b);
      }
      for (int k = 0; k < size; ++k) sum[k] += row[k] * columns(begin + k, a);
    }
    for (int k = 0; k < size; ++k) out(begin + k) = sum[k];
  }
};

/// A matrix of cells and few columns in the space's memory, floats.
template <class ExecutionSpace>
class CellColumns {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Memory = typename Math::Memory;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;

  CellColumns(Math& math, std::int64_t n_cells, std::int64_t n_columns)
      : m_math(math),
        m_n(n_cells),
        m_columns("prismfield::cell_columns", static_cast<std::size_t>(n_cells), static_cast<std::size_t>(n_columns)) {}

  /// Column `a` = x, (cell)
  void set(std::int64_t a, const ConstVector& x) const {
    Kokkos::deep_copy(m_math.space(), Kokkos::subview(m_columns, Kokkos::ALL, a), x);
  }
  /// Leaves the first `n` columns.
  void shorten(std::int64_t n) {
    m_columns = Kokkos::subview(m_columns, Kokkos::ALL, std::make_pair(std::int64_t{0}, n));
  }
  /// out = the diagonal of F M F', M: (column, column), out: (cell)
  void diagonal(const std::vector<double>& m, const Vector& out) const {
    m_math.each("quadratic_form", n_blocks(), QuadraticForm<Memory, block_size>{m_columns, on_space(m), out});
  }

private:
  static constexpr int block_size = Math::on_host ? 256 : 1;

  [[nodiscard]] std::int64_t n_blocks() const noexcept { return (m_n + block_size - 1) / block_size; }
  [[nodiscard]] ConstVector on_space(const std::vector<double>& values) const {
    return m_math.from_host("coefficients", values);
  }

  Math& m_math;
  std::int64_t m_n;
  /// (cell, column)
  Kokkos::View<float**, Kokkos::LayoutLeft, Memory> m_columns;
};

}  // namespace prismfield
