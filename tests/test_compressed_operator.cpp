// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// The compressed operator against the direct one, in products of random and smooth densities, and against itself: its
// products, entries and diagonal are those of one matrix. In every host space, on any number of ranks.

#include <Kokkos_Core.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/make_operator.hpp>

#include "base/random.hpp"
#include "list_ensemble.hpp"
#include "operators/compressed/compressed_operator.hpp"
#include "operators/compressed/h_matrix.hpp"
#include "operators/compressed/low_rank.hpp"
#include "parallel/collectives.hpp"
#include "ranks.hpp"

namespace prismfield::testing::test_compressed_operator {
namespace {

double uniform(std::uint64_t seed, std::size_t number, double low, double high) {
  return random_uniform(low, high, seed, RandomStream::cell_density, number);
}

/// A survey: cells and stations.
struct Survey {
  std::vector<Prism> cells;
  Points points;
};

void add_point(Points& points, double easting, double northing, double upward) {
  points.easting.push_back(easting);
  points.northing.push_back(northing);
  points.upward.push_back(upward);
}

/// Cells below a grid of stations just above them; layers grow with depth when `graded`.
Survey flat_survey(int n, int layers, int stations, bool graded = false) {
  Survey survey;
  double top = 0;
  for (int k = 0; k < layers; ++k) {
    const double bottom = top - 30 * (graded ? 1 + 0.3 * k : 1.0);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        survey.cells.push_back({40.0 * i, 40.0 * (i + 1), 40.0 * j, 40.0 * (j + 1), bottom, top, 1});
      }
    }
    top = bottom;
  }
  const double step = 40.0 * n / stations;
  for (int j = 0; j < stations; ++j) {
    for (int i = 0; i < stations; ++i) add_point(survey.points, step * (i + 0.5), step * (j + 0.5), 2);
  }
  return survey;
}

/// Cells below a hilly surface, those above it left out, with stations scattered over it, some of them on a face.
Survey hilly_survey() {
  const auto height = [](double x, double y) { return 60 * std::sin(x / 150) * std::cos(y / 200); };
  Survey survey;
  for (const Prism& cell : flat_survey(16, 10, 1, true).cells) {
    Prism p = cell;
    p.bottom += 90;
    p.top += 90;
    if (p.top < height(0.5 * (p.west + p.east), 0.5 * (p.south + p.north))) survey.cells.push_back(p);
  }
  for (std::size_t i = 0; i < 250; ++i) {
    const double x = uniform(1, i, -50, 700);
    const double y = uniform(2, i, -50, 700);
    add_point(survey.points, x, y, height(x, y) + uniform(3, i, 0.5, 60));
  }
  const Prism& last = survey.cells.back();
  add_point(survey.points, 0.5 * (last.west + last.east), 0.5 * (last.south + last.north), last.top);
  return survey;
}

Request request_of(FieldList fields) {
  Request request;
  request.fields = fields;
  request.execution.partition = Partition::points;
  request.magnetic.inducing_field = vector_of(-62.5, 11.25, 48250e-9);
  return request;
}

template <class Space>
using Vector = Kokkos::View<double*, typename Space::memory_space>;

template <class Space>
Vector<Space> vector_of(std::int64_t n) {
  return Vector<Space>("prismfield::test", static_cast<std::size_t>(n));
}

/// One value for each cell or row, between -1 and 1; rows by the point's number in the survey.
template <class Space>
Vector<Space> random_cells(const Operator<Space>& op, std::uint64_t seed) {
  const auto values = vector_of<Space>(op.columns());
  for (std::size_t i = 0; i < values.size(); ++i) values(i) = uniform(seed, i, -1, 1);
  return values;
}
template <class Space>
Vector<Space> random_rows(const Operator<Space>& op, std::uint64_t seed, double low = -1) {
  const auto values = vector_of<Space>(op.rows());
  const IndexRange points = op.points();
  for (std::int64_t r = 0; r < op.rows(); ++r) {
    const auto field = static_cast<std::uint64_t>(r / points.size());
    const auto point = static_cast<std::size_t>(points.begin + r % points.size());
    values(static_cast<std::size_t>(r)) = uniform(seed + field, point, low, 1);
  }
  return values;
}

