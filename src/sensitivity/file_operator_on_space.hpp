// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "compute/operator_plan.hpp"
#include "compute/rank_sums.hpp"
#include "compute/vector_functors.hpp"
#include "engine/instances/with_space.hpp"
#include "parallel/collectives.hpp"
#include "sensitivity/file_operator.hpp"
#include "sensitivity/stored_operator_on_space.hpp"
#include "sensitivity/write_rows.hpp"

/// The bodies of FileOperator; instantiated in one source file a space.
namespace prismfield {

/// Where the n rows of a block are: `block` numbers a vector in the stream's scratch, `all` a vector of this rank's
/// rows, from `at` on in each.
struct BlockRows {
  std::int64_t n, at, block, all;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool has(std::int64_t i) const { return i % block < n; }
  /// the place of number i of the scratch among this rank's rows
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t place(std::int64_t i) const {
    return i / block * all + at + i % block;
  }
};

/// to(place of i) = factor * from(i)
template <class Memory>
struct ScaleRows {
  Kokkos::View<const double*, Memory> from;
  double factor;
  BlockRows rows;
  Kokkos::View<double*, Memory> to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (rows.has(i)) to(rows.place(i)) = factor * from(i);
  }
};

/// to(i) = factor * from(place of i), 0 behind the last of the block
template <class Memory>
struct TakeRows {
  Kokkos::View<const double*, Memory> from;
  double factor;
  BlockRows rows;
  Kokkos::View<double*, Memory> to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to(i) = rows.has(i) ? factor * from(rows.place(i)) : 0; }
};

/// values(i) *= factor * weights(place of i), 0 behind the last of the block
template <class Memory>
struct WeighRows {
  Kokkos::View<const double*, Memory> weights;
  double factor;
  BlockRows rows;
  Kokkos::View<double*, Memory> values;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    values(i) = rows.has(i) ? factor * weights(rows.place(i)) * values(i) : 0;
  }
};

/// Rows of one field that are in memory at once; points of this rank.
struct RowBlock {
  std::int64_t field = 0;
  IndexRange points;
};

/// Passes a rank's rows through memory, block by block.
template <class Space>
class RowStream {
public:
  using Memory = typename Space::memory_space;
  using Vector = Kokkos::View<double*, Memory>;
  using Entries = Kokkos::View<double***, Kokkos::LayoutRight, Memory>;

