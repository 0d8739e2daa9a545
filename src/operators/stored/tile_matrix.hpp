// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/machine.hpp"
#include "engine/staged_prisms.hpp"
#include "operators/stored/tile_kernels.hpp"

namespace prismfield {

/// This rank's rows and columns of G, kept as one kind of number or another. Work is put on the space that a function
/// is given and may still be under way when it returns. Sums are double, in one order whatever the number of threads.
template <class Space>
class StoredMatrix {
public:
  using Memory = typename Space::memory_space;
  using Vectors = Kokkos::View<double**, Kokkos::LayoutLeft, Memory>;
  using ConstVectors = Kokkos::View<const double**, Kokkos::LayoutLeft, Memory>;

  virtual ~StoredMatrix() = default;
  /// Keeps the rows of some points, of every field.
  virtual void keep(const Space& space, const EntryRows<Memory>& rows) = 0;
  /// Gives them back.
  virtual void read(const Space& space, const EntryRows<Memory>& rows) const = 0;
  /// fields (rows, vector) = G density (columns, vector), the vectors one behind another; each as it is alone. More
  /// than one at first asks for memory: throws AllocationFailure.
  virtual void multiply(const Space& space, const ConstVectors& density, const Vectors& fields) = 0;
  /// density (columns, vector) = G' fields (rows, vector), likewise.
  virtual void multiply_transposed(const Space& space, const ConstVectors& fields, const Vectors& density) = 0;
  /// The diagonals (columns, vector) of G' diag(weights) G, likewise.
  virtual void diagonal(const Space& space, const ConstVectors& weights, const Vectors& diagonal) = 0;
  /// of entries and scales
  [[nodiscard]] virtual std::int64_t bytes() const noexcept = 0;
  /// of what products need beside them, of as many vectors as there were at most
  [[nodiscard]] virtual std::int64_t scratch_bytes() const noexcept = 0;
};

/// G in tiles of columns, as double, float or Half. The error of a half is 2^-11 of the entry or 2^-29 of the largest
/// entry of its row within its tile, whichever is larger; of a float 2^-24 of the entry. Products in both directions
/// work tile by tile, so that no two threads write to one place.
template <class Space, class Real>
class TileMatrix final : public StoredMatrix<Space> {
public:
  using typename StoredMatrix<Space>::Memory;
  using typename StoredMatrix<Space>::Vectors;
  using typename StoredMatrix<Space>::ConstVectors;

  /// At least one row and column. Throws AllocationFailure.
  TileMatrix(std::int64_t rows, std::int64_t columns) {
    m_matrix.shape = {rows, columns};
    const TileShape& shape = m_matrix.shape;
    constexpr bool device = is_device_space<Space>;
    constexpr int rows_of_team = DeviceProducts<1>::threads * RowSums<1>::rows;
    m_row_parts = RowParts::of(shape, device ? 8192 : 1024, device ? rows_of_team : 16);
    m_column_parts = RowParts::of(shape, device ? 8192 : 1024, least_rows_of_part);
    const auto padded = static_cast<std::size_t>(shape.padded());
    const auto tile_rows = static_cast<std::size_t>(shape.tile_rows());
    allocate_or_fail([&] {
      m_matrix.values = decltype(m_matrix.values)(new_view("sensitivities"), static_cast<std::size_t>(rows) * padded);
      if (StoredNumber<Real>::scaled) {
        m_matrix.scales = decltype(m_matrix.scales)(new_view("sensitivity_scales"), tile_rows);
      }
    });
    make_room(1);
    if constexpr (!device) ask_for_huge_pages(m_matrix.values.data(), m_matrix.values.size() * sizeof(Real));
  }