/// A body of no sharp edges somewhere among the cells, in each block of columns.
template <class Space>
Vector<Space> smooth_cells(const Operator<Space>& op, const std::vector<Prism>& cells) {
  const auto values = vector_of<Space>(op.columns());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Prism& p = cells[i % cells.size()];
    const double x = 0.5 * (p.west + p.east) - 250;
    const double y = 0.5 * (p.south + p.north) - 300;
    const double z = 0.5 * (p.bottom + p.top) + 120;
    values(i) = std::exp(-(x * x + y * y + 2 * z * z) / (100.0 * 100.0));
  }
  return values;
}

/// |a - b| / |b| over all ranks, of one field where `field` is not -1.
template <class Space>
double difference_of_rows(const Operator<Space>& op, const Vector<Space>& a, const Vector<Space>& b,
                          std::int64_t field = -1) {
  std::vector<double> sums(2);
  const std::int64_t n = op.points().size();
  for (std::int64_t r = 0; r < op.rows(); ++r) {
    if (field >= 0 && r / n != field) continue;
    const auto i = static_cast<std::size_t>(r);
    sums[0] += (a(i) - b(i)) * (a(i) - b(i));
    sums[1] += b(i) * b(i);
  }
  sum_everywhere(ranks(), sums.data(), 2);
  return std::sqrt(sums[0] / sums[1]);
}
template <class Space>
double difference_of_cells(const Vector<Space>& a, const Vector<Space>& b) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    error += (a(i) - b(i)) * (a(i) - b(i));
    norm += b(i) * b(i);
  }
  return std::sqrt(error / norm);
}

template <class Space>
class CompressedOperatorTest : public ::testing::Test {
protected:
  using Compressed = std::unique_ptr<Operator<Space>>;

  Compressed compress(const Survey& survey, FieldList fields, double tolerance) {
    const Request request = request_of(fields);
    m_list = std::make_unique<ListEnsemble>(survey.cells);
    m_ensemble = std::make_unique<MagnetizedPrisms>(*m_list, unit_magnetizations(m_unknown, request.magnetic));
    return make_compressed_operator(m_space, *m_ensemble, survey.points, request, tolerance, ranks(), m_report);
  }

  /// Products of both operators, each field against its own norm, and transposed ones, agree to `tolerance`.
  void expect_alike(const Survey& survey, FieldList fields, double tolerance) {
    SCOPED_TRACE("tolerance " + std::to_string(tolerance));
    const Compressed compressed = compress(survey, fields, tolerance);
    const auto computed_anew = make_direct_operator(m_space, *m_ensemble, survey.points, request_of(fields), ranks());
    Operator<Space>& direct = *computed_anew;
    ASSERT_EQ(compressed->points(), direct.points());
    ASSERT_EQ(compressed->columns(), direct.columns());
    const auto found = vector_of<Space>(direct.rows());
    const auto exact = vector_of<Space>(direct.rows());
    for (const auto& density : {random_cells(direct, 7), smooth_cells<Space>(direct, survey.cells)}) {
      compressed->apply(m_space, density, found);
      direct.apply(m_space, density, exact);
      m_space.fence();
      for (std::int64_t f = 0; f < fields.size(); ++f) {
        EXPECT_LE(difference_of_rows<Space>(direct, found, exact, f), tolerance) << "field " << f;
      }
    }
    const auto found_cells = vector_of<Space>(direct.columns());
    const auto exact_cells = vector_of<Space>(direct.columns());
    for (const auto& rows : {random_rows(direct, 20), exact}) {
      compressed->apply_transpose(m_space, rows, found_cells);
      direct.apply_transpose(m_space, rows, exact_cells);
      m_space.fence();
      EXPECT_LE(difference_of_cells<Space>(found_cells, exact_cells), tolerance);
    }
    EXPECT_LE(m_report.error, tolerance);
    EXPECT_GT(m_report.error, 0);
  }

