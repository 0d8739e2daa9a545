// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Sensitivities out of a file: products, diagonal and entries against those in memory, on any number of ranks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/make_operator.hpp>

#include "base/random.hpp"
#include "engine/with_space.hpp"
#include "formats/hdf5_file.hpp"
#include "operators/stored/storage_choice.hpp"
#include "parallel/collectives.hpp"
#include "ranks.hpp"
#include "writers/sensitivity_file.hpp"

namespace prismfield::testing::test_file_operator {
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
  using Vectors = typename Operator<Space>::Vectors;

  void SetUp() override {
    m_request.fields = {Field::gx, Field::gz, Field::gzz};
    m_request.magnetic.inducing_field = vector_of(-62.5, 11.25, 48250e-9);
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
  void use_magnetic(Unknown unknown) {
    m_unknown = unknown;
    m_request.fields = {Field::bx, Field::bz, Field::tmi};
    m_columns.emplace(m_cells, unit_magnetizations(unknown, m_request.magnetic));
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
    header.unknown = m_unknown;
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
    for (std::size_t j = 0; j < static_cast<std::size_t>(m_columns->size()); ++j)
      values.push_back(uniform(5 + number, j, -300, 300));
    return on_space(values);
  }
  static Vector on_space(const std::vector<double>& from) {
    Vector to("values", from.size());
    Kokkos::deep_copy(
        to, Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
    return to;
  }
  /// The operator of the file, which `files` reads and writes.
  [[nodiscard]] std::unique_ptr<Operator<Space>> in_file(SensitivityFiles& files, StoredPrecision precision,
                                                         StorageChoice* choice = nullptr) const {
    StorageSettings settings;
    settings.store = Store::file;
    settings.file = m_file;
    settings.precision = precision;
    settings.rows = &files;
    return make_operator(Space(), *m_columns, m_points, m_request, settings, ranks(), choice);
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
  /// Three vectors at once give what each gives alone, bit for bit; factors do what they say.
  void compare_many(Operator<Space>& op) const {
    const Space space;
    constexpr std::size_t n = 3;
    const auto rows = static_cast<std::size_t>(op.rows()), columns = static_cast<std::size_t>(op.columns());
    const Vectors densities("a", columns, n), weights("b", rows, n), fields("c", rows, n), transposed("d", columns, n),
        squares("e", columns, n), product("f", columns, n);
    const Vector field("g", rows), one("h", columns);
    for (std::size_t v = 0; v < n; ++v) {
      Kokkos::deep_copy(column(densities, v), densities_of(v));
      Kokkos::deep_copy(column(weights, v), rows_of(op, 21 + v));
    }
    op.apply(space, densities, fields);
    op.apply_transpose(space, weights, transposed);
    op.diagonal(space, weights, squares);
    const bool is_normal = op.apply_normal(space, weights, densities, product);
    for (std::size_t v = 0; v < n; ++v) {
      op.apply(space, column(densities, v), field);
      expect_near(column(fields, v), field, 0, "fields of several");
      op.apply_transpose(space, column(weights, v), one);
      expect_near(column(transposed, v), one, 0, "transposed of several");
      op.diagonal(space, column(weights, v), one);
      expect_near(column(squares, v), one, 0, "diagonal of several");
      ASSERT_EQ(op.apply_normal(space, column(weights, v), column(densities, v), one), is_normal);
      if (is_normal) expect_near(column(product, v), one, 0, "product of several");
    }
    const auto some = [](const Vectors& all, std::size_t k) { return Vectors(all.data(), all.extent(0), k); };
    EXPECT_ANY_THROW(op.apply(space, some(densities, n - 1), fields));
    EXPECT_ANY_THROW(op.apply(space, densities, some(fields, n - 1)));
    EXPECT_ANY_THROW(op.apply_transpose(space, weights, some(transposed, n - 1)));

    compare_factors(space, fields,
                    [&](double a, double b, const Vectors& out) { op.apply(space, a, densities, b, out); });
    compare_factors(space, transposed,
                    [&](double a, double b, const Vectors& out) { op.apply_transpose(space, a, weights, b, out); });
    compare_factors(space, squares,
                    [&](double a, double b, const Vectors& out) { op.diagonal(space, a, weights, b, out); });
    if (is_normal) {
      compare_factors(space, product, [&](double a, double b, const Vectors& out) {
        op.apply_normal(space, a, weights, densities, b, out);
      });
    }
    // parts of larger Views
    const Vectors wide("i", columns + 3, n), tall("j", rows + 2, n);
    const auto part_of = [](const Vectors& all, std::size_t length) {
      return Kokkos::subview(all, std::make_pair(std::size_t{1}, 1 + length), Kokkos::ALL);
    };
    Kokkos::deep_copy(tall, 5.0);
    Kokkos::deep_copy(space, part_of(wide, columns), densities);
    op.apply(space, part_of(wide, columns), part_of(tall, rows));
    Kokkos::fence();
    const auto around = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), tall);
    for (std::size_t v = 0; v < n; ++v) {
      expect_near(column(part_of(tall, rows), v), column(fields, v), 0, "fields in a larger View");
      EXPECT_EQ(around(0, v), 5);
      EXPECT_EQ(around(rows + 1, v), 5);
    }
  }
  static Vector column(const Vectors& vectors, std::size_t v) {
    return Vector(vectors.data() + v * vectors.stride(1), vectors.extent(0));
  }
  /// multiply(alpha, beta, out) makes alpha `product` + beta out.
  template <class Multiply>
  static void compare_factors(const Space& space, const Vectors& product, const Multiply& multiply) {
    const auto plain = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), product);
    const Vectors out("out", product.extent(0), product.extent(1));
    const auto found = Kokkos::create_mirror(Kokkos::HostSpace(), out);
    for (const auto& [alpha, beta] : {std::pair{1.0, 1.0}, {-2.5, 0.0}, {0.75, -3.0}, {0.0, 2.0}}) {
      // what is not read may be anything
      const double before = beta == 0 ? std::nan("") : 0.125;
      Kokkos::deep_copy(out, before);
      multiply(alpha, beta, out);
      space.fence();
      Kokkos::deep_copy(found, out);
      for (std::size_t v = 0; v < plain.extent(1); ++v) {
        for (std::size_t i = 0; i < plain.extent(0); ++i) {
          const double expected = alpha * plain(i, v) + (beta == 0 ? 0 : beta * before);
          ASSERT_NEAR(found(i, v), expected, 1e-15 * (std::abs(alpha * plain(i, v)) + std::abs(beta)));
        }
      }
    }
  }
  /// Every function against that of the matrix in memory.
  void compare(Operator<Space>& op, StoredPrecision precision) const {
    const Space space;
    StorageSettings in_memory;
    in_memory.store = Store::memory;
    in_memory.precision = precision;
    const auto made = make_operator(space, *m_columns, m_points, m_request, in_memory, ranks());
    Operator<Space>& stored = *made;
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
  Unknown m_unknown = Unknown::density;
  std::optional<MagnetizedPrisms> m_columns{std::in_place, m_cells, std::vector<std::array<double, 3>>()};
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
    SensitivityFiles files = this->files();
    StorageChoice choice;
    {
      const auto op = this->in_file(files, precision, &choice);
      EXPECT_FALSE(choice.was_there);
      EXPECT_EQ(op->bytes(), op->rows() * op->columns() * (precision == StoredPrecision::double_ ? 8 : 4));
      const Plan before = op->plan();
      this->compare(*op, precision);
      // of products with several vectors
      const auto told = [](const Plan& plan) { return plan.device_bytes + plan.host_bytes; };
      EXPECT_GT(told(op->plan()) - told(before), 8 * op->columns());
    }
    const auto again = this->in_file(files, precision, &choice);
    EXPECT_TRUE(choice.was_there);
    this->compare(*again, precision);
  }
}

