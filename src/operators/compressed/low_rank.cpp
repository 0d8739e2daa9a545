// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "operators/compressed/low_rank.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace prismfield {
namespace {

/// With sums side by side, as the compiler may not reorder one.
double dot(const double* a, const double* b, std::int64_t n) noexcept {
  constexpr std::int64_t width = 8;
  double part[width] = {};
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    for (std::int64_t k = 0; k < width; ++k) part[k] += a[i + k] * b[i + k];
  }
  double sum = 0;
  for (; i < n; ++i) sum += a[i] * b[i];
  for (std::int64_t k = 0; k < width; ++k) sum += part[k];
  return sum;
}

void add_scaled(double factor, const double* x, double* y, std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

/// Rows that are looked at when crosses seem to suffice.
constexpr int check_rows = 2;
/// Rows of zeros after which a matrix is taken for zero.
constexpr int zero_rows = 4;
/// What a line that is there already must have of the largest entry to be taken.
constexpr double good_enough = 1.0 / 3;

class CrossApproximation {
public:
  CrossApproximation(MatrixLines& matrix, double tolerance, LowRank& out)
      : m_matrix(matrix),
        m_tolerance(tolerance),
        m_out(out),
        m_rows(matrix.rows()),
        m_columns(matrix.columns()),
        m_row_used(static_cast<std::size_t>(m_rows)),
        m_column_used(static_cast<std::size_t>(m_columns)),
        m_residual(static_cast<std::size_t>(std::max(m_rows, m_columns))) {
    m_out = LowRank();
  }

  bool run() {
    std::int64_t i = m_rows / 2;
    int zeros = 0;
    while (i >= 0) {
      if ((m_out.rank + 1) * (m_rows + m_columns) > m_rows * m_columns) return false;
      if (!take_cross(i)) {
        if (++zeros == zero_rows) break;
        i = unused_row();
        continue;
      }
      zeros = 0;
      i = m_last <= m_tolerance * std::sqrt(m_norm2) ? row_that_disagrees() : next_row();
    }
    return true;
  }

private:
  [[nodiscard]] const double* u(std::int64_t l) const { return m_out.u.data() + l * m_rows; }
  [[nodiscard]] const double* v(std::int64_t l) const { return m_out.v.data() + l * m_columns; }

  /// Row i less the crosses so far, in m_residual.
  void find_residual_row(std::int64_t i) {
    const double* const row = m_matrix.row(i);
    std::copy(row, row + m_columns, m_residual.begin());
    for (std::int64_t l = 0; l < m_out.rank; ++l) add_scaled(-u(l)[i], v(l), m_residual.data(), m_columns);
  }

  /// The largest of n values among those that are not used, or one that `is_there` and good enough; -1: all are used.
  template <class IsThere>
  static std::int64_t pivot(const double* values, const std::vector<bool>& used, const IsThere& is_there) {
    std::int64_t best = -1, there = -1;
    for (std::size_t at = 0; at < used.size(); ++at) {
      if (used[at]) continue;
      const auto i = static_cast<std::int64_t>(at);
      if (best < 0 || std::abs(values[i]) > std::abs(values[best])) best = i;
      if ((there < 0 || std::abs(values[i]) > std::abs(values[there])) && is_there(i)) there = i;
    }
    return there >= 0 && std::abs(values[there]) >= good_enough * std::abs(values[best]) ? there : best;
  }

  /// Takes the cross of row i and its pivot off; false when nothing is left in the row.
  bool take_cross(std::int64_t i) {
    find_residual_row(i);
    m_row_used[static_cast<std::size_t>(i)] = true;
    const std::int64_t j =
        pivot(m_residual.data(), m_column_used, [&](std::int64_t k) { return m_matrix.has_column(k); });
    if (j < 0) return false;
    const double value = m_residual[static_cast<std::size_t>(j)];
    // what rounding leaves of a row is no direction of the matrix
    constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();
    const double largest = std::sqrt(m_norm2 / static_cast<double>(m_rows * m_columns));
    if (!(std::abs(value) > rounding * largest) || value == 0) return false;
    m_column_used[static_cast<std::size_t>(j)] = true;
    m_out.v.insert(m_out.v.end(), m_residual.begin(), m_residual.begin() + m_columns);
    const double* const column = m_matrix.column(j);
    m_out.u.insert(m_out.u.end(), column, column + m_rows);
    double* const new_u = m_out.u.data() + m_out.rank * m_rows;
    for (std::int64_t l = 0; l < m_out.rank; ++l) add_scaled(-v(l)[j], u(l), new_u, m_rows);
    for (std::int64_t k = 0; k < m_rows; ++k) new_u[k] /= value;
    const double* const new_v = v(m_out.rank);
    const double last2 = dot(new_u, new_u, m_rows) * dot(new_v, new_v, m_columns);
    double cross = 0;
    for (std::int64_t l = 0; l < m_out.rank; ++l) cross += dot(new_u, u(l), m_rows) * dot(new_v, v(l), m_columns);
    m_norm2 = std::max(m_norm2 + last2 + 2 * cross, last2 * std::numeric_limits<double>::epsilon());
    m_last = std::sqrt(last2);
    ++m_out.rank;
    return true;
  }

  /// The row in which the last column is largest; -1: none is left.
  [[nodiscard]] std::int64_t next_row() const {
    return pivot(u(m_out.rank - 1), m_row_used, [&](std::int64_t k) { return m_matrix.has_row(k); });
  }

  /// A row that was not used, spread over all; -1: none is left.
  std::int64_t unused_row() {
    constexpr double golden = 0.6180339887498949;
    for (std::int64_t tries = 0; tries < 2 * m_rows; ++tries) {
      m_spread += golden;
      m_spread -= std::floor(m_spread);
      const auto i = std::min(static_cast<std::int64_t>(m_spread * static_cast<double>(m_rows)), m_rows - 1);
      if (!m_row_used[static_cast<std::size_t>(i)]) return i;
    }
    const auto left = std::find(m_row_used.begin(), m_row_used.end(), false);
    return left == m_row_used.end() ? -1 : left - m_row_used.begin();
  }

  /// Whether less than twice a row's share of the error is left of row i.
  bool agrees(std::int64_t i) {
    find_residual_row(i);
    const double left2 = dot(m_residual.data(), m_residual.data(), m_columns);
    return left2 <= 4 * m_tolerance * m_tolerance * m_norm2 / static_cast<double>(m_rows);
  }

  /// Looks at rows that have not been used; the first that the crosses do not describe, or -1.
  std::int64_t row_that_disagrees() {
    int looked_at = 0;
    for (std::int64_t i = 0; i < m_rows && looked_at < check_rows; ++i) {
      if (m_row_used[static_cast<std::size_t>(i)] || !m_matrix.has_row(i)) continue;
      ++looked_at;
      if (!agrees(i)) return i;
    }
    for (; looked_at < check_rows; ++looked_at) {
      const std::int64_t i = unused_row();
      if (i < 0) return -1;
      if (!agrees(i)) return i;
    }
    return -1;
  }

  MatrixLines& m_matrix;
  double m_tolerance;
  LowRank& m_out;
  std::int64_t m_rows, m_columns;
  std::vector<bool> m_row_used, m_column_used;
  std::vector<double> m_residual;
  /// of all crosses, squared, and of the last one
  double m_norm2 = 0, m_last = 0;
  double m_spread = 0;
};

/// Makes `n` vectors of a length orthonormal, (n, length), by Gram and Schmidt, twice. r(a, l): how much of the a-th is
/// in the l-th that was; a vector that depends on others becomes zero.
std::vector<double> make_orthonormal(std::int64_t n, std::int64_t length, std::vector<double>& vectors) {
  std::vector<double> r(static_cast<std::size_t>(n * n));
  for (std::int64_t l = 0; l < n; ++l) {
    double* const x = vectors.data() + l * length;
    const double before = std::sqrt(dot(x, x, length));
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t a = 0; a < l; ++a) {
        const double* const q = vectors.data() + a * length;
        const double part = dot(q, x, length);
        r[static_cast<std::size_t>(a * n + l)] += part;
        add_scaled(-part, q, x, length);
      }
    }
    const double after = std::sqrt(dot(x, x, length));
    constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();
    const bool is_new = after > rounding * before;
    r[static_cast<std::size_t>(l * n + l)] = is_new ? after : 0;
    for (std::int64_t i = 0; i < length; ++i) x[i] = is_new ? x[i] / after : 0;
  }
  return r;
}