  /// Products, entries and diagonal are those of one matrix, whose transposed is the adjoint.
  void expect_one_matrix(const Survey& survey, FieldList fields) {
    const Compressed op = compress(survey, fields, 1e-3);
    const auto density = random_cells(*op, 3);
    const auto rows = random_rows(*op, 30);
    const auto product = vector_of<Space>(op->rows());
    const auto transposed = vector_of<Space>(op->columns());
    op->apply(m_space, density, product);
    op->apply_transpose(m_space, rows, transposed);
    const double left = op->dot_fields(m_space, rows, product);
    const double right = op->dot_densities(m_space, transposed, density);
    const double size = std::sqrt(op->dot_fields(m_space, rows, rows) * op->dot_fields(m_space, product, product));
    EXPECT_LE(std::abs(left - right), 1e-12 * size);

    const typename Operator<Space>::Entries entries("prismfield::test", fields.size(), op->points().size(),
                                                    op->columns());
    op->entries(m_space, {0, op->points().size()}, entries);
    const auto weights = random_rows(*op, 40, 0);
    const auto diagonal = vector_of<Space>(op->columns());
    op->diagonal(m_space, weights, diagonal);
    m_space.fence();
    const auto by_entries = vector_of<Space>(op->rows());
    std::vector<double> squares(static_cast<std::size_t>(op->columns()));
    for (std::size_t r = 0; r < by_entries.size(); ++r) {
      const std::size_t f = r / static_cast<std::size_t>(op->points().size());
      const std::size_t i = r % static_cast<std::size_t>(op->points().size());
      for (std::size_t j = 0; j < squares.size(); ++j) {
        by_entries(r) += entries(f, i, j) * density(j);
        squares[j] += weights(r) * entries(f, i, j) * entries(f, i, j);
      }
    }
    sum_everywhere(ranks(), squares.data(), op->columns());
    EXPECT_LE(difference_of_rows<Space>(*op, product, by_entries), 1e-12);
    for (std::size_t j = 0; j < squares.size(); ++j) ASSERT_NEAR(diagonal(j), squares[j], 1e-11 * squares[j]) << j;
  }

  Space m_space;
  CompressionReport m_report;
  Unknown m_unknown = Unknown::density;
  std::unique_ptr<ListEnsemble> m_list;
  std::unique_ptr<MagnetizedPrisms> m_ensemble;
};

struct HostSpaceNames {
  template <class Space>
  static std::string GetName(int) {
    return Space::name();
  }
};

using HostSpaces = ::testing::Types<Kokkos::DefaultHostExecutionSpace>;
TYPED_TEST_SUITE(CompressedOperatorTest, HostSpaces, HostSpaceNames);

TYPED_TEST(CompressedOperatorTest, KeepsToTheToleranceOfGz) {
  const Survey survey = flat_survey(18, 10, 20);
  std::int64_t last = 0;
  for (const double tolerance : {1e-2, 1e-3, 1e-4, 1e-6}) {
    this->expect_alike(survey, {Field::gz}, tolerance);
    EXPECT_GT(this->m_report.bytes, last);
    last = this->m_report.bytes;
  }
  EXPECT_EQ(this->m_report.pairs, survey.points.size() * static_cast<std::int64_t>(survey.cells.size()));
}

TYPED_TEST(CompressedOperatorTest, KeepsToTheToleranceOfGzz) {
  for (const double tolerance : {1e-2, 1e-3, 1e-4, 1e-6}) {
    this->expect_alike(flat_survey(18, 10, 20), {Field::gzz}, tolerance);
  }
}

TYPED_TEST(CompressedOperatorTest, KeepsToTheToleranceOfASumOfFields) {
  for (const double tolerance : {1e-2, 1e-4}) {
    this->expect_alike(flat_survey(14, 6, 12), {Field::gyy, Field::guv}, tolerance);
  }
}

TYPED_TEST(CompressedOperatorTest, KeepsToTheToleranceOfTheTensor) {
  for (const double tolerance : {1e-2, 1e-4})
    this->expect_alike(flat_survey(14, 6, 12), FieldList::tensor(), tolerance);
}

TYPED_TEST(CompressedOperatorTest, KeepsToTheToleranceOfAllFields) {
  this->expect_alike(flat_survey(12, 6, 10), FieldList::all(), 1e-3);
}

