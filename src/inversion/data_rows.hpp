// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include <prismfield/fields.hpp>
#include <prismfield/inversion_settings.hpp>
#include <prismfield/operator.hpp>

#include "inversion/vector_math.hpp"

namespace prismfield {

/// Of each field of the data: its row field, or the first of B's three, by its number.
struct RowsOfFields {
  Kokkos::Array<int, n_known_fields> first{};
  Kokkos::Array<bool, n_known_fields> is_linear{}, is_exact_anomaly{};
  int n_fields = 0, n_rows = 0;
};

[[nodiscard]] inline RowsOfFields rows_of_fields(FieldList data) noexcept {
  const FieldList rows = row_fields(data);
  RowsOfFields of;
  of.n_rows = static_cast<int>(rows.size());
  for (const FieldInfo& field : data) {
    const auto f = static_cast<std::size_t>(of.n_fields++);
    of.is_linear[f] = field.is_linear();
    of.is_exact_anomaly[f] = field.rule == FieldRule::exact_anomaly;
    of.first[f] = static_cast<int>(rows.index_of(field.is_linear() ? field.field : Field::bx));
  }
  return of;
}

/// At point i: values of the data of what rows of B are there, and the factors of their derivative by each row.
template <class Memory>
struct EvaluateMagnitudes {
  RowsOfFields of;
  /// T; the field's direction where B is 0
  Kokkos::Array<double, 3> inducing, direction;
  std::int64_t n;
  Kokkos::View<const double*, Memory> rows;
  Kokkos::View<double*, Memory> values;
  Kokkos::View<double* [3], Memory> factors;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int f = 0; f < of.n_fields; ++f) {
      const std::int64_t at = f * n + i;
      double b[3], length = 0, product = 0, of_inducing = 0;
      for (int c = 0; c < 3; ++c) {
        b[c] = rows((of.first[f] + (of.is_linear[f] ? 0 : c)) * n + i);
        const double start = of.is_exact_anomaly[f] ? inducing[c] : 0;
        product += b[c] * (2 * start + b[c]);
        of_inducing += start * start;
        b[c] += start;
        length += b[c] * b[c];
      }
      length = Kokkos::sqrt(length);
      // of |F + B| - |F| without cancellation
      values(at) = of.is_linear[f] ? b[0] : length > 0 ? product / (length + Kokkos::sqrt(of_inducing)) : 0;
      for (int c = 0; c < 3; ++c) {
        factors(at, c) = of.is_linear[f] ? (c == 0 ? 1 : 0) : length > 0 ? b[c] / length : direction[c];
      }
    }
  }
};

/// At point i, vector by vector: data from rows, rows from data, or weights of rows from those of data.
template <class Memory>
struct CombineRows {
  enum class Way { to_data, to_rows, to_row_weights };
  Way way;
  RowsOfFields of;
  std::int64_t n;
  Kokkos::View<const double* [3], Memory> factors;
  Kokkos::View<const double**, Kokkos::LayoutLeft, Memory> from;
  Kokkos::View<double**, Kokkos::LayoutLeft, Memory> to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (std::size_t v = 0; v < to.extent(1); ++v) {
      if (way != Way::to_data) {
        for (int row = 0; row < of.n_rows; ++row) to(row * n + i, v) = 0;
      }
      for (int f = 0; f < of.n_fields; ++f) {
        const std::int64_t at = f * n + i;
        double sum = 0;
        for (int c = 0; c < (of.is_linear[f] ? 1 : 3); ++c) {
          const std::int64_t row = (of.first[f] + c) * n + i;
          if (way == Way::to_data) sum += factors(at, c) * from(row, v);
          if (way == Way::to_rows) to(row, v) += factors(at, c) * from(at, v);
          if (way == Way::to_row_weights) to(row, v) += from(at, v);
        }
        if (way == Way::to_data) to(at, v) = sum;
      }
    }
  }
};

/// The rows of G of one data set, or, where data are magnitudes of B (amplitude, tmi_exact), of their derivative by the
/// model at which evaluate() was last. An operator's products in either case; of magnitudes the diagonal is an upper
/// bound, which depends on no model.
template <class ExecutionSpace>
class DataRows {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Memory = typename Math::Memory;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;
  using Vectors = Kokkos::View<double**, Kokkos::LayoutLeft, Memory>;
  using ConstVectors = Kokkos::View<const double**, Kokkos::LayoutLeft, Memory>;