/// Turns vectors a and b, and the same of `turns`, so that a and b are orthogonal; false where they are.
bool turn(double* a, double* b, double* turn_a, double* turn_b, std::int64_t n) {
  const double aa = dot(a, a, n), bb = dot(b, b, n), ab = dot(a, b, n);
  constexpr double orthogonal = 1e-12;
  if (std::abs(ab) <= orthogonal * std::sqrt(aa) * std::sqrt(bb)) return false;
  const double zeta = (bb - aa) / (2 * ab);
  const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
  const double c = 1 / std::sqrt(1 + t * t);
  const double s = c * t;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = a[i], y = b[i];
    a[i] = c * x - s * y;
    b[i] = s * x + c * y;
    const double p = turn_a[i], q = turn_b[i];
    turn_a[i] = c * p - s * q;
    turn_b[i] = s * p + c * q;
  }
  return true;
}

/// Singular values by Jacobi's turns from one side: of a matrix of n columns, (n, n), column after column, M = W J'.
/// The columns become W, orthogonal; returns J, column after column.
std::vector<double> make_orthogonal(std::int64_t n, std::vector<double>& columns) {
  std::vector<double> turns(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) turns[static_cast<std::size_t>(i * n + i)] = 1;
  constexpr int most_sweeps = 30;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool turned = false;
    for (std::int64_t a = 0; a + 1 < n; ++a) {
      for (std::int64_t b = a + 1; b < n; ++b) {
        turned |= turn(columns.data() + a * n, columns.data() + b * n, turns.data() + a * n, turns.data() + b * n, n);
      }
    }
    if (!turned) break;
  }
  return turns;
}

