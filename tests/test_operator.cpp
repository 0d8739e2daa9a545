// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// The operator: its products against forward(), against each other and against its own entries, in every space and
// precision, on any number of ranks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/forward.hpp>
#include <prismfield/host_operator.hpp>

#include "base/interrupt.hpp"
#include "base/random.hpp"
#include "compute/operator_plan.hpp"
#include "forward_helpers.hpp"
#include "kernel/field_rows.hpp"
#include "parallel/collectives.hpp"
#include "ranks.hpp"

namespace prismfield::testing::test_operator {
namespace {

double uniform(std::uint64_t seed, std::uint64_t number, double low, double high) {
  return random_uniform(low, high, seed, RandomStream::cell_density, number);
}

/// Prisms of many shapes, some of them inside others, densities of either sign.
std::vector<Prism> many_shapes(std::size_t n) {
  std::vector<Prism> prisms(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double west = uniform(1, i, 0, 1000);
    const double south = uniform(2, i, 0, 800);
    const double bottom = uniform(3, i, -600, -20);
    prisms[i] = {west,
                 west + uniform(4, i, 5, 120),
                 south,
                 south + uniform(5, i, 5, 120),
                 bottom,
                 bottom + uniform(6, i, 5, 100),
                 uniform(7, i, -500, 800)};
  }
  return prisms;
}

/// Cells of one shape.
std::vector<Prism> cells(int nx, int ny, int nz) {
  std::vector<Prism> prisms;
  for (int k = 0; k < nz; ++k) {
    for (int j = 0; j < ny; ++j) {
      for (int i = 0; i < nx; ++i) {
        prisms.push_back({50.0 * i, 50.0 * (i + 1), 40.0 * j, 40.0 * (j + 1), -30.0 * (nz - k), -30.0 * (nz - k - 1),
                          uniform(8, prisms.size(), -300, 300)});
      }
    }
  }
  return prisms;
}

/// Points above, between and within the prisms, one of them on a corner.
Points points_among(std::size_t n) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < n; ++i) {
    points.push_back({uniform(11, i, -200, 1300), uniform(12, i, -200, 1100), uniform(13, i, -300, 150)});
  }
  points.push_back({50, 40, -30});
  return make_station_points(points);
}

std::vector<double> densities_of(const std::vector<Prism>& prisms, IndexRange range) {
  std::vector<double> density;
  for (std::int64_t p = range.begin; p < range.end; ++p) density.push_back(prisms[static_cast<std::size_t>(p)].density);
  return density;
}

std::vector<double> random_values(std::int64_t n, std::uint64_t stream) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = uniform(stream, i, -1, 1);
  return values;
}

/// Random values at the rank's rows, the same for ranks with the same points. Tensor and potential differ by orders of
/// magnitude: each row counts by its own size, the inverse of `scale`.
std::vector<double> random_rows(const HostOperator& op, const std::vector<double>& scale) {
  std::vector<double> values(static_cast<std::size_t>(op.rows()));
  const std::int64_t n = op.points().size();
  for (std::int64_t r = 0; r < op.rows(); ++r) {
    const auto f = static_cast<std::uint64_t>(r / n);
    const auto point = static_cast<std::uint64_t>(op.points().begin + r % n);
    values[static_cast<std::size_t>(r)] = uniform(20 + f, point, -1, 1) / scale[static_cast<std::size_t>(f)];
  }
  return values;
}

/// Largest size of each field over all points of a forward run.
std::vector<double> size_of_fields(const std::vector<double>& values, std::int64_t n_points) {
  std::vector<double> size(values.size() / static_cast<std::size_t>(n_points), 1);
  for (std::size_t f = 0; f < size.size(); ++f) {
    size[f] = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_points); ++i) {
      size[f] = std::max(size[f], std::abs(values[f * static_cast<std::size_t>(n_points) + i]));
    }
  }
  return size;
}