/// Among magnetisations of their own few cells are one prism at several places.
TYPED_TEST(CompressedOperatorTest, KeepsToTheToleranceOfMagneticFields) {
  this->m_unknown = Unknown::susceptibility;
  for (const double tolerance : {1e-2, 1e-4}) this->expect_alike(flat_survey(14, 6, 12), {Field::tmi}, tolerance);
  this->m_unknown = Unknown::magnetization;
  this->expect_alike(flat_survey(14, 6, 12), {Field::bx, Field::bz, Field::tmi}, 1e-3);
  this->expect_alike(hilly_survey(), {Field::tmi}, 1e-4);
  this->m_unknown = Unknown::density;
  Survey survey = hilly_survey();
  for (std::size_t i = 0; i < survey.cells.size(); ++i) {
    survey.cells[i].magnetization = {uniform(5, i, -1, 1), uniform(6, i, -1, 1), i % 3 == 0 ? 0.0 : 1.0};
  }
  this->expect_alike(survey, {Field::by, Field::tmi}, 1e-3);
}

TYPED_TEST(CompressedOperatorTest, TakesInactiveCellsAndScatteredStations) {
  for (const double tolerance : {1e-2, 1e-4}) this->expect_alike(hilly_survey(), {Field::gz, Field::gxz}, tolerance);
}

TYPED_TEST(CompressedOperatorTest, TakesLayersOfDifferentThickness) {
  this->expect_alike(flat_survey(18, 10, 16, true), {Field::gz}, 1e-4);
}

TYPED_TEST(CompressedOperatorTest, TakesOnePoint) {
  Survey survey = flat_survey(12, 6, 1);
  this->expect_alike(survey, {Field::gz}, 1e-4);
  survey.points.upward[0] = 1e4;
  this->expect_alike(survey, {Field::gz}, 1e-4);
}

TYPED_TEST(CompressedOperatorTest, KeepsFewCellsDense) {
  this->expect_alike(flat_survey(3, 2, 4), FieldList::vector(), 1e-6);
  EXPECT_NEAR(this->m_report.ratio, 2, 1e-12) << "floats";
  EXPECT_EQ(this->m_report.evaluated_pairs, this->m_report.pairs);
}

TYPED_TEST(CompressedOperatorTest, IsOneMatrix) {
  this->expect_one_matrix(flat_survey(16, 8, 12), {Field::gz});
  this->expect_one_matrix(flat_survey(10, 6, 10, true), FieldList::tensor());
  this->expect_one_matrix(hilly_survey(), {Field::gx, Field::gzz});
  this->m_unknown = Unknown::magnetization;
  this->expect_one_matrix(flat_survey(10, 6, 10, true), {Field::by, Field::tmi});
}

TYPED_TEST(CompressedOperatorTest, MultipliesSeveralVectorsAsEachAlone) {
  const auto op = this->compress(hilly_survey(), {Field::gx, Field::gzz}, 1e-3);
  constexpr std::size_t n = 3;
  const auto rows = static_cast<std::size_t>(op->rows()), columns = static_cast<std::size_t>(op->columns());
  const typename Operator<TypeParam>::Vectors densities("a", columns, n), weights("b", rows, n), fields("c", rows, n),
      transposed("d", columns, n), squares("e", columns, n);
  const auto column = [](const auto& vectors, std::size_t v) { return Kokkos::subview(vectors, Kokkos::ALL, v); };
  for (std::size_t v = 0; v < n; ++v) {
    Kokkos::deep_copy(column(densities, v), random_cells(*op, 7 + v));
    Kokkos::deep_copy(column(weights, v), random_rows(*op, 20 + v));
  }
  const std::int64_t told = op->plan().host_bytes;
  EXPECT_GT(told, op->bytes());
  op->apply(this->m_space, densities, fields);
  // both sides in the order of the clusters
  EXPECT_GE(op->plan().host_bytes - told, static_cast<std::int64_t>(8 * n * (rows + columns)));
  op->apply_transpose(this->m_space, weights, transposed);
  op->diagonal(this->m_space, weights, squares);
  const auto field = vector_of<TypeParam>(op->rows());
  const auto one = vector_of<TypeParam>(op->columns());
  const auto expect_same = [&](const auto& vector, const auto& alone) {
    this->m_space.fence();
    for (std::size_t i = 0; i < alone.size(); ++i) ASSERT_EQ(vector(i), alone(i)) << i;
  };
  for (std::size_t v = 0; v < n; ++v) {
    op->apply(this->m_space, column(densities, v), field);
    expect_same(column(fields, v), field);
    op->apply_transpose(this->m_space, column(weights, v), one);
    expect_same(column(transposed, v), one);
    op->diagonal(this->m_space, column(weights, v), one);
    expect_same(column(squares, v), one);
  }
}