  void keep(const Space& space, const EntryRows<Memory>& rows) override {
    using Functor = KeepRows<Space, Real>;
    const std::int64_t league = m_matrix.shape.tiles() * rows.rows();
    if (league == 0) return;
    Kokkos::parallel_for("prismfield::keep_rows",
                         typename Functor::Policy(space, static_cast<int>(league), is_device_space<Space> ? 128 : 1),
                         Functor{m_matrix, rows});
  }

  void read(const Space& space, const EntryRows<Memory>& rows) const override {
    Kokkos::parallel_for("prismfield::read_rows", IndexPolicy(space, 0, rows.rows() * m_matrix.shape.columns),
                         ReadRows<Memory, Real>{m_matrix, rows});
  }

  void multiply(const Space& space, const ConstVectors& density, const Vectors& fields) override {
    some_at_once(density, fields,
                 [&](const ConstVector& in, int vectors, const Vector& out) { add_rows(space, vectors, in, out); });
  }
  void multiply_transposed(const Space& space, const ConstVectors& fields, const Vectors& density) override {
    some_at_once(fields, density, [&](const ConstVector& in, int vectors, const Vector& out) {
      add_columns<false>(space, vectors, in, out);
    });
  }
  void diagonal(const Space& space, const ConstVectors& weights, const Vectors& diagonal) override {
    some_at_once(weights, diagonal, [&](const ConstVector& in, int vectors, const Vector& out) {
      add_columns<true>(space, vectors, in, out);
    });
  }

  [[nodiscard]] std::int64_t bytes() const noexcept override {
    return static_cast<std::int64_t>(m_matrix.values.size() * sizeof(Real) + m_matrix.scales.size() * sizeof(double));
  }
  [[nodiscard]] std::int64_t scratch_bytes() const noexcept override {
    return static_cast<std::int64_t>((m_density.size() + m_tile_sums.size() + m_part_sums.size()) * sizeof(double));
  }

private:
  using Vector = Kokkos::View<double*, Memory>;
  using ConstVector = Kokkos::View<const double*, Memory>;
  template <int most>
  using DeviceProducts = DeviceRowProducts<Space, Real, most>;
  using IndexPolicy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  /// Every thread has the same part of the memory in every product.
  using ItemPolicy = Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>;

  static auto new_view(const char* what) { return Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label(what)); }
  [[nodiscard]] int teams(const RowParts& cut) const { return static_cast<int>(m_matrix.shape.tiles() * cut.parts); }

  /// Scratch of products with so many vectors.
  void make_room(int vectors) {
    if (vectors <= m_room) return;
    const TileShape& shape = m_matrix.shape;
    const auto n = static_cast<std::size_t>(vectors), padded = static_cast<std::size_t>(shape.padded());
    const std::int64_t densities = is_device_space<Space> ? LaneOrder<Real>::length(shape) : shape.padded();
    allocate_or_fail([&] {
      // zeros, which padding stays
      m_density = Vector(view_label("padded_density"), n * static_cast<std::size_t>(densities));
      m_tile_sums = Vector(new_view("sums_of_tiles"), n * static_cast<std::size_t>(shape.tile_rows()));
      m_part_sums =
          decltype(m_part_sums)(new_view("sums_of_rows"), n, static_cast<std::size_t>(m_column_parts.parts), padded);
    });
    m_room = vectors;
  }

  /// f(in, number, out) until all vectors are through; each of its Views has so many, one behind another.
  template <class F>
  void some_at_once(const ConstVectors& in, const Vectors& out, const F& f) {
    const auto n = static_cast<std::int64_t>(in.extent(1));
    make_room(static_cast<int>(std::min<std::int64_t>(n, most_vectors)));
    const ConstVector all_in(in.data(), in.size());
    const Vector all_out(out.data(), out.size());
    for (std::int64_t first = 0; first < n; first += most_vectors) {
      const int vectors = static_cast<int>(std::min<std::int64_t>(n - first, most_vectors));
      f(some_of(all_in, first, vectors, static_cast<std::int64_t>(in.extent(0))), vectors,
        some_of(all_out, first, vectors, static_cast<std::int64_t>(out.extent(0))));
    }
  }
  template <class View>
  static View some_of(const View& vectors, std::int64_t first, int n, std::int64_t length) {
    return Kokkos::subview(vectors, std::make_pair(first * length, (first + n) * length));
  }