struct OperatorCase {
  std::string name;
  Execution execution;
  FieldList fields = FieldList::all();
  bool one_shape = false;
  /// with density the prisms have a magnetisation of their own
  Unknown unknown = Unknown::density;
};

std::vector<OperatorCase> operator_cases() {
  std::vector<OperatorCase> all;
  for (const Space space : {Space::serial, Space::openmp, Space::cuda, Space::hip}) {
    for (const Precision precision : {Precision::double_, Precision::single}) {
      for (const bool one_shape : {false, true}) {
        OperatorCase c;
        c.execution.space = space;
        c.execution.precision = precision;
        c.one_shape = one_shape;
        c.name = std::string(name(space)) + "_" + name(precision) + (one_shape ? "_one_shape" : "_shapes");
        all.push_back(c);
      }
    }
    const auto vary = [&](const std::string& what, auto&& change) {
      OperatorCase c;
      c.execution.space = space;
      c.name = std::string(name(space)) + "_" + what;
      change(c);
      all.push_back(c);
    };
    vary("gz", [](OperatorCase& c) { c.fields = {Field::gz}; });
    vary("part_of_a_set", [](OperatorCase& c) { c.fields = {Field::gx, Field::gxz, Field::gyz}; });
    vary("vector", [](OperatorCase& c) { c.fields = FieldList::vector(); });
    vary("tensor", [](OperatorCase& c) { c.fields = FieldList::tensor(); });
    vary("sum_of_fields", [](OperatorCase& c) { c.fields = {Field::guv}; });
    for (const Precision precision : {Precision::double_, Precision::single}) {
      vary(std::string("every_") + name(precision), [&](OperatorCase& c) {
        c.fields = FieldList::gravity();
        c.execution.precision = precision;
      });
    }
    const FieldList magnetic = {Field::bx, Field::by, Field::bz, Field::tmi};
    for (const Precision precision : {Precision::double_, Precision::single}) {
      for (const Unknown unknown : {Unknown::density, Unknown::susceptibility, Unknown::magnetization}) {
        vary(std::string("magnetic_") + name(unknown) + "_" + name(precision), [&](OperatorCase& c) {
          c.fields = magnetic;
          c.unknown = unknown;
          c.execution.precision = precision;
          c.one_shape = unknown == Unknown::susceptibility;
        });
      }
    }
    vary("magnetic_part_of_a_set", [](OperatorCase& c) {
      c.fields = {Field::by, Field::tmi};
      c.one_shape = true;
    });
    vary("tmi_in_little_memory", [](OperatorCase& c) {
      c.fields = {Field::tmi};
      c.unknown = Unknown::magnetization;
      c.execution.memory_limit = 20'000;
      c.execution.chunk = 64;
    });
    vary("tmi_by_points_per_prism", [](OperatorCase& c) {
      c.fields = {Field::tmi};
      c.unknown = Unknown::magnetization;
      c.execution.partition = Partition::points_per_prism;
    });
    vary("slots_and_batch", [](OperatorCase& c) {
      c.execution.slots = 3;
      c.execution.batch = 7;
      c.execution.chunk = 50;
    });
    // less than a warp of a device, and one and a half
    for (const int block : {1, 16, 48}) {
      vary("blocks_of_" + std::to_string(block), [block](OperatorCase& c) {
        c.execution.block = block;
        c.one_shape = block == 48;
      });
    }
    // tiles of points, and blocks that are staged anew
    vary("little_memory", [](OperatorCase& c) {
      c.execution.memory_limit = 20'000;
      c.execution.chunk = 64;
    });
    vary("by_points", [](OperatorCase& c) { c.execution.partition = Partition::points; });
    vary("by_points_per_prism", [](OperatorCase& c) { c.execution.partition = Partition::points_per_prism; });
  }
  return all;
}