  /// At least one row and column. `points`: this rank's, of all. Throws AllocationFailure.
  RowStream(const RowSource& source, std::int64_t n_fields, IndexRange points)
      : m_source(source), m_points(points), m_columns(source.columns()) {
    constexpr std::int64_t most_bytes = std::int64_t{64} << 20;
    const std::int64_t most = most_bytes / (m_columns * std::int64_t{sizeof(double)});
    m_block_rows = std::clamp<std::int64_t>(most, 1, points.size());
    for (std::int64_t f = 0; f < n_fields; ++f) {
      for (std::int64_t first = 0; first < points.size(); first += m_block_rows) {
        m_blocks.push_back({f, {first, std::min(first + m_block_rows, points.size())}});
      }
    }
    const auto values = static_cast<std::size_t>(m_block_rows * m_columns);
    allocate_or_fail([&] {
      for (auto& buffer : m_buffers) buffer.resize(values * number_bytes());
      if (!is_read_in_place())
        m_entries = Vector(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("rows")), values);
      if (!is_double()) m_doubles.resize(values);
    });
    make_room(1);
    m_matrix = make_stored_matrix<Space>(source.precision(), m_block_rows, m_columns);
  }

  [[nodiscard]] std::int64_t block_rows() const noexcept { return m_block_rows; }
  [[nodiscard]] StoredMatrix<Space>& matrix() noexcept { return *m_matrix; }
  /// Scratch of products with n vectors. Throws AllocationFailure.
  void make_room(std::int64_t n) {
    if (n <= m_room) return;
    allocate_or_fail([&] {
      m_rows = Vector(view_label("rows_of_block"), static_cast<std::size_t>(n * m_block_rows));
      m_sums = Vector(view_label("columns_of_block"), static_cast<std::size_t>(n * m_columns));
    });
    m_room = n;
  }
  /// Of the first n vectors that there is room for: (n, block_rows()) and (n, columns).
  [[nodiscard]] Vector rows(std::int64_t n) const {
    return Kokkos::subview(m_rows, std::make_pair(std::int64_t{0}, n * m_block_rows));
  }
  [[nodiscard]] Vector sums(std::int64_t n) const {
    return Kokkos::subview(m_sums, std::make_pair(std::int64_t{0}, n * m_columns));
  }
  [[nodiscard]] std::int64_t host_bytes() const noexcept {
    return static_cast<std::int64_t>(2 * m_buffers[0].size() + m_doubles.size() * sizeof(double));
  }
  [[nodiscard]] std::int64_t space_bytes() const noexcept {
    return static_cast<std::int64_t>(m_entries.size() * sizeof(double)) + m_matrix->bytes();
  }

  /// Calls f(block) with the matrix holding its rows, first ones; further rows of the matrix are those of a block
  /// before it. Throws what reading throws.
  template <class F>
  void each(const Space& space, const F& f) {
    if (m_holds_all) return f(m_blocks.front());
    std::future<void> next = reading(0);
    for (std::size_t b = 0; b < m_blocks.size(); ++b) {
      next.get();
      if (b + 1 < m_blocks.size()) next = reading(b + 1);
      keep(space, m_blocks[b], m_buffers[b % 2]);
      f(m_blocks[b]);
      // the buffer is read into again
      space.fence("prismfield: rows used");
    }
    // one block stays where it is
    if (m_blocks.size() > 1) return;
    m_holds_all = true;
    m_buffers = {};
    m_doubles = {};
    m_entries = {};
  }

private:
  using Bytes = std::vector<std::byte>;

  [[nodiscard]] bool is_double() const noexcept { return m_source.precision() == StoredPrecision::double_; }
  [[nodiscard]] std::size_t number_bytes() const noexcept { return is_double() ? sizeof(double) : sizeof(float); }
  /// The space sees the buffers themselves.
  [[nodiscard]] bool is_read_in_place() const noexcept {
    return is_double() && Kokkos::SpaceAccessibility<Memory, Kokkos::HostSpace>::accessible;
  }

  [[nodiscard]] std::future<void> reading(std::size_t b) {
    const RowBlock& block = m_blocks[b];
    const std::span<std::byte> to(m_buffers[b % 2].data(),
                                  static_cast<std::size_t>(block.points.size() * m_columns) * number_bytes());
    const IndexRange points{m_points.begin + block.points.begin, m_points.begin + block.points.end};
    return std::async(std::launch::async,
                      [this, field = block.field, points, to] { m_source.read(field, points, to); });
  }

  void keep(const Space& space, const RowBlock& block, Bytes& buffer) {
    const auto values = static_cast<std::size_t>(block.points.size() * m_columns);
    const double* doubles = reinterpret_cast<const double*>(buffer.data());
    if (!is_double()) {
      const auto* const floats = reinterpret_cast<const float*>(buffer.data());
      std::copy(floats, floats + values, m_doubles.begin());
      doubles = m_doubles.data();
    }
    double* there = const_cast<double*>(doubles);
    if (!is_read_in_place()) {
      Kokkos::deep_copy(space, Kokkos::subview(m_entries, std::make_pair(std::size_t{0}, values)),
                        OnHost<const double>(doubles, values));
      there = m_entries.data();
    }
    m_matrix->keep(space, {Entries(there, 1, block.points.size(), m_columns), 0, m_block_rows});
  }

  const RowSource& m_source;
  IndexRange m_points;
  std::int64_t m_columns, m_block_rows = 1, m_room = 0;
  std::vector<RowBlock> m_blocks;
  std::array<Bytes, 2> m_buffers;
  std::vector<double> m_doubles;
  Vector m_entries, m_rows, m_sums;
  bool m_holds_all = false;
  std::unique_ptr<StoredMatrix<Space>> m_matrix;
};