TYPED_TEST(FileOperatorOn, HasColumnsOfMagnetisedCells) {
  this->use_points(17);
  for (const Unknown unknown : {Unknown::susceptibility, Unknown::magnetization}) {
    this->remove();
    this->use_magnetic(unknown);
    SensitivityFiles files = this->files();
    this->compare(*this->in_file(files, StoredPrecision::double_), StoredPrecision::double_);
  }
  // susceptibility's file is not magnetisation's
  this->use_magnetic(Unknown::susceptibility);
  SensitivityFiles files = this->files();
  EXPECT_ANY_THROW(static_cast<void>(this->in_file(files, StoredPrecision::double_)));
}

/// A field is more than 64 MiB on one rank, so that rows pass through memory in blocks, the last of them narrower.
TYPED_TEST(FileOperatorOn, PassesRowsThroughMemory) {
  this->m_edges = {steps(0, 25, 40), steps(0, 25, 40), steps(-400, 20, 20)};
  this->m_cells = ActiveCells(this->m_edges);
  this->m_request.fields = {Field::gz, Field::gzz};
  this->use_points(static_cast<std::size_t>(300 * ranks().size()) + 5);
  SensitivityFiles files = this->files();
  this->compare(*this->in_file(files, StoredPrecision::double_), StoredPrecision::double_);
}