class OperatorOn : public ::testing::TestWithParam<OperatorCase> {
protected:
  void SetUp() override {
    if (const auto reason = unavailable(GetParam().execution.space)) GTEST_SKIP() << *reason;
    m_prisms = GetParam().one_shape ? cells(9, 8, 6) : many_shapes(401);
    m_request = {GetParam().fields, 6.6743e-11, GetParam().execution, {}};
    m_request.magnetic.inducing_field = vector_of(-62.5, 11.25, 48250e-9);
    for (std::size_t i = 0; i < m_prisms.size() && is_magnetic(); ++i) {
      m_prisms[i].magnetization = {uniform(14, i, -1, 1), uniform(15, i, -1, 1), uniform(16, i, -1, 1)};
    }
    m_ensemble.emplace(m_prisms, GetParam().one_shape);
    m_columns.emplace(*m_ensemble, unit_magnetizations(GetParam().unknown, m_request.magnetic));
    if (ranks().size() > 1 && m_request.execution.partition == Partition::automatic && ranks().size() % 2 == 0) {
      m_request.execution.partition = Partition::rank_grid;
      m_request.execution.rank_grid = {2, ranks().size() / 2};
    }
  }

  [[nodiscard]] bool is_magnetic() const { return !GetParam().fields.of_magnetisation().empty(); }
  [[nodiscard]] const PrismSource& source() const { return *m_columns; }
  /// Of columns: the densities; the components of a magnetisation differ.
  [[nodiscard]] std::vector<double> amounts(IndexRange range) const {
    std::vector<double> amounts;
    const auto n = static_cast<std::int64_t>(m_prisms.size());
    for (std::int64_t p = range.begin; p < range.end; ++p) {
      amounts.push_back(m_prisms[static_cast<std::size_t>(p % n)].density / static_cast<double>(1 + p / n));
    }
    return amounts;
  }
  /// The prisms whose fields are G times the amounts.
  [[nodiscard]] ListEnsemble model() const {
    std::vector<Prism> prisms = m_prisms;
    PrismBlock columns;
    m_columns->read({0, m_columns->size()}, columns);
    for (Prism& prism : prisms) prism.magnetization = {};
    const std::vector<double> all = amounts({0, m_columns->size()});
    for (std::size_t p = 0; p < all.size() && is_magnetic(); ++p) {
      Prism& prism = prisms[p % prisms.size()];
      for (std::size_t d = 0; d < 3; ++d) prism.magnetization[d] += all[p] * columns.magnetization[d][p];
    }
    return ListEnsemble(prisms, GetParam().one_shape);
  }
  [[nodiscard]] bool in_double() const { return m_request.execution.precision == Precision::double_; }
  /// Of sums over all pairs. A float's product with the density rounds otherwise than its product with one.
  [[nodiscard]] double rounding() const { return in_double() ? 1e-13 : 1e-4; }

  std::vector<Prism> m_prisms;
  std::optional<ListEnsemble> m_ensemble;
  std::optional<MagnetizedPrisms> m_columns;
  Request m_request;
  Points m_points = points_among(333);
};

TEST_P(OperatorOn, AppliesAsForwardDoes) {
  const PrismSource& prisms = source();
  const Fields expected = forward(model(), m_points, m_request, ranks());
  std::vector<double> all = expected.values;
  broadcast(ranks(), all);
  HostOperator op(prisms, m_points, m_request, ranks());
  const std::vector<double> density = amounts(op.prisms());
  std::vector<double> fields(static_cast<std::size_t>(op.rows()));
  const std::vector<double> size = size_of_fields(all, m_points.size());
  for (int again = 0; again < 2; ++again) {
    op.apply(density, fields);
    const std::int64_t n = op.points().size();
    for (std::int64_t r = 0; r < op.rows(); ++r) {
      const std::int64_t at = r / n * m_points.size() + op.points().begin + r % n;
      // an amount times a magnetisation is rounded before or behind the kernel
      const double tolerance = is_magnetic() ? rounding() * size[static_cast<std::size_t>(r / n)] : 0;
      ASSERT_NEAR(fields[static_cast<std::size_t>(r)], all[static_cast<std::size_t>(at)], tolerance) << "row " << r;
    }
  }
}