TYPED_TEST(CompressedOperatorTest, TakesFarLessThanItsEntries) {
  const auto op = this->compress(flat_survey(24, 12, 28), {Field::gz}, 1e-2);
  EXPECT_GT(this->m_report.ratio, 10 / std::sqrt(static_cast<double>(ranks().size())));
  EXPECT_LT(this->m_report.evaluated_pairs, this->m_report.pairs / 2);
}

TYPED_TEST(CompressedOperatorTest, UsesUpTheErrorThatIsAskedFor) {
  // at 1e-2 ranks are 1 to 3, and whole numbers
  for (const double tolerance : {1e-3, 1e-4}) {
    this->compress(flat_survey(18, 10, 20), {Field::gz}, tolerance);
    EXPECT_LE(this->m_report.error, 0.4 * tolerance);
    EXPECT_GE(this->m_report.error, tolerance / 6);
  }
}

TYPED_TEST(CompressedOperatorTest, IsAboutAsLargeAsItsSampleSays) {
  const Survey survey = flat_survey(24, 12, 36);
  const ListEnsemble ensemble(survey.cells);
  const CompressionSample sample =
      sample_compression(TypeParam(), ensemble, survey.points, survey.points.size(), request_of({Field::gz}), 1e-3);
  this->compress(survey, {Field::gz}, 1e-3);
  if (ranks().size() > 1) return;
  EXPECT_GT(sample.bytes, this->m_report.bytes / 2);
  EXPECT_LT(sample.bytes, this->m_report.bytes * 2);
  EXPECT_GT(sample.seconds_to_make, 0);
  EXPECT_GT(sample.product_seconds, 0);
  EXPECT_GT(sample.seconds_per_entry, 0);
}

TYPED_TEST(CompressedOperatorTest, RefusesTolerancesThatFloatsDoNotKeep) {
  for (const double tolerance : {0.0, -1.0, 1e-9, 0.9, std::nan("")}) {
    try {
      this->compress(flat_survey(3, 2, 4), {Field::gz}, tolerance);
      FAIL() << tolerance;
    } catch (const InputError& error) {
      EXPECT_EQ(error.problems().at(0).key, "sensitivity.compression");
    }
  }
}

TYPED_TEST(CompressedOperatorTest, RefusesVectorsOfAnotherLength) {
  const auto op = this->compress(flat_survey(3, 2, 4), {Field::gz}, 1e-3);
  const auto rows = vector_of<TypeParam>(op->rows());
  const auto cells = vector_of<TypeParam>(op->columns() + 1);
  EXPECT_ANY_THROW(op->apply(this->m_space, cells, rows));
  EXPECT_ANY_THROW(op->apply_transpose(this->m_space, rows, cells));
}

#if defined(KOKKOS_ENABLE_OPENMP)
TEST(CompressedOperator, HasTheSameBitsOnAnyNumberOfThreads) {
  const Survey survey = hilly_survey();
  const ListEnsemble ensemble(survey.cells);
  using Space = Kokkos::OpenMP;
  const auto products = [&](const Space& space) {
    CompressionReport report;
    const auto op = make_compressed_operator(space, ensemble, survey.points, request_of({Field::gz, Field::gxx}), 1e-3,
                                             ranks(), report);
    std::vector<Vector<Space>> all = {vector_of<Space>(op->rows()), vector_of<Space>(op->columns()),
                                      vector_of<Space>(op->columns())};
    op->apply(space, random_cells(*op, 7), all[0]);
    op->apply_transpose(space, random_rows(*op, 20), all[1]);
    op->diagonal(space, random_rows(*op, 20, 0), all[2]);
    space.fence();
    std::vector<double> values;
    for (const auto& vector : all) values.insert(values.end(), vector.data(), vector.data() + vector.size());
    return values;
  };
  EXPECT_EQ(products(Kokkos::OpenMP(1)), products(Kokkos::OpenMP()));
}
#endif

