// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include <prismfield/error.hpp>
#include <prismfield/operator.hpp>

#include "compute/operator_plan.hpp"
#include "compute/rank_sums.hpp"
#include "parallel/collectives.hpp"
#include "sensitivity/available_memory.hpp"
#include "sensitivity/storage_choice.hpp"
#include "sensitivity/stored_operator.hpp"
#include "sensitivity/tile_matrix.hpp"

/// The bodies of StoredOperator; instantiated in one source file a space.
namespace prismfield {

/// The request of an operator whose ranks have all columns each.
[[nodiscard]] inline Request by_points(Request request) {
  request.execution.partition = Partition::points;
  return request;
}

/// Throws AllocationFailure. At least one row and column.
template <class Space>
std::unique_ptr<StoredMatrix<Space>> make_stored_matrix(StoredPrecision precision, std::int64_t rows,
                                                        std::int64_t columns) {
  switch (precision) {
    case StoredPrecision::double_: return std::make_unique<TileMatrix<Space, double>>(rows, columns);
    case StoredPrecision::float_: return std::make_unique<TileMatrix<Space, float>>(rows, columns);
    case StoredPrecision::float16: return std::make_unique<TileMatrix<Space, Half>>(rows, columns);
  }
  return nullptr;
}

template <class ExecutionSpace>
struct StoredOperator<ExecutionSpace>::Parts {
  using Memory = typename ExecutionSpace::memory_space;

  /// all ranks, and this one: every rank has all columns
  Communicator all_ranks, alone;
  StoredPrecision precision;
  FieldList fields;
  Plan plan;
  double error_bound = 0;
  /// none without rows or columns
  std::unique_ptr<StoredMatrix<ExecutionSpace>> matrix;

  Parts(const ExecutionSpace& space, const PrismSource& prisms, const Points& all_points, const Request& request,
        StoredPrecision kept_as, const Communicator& communicator, const std::optional<std::int64_t>& memory_limit)
      : all_ranks(split(communicator, 0)), precision(kept_as) {
    DirectOperator<ExecutionSpace> direct(space, prisms, all_points, by_points(request), communicator);
    fields = direct.fields();
    plan = direct.plan();
    error_bound = direct.error_bound() + storage_error(precision);
    const std::int64_t available = within_limit(available_memory<ExecutionSpace>(communicator), memory_limit);
    on_all_ranks(all_ranks, [&] {
      if (direct.rows() == 0 || direct.columns() == 0) return;
      const std::int64_t needed = bytes_to_store(precision, fields.size(), plan.points().size(), direct.columns());
      const auto refuse = [&](std::int64_t free) {
        const std::string shortage = storage_shortage(needed, free, precision);
        if (!shortage.empty()) throw RunError(shortage);
      };
      refuse(available);
      try {
        fill(space, direct);
      } catch (const AllocationFailure&) {
        refuse(std::min(needed - 1, available));
      }
    });
    (plan_is_of_device() ? plan.device_bytes : plan.host_bytes) += bytes();
  }

  [[nodiscard]] bool plan_is_of_device() const { return is_device(plan.space); }
  [[nodiscard]] std::int64_t bytes() const noexcept { return matrix ? matrix->bytes() : 0; }
  [[nodiscard]] std::int64_t rows() const noexcept { return fields.size() * plan.points().size(); }
  [[nodiscard]] std::int64_t columns() const noexcept { return plan.prisms().size(); }

  void fill(const ExecutionSpace& space, DirectOperator<ExecutionSpace>& direct) {
    const std::int64_t n_points = plan.points().size();
    matrix = make_stored_matrix<ExecutionSpace>(precision, rows(), columns());
    const std::int64_t at_once = points_at_once(fields.size(), columns(), n_points);
    Vector scratch;
    allocate_or_fail([&] {
      scratch = Vector(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("entries")),
                       static_cast<std::size_t>(fields.size() * at_once * columns()));
    });
    for (std::int64_t first = 0; first < n_points; first += at_once) {
      const std::int64_t end = std::min(first + at_once, n_points);
      const Entries entries(scratch.data(), fields.size(), end - first, columns());
      direct.entries(space, {first, end}, entries);
      matrix->keep(space, {entries, first, n_points});
    }
    space.fence("prismfield: sensitivities kept");
  }

  /// What add(input, output) of these lengths needs, on all ranks; output is 0 without a matrix.
  template <class Multiply>
  void product(const ExecutionSpace& space, const char* in_key, const ConstVector& in, std::int64_t n_in,
               const char* out_key, const Vector& out, std::int64_t n_out, const Multiply& multiply) {
    on_all_ranks(all_ranks, [&] {
      check_product(in_key, in, n_in, out_key, out, n_out);
      if (matrix) {
        multiply(*matrix);
      } else {
        Kokkos::deep_copy(space, out, 0.0);
      }
    });
  }
};