/// An entry is the field of one prism, of an amount of 1, by one form or another.
TEST_P(OperatorOn, EntriesAreFieldsOfUnitPrisms) {
  const PrismSource& prisms = source();
  HostOperator op(prisms, m_points, m_request, ranks());
  if (op.points().size() != m_points.size() || op.columns() != prisms.size()) GTEST_SKIP() << "a part of G";
  std::vector<double> entries(static_cast<std::size_t>(op.rows() * op.columns()));
  op.entries({0, m_points.size()}, entries);
  PrismBlock columns;
  prisms.read({0, prisms.size()}, columns);
  Request alone = m_request;
  alone.execution.memory_limit.reset();
  for (std::size_t p = 5; p < columns.west.size(); p += columns.west.size() / 4) {
    Prism unit = m_prisms[p % m_prisms.size()];
    unit.density = 1;
    for (std::size_t d = 0; d < 3 && is_magnetic(); ++d) unit.magnetization[d] = columns.magnetization[d][p];
    const std::vector<double> fields = forward(ListEnsemble({unit}), m_points, alone).values;
    const std::vector<double> size = size_of_fields(fields, m_points.size());
    for (std::int64_t r = 0; r < op.rows(); ++r) {
      const auto at = static_cast<std::size_t>(r);
      ASSERT_NEAR(entries[at * columns.west.size() + p], fields[at],
                  op.error_bound() * size[at / static_cast<std::size_t>(m_points.size())])
          << "prism " << p << ", row " << r;
    }
  }
}

TEST_P(OperatorOn, TransposedProductHasTheSameInnerProduct) {
  const PrismSource& prisms = source();
  std::vector<double> expected = forward(model(), m_points, m_request, ranks()).values;
  broadcast(ranks(), expected);
  HostOperator op(prisms, m_points, m_request, ranks());
  const std::vector<double> density = amounts(op.prisms());
  const std::vector<double> rows = random_rows(op, size_of_fields(expected, m_points.size()));
  std::vector<double> fields(static_cast<std::size_t>(op.rows()));
  std::vector<double> transposed(static_cast<std::size_t>(op.columns()), 7.0);
  op.apply(density, fields);
  op.apply_transpose(rows, transposed);
  const double forth = op.dot_fields(fields, rows);
  const double back = op.dot_densities(density, transposed);
  const double size = std::sqrt(op.dot_fields(fields, fields) * op.dot_fields(rows, rows));
  EXPECT_GT(std::abs(forth), 1e-8 * size);
  EXPECT_NEAR(forth, back, rounding() * size);
  const double parts = std::sqrt(op.dot_densities(density, density) * op.dot_densities(transposed, transposed));
  EXPECT_NEAR(forth, back, rounding() * parts);
}

