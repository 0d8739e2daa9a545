// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <vector>

/// Constants of solid harmonics and of their translations.
///
/// An expansion of degree p has terms (n, m), 0 <= m <= n <= p; those of negative order follow, as the fields are real:
/// M_n^-m = (-1)^m conj(M_n^m). With r, theta, phi of a point and P_n^m without (-1)^m,
///   R_n^m = r^n P_n^m(cos theta) e^(i m phi)/(n + m)!
///   moments of masses m_j about a centre: M_n^m = sum over j of m_j R_n^m(x_j - centre)
///   potential of locals at y: V = sum over n and m of conj(R_n^m(y - centre)) L_n^m
/// Kept are M N and L/N, N_n^m = sqrt((n - m)! (n + m)!): their sizes are those of M a^n of a sphere, and a rotation is
/// an orthogonal matrix, the same for both.
namespace prismfield::fast {

/// The highest degree: at 1e-10 cells of a uniform ensemble take 24.
inline constexpr int max_degree = 24;
/// The highest degree that is worth its moments at a tolerance.
[[nodiscard]] constexpr int degree_for(double tolerance) {
  return tolerance >= 1e-4 ? 16 : tolerance >= 1e-6 ? 20 : max_degree;
}

constexpr int n_terms(int degree) { return (degree + 1) * (degree + 2) / 2; }
/// Place of term (n, m): a lower degree's terms are the first ones of a higher's.
constexpr int term(int n, int m) { return n * (n + 1) / 2 + m; }
/// Place of the row of the swap's matrix for term (n, m), n + 1 numbers.
constexpr int swap_row(int n, int m) { return n * (n + 1) * (2 * n + 1) / 6 + m * (n + 1); }
/// Place of the moments (n, m) of a box, n and m even.
constexpr int box_term(int n, int m) { return (n / 2) * (n / 2 + 1) / 2 + m / 2; }
/// Monomials of X, Y, Z of one degree.
constexpr int n_monomials(int degree) { return (degree + 1) * (degree + 2) / 2; }
/// Place of the coefficients of a box's moments of degree n = 2 q.
constexpr int box_coefficients(int q) {
  int place = 0;
  for (int i = 0; i < q; ++i) place += (i + 1) * n_monomials(i);
  return place;
}

/// The numbers of ExpansionTables.
struct ExpansionNumbers {
  std::vector<std::int32_t> degree_of, order_of;
  std::vector<double> norm, inverse_norm, regular, factorial, inverse_factorial, swap, box;
};
[[nodiscard]] const ExpansionNumbers& expansion_numbers();

}  // namespace prismfield::fast
