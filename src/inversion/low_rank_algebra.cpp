// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/low_rank_algebra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::int64_t subspace_size(std::int64_t rank, std::int64_t n_data) noexcept {
  return std::min(rank + (rank + 1) / 2, n_data);
}

std::int64_t low_rank_bytes(std::int64_t n_cells, std::int64_t size) noexcept {
  constexpr std::int64_t matrices = 3;
  return 4 * n_cells * size + 8 * matrices * size * size;
}

std::string low_rank_shortage(std::int64_t needed, std::int64_t available) {
  return fmt::format("takes {} of memory, but there are {}; write a smaller rank", size_text(needed),
                     size_text(available));
}

std::vector<double> OrthonormalRows::products(const std::vector<double>& vector) const {
  std::vector<double> sums;
  sums.reserve(m_vectors.size());
  for (const std::vector<double>& other : m_vectors) sums.push_back(dot(other, vector));
  sum_everywhere(m_communicator, sums.data(), static_cast<std::int64_t>(sums.size()));
  return sums;
}

bool OrthonormalRows::add(std::vector<double> vector) {
  const auto size_of = [&] {
    double square = dot(vector, vector);
    sum_everywhere(m_communicator, &square, 1);
    return std::sqrt(square);
  };
  const double before = size_of();
  // twice is enough for orthogonality to rounding
  for (int pass = 0; pass < 2; ++pass) {
    const std::vector<double> c = products(vector);
    for (std::size_t k = 0; k < c.size(); ++k) {
      for (std::size_t i = 0; i < vector.size(); ++i) vector[i] -= c[k] * m_vectors[k][i];
    }
  }
  const double size = size_of();
  constexpr double rounding = 1e-12;
  if (!(size > rounding * before)) return false;
  for (double& value : vector) value /= size;
  m_vectors.push_back(std::move(vector));
  return true;
}

ShiftedMatrix::ShiftedMatrix(const std::vector<double>& t, std::int64_t n)
    : m_n(static_cast<std::size_t>(n)), m_factor(t) {
  for (std::size_t i = 0; i < m_n; ++i) m_factor[i * m_n + i] += 1;
  for (std::size_t i = 0; i < m_n; ++i) {
    double* row = &m_factor[i * m_n];
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = &m_factor[j * m_n];
      double sum = row[j];
      for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      if (j < i) {
        row[j] = sum / other[j];
      } else if (sum > 0) {
        row[i] = std::sqrt(sum);
      } else {
        throw RunError("inversion: the small matrix of the low rank is not positive definite; write a smaller rank");
      }
    }
  }
}

std::vector<double> ShiftedMatrix::solve(std::vector<double> b) const {
  for (std::size_t i = 0; i < m_n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= m_factor[i * m_n + k] * b[k];
    b[i] /= m_factor[i * m_n + i];
  }
  for (std::size_t i = m_n; i-- > 0;) {
    b[i] /= m_factor[i * m_n + i];
    for (std::size_t k = 0; k < i; ++k) b[k] -= m_factor[i * m_n + k] * b[i];
  }
  return b;
}

std::vector<double> ShiftedMatrix::inverse() const {
  std::vector<double> all(m_n * m_n);
  for (std::size_t k = 0; k < m_n; ++k) {
    std::vector<double> unit(m_n, 0.0);
    unit[k] = 1;
    const std::vector<double> row = solve(std::move(unit));
    std::copy(row.begin(), row.end(), all.begin() + static_cast<std::ptrdiff_t>(k * m_n));
  }
  return all;
}

TraceEstimate resolution_trace(const std::vector<double>& t, std::int64_t size, std::int64_t n_random, std::int64_t n,
                               bool is_whole) {
  // the diagonal of K (I + K)^-1 = I - (I + K)^-1, as so many of the first directions see it
  const auto parts = [&](std::int64_t directions) {
    std::vector<double> block;
    for (std::int64_t k = 0; k < directions; ++k) {
      block.insert(block.end(), t.begin() + k * size, t.begin() + k * size + directions);
    }
    const std::vector<double> inverse = ShiftedMatrix(block, directions).inverse();
    std::vector<double> diagonal;
    for (std::int64_t k = 0; k < directions; ++k) {
      diagonal.push_back(1 - inverse[static_cast<std::size_t>(k * (directions + 1))]);
    }
    return diagonal;
  };
  const auto mean_of_random = [&](const std::vector<double>& diagonal) {
    return static_cast<double>(n) * std::accumulate(diagonal.begin(), diagonal.begin() + n_random, 0.0) /
           static_cast<double>(n_random);
  };
  const std::vector<double> all = parts(size);
  TraceEstimate trace;
  trace.least = std::accumulate(all.begin(), all.end(), 0.0);
  trace.value = trace.least;
  if (is_whole || n_random < 2) return trace;
  const double mean = mean_of_random(all);
  const auto draws = static_cast<double>(n_random);
  double squares = 0;
  for (std::int64_t k = 0; k < n_random; ++k) {
    squares += std::pow(static_cast<double>(n) * all[static_cast<std::size_t>(k)] - mean, 2);
  }
  // quadrature comes from above: half of the directions say how far it still is
  const double fallen = mean_of_random(parts(std::max(size / 2, n_random))) - mean;
  trace.value = std::max(mean, trace.least);
  trace.error = std::sqrt(squares / draws / (draws - 1) + fallen * fallen);
  return trace;
}

}  // namespace prismfield