TEST_P(OperatorOn, ProductsAreThoseOfItsEntries) {
  const PrismSource& prisms = source();
  HostOperator op(prisms, m_points, m_request, ranks());
  const std::int64_t n_points = op.points().size();
  const std::int64_t columns = op.columns();
  // in two pieces, as one who writes them to a file takes them
  std::vector<double> entries(static_cast<std::size_t>(op.rows() * columns));
  for (const IndexRange part : {IndexRange{0, n_points / 3}, IndexRange{n_points / 3, n_points}}) {
    std::vector<double> some(static_cast<std::size_t>(op.fields().size() * part.size() * columns));
    op.entries(part, some);
    for (std::int64_t f = 0; f < op.fields().size(); ++f) {
      std::copy_n(some.begin() + f * part.size() * columns, part.size() * columns,
                  entries.begin() + (f * n_points + part.begin) * columns);
    }
  }
  const auto direction = direction_of(m_request.magnetic.inducing_field);
  for (const FieldInfo& field : op.fields()) {
    const FieldList parts = FieldList{field.field}.natives();
    if (!op.fields().contains(parts)) continue;
    const auto entry = [&](Field f, std::int64_t at) {
      return entries[static_cast<std::size_t>(op.fields().index_of(f) * n_points * columns + at)];
    };
    for (std::int64_t at = 0; at < n_points * columns; ++at) {
      double sum = 0, magnitude = 0;
      for (const FieldInfo& part : parts) {
        const double weight = field.rule == FieldRule::along_inducing_field
                                  ? direction[field.component[static_cast<std::size_t>(part.field)]]
                                  : field.weights[static_cast<std::size_t>(part.field)];
        const double term = weight * entry(part.field, at);
        sum += term;
        magnitude += std::abs(term);
      }
      // a rounding a term, of doubles or of floats
      ASSERT_NEAR(entry(field.field, at), sum, (in_double() ? 1e-15 : 4e-7) * magnitude) << field.name << ' ' << at;
    }
  }
  std::vector<double> size(static_cast<std::size_t>(op.fields().size()), 0);
  for (std::int64_t r = 0; r < op.rows(); ++r) {
    double& largest = size[static_cast<std::size_t>(r / n_points)];
    for (std::int64_t p = 0; p < columns; ++p) {
      largest = std::max(largest, std::abs(entries[static_cast<std::size_t>(r * columns + p)]));
    }
  }
  const std::vector<double> rows = random_rows(op, size);
  std::vector<double> weights = rows;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    weights[r] = std::abs(rows[r]) / size[r / static_cast<std::size_t>(n_points)];
  }
  std::vector<double> products(static_cast<std::size_t>(columns), 0), magnitudes = products, squares = products;
  for (std::int64_t r = 0; r < op.rows(); ++r) {
    for (std::int64_t p = 0; p < columns; ++p) {
      const auto at = static_cast<std::size_t>(p);
      const double entry = entries[static_cast<std::size_t>(r * columns + p)];
      products[at] += entry * rows[static_cast<std::size_t>(r)];
      magnitudes[at] += std::abs(entry * rows[static_cast<std::size_t>(r)]);
      squares[at] += weights[static_cast<std::size_t>(r)] * entry * entry;
    }
  }
  // ranks with the same prisms have other points
  std::vector<double> transposed(static_cast<std::size_t>(columns)), diagonal(static_cast<std::size_t>(columns));
  op.apply_transpose(rows, transposed);
  op.diagonal(weights, diagonal);
  if (op.points().size() != m_points.size()) return;
  // entries take their points in the caller's order, products in a spatial one: another form may serve a pair
  const double tolerance = in_double() ? 4e-12 : 1e-4;
  for (std::size_t p = 0; p < products.size(); ++p) {
    ASSERT_NEAR(transposed[p], products[p], tolerance * magnitudes[p]) << "prism " << p;
    ASSERT_GT(diagonal[p], 0);
    ASSERT_NEAR(diagonal[p], squares[p], tolerance * squares[p]) << "prism " << p;
  }
}