TYPED_TEST(FileOperatorOn, NeedsNoPointOnEveryRank) {
  this->use_points(1);
  SensitivityFiles files = this->files();
  this->compare(*this->in_file(files, StoredPrecision::double_), StoredPrecision::double_);
}

TYPED_TEST(FileOperatorOn, IsJoinedByTheOperatorThatComputesAnew) {
  this->use_points(29);
  this->m_request.execution.partition = Partition::points;
  this->compare_many(*make_direct_operator(TypeParam(), *this->m_columns, this->m_points, this->m_request, ranks()));
}

TYPED_TEST(FileOperatorOn, TellsOfDamageOnAllRanks) {
  this->use_points(5);
  SensitivityFiles files = this->files();
  StorageChoice choice;
  EXPECT_GT(this->in_file(files, StoredPrecision::double_)->bytes(), 0);
  if (ranks().rank() == 0) {
    const NumberPlace place = Hdf5File::open(this->m_file).place("G");
    std::FILE* const file = std::fopen(this->m_file.c_str(), "r+b");
    ASSERT_NE(file, nullptr);
    std::fseek(file, place.offset + 100, SEEK_SET);
    std::fputc(77, file);
    std::fclose(file);
  }
  barrier(ranks());
  const auto made = this->in_file(files, StoredPrecision::double_, &choice);
  auto& op = *made;
  EXPECT_TRUE(choice.was_there);
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
  StoredPrecision precision = StoredPrecision::double_;
  const auto make = [&] {
    StorageChoice choice;
    EXPECT_GT(this->in_file(files, precision, &choice)->columns(), 0);
    return choice;
  };
  EXPECT_THAT(make().why, HasSubstr("written in"));
  const StorageChoice again = make();
  EXPECT_THAT(again.why, HasSubstr("stored in " + this->m_file + " as double"));
  EXPECT_THAT(again.why, HasSubstr("which was there already"));
  EXPECT_TRUE(again.was_there);
  this->m_request.gravitational_constant = 1;
  EXPECT_THROW(make(), InputError);
  precision = StoredPrecision::float16;
  EXPECT_THROW(make(), InputError);
}

TEST(FileOfSet, NumbersFurtherDataSets) {
  EXPECT_EQ(file_of_set("out/G.h5", 0), "out/G.h5");
  EXPECT_EQ(file_of_set("out/G.h5", 1), "out/G-2.h5");
  EXPECT_EQ(file_of_set("", 1), "");
}

}  // namespace
}  // namespace prismfield::testing::test_file_operator
