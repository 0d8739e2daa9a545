// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/operator.hpp>

#include "base/random.hpp"
#include "inversion/trend_basis.hpp"
#include "inversion/vector_math.hpp"
#include "model/survey.hpp"

namespace prismfield {

/// out(i) = factor(i) * in(i)
template <class Memory>
struct ScaleBy {
  Kokkos::View<const double*, Memory> factor, in;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out(i) = factor(i) * in(i); }
};

/// out(i) = factor(i) * (a(i) - b(i))
template <class Memory>
struct ScaledDifference {
  Kokkos::View<const double*, Memory> factor, a, b;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out(i) = factor(i) * (a(i) - b(i)); }
};

/// phi_d = sum ((G m - d) / sigma)^2 of several data sets. Where a trend is unknown too, it is taken out exactly: the
/// residuals over sigma are projected off the functions that it is made of, W T, so that cells alone remain as
/// unknowns: phi_d(m) = min over c of |W (G m + T c - d)|^2.
template <class ExecutionSpace>
class DataTerm {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Memory = typename Math::Memory;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;
  using OperatorPointer = std::unique_ptr<Operator<ExecutionSpace>>;

  /// One operator a data set, of its fields and points.
  DataTerm(Math& math, const std::vector<DataSet>& data, std::vector<OperatorPointer> operators, Trend trend,
           const Communicator& communicator);

  /// of all data
  [[nodiscard]] std::int64_t size() const noexcept { return m_size; }
  [[nodiscard]] std::int64_t products() const noexcept { return m_products; }
  void set_products(std::int64_t products) noexcept { m_products = products; }

  /// out = G'WWG p, W = 1/sigma. Collective, as all below.
  void normal_product(const ConstVector& p, const Vector& out);
  /// out = G'WW d
  void pull(const Vector& out);
  /// out = the diagonal of G'WWG; without the trend's projection.
  void diagonal(const Vector& out);
  [[nodiscard]] double misfit(const ConstVector& model);
  /// |W G x|^2, a sample's part of the trace of the resolution matrix.
  [[nodiscard]] double weighted_size(const ConstVector& x);
  /// out += G'W e, e standard normal: of covariance G'WWG; a function of seed and sample alone.
  void add_sample(std::uint64_t seed, std::int64_t sample, const Vector& out);
  /// Of a data set, every rank's: (field, point), SI units, the trend included, and the trend's coefficients, three a
  /// field.
  [[nodiscard]] std::vector<double> predicted(std::size_t set, const ConstVector& model, std::vector<double>& trend);

private:
  struct Set {
    OperatorPointer g;
    /// (row), of this rank's points
    Vector observed, inverse_sigma, weights, fields;
    TrendBasis basis;
    std::vector<Vector> functions;
    /// number of a field's first point in the whole set
    std::int64_t n_points = 0;
  };
  void make_set(const DataSet& data, OperatorPointer g, Trend trend);
  [[nodiscard]] std::int64_t number_of_row(const Set& set, std::int64_t row) const {
    const std::int64_t n = set.g->points().size();
    return row / n * set.n_points + set.g->points().begin + row % n;
  }
  /// Over all ranks, each of which has its own points; in one order whatever the number of threads.
  [[nodiscard]] double dot(const ConstVector& a, const ConstVector& b) const {
    double sum = m_math.dot(a, b);
    m_communicator.sum_everywhere(&sum, 1);
    return sum;
  }
  void project(Set& set) {
    for (const Vector& function : set.functions) {
      const double c = dot(function, set.fields);
      m_math.each("project", set.g->rows(), AddScaled<Memory>{-c, function, set.fields});
    }
  }
  /// fields = W (fields), projected
  void weigh(Set& set) {
    m_math.each("weigh", set.g->rows(), ScaleBy<Memory>{set.inverse_sigma, set.fields, set.fields});
    project(set);
  }
  /// out += G' (W fields)
  void add_transposed(Set& set, const Vector& out) {
    m_math.each("weigh", set.g->rows(), ScaleBy<Memory>{set.inverse_sigma, set.fields, set.fields});
    set.g->apply_transpose(m_math.space(), set.fields, m_cells);
    m_math.each("add_transposed", static_cast<std::int64_t>(out.extent(0)), AddScaled<Memory>{1, m_cells, out});
  }

  Math& m_math;
  const Communicator& m_communicator;
  std::vector<Set> m_sets;
  std::int64_t m_size = 0;
  std::int64_t m_products = 0;
  /// (cell)
  Vector m_cells;
};

template <class ExecutionSpace>
DataTerm<ExecutionSpace>::DataTerm(Math& math, const std::vector<DataSet>& data, std::vector<OperatorPointer> operators,
                                   Trend trend, const Communicator& communicator)
    : m_math(math), m_communicator(communicator) {
  m_cells = m_math.zeros("cells", operators.front()->columns());
  for (std::size_t i = 0; i < data.size(); ++i) make_set(data[i], std::move(operators[i]), trend);
}