template <class ExecutionSpace>
struct FileOperator<ExecutionSpace>::Parts {
  using Memory = typename ExecutionSpace::memory_space;
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

  /// all ranks, and this one: every rank has all columns
  Communicator all_ranks, alone;
  FieldList fields;
  Plan plan;
  double error_bound = 0;
  std::unique_ptr<RowSource> source;
  /// none without rows or columns
  std::unique_ptr<RowStream<ExecutionSpace>> stream;

  Parts(const ExecutionSpace& space, const PrismSource& prisms, RowFile rows, RowStore& store,
        const Communicator& communicator, RowFileReport& report)
      : all_ranks(split(communicator, 0)),
        alone(split(communicator, communicator.rank())),
        fields(rows.request.fields) {
    const Kokkos::Timer timer;
    rows.request = by_points(rows.request);
    source = store.open(rows);
    report.used_again = source != nullptr;
    if (source) {
      plan =
          plan_operator(key_of(space, rows.request.execution.space), prisms, *rows.points, rows.request, communicator)
              .plan;
    } else {
      write(space, prisms, rows, store, communicator);
      source = store.open(rows);
      if (!source) throw RunError(rows.file.string() + ": it is gone though it was just written");
    }
    error_bound = error_bound_of(rows.request.execution.precision) + storage_error(rows.precision);
    on_all_ranks(all_ranks, [&] {
      if (this->rows() == 0 || columns() == 0) return;
      stream = std::make_unique<RowStream<ExecutionSpace>>(*source, fields.size(), plan.points());
      (is_device(plan.space) ? plan.device_bytes : plan.host_bytes) += stream->space_bytes();
      plan.host_bytes += stream->host_bytes();
    });
    report.seconds = timer.seconds();
  }

  [[nodiscard]] std::int64_t rows() const noexcept { return fields.size() * plan.points().size(); }
  [[nodiscard]] std::int64_t columns() const noexcept { return plan.prisms().size(); }

  void write(const ExecutionSpace& space, const PrismSource& prisms, const RowFile& rows, RowStore& store,
             const Communicator& communicator) {
    const std::unique_ptr<RowSink> sink = store.create(rows);
    DirectOperator<ExecutionSpace> direct(space, prisms, *rows.points, rows.request, communicator);
    plan = direct.plan();
    on_all_ranks(all_ranks, [&] { write_rows(space, direct, *sink); });
    sink->complete();
  }

  /// Where the rows of a block are among this rank's.
  [[nodiscard]] BlockRows places(const RowBlock& block) const {
    return {block.points.size(), block.field * plan.points().size() + block.points.begin, stream->block_rows(), rows()};
  }

  /// What a product of these lengths needs, on all ranks; output is 0 without rows and columns.
  template <class Multiply>
  void product(const ExecutionSpace& space, const char* in_key, const ConstVector& in, std::int64_t n_in,
               const char* out_key, const Vector& out, std::int64_t n_out, std::int64_t n, const Multiply& multiply) {
    on_all_ranks(all_ranks, [&] {
      check_product(in_key, in, n_in, out_key, out, n_out);
      Kokkos::deep_copy(space, out, 0.0);
      if (!stream) return;
      stream->make_room(n);
      stream->each(space, multiply);
    });
  }

  /// Adds a block's part of G' diag(weights) G density for n vectors.
  void add_normal(const ExecutionSpace& space, const RowBlock& block, std::int64_t n, const ConstVector& weights,
                  const ConstVector& density, const Vector& sum) {
    check_length("weights", weights.extent(0), n * rows());
    const double factor = source->to_si(block.field);
    const Vector of_rows = stream->rows(n), sums = stream->sums(n);
    stream->matrix().multiply(space, n, density, of_rows);
    Kokkos::parallel_for("prismfield::weigh_rows", Policy(space, 0, n * stream->block_rows()),
                         WeighRows<Memory>{weights, factor * factor, places(block), of_rows});
    stream->matrix().multiply_transposed(space, n, of_rows, sums);
    Kokkos::parallel_for("prismfield::add_part", Policy(space, 0, n * columns()), AddScaled<Memory>{1, sums, sum});
  }