/// (rank, length): the l-th is the sum over a of weights(column which[l], a) times vector a.
std::vector<double> combine(const std::vector<double>& vectors, std::int64_t n, std::int64_t length,
                            const std::vector<double>& weights, const std::vector<std::int64_t>& which,
                            std::int64_t rank) {
  std::vector<double> out(static_cast<std::size_t>(rank * length));
  for (std::int64_t l = 0; l < rank; ++l) {
    const double* const weight = weights.data() + which[static_cast<std::size_t>(l)] * n;
    for (std::int64_t a = 0; a < n; ++a) {
      add_scaled(weight[a], vectors.data() + a * length, out.data() + l * length, length);
    }
  }
  return out;
}

}  // namespace

bool approximate_by_crosses(MatrixLines& matrix, double tolerance, LowRank& out) {
  return CrossApproximation(matrix, tolerance, out).run();
}

void recompress(std::int64_t rows, std::int64_t columns, double tolerance, LowRank& matrix) {
  const std::int64_t n = matrix.rank;
  const std::vector<double> ru = make_orthonormal(n, rows, matrix.u);
  const std::vector<double> rv = make_orthonormal(n, columns, matrix.v);
  // U V' = Qu (Ru Rv') Qv'
  std::vector<double> core(static_cast<std::size_t>(n * n));
  for (std::int64_t b = 0; b < n; ++b) {
    for (std::int64_t a = 0; a < n; ++a) {
      core[static_cast<std::size_t>(b * n + a)] = dot(ru.data() + a * n, rv.data() + b * n, n);
    }
  }
  const std::vector<double> turns = make_orthogonal(n, core);
  std::vector<double> squared(static_cast<std::size_t>(n));
  for (std::int64_t l = 0; l < n; ++l) {
    squared[static_cast<std::size_t>(l)] = dot(core.data() + l * n, core.data() + l * n, n);
  }
  std::vector<std::int64_t> largest_first(static_cast<std::size_t>(n));
  std::iota(largest_first.begin(), largest_first.end(), std::int64_t{0});
  std::stable_sort(largest_first.begin(), largest_first.end(), [&](std::int64_t a, std::int64_t b) {
    return squared[static_cast<std::size_t>(a)] > squared[static_cast<std::size_t>(b)];
  });
  const double norm2 = std::accumulate(squared.begin(), squared.end(), 0.0);
  std::int64_t rank = n;
  double left_out = 0;
  while (rank > 0) {
    left_out += squared[static_cast<std::size_t>(largest_first[static_cast<std::size_t>(rank - 1)])];
    if (left_out > tolerance * tolerance * norm2) break;
    --rank;
  }
  matrix.u = combine(matrix.u, n, rows, core, largest_first, rank);
  matrix.v = combine(matrix.v, n, columns, turns, largest_first, rank);
  matrix.rank = rank;
}

}  // namespace prismfield
