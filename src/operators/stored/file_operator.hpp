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
#include <prismfield/row_store.hpp>

#include "base/interrupt.hpp"
#include "compute/operator_plan.hpp"
#include "compute/vector_functors.hpp"
#include "engine/staged_prisms.hpp"
#include "engine/with_space.hpp"
#include "operators/stored/storage_choice.hpp"
#include "operators/stored/stored_operator.hpp"

namespace prismfield {

/// How the rows came into their file.
struct RowFileReport {
  /// the file was there already
  bool used_again = false;
  /// of computing and writing it, or of opening it
  double seconds = 0;
};

/// Computes this rank's rows block by block and hands them to the sink. Throws what the sink throws, and Stopped.
/// Not collective.
template <class Space>
void write_rows(const Space& space, Operator<Space>& op, RowSink& sink) {
  using Entries = typename Operator<Space>::Entries;
  using HostVector = Kokkos::View<double*, Kokkos::HostSpace>;
  const std::int64_t n_fields = op.fields().size(), n_points = op.points().size(), columns = op.columns();
  if (n_fields * n_points * columns == 0) return;
  const std::int64_t at_once = points_at_once(n_fields, columns, n_points);
  const auto room = static_cast<std::size_t>(n_fields * at_once * columns);
  typename Operator<Space>::Vector scratch;
  HostVector host;
  allocate_or_fail([&] {
    scratch = decltype(scratch)(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("entries")), room);
    host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, Kokkos::HostSpace(), scratch);
  });
  for (std::int64_t first = 0; first < n_points; first += at_once) {
    throw_if_interrupted();
    const IndexRange some{first, std::min(first + at_once, n_points)};
    op.entries(space, some, Entries(scratch.data(), n_fields, some.size(), columns));
    Kokkos::deep_copy(space, host, scratch);
    space.fence("prismfield: entries on the host");
    const std::int64_t of_field = some.size() * columns;
    for (std::int64_t f = 0; f < n_fields; ++f) {
      const std::span<const double> rows(host.data() + f * of_field, static_cast<std::size_t>(of_field));
      sink.write(f, {op.points().begin + some.begin, op.points().begin + some.end}, rows);
    }
  }
}

/// Where the n rows of a block are: number i of the stream's scratch, `block` numbers a vector, is a row of this rank's
/// from `at` on.
struct BlockRows {
  std::int64_t n, at, block;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool has(std::int64_t i) const { return i % block < n; }
  /// The number's place among the vectors of this rank's rows.
  template <class View>
  [[nodiscard]] KOKKOS_INLINE_FUNCTION auto& of(const View& all, std::int64_t i) const {
    return all(at + i % block, i / block);
  }
};

/// to(place of i) = factor * from(i)
template <class Memory>
struct ScaleRows {
  const double* from;
  double factor;
  BlockRows rows;
  Kokkos::View<double**, Kokkos::LayoutLeft, Memory> to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (rows.has(i)) rows.of(to, i) = factor * from[i];
  }
};

/// to(i) = factor * from(place of i), 0 behind the last of the block
template <class Memory>
struct TakeRows {
  Kokkos::View<const double**, Kokkos::LayoutLeft, Memory> from;
  double factor;
  BlockRows rows;
  double* to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = rows.has(i) ? factor * rows.of(from, i) : 0; }
};