  void add_rows(const Space& space, int vectors, const ConstVector& density, const Vector& fields) {
    const TileShape& shape = m_matrix.shape;
    if constexpr (is_device_space<Space>) {
      Kokkos::parallel_for("prismfield::order_for_lanes", IndexPolicy(space, 0, vectors * shape.columns),
                           OrderForLanes<Memory, Real>{shape, density, m_density});
      if (vectors == 1) {
        device_rows<1>(space, vectors);
      } else {
        device_rows<most_vectors>(space, vectors);
      }
    } else {
      for (std::int64_t v = 0; v < vectors; ++v) {
        const auto to =
            Kokkos::subview(m_density, std::make_pair(v * shape.padded(), v * shape.padded() + shape.columns));
        Kokkos::deep_copy(space, to, some_of(density, v, 1, shape.columns));
      }
      Kokkos::parallel_for("prismfield::row_products", ItemPolicy(space, 0, shape.tiles() * m_row_parts.parts),
                           HostRowProducts<Memory, Real>{m_matrix, m_row_parts, m_density, m_tile_sums, vectors});
    }
    Kokkos::parallel_for("prismfield::add_tiles", IndexPolicy(space, 0, vectors * shape.rows),
                         AddInOrder<Memory>{m_tile_sums.data(), shape.tiles(), shape.rows, shape.rows, fields});
  }

  template <int most>
  void device_rows(const Space& space, int vectors) {
    using Functor = DeviceProducts<most>;
    Kokkos::parallel_for("prismfield::row_products",
                         typename Functor::Policy(space, teams(m_row_parts), Functor::threads, Functor::lanes),
                         Functor{m_matrix, m_row_parts, m_density, m_tile_sums, vectors});
  }

  template <bool squares>
  void add_columns(const Space& space, int vectors, const ConstVector& factors, const Vector& out) {
    const TileShape& shape = m_matrix.shape;
    if constexpr (is_device_space<Space>) {
      if (vectors == 1) {
        device_columns<squares, 1>(space, vectors, factors);
      } else {
        device_columns<squares, most_vectors>(space, vectors, factors);
      }
    } else {
      Kokkos::parallel_for(
          squares ? "prismfield::column_squares" : "prismfield::column_sums",
          ItemPolicy(space, 0, shape.tiles() * m_column_parts.parts),
          HostColumnSums<Memory, Real, squares>{m_matrix, m_column_parts, factors, m_part_sums, vectors});
    }
    Kokkos::parallel_for(
        "prismfield::add_row_parts", IndexPolicy(space, 0, vectors * shape.columns),
        AddInOrder<Memory>{m_part_sums.data(), m_column_parts.parts, shape.padded(), shape.columns, out});
  }

  template <bool squares, int most>
  void device_columns(const Space& space, int vectors, const ConstVector& factors) {
    using Functor = DeviceColumnSums<Space, Real, squares, most>;
    Kokkos::parallel_for(squares ? "prismfield::column_squares" : "prismfield::column_sums",
                         typename Functor::Policy(space, teams(m_column_parts), Functor::threads),
                         Functor{m_matrix, m_column_parts, factors, m_part_sums, vectors});
  }

  TileData<Real, Memory> m_matrix;
  RowParts m_row_parts, m_column_parts;
  /// vectors that there is scratch for
  int m_room = 0;
  /// (vector, padded columns), of a device (vector, tile, place); (vector, tile, row)
  Vector m_density, m_tile_sums;
  /// (vector, part, padded columns)
  Kokkos::View<double***, Kokkos::LayoutRight, Memory> m_part_sums;
};

}  // namespace prismfield