/// Vectors together are each as it is alone, bit for bit; factors are those of plain arithmetic.
TEST_P(OperatorOn, MultipliesSeveralVectorsWithFactors) {
  const PrismSource& prisms = source();
  HostOperator op(prisms, m_points, m_request, ranks());
  constexpr std::int64_t n = 2;
  const std::vector<double> densities = random_values(n * op.columns(), 51), rows = random_values(n * op.rows(), 52);
  std::vector<double> fields(rows.size()), back(densities.size()), squares(densities.size());
  op.apply(densities, fields, n);
  op.apply_transpose(rows, back, n);
  op.diagonal(rows, squares, n);
  const auto compare = [](std::int64_t from, std::int64_t to, const std::vector<double>& in,
                          const std::vector<double>& out, const auto& multiply) {
    for (std::int64_t v = 0; v < n; ++v) {
      std::vector<double> one(static_cast<std::size_t>(to));
      multiply(std::vector<double>(in.begin() + v * from, in.begin() + (v + 1) * from), one);
      EXPECT_EQ(one, std::vector<double>(out.begin() + v * to, out.begin() + (v + 1) * to)) << "vector " << v;
    }
  };
  compare(op.columns(), op.rows(), densities, fields, [&](const auto& in, auto& out) { op.apply(in, out); });
  compare(op.rows(), op.columns(), rows, back, [&](const auto& in, auto& out) { op.apply_transpose(in, out); });
  compare(op.rows(), op.columns(), rows, squares, [&](const auto& in, auto& out) { op.diagonal(in, out); });

  constexpr double alpha = -0.5, beta = 3;
  const auto expect_sum = [](const std::vector<double>& product, const std::vector<double>& before,
                             const std::vector<double>& after) {
    for (std::size_t i = 0; i < after.size(); ++i) {
      const double size = std::abs(alpha * product[i]) + std::abs(beta * before[i]);
      ASSERT_NEAR(after[i], alpha * product[i] + beta * before[i], 4e-16 * size) << i;
    }
  };
  std::vector<double> sum = fields;
  op.apply(alpha, densities, beta, sum, n);
  expect_sum(fields, fields, sum);
  sum = densities;
  op.apply_transpose(alpha, rows, beta, sum, n);
  expect_sum(back, densities, sum);
  // what is not read may be anything
  std::fill(sum.begin(), sum.end(), std::nan(""));
  op.apply_transpose(2, rows, 0, sum, n);
  for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], 2 * back[i]) << i;
}

TEST_P(OperatorOn, RanksWithTheSamePointsOrPrismsHoldTheSame) {
  const PrismSource& prisms = source();
  HostOperator op(prisms, m_points, m_request, ranks());
  const std::vector<double> rows = random_values(op.rows(), 31);
  std::vector<double> fields(static_cast<std::size_t>(op.rows())), density(static_cast<std::size_t>(op.columns()));
  op.apply(amounts(op.prisms()), fields);
  op.apply_transpose(rows, density);
  // a second time: bit for bit
  std::vector<double> fields_again(fields.size()), density_again(density.size());
  op.apply(amounts(op.prisms()), fields_again);
  op.apply_transpose(rows, density_again);
  EXPECT_EQ(fields, fields_again);
  EXPECT_EQ(density, density_again);
  // a digest of the values: ranks on different rows of the grid hold different numbers of them
  const auto sum_of = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  const auto begins = gather_everywhere(ranks(), op.points().begin);
  const auto sums = gather_everywhere(ranks(), sum_of(fields));
  for (std::size_t r = 0; r < begins.size(); ++r) {
    if (begins[r] == op.points().begin) {
      EXPECT_EQ(sums[r], sum_of(fields));
    }
  }
  const auto prism_begins = gather_everywhere(ranks(), op.prisms().begin);
  const auto prism_ends = gather_everywhere(ranks(), op.prisms().end);
  const auto density_sums = gather_everywhere(ranks(), sum_of(density));
  for (std::size_t r = 0; r < prism_begins.size(); ++r) {
    if (prism_begins[r] != op.prisms().begin) continue;
    EXPECT_EQ(prism_ends[r], op.prisms().end);
    EXPECT_EQ(density_sums[r], sum_of(density));
  }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, OperatorOn, ::testing::ValuesIn(operator_cases()),
                         [](const auto& of) { return of.param.name; });

