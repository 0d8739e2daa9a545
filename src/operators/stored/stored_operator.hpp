// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <prismfield/error.hpp>
#include <prismfield/make_operator.hpp>

#include "compute/rank_operator.hpp"
#include "operators/stored/available_memory.hpp"
#include "operators/stored/storage_choice.hpp"
#include "operators/stored/tile_matrix.hpp"

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

/// G whose entries are computed once and kept in the space's memory, in tiles of columns; every four vectors are
/// multiplied in one pass over G. Products add in an order that does not change with the number of threads; entries are
/// those of the direct operator, rounded to the precision, sums are double. Its error bound is that of the direct
/// operator and of rounding together; float16 has more where an entry is below 2^-18 of the largest of its row within
/// its tile of columns: 2^-29 of that.
template <class ExecutionSpace>
class StoredOperator final : public RankOperator<ExecutionSpace> {
public:
  using Base = RankOperator<ExecutionSpace>;
  using Direct = Operator<ExecutionSpace>;
  using typename Base::ConstVectors;
  using typename Base::Entries;
  using typename Base::Vectors;

  /// Computes every entry. As make_direct_operator(); request.execution.partition is taken as points. Throws RunError
  /// when memory, or `memory_limit` in bytes, does not suffice for products with `vectors` at once too, with the remedy
  /// (AgreedFailure on several ranks). Collective.
  StoredOperator(const ExecutionSpace& space, const PrismSource& prisms, const PointColumns& points,
                 const Request& request, StoredPrecision precision, const Communicator& communicator,
                 const std::optional<std::int64_t>& memory_limit, std::int64_t vectors)
      : StoredOperator(space, *make_direct_operator(space, prisms, points, by_points(request), communicator), precision,
                       communicator, memory_limit, vectors) {}

  [[nodiscard]] std::int64_t bytes() const noexcept override { return m_matrix ? m_matrix->bytes() : 0; }

private:
  StoredOperator(const ExecutionSpace& space, Direct& direct, StoredPrecision precision,
                 const Communicator& communicator, const std::optional<std::int64_t>& memory_limit,
                 std::int64_t vectors)
      : Base(communicator, direct.fields(), direct.plan(), direct.error_bound() + storage_error(precision)) {
    const std::int64_t available = within_limit(available_memory<ExecutionSpace>(communicator), memory_limit);
    on_all_ranks(this->m_all_ranks, [&] {
      if (this->rows() == 0 || this->columns() == 0) return;
      const std::int64_t needed =
          bytes_to_store(precision, this->fields().size(), this->points().size(), this->columns(), vectors);
      const auto refuse = [&](std::int64_t free) {
        const std::string shortage = storage_shortage(needed, free, precision);
        if (!shortage.empty()) throw RunError(shortage);
      };
      refuse(available);
      try {
        fill(space, direct, precision);
      } catch (const AllocationFailure&) {
        refuse(std::min(needed - 1, available));
      }
    });
    memory_of_space(this->m_plan) += bytes();
    this->count_scratch();
  }

  [[nodiscard]] std::int64_t scratch_bytes() const noexcept override {
    return m_matrix ? m_matrix->scratch_bytes() : 0;
  }

  void fill(const ExecutionSpace& space, Direct& direct, StoredPrecision precision) {
    const std::int64_t n_fields = this->fields().size(), n_points = this->points().size(), columns = this->columns();
    m_matrix = make_stored_matrix<ExecutionSpace>(precision, this->rows(), columns);
    const std::int64_t at_once = points_at_once(n_fields, columns, n_points);
    typename Base::Vector scratch;
    allocate_or_fail([&] {
      scratch = decltype(scratch)(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("entries")),
                                  static_cast<std::size_t>(n_fields * at_once * columns));
    });
    for (std::int64_t first = 0; first < n_points; first += at_once) {
      const std::int64_t end = std::min(first + at_once, n_points);
      const Entries entries(scratch.data(), n_fields, end - first, columns);
      direct.entries(space, {first, end}, entries);
      m_matrix->keep(space, {entries, first, n_points});
    }
    space.fence("prismfield: sensitivities kept");
  }

  void multiply_rows(const ExecutionSpace& space, const ConstVectors& density, const Vectors& fields) override {
    m_matrix ? m_matrix->multiply(space, density, fields) : Kokkos::deep_copy(space, fields, 0.0);
  }
  void multiply_columns(const ExecutionSpace& space, const ConstVectors& fields, const Vectors& density) override {
    m_matrix ? m_matrix->multiply_transposed(space, fields, density) : Kokkos::deep_copy(space, density, 0.0);
  }
  void sum_squares(const ExecutionSpace& space, const ConstVectors& weights, const Vectors& diagonal) override {
    m_matrix ? m_matrix->diagonal(space, weights, diagonal) : Kokkos::deep_copy(space, diagonal, 0.0);
  }
  void read_entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) override {
    m_matrix->read(space, {entries, points.begin, this->points().size()});
  }

  /// none without rows or columns
  std::unique_ptr<StoredMatrix<ExecutionSpace>> m_matrix;
};

}  // namespace prismfield
