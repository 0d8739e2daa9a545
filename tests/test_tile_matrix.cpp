// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Stored matrices against plain sums over what they hold, in every space and precision, at sizes around those of tiles.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "operators/stored/storage_choice.hpp"
#include "operators/stored/tile_matrix.hpp"

namespace prismfield::testing::test_tile_matrix {
namespace {

double uniform(std::uint64_t seed, std::int64_t number, double low, double high) {
  return random_uniform(low, high, seed, RandomStream::cell_density, static_cast<std::uint64_t>(number));
}

std::vector<double> values(std::int64_t n, std::uint64_t seed) {
  std::vector<double> all(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = uniform(seed, i, -1, 1);
  return all;
}

/// Entries of either sign that differ by many orders of magnitude, as those of near and far cells do.
std::vector<double> spread_entries(std::int64_t n) {
  std::vector<double> all(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    all[static_cast<std::size_t>(i)] = uniform(1, i, -1, 1) * std::pow(10, uniform(2, i, -20, -11));
  }
  return all;
}

struct Size {
  std::int64_t rows, columns;
};
const Size sizes[] = {{1, 1},   {1, 700}, {700, 1},   {4, 32},     {5, 33},    {3, 511},
                      {2, 512}, {9, 513}, {131, 544}, {1030, 545}, {67, 2048}, {2, 70'001}};

template <class S, class R>
struct Kind {
  using Space = S;
  using Real = R;
};

template <class K>
class TileMatrixOf : public ::testing::Test {
protected:
  using Space = typename K::Space;
  using Real = typename K::Real;
  using Matrix = TileMatrix<Space, Real>;
  using Vector = Kokkos::View<double*, typename Matrix::Memory>;
  using Entries = Kokkos::View<double***, Kokkos::LayoutRight, typename Space::memory_space>;

  static constexpr StoredPrecision precision = sizeof(Real) == 8   ? StoredPrecision::double_
                                               : sizeof(Real) == 4 ? StoredPrecision::float_
                                                                   : StoredPrecision::float16;

  static Vector on_space(const std::vector<double>& from) {
    Vector to("values", from.size());
    Kokkos::deep_copy(
        to, Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
    return to;
  }
  static std::vector<double> on_host(const double* from, std::size_t n) {
    std::vector<double> to(n);
    Kokkos::deep_copy(Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(to.data(), n),
                      Kokkos::View<const double*, typename Space::memory_space, Kokkos::MemoryUnmanaged>(from, n));
    return to;
  }
  static std::vector<double> on_host(const Vector& from) { return on_host(from.data(), from.size()); }

  /// The matrix of these entries, (row, column), one field, kept in two blocks of points.
  static Matrix matrix_of(const Size& size, const std::vector<double>& entries) {
    Matrix matrix(size.rows, size.columns);
    const Vector all = on_space(entries);
    const std::int64_t cut = size.rows / 2;
    const auto keep = [&](std::int64_t first, std::int64_t n) {
      matrix.keep(Space(), {Entries(all.data() + first * size.columns, 1, n, size.columns), first, size.rows});
    };
    if (cut > 0) keep(0, cut);
    keep(cut, size.rows - cut);
    Kokkos::fence();
    return matrix;
  }
  static std::vector<double> read(const Matrix& matrix, const Size& size) {
    const Entries all("entries", 1, size.rows, size.columns);
    matrix.read(Space(), {all, 0, size.rows});
    Kokkos::fence();
    return on_host(all.data(), all.size());
  }
};

/// n vectors one behind another.
template <class Memory>
Kokkos::View<double**, Kokkos::LayoutLeft, Memory> vectors_of(const Kokkos::View<double*, Memory>& numbers,
                                                              std::size_t n = 1) {
  return Kokkos::View<double**, Kokkos::LayoutLeft, Memory>(numbers.data(), numbers.size() / n, n);
}

using Kinds = ::testing::Types<
#if defined(KOKKOS_ENABLE_CUDA)
    Kind<Kokkos::Cuda, double>, Kind<Kokkos::Cuda, float>, Kind<Kokkos::Cuda, Half>,
#endif
#if defined(KOKKOS_ENABLE_HIP)
    Kind<Kokkos::HIP, double>, Kind<Kokkos::HIP, float>, Kind<Kokkos::HIP, Half>,
#endif
    Kind<Kokkos::DefaultHostExecutionSpace, double>, Kind<Kokkos::DefaultHostExecutionSpace, float>,
    Kind<Kokkos::DefaultHostExecutionSpace, Half>>;
TYPED_TEST_SUITE(TileMatrixOf, Kinds);

TYPED_TEST(TileMatrixOf, KeepsEntriesToItsPrecision) {
  for (const Size& size : sizes) {
    const std::vector<double> entries = spread_entries(size.rows * size.columns);
    const auto matrix = TestFixture::matrix_of(size, entries);
    EXPECT_EQ(matrix.bytes(), stored_bytes(TestFixture::precision, size.rows, size.columns));
    const std::vector<double> kept = TestFixture::read(matrix, size);
    const double relative = storage_error(TestFixture::precision);
    constexpr bool scaled = TestFixture::precision == StoredPrecision::float16;
    for (std::int64_t begin = 0; begin < size.columns; begin += stored_tile) {
      const std::int64_t end = std::min(begin + stored_tile, size.columns);
      for (std::int64_t r = 0; r < size.rows; ++r) {
        const double* const row = entries.data() + r * size.columns;
        double largest = 0;
        for (std::int64_t c = begin; c < end; ++c) largest = std::max(largest, std::abs(row[c]));
        for (std::int64_t c = begin; c < end; ++c) {
          const double error = std::max(relative * std::abs(row[c]), scaled ? 0x1p-29 * largest : 0);
          ASSERT_NEAR(kept[static_cast<std::size_t>(r * size.columns + c)], row[c], error)
              << size.rows << " x " << size.columns << ", row " << r << ", column " << c;
        }
      }
    }
  }
}

/// Sums of a few thousand doubles, by what the matrix says that it holds.
TYPED_TEST(TileMatrixOf, MultipliesByWhatItHolds) {
  for (const Size& size : sizes) {
    auto matrix = TestFixture::matrix_of(size, spread_entries(size.rows * size.columns));
    const std::vector<double> kept = TestFixture::read(matrix, size);
    const std::vector<double> density = values(size.columns, 3), factors = values(size.rows, 4);
    std::vector<double> rows(factors.size(), 0), row_sizes = rows, columns(density.size(), 0), column_sizes = columns,
                                                 squares = columns, square_sizes = columns;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const double entry = kept[r * columns.size() + c];
        rows[r] += entry * density[c];
        row_sizes[r] += std::abs(entry * density[c]);
        columns[c] += entry * factors[r];
        column_sizes[c] += std::abs(entry * factors[r]);
        squares[c] += entry * entry * factors[r];
        square_sizes[c] += std::abs(entry * entry * factors[r]);
      }
    }
    const typename TestFixture::Space space;
    const typename TestFixture::Vector fields("fields", rows.size()), transposed("transposed", columns.size()),
        diagonal("diagonal", columns.size());
    matrix.multiply(space, vectors_of(TestFixture::on_space(density)), vectors_of(fields));
    const typename TestFixture::Vector weights = TestFixture::on_space(factors);
    matrix.multiply_transposed(space, vectors_of(weights), vectors_of(transposed));
    matrix.diagonal(space, vectors_of(weights), vectors_of(diagonal));
    space.fence();
    const auto near = [&](const char* what, const std::vector<double>& are, const std::vector<double>& expected,
                          const std::vector<double>& magnitudes) {
      for (std::size_t i = 0; i < are.size(); ++i) {
        ASSERT_NEAR(are[i], expected[i], 2e-14 * magnitudes[i])
            << what << " " << i << " of " << size.rows << " x " << size.columns;
      }
    };
    near("row", TestFixture::on_host(fields), rows, row_sizes);
    near("column", TestFixture::on_host(transposed), columns, column_sizes);
    near("square", TestFixture::on_host(diagonal), squares, square_sizes);
  }
}

/// The same but for how a compiler rounds products that it adds.
void expect_same(const std::vector<double>& are, const std::vector<double>& expected) {
  ASSERT_EQ(are.size(), expected.size());
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  ASSERT_GT(largest, 0);
  for (std::size_t i = 0; i < are.size(); ++i) ASSERT_NEAR(are[i], expected[i], 2e-14 * largest) << i;
}

/// Several vectors at once, more than kernels take: each as alone.
TYPED_TEST(TileMatrixOf, MultipliesSeveralVectorsAsEachAlone) {
  const typename TestFixture::Space space;
  using Numbers = typename TestFixture::Vector;
  for (const Size& size : {Size{5, 33}, Size{131, 544}, Size{9, 513}, Size{300, 1500}}) {
    auto matrix = TestFixture::matrix_of(size, spread_entries(size.rows * size.columns));
    const auto rows = static_cast<std::size_t>(size.rows), columns = static_cast<std::size_t>(size.columns);
    for (const std::int64_t n : {2, 3, 4, 6, 9, 1}) {
      const auto vectors = static_cast<std::size_t>(n);
      const Numbers densities = TestFixture::on_space(values(n * size.columns, 3));
      const Numbers factors = TestFixture::on_space(values(n * size.rows, 4));
      const Numbers fields("fields", vectors * rows), transposed("transposed", vectors * columns),
          diagonal("diagonal", vectors * columns), field("field", rows), one_transposed("one", columns),
          one_diagonal("one", columns);
      matrix.multiply(space, vectors_of(densities, vectors), vectors_of(fields, vectors));
      matrix.multiply_transposed(space, vectors_of(factors, vectors), vectors_of(transposed, vectors));
      matrix.diagonal(space, vectors_of(factors, vectors), vectors_of(diagonal, vectors));
      for (std::size_t v = 0; v < vectors; ++v) {
        matrix.multiply(space, vectors_of(Numbers(densities.data() + v * columns, columns)), vectors_of(field));
        const Numbers of_rows(factors.data() + v * rows, rows);
        matrix.multiply_transposed(space, vectors_of(of_rows), vectors_of(one_transposed));
        matrix.diagonal(space, vectors_of(of_rows), vectors_of(one_diagonal));
        space.fence();
        SCOPED_TRACE("vector " + std::to_string(v) + " of " + std::to_string(n));
        expect_same(TestFixture::on_host(fields.data() + v * rows, rows), TestFixture::on_host(field));
        expect_same(TestFixture::on_host(transposed.data() + v * columns, columns),
                    TestFixture::on_host(one_transposed));
        expect_same(TestFixture::on_host(diagonal.data() + v * columns, columns), TestFixture::on_host(one_diagonal));
      }
    }
  }
}

TYPED_TEST(TileMatrixOf, KeepsZerosAndRowsOfZeros) {
  const Size size{3, 600};
  std::vector<double> entries = spread_entries(size.rows * size.columns);
  std::fill(entries.begin() + 600, entries.begin() + 1200, 0.0);
  entries[7] = 0;
  const std::vector<double> kept = TestFixture::read(TestFixture::matrix_of(size, entries), size);
  EXPECT_EQ(kept[7], 0);
  for (std::size_t i = 600; i < 1200; ++i) ASSERT_EQ(kept[i], 0);
}

TEST(Half, RoundsToTheNearest) {
  const auto value = [](double x) { return value_of(nearest_half(x)); };
  for (const double exact : {0.0, 1.0, -1.0, 0x1p-14, 16384.0, 1.0 + 0x1p-10, -20000.0 / 16 * 16}) {
    EXPECT_EQ(value(exact), exact);
  }
  // half way: to even
  EXPECT_EQ(value(1 + 0x1p-11), 1);
  EXPECT_EQ(value(1 + 3 * 0x1p-11), 1 + 0x1p-9);
  EXPECT_EQ(value(-(1 + 3 * 0x1p-11)), -(1 + 0x1p-9));
  EXPECT_EQ(value(32767.9), 32768);
  // below the normal halves
  EXPECT_EQ(value(0x1p-15 * 0.99), 0);
  EXPECT_EQ(value(0x1p-15 * 1.01), 0x1p-14);
  EXPECT_EQ(value(-0x1p-14 * 0.9), -0x1p-14);
  EXPECT_EQ(value(0x1p-60), 0);
  for (int i = 0; i < 10'000; ++i) {
    const double x = uniform(5, i, -1, 1) * std::exp2(uniform(6, i, -14, 14));
    ASSERT_NEAR(value(x), x, std::max(0x1p-11 * std::abs(x), 0x1p-15)) << x;
  }
}

#if defined(KOKKOS_ENABLE_OPENMP)
/// One thread and several, bit for bit.
TEST(TileMatrix, AddsInOneOrderWhateverTheThreads) {
  const std::int64_t rows = 517, columns = 3000;
  const std::vector<double> entries = spread_entries(rows * columns);
  const Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace> all("entries", 1, rows, columns);
  std::copy(entries.begin(), entries.end(), all.data());
  const auto products = [&](const Kokkos::OpenMP& space) {
    TileMatrix<Kokkos::OpenMP, float> matrix(rows, columns);
    matrix.keep(space, {all, 0, rows});
    using Vector = Kokkos::View<double*, Kokkos::HostSpace>;
    const Vector density("density", columns), fields("fields", rows), transposed("transposed", columns),
        diagonal("diagonal", columns);
    for (std::int64_t c = 0; c < columns; ++c) density(c) = uniform(3, c, -1, 1);
    matrix.multiply(space, vectors_of(density), vectors_of(fields));
    matrix.multiply_transposed(space, vectors_of(fields), vectors_of(transposed));
    matrix.diagonal(space, vectors_of(fields), vectors_of(diagonal));
    space.fence();
    std::vector<double> out(fields.data(), fields.data() + rows);
    out.insert(out.end(), transposed.data(), transposed.data() + columns);
    out.insert(out.end(), diagonal.data(), diagonal.data() + columns);
    return out;
  };
  EXPECT_EQ(products(Kokkos::OpenMP(1)), products(Kokkos::OpenMP()));
}
#endif

}  // namespace
}  // namespace prismfield::testing::test_tile_matrix