TEST(ClusterTree, CoversEveryPairOnce) {
  std::vector<ClusterBox> points, cells;
  for (std::size_t i = 0; i < 77; ++i) {
    const std::array<double, 3> at = {uniform(1, i, 0, 9), uniform(2, i, 0, 9), 0};
    points.push_back({at, at});
  }
  for (std::size_t i = 0; i < 300; ++i) {
    const std::array<double, 3> at = {uniform(3, i, 0, 9), uniform(4, i, 0, 9), uniform(5, i, -9, -1)};
    cells.push_back({at, {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5}});
  }
  const ClusterTree p = make_clusters(points, 8), c = make_clusters(cells, 20);
  std::vector<int> covered(points.size() * cells.size());
  int admissible = 0;
  for (const BlockPlace& place : cut_into_blocks(p, c)) {
    admissible += place.admissible ? 1 : 0;
    const IndexRange rows = p.clusters[static_cast<std::size_t>(place.points)].range;
    const IndexRange columns = c.clusters[static_cast<std::size_t>(place.cells)].range;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      for (std::int64_t j = columns.begin; j < columns.end; ++j) {
        const auto point = static_cast<std::size_t>(p.order[static_cast<std::size_t>(i)]);
        const auto cell = static_cast<std::size_t>(c.order[static_cast<std::size_t>(j)]);
        ++covered[point * cells.size() + cell];
      }
    }
  }
  EXPECT_EQ(std::count(covered.begin(), covered.end(), 1), static_cast<std::ptrdiff_t>(covered.size()));
  EXPECT_GT(admissible, 0);
}

/// A matrix that is there, which counts the lines that were asked for.
class GivenMatrix final : public MatrixLines {
public:
  GivenMatrix(std::int64_t rows, std::int64_t columns) : m_rows(rows), m_columns(columns) {
    values.resize(static_cast<std::size_t>(rows * columns));
  }
  [[nodiscard]] double& at(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * m_columns + j)];
  }
  [[nodiscard]] std::int64_t rows() const noexcept override { return m_rows; }
  [[nodiscard]] std::int64_t columns() const noexcept override { return m_columns; }
  [[nodiscard]] const double* row(std::int64_t i) override { return &at(i, 0); }
  [[nodiscard]] const double* column(std::int64_t j) override {
    m_column.resize(static_cast<std::size_t>(m_rows));
    for (std::int64_t i = 0; i < m_rows; ++i) m_column[static_cast<std::size_t>(i)] = at(i, j);
    return m_column.data();
  }
  [[nodiscard]] bool has_row(std::int64_t) const noexcept override { return false; }
  [[nodiscard]] bool has_column(std::int64_t) const noexcept override { return false; }

  /// The error of a product of factors, relative to the norm of all.
  [[nodiscard]] double error_of(const LowRank& factors) {
    double error = 0, norm = 0;
    for (std::int64_t i = 0; i < m_rows; ++i) {
      for (std::int64_t j = 0; j < m_columns; ++j) {
        double left = at(i, j);
        norm += left * left;
        for (std::int64_t l = 0; l < factors.rank; ++l) {
          left -= factors.u[static_cast<std::size_t>(l * m_rows + i)] *
                  factors.v[static_cast<std::size_t>(l * m_columns + j)];
        }
        error += left * left;
      }
    }
    return std::sqrt(error / norm);
  }

  std::vector<double> values;

private:
  std::int64_t m_rows, m_columns;
  std::vector<double> m_column;
};