TEST(Operator, IsTheSameOnAnyNumberOfThreadsOfOnePlan) {
  Execution serial;
  serial.space = Space::serial;
  serial.slots = 4;
  serial.batch = 16;
  Execution threads = serial;
  threads.space = Space::openmp;
  if (const auto reason = unavailable(Space::openmp)) GTEST_SKIP() << *reason;
  if (ranks().size() > 1) GTEST_SKIP() << "one rank's threads";
  const std::vector<Prism> prisms = many_shapes(300);
  const ListEnsemble source(prisms);
  const Points points = points_among(500);
  HostOperator one(source, points, {FieldList::all(), 1, serial});
  HostOperator two(source, points, {FieldList::all(), 1, threads});
  const std::vector<double> rows = random_values(one.rows(), 33);
  std::vector<double> a(static_cast<std::size_t>(one.columns())), b = a;
  one.apply_transpose(rows, a);
  two.apply_transpose(rows, b);
  EXPECT_EQ(a, b);
}

/// A rank that fails alone ends the call of every rank.
TEST(Operator, FailsOnAllRanks) {
  if (ranks().size() == 1) GTEST_SKIP() << "for several ranks";
  const std::vector<Prism> prisms = many_shapes(40);
  const ListEnsemble source(prisms);
  const Points points = points_among(20);
  Execution execution;
  execution.space = Space::serial;
  HostOperator op(source, points, {{Field::gz}, 1, execution}, ranks());
  std::vector<double> fields(static_cast<std::size_t>(op.rows()));
  std::vector<double> density(static_cast<std::size_t>(op.columns() + (ranks().rank() == 1 ? 1 : 0)));
  EXPECT_THROW(op.apply(density, fields), AgreedFailure);
}