template <class ExecutionSpace>
void DataTerm<ExecutionSpace>::make_set(const DataSet& data, OperatorPointer g, Trend trend) {
  Set set;
  set.g = std::move(g);
  set.n_points = data.points.size();
  const std::int64_t rows = set.g->rows();
  std::vector<double> observed(static_cast<std::size_t>(rows)), inverse_sigma(observed.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto from = static_cast<std::size_t>(number_of_row(set, row));
    observed[static_cast<std::size_t>(row)] = data.values[from];
    inverse_sigma[static_cast<std::size_t>(row)] = 1 / data.sigma[from];
  }
  set.observed = m_math.from_host("observed", observed);
  set.inverse_sigma = m_math.from_host("inverse_sigma", inverse_sigma);
  set.fields = m_math.zeros("fields", rows);
  set.weights = m_math.zeros("weights", rows);
  m_math.each("weights", rows, ScaleBy<Memory>{set.inverse_sigma, set.inverse_sigma, set.weights});
  set.basis = make_trend_basis(data, trend);
  for (const std::vector<double>& function : set.basis.orthonormal) {
    std::vector<double> mine(static_cast<std::size_t>(rows));
    for (std::int64_t row = 0; row < rows; ++row) {
      mine[static_cast<std::size_t>(row)] = function[static_cast<std::size_t>(number_of_row(set, row))];
    }
    set.functions.push_back(m_math.from_host("trend", mine));
  }
  m_size += data.size();
  m_sets.push_back(std::move(set));
}

template <class ExecutionSpace>
void DataTerm<ExecutionSpace>::normal_product(const ConstVector& p, const Vector& out) {
  ++m_products;
  m_math.fill(out, 0);
  for (Set& set : m_sets) {
    if (set.functions.empty() && set.g->apply_normal(m_math.space(), set.weights, p, m_cells)) {
      m_math.each("add_normal", static_cast<std::int64_t>(out.extent(0)), AddScaled<Memory>{1, m_cells, out});
    } else {
      set.g->apply(m_math.space(), p, set.fields);
      weigh(set);
      add_transposed(set, out);
    }
  }
}

template <class ExecutionSpace>
void DataTerm<ExecutionSpace>::pull(const Vector& out) {
  m_math.fill(out, 0);
  for (Set& set : m_sets) {
    m_math.copy(set.fields, set.observed);
    weigh(set);
    add_transposed(set, out);
  }
}

template <class ExecutionSpace>
void DataTerm<ExecutionSpace>::diagonal(const Vector& out) {
  m_math.fill(out, 0);
  for (Set& set : m_sets) {
    set.g->diagonal(m_math.space(), set.weights, m_cells);
    m_math.each("add_diagonal", static_cast<std::int64_t>(out.extent(0)), AddScaled<Memory>{1, m_cells, out});
  }
}

template <class ExecutionSpace>
double DataTerm<ExecutionSpace>::misfit(const ConstVector& model) {
  double sum = 0;
  for (Set& set : m_sets) {
    set.g->apply(m_math.space(), model, set.fields);
    m_math.each("residual", set.g->rows(),
                ScaledDifference<Memory>{set.inverse_sigma, set.fields, set.observed, set.fields});
    project(set);
    sum += dot(set.fields, set.fields);
  }
  return sum;
}

template <class ExecutionSpace>
double DataTerm<ExecutionSpace>::weighted_size(const ConstVector& x) {
  double sum = 0;
  for (Set& set : m_sets) {
    set.g->apply(m_math.space(), x, set.fields);
    weigh(set);
    sum += dot(set.fields, set.fields);
  }
  return sum;
}

template <class ExecutionSpace>
void DataTerm<ExecutionSpace>::add_sample(std::uint64_t seed, std::int64_t sample, const Vector& out) {
  auto first = static_cast<std::uint64_t>(sample) * static_cast<std::uint64_t>(m_size);
  for (Set& set : m_sets) {
    const std::int64_t rows = set.g->rows();
    std::vector<double> normals(static_cast<std::size_t>(rows));
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto index = first + static_cast<std::uint64_t>(number_of_row(set, row));
      normals[static_cast<std::size_t>(row)] = random_normal(seed, RandomStream::posterior_data, index);
    }
    m_math.copy_in(normals, set.fields);
    project(set);
    add_transposed(set, out);
    first += static_cast<std::uint64_t>(set.g->fields().size() * set.n_points);
  }
}

template <class ExecutionSpace>
std::vector<double> DataTerm<ExecutionSpace>::predicted(std::size_t index, const ConstVector& model,
                                                        std::vector<double>& trend) {
  Set& set = m_sets[index];
  set.g->apply(m_math.space(), model, set.fields);
  const std::vector<double> mine = m_math.to_host(set.fields);
  const std::vector<double> observed = m_math.to_host(set.observed);
  std::vector<double> all(static_cast<std::size_t>(set.g->fields().size() * set.n_points));
  std::vector<double> residual(all.size());
  for (std::size_t row = 0; row < mine.size(); ++row) {
    const auto to = static_cast<std::size_t>(number_of_row(set, static_cast<std::int64_t>(row)));
    all[to] = mine[row];
    residual[to] = observed[row] - mine[row];
  }
  // other ranks' are 0 here
  m_communicator.sum_everywhere(all.data(), static_cast<std::int64_t>(all.size()));
  m_communicator.sum_everywhere(residual.data(), static_cast<std::int64_t>(residual.size()));
  trend = set.basis.coefficients(residual);
  set.basis.add(trend, all);
  return all;
}

}  // namespace prismfield