TEST(LowRank, FindsSingularValuesThatAreAlmostEqual) {
  constexpr std::int64_t n = 4, length = 9;
  for (const double scale : {1.0, 1e100, 1e-100}) {
    for (const double gap : {0.0, 1e-12, 1e-9, 1e-8, 1e-7}) {
      const double values[n] = {scale, 0.3 * (1 + gap) * scale, 0.3 * scale, 0.01 * scale};
      // Columns of cosines are orthogonal, and a reflection at (1, 1, 1, 1) mixes them.
      const double pi = std::acos(-1.0);
      const auto cosine = [&](std::int64_t k, std::int64_t i) {
        return std::sqrt(2.0 / length) *
               std::cos(pi * static_cast<double>(k + 1) * (static_cast<double>(i) + 0.5) / length);
      };
      const auto mixed = [](std::int64_t l, std::int64_t k) { return (l == k ? 1.0 : 0.0) - 2.0 / n; };
      LowRank matrix;
      matrix.rank = n;
      matrix.u.resize(n * length);
      matrix.v.resize(n * length);
      for (std::int64_t l = 0; l < n; ++l) {
        for (std::int64_t i = 0; i < length; ++i) {
          for (std::int64_t k = 0; k < n; ++k) {
            matrix.u[static_cast<std::size_t>(l * length + i)] += mixed(l, k) * values[k] * cosine(k, i);
            matrix.v[static_cast<std::size_t>(l * length + i)] += mixed(l, k) * cosine(n - 1 - k, i);
          }
        }
      }
      recompress(length, length, 1e-6, matrix);
      ASSERT_EQ(matrix.rank, n);
      for (std::int64_t l = 0; l < n; ++l) {
        double square = 0;
        for (std::int64_t i = 0; i < length; ++i) {
          const double u = matrix.u[static_cast<std::size_t>(l * length + i)] / scale;
          square += u * u;
        }
        EXPECT_NEAR(std::sqrt(square), values[l] / scale, 1e-13) << gap << ' ' << scale;
      }
    }
  }
}

TEST(LowRank, FindsARankThatIsThere) {
  // sizes of fields in SI units of small cells far away
  constexpr double size = 1e-24;
  GivenMatrix matrix(40, 90);
  for (std::int64_t i = 0; i < 40; ++i) {
    for (std::int64_t j = 0; j < 90; ++j) {
      matrix.at(i, j) = size * (std::sin(0.1 * static_cast<double>(i)) * static_cast<double>(j) +
                                std::cos(0.2 * static_cast<double>(i)) * std::exp(-0.05 * static_cast<double>(j)) +
                                (i % 7 == 0 ? 1e-3 * static_cast<double>(j * j) : 0.0));
    }
  }
  LowRank factors;
  ASSERT_TRUE(approximate_by_crosses(matrix, 1e-10, factors));
  recompress(40, 90, 1e-10, factors);
  EXPECT_EQ(factors.rank, 3);
  EXPECT_LE(matrix.error_of(factors), 1e-10);
}

TEST(LowRank, LeavesOutNoMoreThanTheTolerance) {
  GivenMatrix matrix(60, 80);
  for (std::int64_t i = 0; i < 60; ++i) {
    for (std::int64_t j = 0; j < 80; ++j) matrix.at(i, j) = 1.0 / (3.0 + static_cast<double>(i + j) / 40.0);
  }
  std::int64_t last = 0;
  for (const double tolerance : {1e-1, 1e-3, 1e-6, 1e-9}) {
    LowRank factors;
    ASSERT_TRUE(approximate_by_crosses(matrix, 0.3 * tolerance, factors));
    recompress(60, 80, 0.9 * tolerance, factors);
    EXPECT_LE(matrix.error_of(factors), tolerance);
    EXPECT_GT(factors.rank, last);
    last = factors.rank;
  }
}

TEST(LowRank, FindsARowThatOthersDoNotTell) {
  GivenMatrix matrix(64, 64);
  for (std::int64_t i = 0; i < 64; ++i) {
    for (std::int64_t j = 0; j < 64; ++j) {
      // two bodies that do not see each other
      const bool first = i < 32;
      matrix.at(i, j) = first == (j < 32) ? 1.0 + 0.01 * static_cast<double>(i) * (first ? 1.0 : -1.0) : 0.0;
    }
  }
  LowRank factors;
  ASSERT_TRUE(approximate_by_crosses(matrix, 1e-6, factors));
  EXPECT_LE(matrix.error_of(factors), 1e-6);
}

TEST(LowRank, TakesZerosAndRefusesFullRank) {
  GivenMatrix zeros(20, 30);
  LowRank factors;
  ASSERT_TRUE(approximate_by_crosses(zeros, 1e-3, factors));
  recompress(20, 30, 1e-3, factors);
  EXPECT_EQ(factors.rank, 0);

  GivenMatrix noise(20, 30);
  for (std::size_t i = 0; i < noise.values.size(); ++i) noise.values[i] = uniform(9, i, -1, 1);
  EXPECT_FALSE(approximate_by_crosses(noise, 1e-3, factors));
}

}  // namespace
}  // namespace prismfield::testing::test_compressed_operator