  /// Adds a block's part of a product with the rows: the transposed or the diagonal.
  template <class Multiply>
  void add_columns(const ExecutionSpace& space, const RowBlock& block, std::int64_t n, double factor,
                   const ConstVector& rows, const Vector& sum, const Multiply& multiply) {
    const Vector of_rows = stream->rows(n), sums = stream->sums(n);
    Kokkos::parallel_for("prismfield::take_rows", Policy(space, 0, n * stream->block_rows()),
                         TakeRows<Memory>{rows, factor, places(block), of_rows});
    multiply(stream->matrix(), of_rows, sums);
    Kokkos::parallel_for("prismfield::add_part", Policy(space, 0, n * columns()), AddScaled<Memory>{1, sums, sum});
  }
};

template <class ExecutionSpace>
FileOperator<ExecutionSpace>::FileOperator(const ExecutionSpace& space, const PrismSource& prisms, const RowFile& rows,
                                           RowStore& store, const Communicator& communicator, RowFileReport& report)
    : m_parts(std::make_unique<Parts>(space, prisms, rows, store, communicator, report)) {}

template <class ExecutionSpace>
FileOperator<ExecutionSpace>::~FileOperator() = default;

template <class ExecutionSpace>
FieldList FileOperator<ExecutionSpace>::fields() const noexcept {
  return m_parts->fields;
}
template <class ExecutionSpace>
IndexRange FileOperator<ExecutionSpace>::points() const noexcept {
  return m_parts->plan.points();
}
template <class ExecutionSpace>
IndexRange FileOperator<ExecutionSpace>::prisms() const noexcept {
  return m_parts->plan.prisms();
}

template <class ExecutionSpace>
void FileOperator<ExecutionSpace>::apply(const ExecutionSpace& space, const ConstVector& density,
                                         const Vector& fields) {
  apply_many(space, 1, density, fields);
}

template <class ExecutionSpace>
void FileOperator<ExecutionSpace>::apply_transpose(const ExecutionSpace& space, const ConstVector& fields,
                                                   const Vector& density) {
  apply_transpose_many(space, 1, fields, density);
}

template <class ExecutionSpace>
void FileOperator<ExecutionSpace>::diagonal(const ExecutionSpace& space, const ConstVector& weights,
                                            const Vector& diagonal) {
  diagonal_many(space, 1, weights, diagonal);
}

template <class ExecutionSpace>
bool FileOperator<ExecutionSpace>::apply_normal(const ExecutionSpace& space, const ConstVector& weights,
                                                const ConstVector& density, const Vector& product) {
  return apply_normal_many(space, 1, weights, density, product);
}

template <class ExecutionSpace>
void FileOperator<ExecutionSpace>::apply_many(const ExecutionSpace& space, std::int64_t n, const ConstVector& density,
                                              const Vector& fields) {
  Parts& parts = *m_parts;
  parts.product(
      space, "density", density, n * this->columns(), "fields", fields, n * this->rows(), n,
      [&](const RowBlock& block) {
        const Vector rows = parts.stream->rows(n);
        parts.stream->matrix().multiply(space, n, density, rows);
        Kokkos::parallel_for(
            "prismfield::scale_rows", typename Parts::Policy(space, 0, n * parts.stream->block_rows()),
            ScaleRows<typename Parts::Memory>{rows, parts.source->to_si(block.field), parts.places(block), fields});
      });
}

template <class ExecutionSpace>
void FileOperator<ExecutionSpace>::apply_transpose_many(const ExecutionSpace& space, std::int64_t n,
                                                        const ConstVector& fields, const Vector& density) {
  Parts& parts = *m_parts;
  parts.product(space, "fields", fields, n * this->rows(), "density", density, n * this->columns(), n,
                [&](const RowBlock& block) {
                  parts.add_columns(space, block, n, parts.source->to_si(block.field), fields, density,
                                    [&](auto& matrix, const auto& rows, const auto& sums) {
                                      matrix.multiply_transposed(space, n, rows, sums);
                                    });
                });
  sum_over_ranks(space, parts.all_ranks, density);
}

