// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "inversion/vector_math.hpp"

namespace prismfield {

/// columns(i, a) r(i)
template <class Memory>
struct ColumnTerm {
  Kokkos::View<const float**, Kokkos::LayoutLeft, Memory> columns;
  Kokkos::View<const double*, Memory> r;
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t a) const { return columns(i, a) * r(i); }
};

/// columns(i, a) w(i) columns(i, b) of pair number `id`
template <class Memory>
struct PairTerm {
  Kokkos::View<const float**, Kokkos::LayoutLeft, Memory> columns;
  Kokkos::View<const double*, Memory> w;
  Kokkos::View<const std::int32_t*, Memory> first, second;
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t id) const {
    return static_cast<double>(columns(i, first(id))) * w(i) * columns(i, second(id));
  }
};

/// out(i) = sum over a of c(a) columns(i, a), by blocks of cells.
template <class Memory, int block_size>
struct CombineColumns {
  Kokkos::View<const float**, Kokkos::LayoutLeft, Memory> columns;
  Kokkos::View<const double*, Memory> c;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    const auto n = static_cast<std::int64_t>(out.extent(0));
    const std::int64_t begin = block * block_size;
    const auto size = static_cast<int>(Kokkos::min<std::int64_t>(block_size, n - begin));
    double sum[block_size] = {};
    for (std::int64_t a = 0; a < static_cast<std::int64_t>(columns.extent(1)); ++a) {
      for (int k = 0; k < size; ++k) sum[k] += c(a) * columns(begin + k, a);
    }
    for (int k = 0; k < size; ++k) out(begin + k) = sum[k];
  }
};

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

/// A matrix of cells and few columns in the space's memory, floats. Sums have one fixed order, as VectorMath's.
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

  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(m_columns.extent(1)); }
  /// Column `a` = x, (cell)
  void set(std::int64_t a, const ConstVector& x) const {
    Kokkos::deep_copy(m_math.space(), Kokkos::subview(m_columns, Kokkos::ALL, a), x);
  }
  /// Leaves the first `n` columns.
  void shorten(std::int64_t n) {
    m_columns = Kokkos::subview(m_columns, Kokkos::ALL, std::make_pair(std::int64_t{0}, n));
  }
  /// (column): inner products with r, (cell)
  [[nodiscard]] std::vector<double> products(const ConstVector& r) {
    return m_math.sums("column_products", m_n, size(), ColumnTerm<Memory>{m_columns, r});
  }
  /// (column, column): F' diag(w) F, w: (cell)
  [[nodiscard]] std::vector<double> gram(const ConstVector& w) {
    const std::int64_t p = size();
    const std::int64_t n_pairs = p * (p + 1) / 2;
    using Numbers = Kokkos::View<std::int32_t*, Memory>;
    const Numbers first("prismfield::pairs", static_cast<std::size_t>(n_pairs));
    const Numbers second("prismfield::pairs", static_cast<std::size_t>(n_pairs));
    const auto host_first = Kokkos::create_mirror_view(first);
    const auto host_second = Kokkos::create_mirror_view(second);
    std::int64_t id = 0;
    for (std::int32_t a = 0; a < p; ++a) {
      for (std::int32_t b = 0; b <= a; ++b, ++id) {
        host_first(id) = a;
        host_second(id) = b;
      }
    }
    Kokkos::deep_copy(first, host_first);
    Kokkos::deep_copy(second, host_second);
    const std::vector<double> lower =
        m_math.sums("column_pairs", m_n, n_pairs, PairTerm<Memory>{m_columns, w, first, second});
    std::vector<double> all(static_cast<std::size_t>(p * p));
    for (std::int64_t k = 0; k < n_pairs; ++k) {
      const std::int64_t a = host_first(k), b = host_second(k);
      all[static_cast<std::size_t>(a * p + b)] = all[static_cast<std::size_t>(b * p + a)] =
          lower[static_cast<std::size_t>(k)];
    }
    return all;
  }
  /// out = F c, c: (column), out: (cell)
  void combine(const std::vector<double>& c, const Vector& out) const {
    m_math.each("combine_columns", n_blocks(), CombineColumns<Memory, block_size>{m_columns, on_space(c), out});
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