/// A block at a time in memory: what is told of memory is what is held.
TEST(Operator, CountsWhatItHolds) {
  if (ranks().size() > 1) GTEST_SKIP() << "one rank's memory";
  const std::vector<Prism> prisms = many_shapes(70'000);
  const ListEnsemble source(prisms);
  const Points points = points_among(50);
  Execution execution;
  execution.space = Space::serial;
  const HostOperator keeps(source, points, {{Field::gz}, 1, execution});
  execution.memory_limit = 1'000'000;
  const HostOperator stages_anew(source, points, {{Field::gz}, 1, execution});
  // a shape of its own for each prism: more than a kibibyte
  EXPECT_GT(keeps.plan().host_bytes, 70'000 * 1024);
  EXPECT_LT(stages_anew.plan().host_bytes, keeps.plan().host_bytes);
}

/// The blocks of prisms are staged one by one, which can take as long as a product.
TEST(Operator, CanBeLeftWhileItIsMade) {
  if (ranks().size() > 1) GTEST_SKIP() << "a signal of one process";
  const std::vector<Prism> prisms = many_shapes(70);
  const ListEnsemble source(prisms);
  Execution execution;
  execution.space = Space::serial;
  const Interruptible interruptible;
  ASSERT_EQ(std::raise(SIGINT), 0);
  EXPECT_THROW(HostOperator(source, points_among(50), {{Field::gz}, 1, execution}), Stopped);
}

TEST(Operator, RefusesOutputThatOverlapsItsInput) {
  const std::vector<double> v(10);
  check_apart("fields", v.data(), 5, v.data() + 5, 5);
  check_apart("fields", v.data() + 5, 5, v.data(), 5);
  check_apart("fields", v.data(), 0, v.data(), 10);
  EXPECT_THROW(check_apart("fields", v.data(), 6, v.data() + 5, 5), InputError);
  EXPECT_THROW(check_apart("fields", v.data() + 4, 5, v.data(), 5), InputError);
}

TEST(Operator, NeedsNoPrismOnEveryRank) {
  Execution execution;
  execution.space = Space::serial;
  execution.partition = Partition::prisms;
  const std::vector<Prism> prisms = many_shapes(2);
  const ListEnsemble source(prisms);
  const Points points = points_among(5);
  const Request request{{Field::gz}, 1, execution};
  HostOperator op(source, points, request, ranks());
  std::vector<double> fields(static_cast<std::size_t>(op.rows())), density(static_cast<std::size_t>(op.columns()));
  op.apply(densities_of(prisms, op.prisms()), fields);
  std::vector<double> expected = forward(source, points, request, ranks()).values;
  broadcast(ranks(), expected);
  EXPECT_EQ(fields, expected);
  op.apply_transpose(fields, density);
  op.diagonal(fields, density);
}

TEST(Operator, SaysWhatIsWrong) {
  if (ranks().size() > 1) GTEST_SKIP() << "the same on every rank";
  const auto problem = [](const auto& f) {
    try {
      f();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const std::vector<Prism> prisms = many_shapes(3);
  const ListEnsemble source(prisms);
  Points points = points_among(4);
  Request request;
  HostOperator op(source, points, request);
  std::vector<double> three(3), rows(static_cast<std::size_t>(op.rows())), wrong(7);
  EXPECT_EQ(problem([&] { op.apply(wrong, rows); }), "density: has 7 values, the operator needs 3");
  EXPECT_EQ(problem([&] { op.apply(three, wrong); }), "fields: has 7 values, the operator needs 50");
  EXPECT_EQ(problem([&] { op.apply_transpose(wrong, three); }), "fields: has 7 values, the operator needs 50");
  EXPECT_EQ(problem([&] { op.diagonal(rows, wrong); }), "diagonal: has 7 values, the operator needs 3");
  EXPECT_EQ(problem([&] { op.entries({2, 9}, wrong); }), "points: [2, 9) is not within this rank's 5 points");
  EXPECT_EQ(problem([&] { static_cast<void>(op.dot_fields(rows, wrong)); }), "b: has 7 values, the operator needs 50");
  request.execution.kernel = KernelKind::corners;
  EXPECT_EQ(problem([&] { const HostOperator no(source, points, request); }),
            "execution.kernel: an operator has automatic forms only; corners is for forward runs");
  request.execution.kernel = KernelKind::automatic;
  const auto refused = [&](const PrismSource& columns, FieldList fields) {
    request.fields = fields;
    return problem([&] { const HostOperator no(columns, points, request); });
  };
  EXPECT_TRUE(refused(source, {Field::bz}).starts_with("model: has no magnetization, which bz needs"));
  EXPECT_THAT(problem([&] { static_cast<void>(unit_magnetizations(Unknown::susceptibility, request.magnetic)); }),
              ::testing::HasSubstr("magnetic.inducing_field: is missing"));
  const MagnetizedPrisms magnets(source, {{1, 0, 0}, {0, 1, 0}});
  EXPECT_EQ(HostOperator(magnets, points, {{Field::bz}, 1, request.execution}).columns(), 6);
  EXPECT_THAT(refused(magnets, {Field::tmi}), ::testing::HasSubstr("magnetic.inducing_field"));
  request.magnetic.inducing_field = {1e-5, 2e-5, 3e-5};
  EXPECT_EQ(refused(magnets, {Field::tmi}), "nothing");
  EXPECT_THAT(refused(magnets, {Field::gz, Field::bz}), ::testing::HasSubstr("fields: has fields of density and"));
  for (const Field field : {Field::tmi_exact, Field::amplitude}) {
    EXPECT_THAT(refused(magnets, {Field::bz, field}), ::testing::HasSubstr("no linear function of the model"));
  }
  request.magnetic.inside = Inside::nan;
  EXPECT_THAT(refused(magnets, {Field::bz}), ::testing::HasSubstr("magnetic.inside: is nan"));
  request.magnetic.inside = Inside::field_strength;
  EXPECT_EQ(refused(magnets, {Field::bz}), "nothing");
  EXPECT_THAT(problem([&] {
                const MagnetizedPrisms no(source, {0, std::nan(""), 0});
              }),
              ::testing::HasSubstr("magnetization_northing: is NaN or infinite"));
  request = {};
  points.upward[1] = std::nan("");
  EXPECT_EQ(problem([&] { const HostOperator no(source, points, request); }),
            "points.upward: point 1 is NaN or infinite");
}

}  // namespace
}  // namespace prismfield::testing::test_operator