  /// `g`: of row_fields(fields), for all points; `inducing_field`: T
  DataRows(Math& math, std::unique_ptr<Operator<ExecutionSpace>> g, FieldList fields,
           const std::array<double, 3>& inducing_field)
      : m_math(math),
        m_g(std::move(g)),
        m_fields(fields),
        m_of(rows_of_fields(fields)),
        m_inducing{inducing_field[0], inducing_field[1], inducing_field[2]} {
    if (!is_linear()) {
      m_factors = Kokkos::View<double* [3], Memory>("prismfield::factors_of_rows", static_cast<std::size_t>(rows()));
      evaluate_rows(m_math.zeros("no_fields", m_g->rows()), m_math.zeros("no_data", rows()));
    }
  }

  [[nodiscard]] bool is_linear() const noexcept { return row_fields(m_fields) == m_fields; }
  [[nodiscard]] std::int64_t rows() const noexcept { return m_fields.size() * points().size(); }
  [[nodiscard]] std::int64_t columns() const noexcept { return m_g->columns(); }
  [[nodiscard]] FieldList fields() const noexcept { return m_fields; }
  [[nodiscard]] IndexRange points() const noexcept { return m_g->points(); }

  /// The data of each model: (columns(), model), (rows(), model). Of magnitudes one model.
  void evaluate(const ConstVectors& models, const Vectors& values) {
    if (is_linear()) return m_g->apply(m_math.space(), models, values);
    const Vectors all = inner(1);
    m_g->apply(m_math.space(), models, all);
    evaluate_rows(ConstVector(all.data(), all.extent(0)), Vector(values.data(), values.extent(0)));
  }
  void apply(const ConstVectors& densities, const Vectors& values) {
    if (is_linear()) return m_g->apply(m_math.space(), densities, values);
    const Vectors all = inner(densities.extent(1));
    m_g->apply(m_math.space(), densities, all);
    combine("rows_to_data", Combine::Way::to_data, all, values);
  }
  /// densities += transposed of the rows times values
  void add_transposed(const ConstVectors& values, const Vectors& densities) {
    if (is_linear()) return m_g->apply_transpose(m_math.space(), 1, values, 1, densities);
    const Vectors all = inner(values.extent(1));
    combine("data_to_rows", Combine::Way::to_rows, values, all);
    m_g->apply_transpose(m_math.space(), 1, ConstVectors(all), 1, densities);
  }
  /// As Operator::apply_normal() adds it.
  [[nodiscard]] bool add_normal(const ConstVectors& weights, const ConstVectors& densities, const Vectors& product) {
    return is_linear() && m_g->apply_normal(m_math.space(), 1, weights, densities, 1, product);
  }
  void add_diagonal(const ConstVectors& weights, const Vectors& diagonal) {
    if (is_linear()) return m_g->diagonal(m_math.space(), 1, weights, 1, diagonal);
    const Vectors all = inner(weights.extent(1));
    combine("weights_of_rows", Combine::Way::to_row_weights, weights, all);
    m_g->diagonal(m_math.space(), 1, ConstVectors(all), 1, diagonal);
  }

private:
  using Combine = CombineRows<Memory>;

  /// Space for rows of the operator, of so many vectors.
  [[nodiscard]] Vectors inner(std::size_t vectors) {
    const auto n = static_cast<std::size_t>(m_g->rows());
    if (m_inner.extent(0) < n * vectors)
      m_inner = m_math.zeros("rows_of_fields", static_cast<std::int64_t>(n * vectors));
    return Vectors(m_inner.data(), n, vectors);
  }
  void evaluate_rows(const ConstVector& rows_of_b, const Vector& values) {
    const double length = std::hypot(m_inducing[0], m_inducing[1], m_inducing[2]);
    Kokkos::Array<double, 3> direction = {0, 0, 1};
    for (std::size_t c = 0; c < 3 && length > 0; ++c) direction[c] = m_inducing[c] / length;
    m_math.each("magnitudes", points().size(),
                EvaluateMagnitudes<Memory>{m_of, m_inducing, direction, points().size(), rows_of_b, values, m_factors});
  }
  void combine(const char* label, typename Combine::Way way, const ConstVectors& from, const Vectors& to) const {
    m_math.each(label, points().size(), Combine{way, m_of, points().size(), m_factors, from, to});
  }

  Math& m_math;
  std::unique_ptr<Operator<ExecutionSpace>> m_g;
  FieldList m_fields;
  RowsOfFields m_of;
  Kokkos::Array<double, 3> m_inducing;
  /// of magnitudes: (row, component)
  Kokkos::View<double* [3], Memory> m_factors;
  Vector m_inner;
};

}  // namespace prismfield
