// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <cmath>
#include <cstddef>
#include <vector>

#include "operators/tree/expansion_numbers.hpp"

namespace prismfield::fast {
namespace {

// in more digits than double's: the recurrences of the swap subtract
using Long = long double;

std::vector<Long> factorials(int n) {
  std::vector<Long> all(static_cast<std::size_t>(n) + 1, 1);
  for (std::size_t i = 1; i < all.size(); ++i) all[i] = all[i - 1] * static_cast<Long>(i);
  return all;
}
Long factorial(int n) {
  static const std::vector<Long> all = factorials(2 * max_degree);
  return all[static_cast<std::size_t>(n)];
}
Long binomial(int n, int k) { return factorial(n) / (factorial(k) * factorial(n - k)); }
Long norm(int n, int m) { return std::sqrt(factorial(n - m) * factorial(n + m)); }
Long sign(int n) { return n % 2 == 0 ? 1 : -1; }

/// B of one degree, M' = B M, for M of all orders from -n to n.
class Swap {
public:
  explicit Swap(int degree) : m_degree(degree), m_rows(static_cast<std::size_t>((2 * degree + 1) * (2 * degree + 1))) {}
  Long& at(int m, int l) {
    return m_rows[static_cast<std::size_t>((m + m_degree) * (2 * m_degree + 1) + l + m_degree)];
  }
  /// 0 beyond the degree.
  Long operator()(int m, int l) { return std::abs(m) > m_degree || std::abs(l) > m_degree ? 0 : at(m, l); }

private:
  int m_degree;
  std::vector<Long> m_rows;
};

Swap first_swap() {
  Swap b(1);
  constexpr Long rows[3][3] = {{0.5, -0.5, 0.5}, {-1, 0, 1}, {0.5, 0.5, 0.5}};
  for (int m = -1; m <= 1; ++m) {
    for (int l = -1; l <= 1; ++l) b.at(m, l) = rows[m + 1][l + 1];
  }
  return b;
}

/// The swap of degree n >= 2 from that of n - 1.
Swap next_swap(Swap& before, int n) {
  Swap b(n);
  for (int m = -n; m <= n; ++m) {
    for (int l = -n + 1; l < n; ++l) b.at(m, l) = (before(m - 1, l) - before(m + 1, l)) / 2;
    b.at(m, n) = b(m, n - 2) + 2 * before(m, n - 1);
    b.at(m, -n) = b(m, 2 - n) - 2 * before(m, 1 - n);
  }
  return b;
}

/// Rows of orders m >= 0 for terms of orders l >= 0, which carry those of negative order, in the norm of what is kept.
void append_rows(Swap& b, int n, std::vector<double>& rows) {
  for (int m = 0; m <= n; ++m) {
    for (int l = 0; l <= n; ++l) {
      const Long mirrored = l == 0 ? 0 : sign(l) * b(m, -l);
      const Long sum = (n - m - l) % 2 == 0 ? b(m, l) + mirrored : b(m, l) - mirrored;
      rows.push_back(static_cast<double>(sum * norm(n, m) / norm(n, l)));
    }
  }
}

std::vector<double> swap_rows() {
  std::vector<double> rows = {1};
  Swap b = first_swap();
  append_rows(b, 1, rows);
  for (int n = 2; n <= max_degree; ++n) {
    b = next_swap(b, n);
    append_rows(b, n, rows);
  }
  return rows;
}

/// Adds to coefficients, (i, j), what the mean over the box of
///   (-1)^k/(4^k 2^m k! (k + m)! (n - m - 2k)!) Re (x + i y)^m (x^2 + y^2)^k z^(n - m - 2k)
/// is in X^i Y^j Z^(n/2 - i - j): that of x^2i is X^i/(2i + 1).
void add_box_term(int n, int m, int k, std::vector<Long>& coefficients) {
  const int c = n - m - 2 * k;
  const Long factor = sign(k) / (std::pow(Long{2}, 2 * k + m) * factorial(k) * factorial(k + m) * factorial(c));
  for (int u = 0; u <= m; u += 2) {
    for (int v = 0; v <= k; ++v) {
      const int i = (m - u) / 2 + k - v;
      const int j = u / 2 + v;
      // rows i of n/2 + 1 - i numbers
      const int place = i * (n / 2 + 1) - i * (i - 1) / 2 + j;
      coefficients[static_cast<std::size_t>(place)] += factor * sign(u / 2) * binomial(m, u) * binomial(k, v) /
                                                       static_cast<Long>((2 * i + 1) * (2 * j + 1) * (c + 1));
    }
  }
}

std::vector<double> box_numbers() {
  std::vector<double> all;
  for (int n = 0; n <= max_degree; n += 2) {
    for (int m = 0; m <= n; m += 2) {
      std::vector<Long> coefficients(static_cast<std::size_t>(n_monomials(n / 2)));
      for (int k = 0; 2 * k <= n - m; ++k) add_box_term(n, m, k, coefficients);
      for (const Long c : coefficients) all.push_back(static_cast<double>(c));
    }
  }
  return all;
}

ExpansionNumbers make_numbers() {
  ExpansionNumbers t;
  for (int n = 0; n <= max_degree; ++n) {
    for (int m = 0; m <= n; ++m) {
      t.degree_of.push_back(n);
      t.order_of.push_back(m);
      t.norm.push_back(static_cast<double>(norm(n, m)));
      t.inverse_norm.push_back(static_cast<double>(1 / norm(n, m)));
      t.regular.push_back(n == m ? 0.0 : 1.0 / static_cast<double>(n * n - m * m));
    }
  }
  for (int n = 0; n <= 2 * max_degree; ++n) {
    t.factorial.push_back(static_cast<double>(factorial(n)));
    t.inverse_factorial.push_back(static_cast<double>(1 / factorial(n)));
  }
  t.swap = swap_rows();
  t.box = box_numbers();
  return t;
}

}  // namespace

const ExpansionNumbers& expansion_numbers() {
  static const ExpansionNumbers numbers = make_numbers();
  return numbers;
}

}  // namespace prismfield::fast