/// values(i) *= factor * weights(place of i), 0 behind the last of the block
template <class Memory>
struct WeighRows {
  Kokkos::View<const double**, Kokkos::LayoutLeft, Memory> weights;
  double factor;
  BlockRows rows;
  double* values;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    values[i] = rows.has(i) ? factor * rows.of(weights, i) * values[i] : 0;
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
  using Vectors = Kokkos::View<double**, Kokkos::LayoutLeft, Memory>;
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
  /// Of the first n vectors that there is room for: (rows of a block, n) and (columns, n).
  [[nodiscard]] Vectors rows(std::size_t n) const {
    return Vectors(m_rows.data(), static_cast<std::size_t>(m_block_rows), n);
  }
  [[nodiscard]] Vectors sums(std::size_t n) const {
    return Vectors(m_sums.data(), static_cast<std::size_t>(m_columns), n);
  }
  /// Where the rows of a block are among this rank's.
  [[nodiscard]] BlockRows places(const RowBlock& block) const {
    return {block.points.size(), block.field * m_points.size() + block.points.begin, m_block_rows};
  }
  [[nodiscard]] std::int64_t host_bytes() const noexcept {
    return static_cast<std::int64_t>(2 * m_buffers[0].size() + m_doubles.size() * sizeof(double));
  }
  [[nodiscard]] std::int64_t space_bytes() const noexcept {
    return static_cast<std::int64_t>(m_entries.size() * sizeof(double)) + m_matrix->bytes();
  }
  /// Of products, in the space's memory.
  [[nodiscard]] std::int64_t scratch_bytes() const noexcept {
    return static_cast<std::int64_t>((m_rows.size() + m_sums.size()) * sizeof(double)) + m_matrix->scratch_bytes();
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

/// G in a file: products read it block by block of rows, the next while one is used, so that memory holds a few blocks
/// whatever the size of G; once for all vectors. Products add in an order that does not change with the number of
/// threads. Its error bound is that of the direct operator and of the file's numbers together.
template <class ExecutionSpace>
class FileOperator final : public RankOperator<ExecutionSpace> {
public:
  using Base = RankOperator<ExecutionSpace>;
  using typename Base::ConstVectors;
  using typename Base::Entries;
  using typename Base::Indices;
  using typename Base::Memory;
  using typename Base::Vectors;

  /// Takes the file if it is there, else computes every entry and writes it; `prisms` are the columns that the store
  /// knows. `rows.request` as that of make_direct_operator(); its partition is taken as points. The store must outlive
  /// it. Throws as make_direct_operator() and the store do. Collective.
  FileOperator(const ExecutionSpace& space, const PrismSource& prisms, RowFile rows, RowStore& store,
               const Communicator& communicator, RowFileReport& report)
      : FileOperator(rows, open(space, prisms, rows, store, communicator, report), communicator, report) {}

  /// In the file.
  [[nodiscard]] std::int64_t bytes() const noexcept override {
    return this->rows() * this->columns() * (m_source->precision() == StoredPrecision::double_ ? 8 : 4);
  }

private:
  /// A complete file, and how this rank computes.
  struct Opened {
    std::unique_ptr<RowSource> source;
    Plan plan;
    Kokkos::Timer timer;
  };

  [[nodiscard]] static Opened open(const ExecutionSpace& space, const PrismSource& prisms, RowFile& rows,
                                   RowStore& store, const Communicator& communicator, RowFileReport& report) {
    Opened opened;
    rows.request = by_points(rows.request);
    opened.source = store.open(rows);
    report.used_again = opened.source != nullptr;
    if (report.used_again) {
      const Space key = key_of(space, rows.request.execution.space);
      opened.plan = plan_operator(key, prisms, rows.points, rows.request, communicator).plan;
      return opened;
    }
    const std::unique_ptr<RowSink> sink = store.create(rows);
    const auto direct = make_direct_operator(space, prisms, rows.points, rows.request, communicator);
    opened.plan = direct->plan();
    on_all_ranks(communicator, [&] { write_rows(space, *direct, *sink); });
    sink->complete();
    opened.source = store.open(rows);
    if (!opened.source) throw RunError(rows.file.string() + ": it is gone though it was just written");
    return opened;
  }

  FileOperator(const RowFile& rows, Opened opened, const Communicator& communicator, RowFileReport& report)
      : Base(communicator, rows.request.fields, opened.plan,
             error_bound_of(rows.request.execution.precision) + storage_error(rows.precision)),
        m_source(std::move(opened.source)) {
    on_all_ranks(this->m_all_ranks, [&] {
      if (this->rows() == 0 || this->columns() == 0) return;
      m_stream = std::make_unique<RowStream<ExecutionSpace>>(*m_source, this->fields().size(), this->points());
      memory_of_space(this->m_plan) += m_stream->space_bytes();
      this->m_plan.host_bytes += m_stream->host_bytes();
    });
    this->count_scratch();
    report.seconds = opened.timer.seconds();
  }

  [[nodiscard]] std::int64_t scratch_bytes() const noexcept override {
    return m_stream ? m_stream->scratch_bytes() : 0;
  }
  void multiply_rows(const ExecutionSpace& space, const ConstVectors& density, const Vectors& fields) override {
    if (!m_stream) return Kokkos::deep_copy(space, fields, 0.0);
    m_stream->make_room(density.extent_int(1));
    const Vectors of_rows = m_stream->rows(density.extent(1));
    m_stream->each(space, [&](const RowBlock& block) {
      m_stream->matrix().multiply(space, density, of_rows);
      Kokkos::parallel_for(
          "prismfield::scale_rows", Indices(space, 0, of_rows.size()),
          ScaleRows<Memory>{of_rows.data(), m_source->to_si(block.field), m_stream->places(block), fields});
    });
  }

  /// out = the sum over blocks of what multiply(block's rows, product) makes of a block's `rows` times
  /// factor(field).
  template <class Factor, class Multiply>
  void add_columns(const ExecutionSpace& space, const ConstVectors& rows, const Vectors& out, const Factor& factor,
                   const Multiply& multiply) {
    Kokkos::deep_copy(space, out, 0.0);
    if (!m_stream) return;
    m_stream->make_room(rows.extent_int(1));
    const Vectors of_rows = m_stream->rows(rows.extent(1)), sums = m_stream->sums(rows.extent(1));
    m_stream->each(space, [&](const RowBlock& block) {
      Kokkos::parallel_for(
          "prismfield::take_rows", Indices(space, 0, of_rows.size()),
          TakeRows<Memory>{rows, factor(m_source->to_si(block.field)), m_stream->places(block), of_rows.data()});
      multiply(of_rows, sums);
      add_vectors(space, 1, this->flat(sums), 1, this->flat(out));
    });
  }

  void multiply_columns(const ExecutionSpace& space, const ConstVectors& fields, const Vectors& density) override {
    add_columns(
        space, fields, density, [](double to_si) { return to_si; },
        [&](const Vectors& rows, const Vectors& sums) { m_stream->matrix().multiply_transposed(space, rows, sums); });
  }
  void sum_squares(const ExecutionSpace& space, const ConstVectors& weights, const Vectors& diagonal) override {
    add_columns(
        space, weights, diagonal, [](double to_si) { return to_si * to_si; },
        [&](const Vectors& rows, const Vectors& sums) { m_stream->matrix().diagonal(space, rows, sums); });
  }

  bool multiply_normal(const ExecutionSpace& space, double alpha, const ConstVectors& weights,
                       const ConstVectors& density, double beta, const Vectors& product) override {
    const auto of_ranks = [&](const ConstVectors& in, const Vectors& out) {
      check_length("weights", weights.extent(0), this->rows());
      check_vectors("weights", weights.extent(1), "density", in.extent(1));
      check_apart("product", product.data(), this->reach(product), weights.data(), this->reach(weights));
      Kokkos::deep_copy(space, out, 0.0);
      if (!m_stream) return;
      m_stream->make_room(in.extent_int(1));
      const Vectors of_rows = m_stream->rows(in.extent(1)), sums = m_stream->sums(in.extent(1));
      m_stream->each(space, [&](const RowBlock& block) {
        const double factor = m_source->to_si(block.field);
        m_stream->matrix().multiply(space, in, of_rows);
        Kokkos::parallel_for("prismfield::weigh_rows", Indices(space, 0, of_rows.size()),
                             WeighRows<Memory>{weights, factor * factor, m_stream->places(block), of_rows.data()});
        m_stream->matrix().multiply_transposed(space, of_rows, sums);
        add_vectors(space, 1, this->flat(sums), 1, this->flat(out));
      });
    };
    this->product(space, alpha, {"density", density, this->columns()}, beta, {"product", product, this->columns()},
                  this->m_same_prisms, of_ranks);
    return true;
  }

  void read_entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) override {
    const RowSource& source = *m_source;
    const bool is_double = source.precision() == StoredPrecision::double_;
    const auto columns = static_cast<std::size_t>(this->columns());
    std::vector<std::byte> row(columns * (is_double ? sizeof(double) : sizeof(float)));
    std::vector<double> values(columns);
    const IndexRange mine = this->points();
    for (std::int64_t f = 0; f < this->fields().size(); ++f) {
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
        const typename Base::Vector to(entries.data() + row_number * columns, columns);
        copy_in<ExecutionSpace>(space, values, to);
        space.fence("prismfield: row in place");
      }
    }
  }

  std::unique_ptr<RowSource> m_source;
  /// none without rows or columns
  std::unique_ptr<RowStream<ExecutionSpace>> m_stream;
};

}  // namespace prismfield
