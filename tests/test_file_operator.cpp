// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Sensitivities out of a file: products, diagonal and entries against those in memory, on any number of ranks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/make_operator.hpp>

#include "base/random.hpp"
#include "engine/instances/with_space.hpp"
#include "io/hdf5_file.hpp"
#include "io/sensitivity_file.hpp"
#include "parallel/collectives.hpp"
#include "ranks.hpp"
#include "sensitivity/file_operator.hpp"
#include "sensitivity/storage_choice.hpp"
#include "sensitivity/stored_operator.hpp"

namespace prismfield::testing {
namespace {

using ::testing::HasSubstr;

double uniform(std::uint64_t seed, std::size_t number, double low, double high) {
  return random_uniform(low, high, seed, RandomStream::cell_density, number);
}

std::vector<double> steps(double from, double step, int n) {
  std::vector<double> edges;
  for (int i = 0; i <= n; ++i) edges.push_back(from + step * i);
  return edges;
}

template <class K>
class FileOperatorOn : public ::testing::Test {
protected:
  using Space = K;
  using Vector = typename Operator<Space>::Vector;

  void SetUp() override {
    m_request.fields = {Field::gx, Field::gz, Field::gzz};
    m_request.execution.space = space_key<Space>;
    m_file = std::string("G of ") + Space::name() + " on " + std::to_string(ranks().size()) + ".h5";
    remove();
  }
  void TearDown() override { remove(); }
  void remove() const {
    barrier(ranks());
    if (ranks().rank() == 0) std::filesystem::remove(m_file);
    barrier(ranks());
  }
  void use_points(std::size_t n) {
    m_points = {};
    for (std::size_t i = 0; i < n; ++i) {
      m_points.easting.push_back(uniform(11, i, -200, 800));
      m_points.northing.push_back(uniform(12, i, -200, 600));
      m_points.upward.push_back(uniform(13, i, 5, 150));
    }
  }
  [[nodiscard]] SensitivityFiles files() const {
    SensitivityHeader header;
    header.cells = &m_cells;
    return {header, ranks()};
  }
  /// Values that are the same for every number of ranks.
  static Vector rows_of(const Operator<Space>& op, std::uint64_t seed = 21) {
    std::vector<double> values;
    for (std::int64_t f = 0; f < op.fields().size(); ++f) {
      for (std::int64_t i = op.points().begin; i < op.points().end; ++i) {
        values.push_back(uniform(seed, static_cast<std::size_t>(f * 1000 + i), 0.5, 1) * (f < 2 ? 1 : 100));
      }
    }
    return on_space(values);
  }
  [[nodiscard]] Vector densities() const { return densities_of(0); }
  [[nodiscard]] Vector densities_of(std::uint64_t number) const {
    std::vector<double> values;
    for (std::size_t j = 0; j < static_cast<std::size_t>(m_cells.size()); ++j)
      values.push_back(uniform(5 + number, j, -300, 300));
    return on_space(values);
  }
  static Vector on_space(const std::vector<double>& from) {
    Vector to("values", from.size());
    Kokkos::deep_copy(
        to, Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
    return to;
  }
  static void expect_near(const Vector& a, const Vector& b, double tolerance, const char* what) {
    Kokkos::fence();
    ASSERT_EQ(a.size(), b.size());
    const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
    const auto y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
    double largest = 0;
    for (std::size_t i = 0; i < y.size(); ++i) largest = std::max(largest, std::abs(y(i)));
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(x(i), y(i), tolerance * largest) << what << ' ' << i;
  }
  /// Three vectors at once give what each gives alone, bit for bit.
  void compare_many(Operator<Space>& op) const {
    const Space space;
    constexpr std::size_t n = 3;
    const auto rows = static_cast<std::size_t>(op.rows()), columns = static_cast<std::size_t>(op.columns());
    const Vector densities("a", n * columns), weights("b", n * rows), fields("c", n * rows),
        transposed("d", n * columns), squares("e", n * columns), product("f", n * columns), field("g", rows),
        one("h", columns);
    const auto of = [](const Vector& all, std::size_t v, std::size_t size) {
      return Vector(all.data() + v * size, size);
    };
    for (std::size_t v = 0; v < n; ++v) {
      Kokkos::deep_copy(of(densities, v, columns), densities_of(v));
      Kokkos::deep_copy(of(weights, v, rows), rows_of(op, 21 + v));
    }
    op.apply_many(space, n, densities, fields);
    op.apply_transpose_many(space, n, weights, transposed);
    op.diagonal_many(space, n, weights, squares);
    const bool is_normal = op.apply_normal_many(space, n, weights, densities, product);
    for (std::size_t v = 0; v < n; ++v) {
      op.apply(space, of(densities, v, columns), field);
      expect_near(of(fields, v, rows), field, 0, "fields of several");
      op.apply_transpose(space, of(weights, v, rows), one);
      expect_near(of(transposed, v, columns), one, 0, "transposed of several");
      op.diagonal(space, of(weights, v, rows), one);
      expect_near(of(squares, v, columns), one, 0, "diagonal of several");
      ASSERT_EQ(op.apply_normal(space, of(weights, v, rows), of(densities, v, columns), one), is_normal);
      if (is_normal) expect_near(of(product, v, columns), one, 0, "product of several");
    }
    EXPECT_ANY_THROW(op.apply_many(space, n + 1, densities, fields));
    EXPECT_ANY_THROW(op.apply_many(space, n - 1, densities, fields));
    EXPECT_ANY_THROW(op.apply_transpose_many(space, n - 1, weights, transposed));
  }
  /// Every function against that of the matrix in memory.
  void compare(Operator<Space>& op, StoredPrecision precision) const {
    const Space space;
    StoredOperator<Space> stored(space, m_cells, m_points, m_request, precision, ranks());
    ASSERT_EQ(op.points(), stored.points());
    ASSERT_EQ(op.columns(), stored.columns());
    const auto rows = static_cast<std::size_t>(op.rows()), columns = static_cast<std::size_t>(op.columns());
    const Vector fields("a", rows), expected_fields("b", rows), cells("c", columns), expected_cells("d", columns);
    // units that are applied before a number is rounded to float leave other bits
    const double tolerance = precision == StoredPrecision::double_ ? 1e-13 : 1e-6;
    // a second product reads the file again
    for (int repeat = 0; repeat < 2; ++repeat) {
      op.apply(space, densities(), fields);
      stored.apply(space, densities(), expected_fields);
      expect_near(fields, expected_fields, tolerance, "field");
      op.apply_transpose(space, rows_of(op), cells);
      stored.apply_transpose(space, rows_of(op), expected_cells);
      expect_near(cells, expected_cells, tolerance, "density");
      op.diagonal(space, rows_of(op), cells);
      stored.diagonal(space, rows_of(op), expected_cells);
      expect_near(cells, expected_cells, 2 * tolerance, "diagonal");
    }
    EXPECT_NEAR(op.dot_densities(space, cells, cells), op.dot_densities(space, expected_cells, expected_cells),
                4 * tolerance * op.dot_densities(space, cells, cells));
    const IndexRange some{op.points().size() / 3, op.points().size()};
    const typename Operator<Space>::Entries a("e", op.fields().size(), some.size(), op.columns()),
        b("f", op.fields().size(), some.size(), op.columns());
    op.entries(space, some, a);
    stored.entries(space, some, b);
    expect_near(Vector(a.data(), a.size()), Vector(b.data(), b.size()), tolerance, "entry");
    compare_many(op);
    compare_many(stored);
  }

  CellEdges m_edges{steps(0, 50, 13), steps(0, 40, 11), steps(-270, 30, 9)};
  ActiveCells m_cells{m_edges};
  Points m_points;
  Request m_request;
  std::string m_file;
};

using Spaces = ::testing::Types<
#if defined(KOKKOS_ENABLE_CUDA)
    Kokkos::Cuda,
#endif
#if defined(KOKKOS_ENABLE_HIP)
    Kokkos::HIP,
#endif
    Kokkos::DefaultHostExecutionSpace>;
TYPED_TEST_SUITE(FileOperatorOn, Spaces);

TYPED_TEST(FileOperatorOn, IsTheMatrixInMemory) {
  this->use_points(83);
  for (const StoredPrecision precision : {StoredPrecision::double_, StoredPrecision::float_}) {
    this->remove();
    const RowFile rows{this->m_file, &this->m_points, this->m_request, precision};
    SensitivityFiles files = this->files();
    {
      RowFileReport report;
      FileOperator<TypeParam> op(TypeParam(), this->m_cells, rows, files, ranks(), report);
      EXPECT_FALSE(report.used_again);
      EXPECT_EQ(op.bytes(), op.rows() * op.columns() * (precision == StoredPrecision::double_ ? 8 : 4));
      this->compare(op, precision);
    }
    RowFileReport report;
    FileOperator<TypeParam> again(TypeParam(), this->m_cells, rows, files, ranks(), report);
    EXPECT_TRUE(report.used_again);
    this->compare(again, precision);
  }
}

/// A field is more than 64 MiB on one rank, so that rows pass through memory in blocks, the last of them narrower.
TYPED_TEST(FileOperatorOn, PassesRowsThroughMemory) {
  this->m_edges = {steps(0, 25, 40), steps(0, 25, 40), steps(-400, 20, 20)};
  this->m_cells = ActiveCells(this->m_edges);
  this->m_request.fields = {Field::gz, Field::gzz};
  this->use_points(static_cast<std::size_t>(300 * ranks().size()) + 5);
  const RowFile rows{this->m_file, &this->m_points, this->m_request, StoredPrecision::double_};
  SensitivityFiles files = this->files();
  RowFileReport report;
  FileOperator<TypeParam> op(TypeParam(), this->m_cells, rows, files, ranks(), report);
  this->compare(op, StoredPrecision::double_);
}

TYPED_TEST(FileOperatorOn, NeedsNoPointOnEveryRank) {
  this->use_points(1);
  const RowFile rows{this->m_file, &this->m_points, this->m_request, StoredPrecision::double_};
  SensitivityFiles files = this->files();
  RowFileReport report;
  FileOperator<TypeParam> op(TypeParam(), this->m_cells, rows, files, ranks(), report);
  this->compare(op, StoredPrecision::double_);
}

TYPED_TEST(FileOperatorOn, IsJoinedByTheOperatorThatComputesAnew) {
  this->use_points(29);
  this->m_request.execution.partition = Partition::points;
  DirectOperator<TypeParam> op(TypeParam(), this->m_cells, this->m_points, this->m_request, ranks());
  this->compare_many(op);
}

TYPED_TEST(FileOperatorOn, TellsOfDamageOnAllRanks) {
  this->use_points(5);
  const RowFile rows{this->m_file, &this->m_points, this->m_request, StoredPrecision::double_};
  SensitivityFiles files = this->files();
  RowFileReport report;
  { FileOperator<TypeParam> op(TypeParam(), this->m_cells, rows, files, ranks(), report); }
  if (ranks().rank() == 0) {
    const NumberPlace place = Hdf5File::open(this->m_file).place("G");
    std::FILE* const file = std::fopen(this->m_file.c_str(), "r+b");
    ASSERT_NE(file, nullptr);
    std::fseek(file, place.offset + 100, SEEK_SET);
    std::fputc(77, file);
    std::fclose(file);
  }
  barrier(ranks());
  FileOperator<TypeParam> op(TypeParam(), this->m_cells, rows, files, ranks(), report);
  EXPECT_TRUE(report.used_again);
  const typename Operator<TypeParam>::Vector fields("fields", static_cast<std::size_t>(op.rows()));
  if (ranks().size() == 1) {
    EXPECT_THROW(op.apply(TypeParam(), this->densities(), fields), RunError);
  } else {
    EXPECT_THROW(op.apply(TypeParam(), this->densities(), fields), AgreedFailure);
  }
}

TYPED_TEST(FileOperatorOn, IsMadeAsSettingsAsk) {
  this->use_points(20);
  SensitivityFiles files = this->files();
  StorageSettings settings;
  settings.store = Store::file;
  settings.file = this->m_file;
  settings.precision = StoredPrecision::double_;
  settings.rows = &files;
  const auto make = [&] {
    StorageChoice choice;
    const auto op =
        make_operator(TypeParam(), this->m_cells, this->m_points, this->m_request, settings, ranks(), &choice);
    EXPECT_NE(dynamic_cast<FileOperator<TypeParam>*>(op.get()), nullptr);
    return choice;
  };
  EXPECT_THAT(make().why, HasSubstr("written in"));
  const StorageChoice again = make();
  EXPECT_THAT(again.why, HasSubstr("stored in " + this->m_file + " as double"));
  EXPECT_THAT(again.why, HasSubstr("which was there already"));
  EXPECT_TRUE(again.was_there);
  this->m_request.gravitational_constant = 1;
  EXPECT_THROW(make(), InputError);
  settings.precision = StoredPrecision::float16;
  EXPECT_THROW(make(), InputError);
}

TEST(FileOfSet, NumbersFurtherDataSets) {
  EXPECT_EQ(file_of_set("out/G.h5", 0), "out/G.h5");
  EXPECT_EQ(file_of_set("out/G.h5", 1), "out/G-2.h5");
  EXPECT_EQ(file_of_set("", 1), "");
}

}  // namespace
}  // namespace prismfield::testing