template <class ExecutionSpace>
StoredOperator<ExecutionSpace>::StoredOperator(const ExecutionSpace& space, const PrismSource& prisms,
                                               const Points& points, const Request& request, StoredPrecision precision,
                                               const Communicator& communicator,
                                               const std::optional<std::int64_t>& memory_limit)
    : m_parts(std::make_unique<Parts>(space, prisms, points, request, precision, communicator, memory_limit)) {}

template <class ExecutionSpace>
StoredOperator<ExecutionSpace>::~StoredOperator() = default;

template <class ExecutionSpace>
FieldList StoredOperator<ExecutionSpace>::fields() const noexcept {
  return m_parts->fields;
}
template <class ExecutionSpace>
IndexRange StoredOperator<ExecutionSpace>::points() const noexcept {
  return m_parts->plan.points();
}
template <class ExecutionSpace>
IndexRange StoredOperator<ExecutionSpace>::prisms() const noexcept {
  return m_parts->plan.prisms();
}

template <class ExecutionSpace>
void StoredOperator<ExecutionSpace>::apply(const ExecutionSpace& space, const ConstVector& density,
                                           const Vector& fields) {
  apply_many(space, 1, density, fields);
}

template <class ExecutionSpace>
void StoredOperator<ExecutionSpace>::apply_transpose(const ExecutionSpace& space, const ConstVector& fields,
                                                     const Vector& density) {
  apply_transpose_many(space, 1, fields, density);
}

template <class ExecutionSpace>
void StoredOperator<ExecutionSpace>::diagonal(const ExecutionSpace& space, const ConstVector& weights,
                                              const Vector& diagonal) {
  diagonal_many(space, 1, weights, diagonal);
}

template <class ExecutionSpace>
void StoredOperator<ExecutionSpace>::apply_many(const ExecutionSpace& space, std::int64_t n, const ConstVector& density,
                                                const Vector& fields) {
  m_parts->product(space, "density", density, n * this->columns(), "fields", fields, n * this->rows(),
                   [&](StoredMatrix<ExecutionSpace>& matrix) { matrix.multiply(space, n, density, fields); });
}

template <class ExecutionSpace>
void StoredOperator<ExecutionSpace>::apply_transpose_many(const ExecutionSpace& space, std::int64_t n,
                                                          const ConstVector& fields, const Vector& density) {
  m_parts->product(
      space, "fields", fields, n * this->rows(), "density", density, n * this->columns(),
      [&](StoredMatrix<ExecutionSpace>& matrix) { matrix.multiply_transposed(space, n, fields, density); });
  sum_over_ranks(space, m_parts->all_ranks, density);
}

template <class ExecutionSpace>
void StoredOperator<ExecutionSpace>::diagonal_many(const ExecutionSpace& space, std::int64_t n,
                                                   const ConstVector& weights, const Vector& diagonal) {
  m_parts->product(space, "weights", weights, n * this->rows(), "diagonal", diagonal, n * this->columns(),
                   [&](StoredMatrix<ExecutionSpace>& matrix) { matrix.diagonal(space, n, weights, diagonal); });
  sum_over_ranks(space, m_parts->all_ranks, diagonal);
}

template <class ExecutionSpace>
void StoredOperator<ExecutionSpace>::entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) {
  check_entries(points, this->points().size(), entries, fields().size(), this->columns());
  if (m_parts->matrix) m_parts->matrix->read(space, {entries, points.begin, this->points().size()});
}

template <class ExecutionSpace>
double StoredOperator<ExecutionSpace>::dot_fields(const ExecutionSpace& space, const ConstVector& a,
                                                  const ConstVector& b) {
  return dot_over_ranks(space, m_parts->all_ranks, m_parts->all_ranks, a, b, this->rows());
}

template <class ExecutionSpace>
double StoredOperator<ExecutionSpace>::dot_densities(const ExecutionSpace& space, const ConstVector& a,
                                                     const ConstVector& b) {
  return dot_over_ranks(space, m_parts->all_ranks, m_parts->alone, a, b, this->columns());
}

template <class ExecutionSpace>
double StoredOperator<ExecutionSpace>::error_bound() const noexcept {
  return m_parts->error_bound;
}
template <class ExecutionSpace>
const Plan& StoredOperator<ExecutionSpace>::plan() const noexcept {
  return m_parts->plan;
}
template <class ExecutionSpace>
std::int64_t StoredOperator<ExecutionSpace>::bytes() const noexcept {
  return m_parts->bytes();
}

}  // namespace prismfield