template <class ExecutionSpace>
void FileOperator<ExecutionSpace>::diagonal_many(const ExecutionSpace& space, std::int64_t n,
                                                 const ConstVector& weights, const Vector& diagonal) {
  Parts& parts = *m_parts;
  parts.product(space, "weights", weights, n * this->rows(), "diagonal", diagonal, n * this->columns(), n,
                [&](const RowBlock& block) {
                  const double factor = parts.source->to_si(block.field);
                  parts.add_columns(
                      space, block, n, factor * factor, weights, diagonal,
                      [&](auto& matrix, const auto& rows, const auto& sums) { matrix.diagonal(space, n, rows, sums); });
                });
  sum_over_ranks(space, parts.all_ranks, diagonal);
}

template <class ExecutionSpace>
bool FileOperator<ExecutionSpace>::apply_normal_many(const ExecutionSpace& space, std::int64_t n,
                                                     const ConstVector& weights, const ConstVector& density,
                                                     const Vector& product) {
  Parts& parts = *m_parts;
  parts.product(space, "density", density, n * this->columns(), "product", product, n * this->columns(), n,
                [&](const RowBlock& block) { parts.add_normal(space, block, n, weights, density, product); });
  sum_over_ranks(space, parts.all_ranks, product);
  return true;
}

template <class ExecutionSpace>
void FileOperator<ExecutionSpace>::entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) {
  check_entries(points, this->points().size(), entries, fields().size(), this->columns());
  if (entries.size() == 0) return;
  const RowSource& source = *m_parts->source;
  const bool is_double = source.precision() == StoredPrecision::double_;
  const auto columns = static_cast<std::size_t>(this->columns());
  std::vector<std::byte> row(columns * (is_double ? sizeof(double) : sizeof(float)));
  std::vector<double> values(columns);
  const IndexRange mine = this->points();
  for (std::int64_t f = 0; f < fields().size(); ++f) {
    const double factor = source.to_si(f);
    for (std::int64_t i = points.begin; i < points.end; ++i) {
      source.read(f, {mine.begin + i, mine.begin + i + 1}, row);
      const auto scaled = [&](const auto* from) {
        std::transform(from, from + columns, values.begin(), [=](double x) { return factor * x; });
      };
      if (is_double) {
        scaled(reinterpret_cast<const double*>(row.data()));
      } else {
        scaled(reinterpret_cast<const float*>(row.data()));
      }
      const auto row_number = static_cast<std::size_t>(f * points.size() + i - points.begin);
      const Vector to(entries.data() + row_number * columns, columns);
      copy_in<ExecutionSpace>(space, values, to);
      space.fence("prismfield: row in place");
    }
  }
}

template <class ExecutionSpace>
double FileOperator<ExecutionSpace>::dot_fields(const ExecutionSpace& space, const ConstVector& a,
                                                const ConstVector& b) {
  return dot_over_ranks(space, m_parts->all_ranks, m_parts->all_ranks, a, b, this->rows());
}

template <class ExecutionSpace>
double FileOperator<ExecutionSpace>::dot_densities(const ExecutionSpace& space, const ConstVector& a,
                                                   const ConstVector& b) {
  return dot_over_ranks(space, m_parts->all_ranks, m_parts->alone, a, b, this->columns());
}

template <class ExecutionSpace>
double FileOperator<ExecutionSpace>::error_bound() const noexcept {
  return m_parts->error_bound;
}
template <class ExecutionSpace>
const Plan& FileOperator<ExecutionSpace>::plan() const noexcept {
  return m_parts->plan;
}
template <class ExecutionSpace>
std::int64_t FileOperator<ExecutionSpace>::bytes() const noexcept {
  const std::int64_t number = m_parts->source->precision() == StoredPrecision::double_ ? 8 : 4;
  return m_parts->rows() * m_parts->columns() * number;
}

}  // namespace prismfield
