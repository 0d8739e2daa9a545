// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Stored sensitivities: products against forward(), against each other and against the direct operator, on any number
// of ranks; and the choice between stored and computed anew.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/forward.hpp>
#include <prismfield/host_operator.hpp>
#include <prismfield/make_operator.hpp>

#include "base/random.hpp"
#include "engine/with_space.hpp"
#include "forward_helpers.hpp"
#include "operators/host_operator.hpp"
#include "operators/stored/storage_choice.hpp"
#include "parallel/collectives.hpp"
#include "ranks.hpp"

namespace prismfield::testing::test_stored_operator {
namespace {

using ::testing::HasSubstr;

double uniform(std::uint64_t seed, std::size_t number, double low, double high) {
  return random_uniform(low, high, seed, RandomStream::cell_density, number);
}

/// Cells of one shape, densities of either sign: more than a tile, and a tail.
std::vector<Prism> cells() {
  std::vector<Prism> prisms;
  for (int k = 0; k < 9; ++k) {
    for (int j = 0; j < 11; ++j) {
      for (int i = 0; i < 13; ++i) {
        prisms.push_back({50.0 * i, 50.0 * (i + 1), 40.0 * j, 40.0 * (j + 1), -30.0 * (k + 1), -30.0 * k,
                          uniform(8, prisms.size(), -300, 300)});
      }
    }
  }
  return prisms;
}

Points points_above(std::size_t n) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < n; ++i) {
    points.push_back({uniform(11, i, -200, 800), uniform(12, i, -200, 600), uniform(13, i, 5, 150)});
  }
  return make_station_points(points);
}

template <class K>
class StoredOperatorOn : public ::testing::Test {
protected:
  using Space = K;
  using Vector = typename Operator<Space>::Vector;

  void SetUp() override {
    // a rank alone has some other rank's points too, where they are few
    m_request = {{Field::gx, Field::gz, Field::gxy, Field::gzz}, 6.6743e-11, {}, {}};
    m_request.execution.space = space_key<Space>;
    m_request.magnetic.inducing_field = vector_of(-62.5, 11.25, 48250e-9);
  }

  /// The columns and fields of an unknown, and the prisms whose fields are G times densities().
  void use(Unknown unknown) {
    const bool is_magnetic = unknown != Unknown::density;
    m_request.fields = is_magnetic ? FieldList{Field::bx, Field::by, Field::bz, Field::tmi}
                                   : FieldList{Field::gx, Field::gz, Field::gxy, Field::gzz};
    m_source.emplace(m_ensemble, unit_magnetizations(unknown, m_request.magnetic));
    m_model = m_prisms;
    PrismBlock columns;
    m_source->read({0, m_source->size()}, columns);
    const std::vector<double> amounts = densities();
    for (std::size_t p = 0; p < amounts.size() && is_magnetic; ++p) {
      Prism& prism = m_model[p % m_model.size()];
      for (std::size_t d = 0; d < 3; ++d) prism.magnetization[d] += amounts[p] * columns.magnetization[d][p];
    }
  }

  [[nodiscard]] std::unique_ptr<Operator<Space>> stored(StoredPrecision precision) const {
    StorageSettings settings;
    settings.store = Store::memory;
    settings.precision = precision;
    return make_operator(Space(), *m_source, m_points, m_request, settings, ranks());
  }
  static Vector on_space(const std::vector<double>& from) {
    Vector to("values", from.size());
    Kokkos::deep_copy(
        to, Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
    return to;
  }
  static std::vector<double> on_host(const Vector& from) {
    Kokkos::fence();
    std::vector<double> to(from.size());
    Kokkos::deep_copy(Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(to.data(), to.size()), from);
    return to;
  }
  /// The forward run at this rank's points, in the order of its rows.
  [[nodiscard]] std::vector<double> expected_rows(const Operator<Space>& op) const {
    std::vector<double> all = forward(ListEnsemble(m_model, true), m_points, m_request, ranks()).values;
    broadcast(ranks(), all);
    std::vector<double> rows;
    for (std::int64_t f = 0; f < op.fields().size(); ++f) {
      const auto field = all.begin() + f * m_points.size();
      rows.insert(rows.end(), field + op.points().begin, field + op.points().end);
    }
    return rows;
  }
  /// Values at this rank's rows that are the same for every number of ranks, of the size that makes fields alike.
  static std::vector<double> factors(const Operator<Space>& op, bool positive = false) {
    std::vector<double> values;
    for (std::int64_t f = 0; f < op.fields().size(); ++f) {
      for (std::int64_t i = op.points().begin; i < op.points().end; ++i) {
        const auto number = static_cast<std::size_t>(f * 1000 + i);
        values.push_back(uniform(21, number, positive ? 0.5 : -1, 1) * (f < 2 ? 1 : 100));
      }
    }
    return values;
  }
  [[nodiscard]] std::vector<double> densities() const {
    std::vector<double> all;
    for (std::int64_t p = 0; p < m_source->size(); ++p) {
      all.push_back(m_prisms[static_cast<std::size_t>(p % m_ensemble.size())].density);
    }
    return all;
  }

  std::vector<Prism> m_prisms = cells(), m_model = m_prisms;
  ListEnsemble m_ensemble{m_prisms, true};
  std::optional<MagnetizedPrisms> m_source{std::in_place, m_ensemble, std::vector<std::array<double, 3>>()};
  Points m_points = points_above(83);
  Request m_request;
};

using Spaces = ::testing::Types<
#if defined(KOKKOS_ENABLE_CUDA)
    Kokkos::Cuda,
#endif
#if defined(KOKKOS_ENABLE_HIP)
    Kokkos::HIP,
#endif
    Kokkos::DefaultHostExecutionSpace>;
TYPED_TEST_SUITE(StoredOperatorOn, Spaces);

template <class Space>
using VectorOn = typename Operator<Space>::Vector;

constexpr std::pair<Unknown, StoredPrecision> kinds[] = {
    {Unknown::density, StoredPrecision::double_},       {Unknown::density, StoredPrecision::float_},
    {Unknown::density, StoredPrecision::float16},       {Unknown::susceptibility, StoredPrecision::double_},
    {Unknown::susceptibility, StoredPrecision::float_}, {Unknown::magnetization, StoredPrecision::float16},
    {Unknown::magnetization, StoredPrecision::double_}};

/// Sums of |entry density| are at most some ten times the field here.
TYPED_TEST(StoredOperatorOn, AppliesAsForwardDoes) {
  for (const auto& [unknown, precision] : kinds) {
    SCOPED_TRACE(name(unknown));
    this->use(unknown);
    const auto made = this->stored(precision);
    auto& op = *made;
    EXPECT_EQ(op.columns(), this->m_source->size());
    const std::vector<double> expected = this->expected_rows(op);
    const VectorOn<TypeParam> fields("fields", static_cast<std::size_t>(op.rows()));
    op.apply(TypeParam(), TestFixture::on_space(this->densities()), fields);
    const std::vector<double> rows = TestFixture::on_host(fields);
    const std::int64_t n = op.points().size();
    for (std::int64_t f = 0; f < op.fields().size(); ++f) {
      const auto begin = static_cast<std::size_t>(f * n), end = static_cast<std::size_t>((f + 1) * n);
      double largest = 0;
      for (std::size_t r = begin; r < end; ++r) largest = std::max(largest, std::abs(expected[r]));
      for (std::size_t r = begin; r < end; ++r) {
        ASSERT_NEAR(rows[r], expected[r], (1e-12 + 10 * storage_error(precision)) * largest)
            << name(precision) << ", row " << r;
      }
    }
    EXPECT_EQ(op.bytes(), stored_bytes(precision, op.rows(), op.columns()));
    EXPECT_GE(op.error_bound(), storage_error(precision));
  }
}

TYPED_TEST(StoredOperatorOn, TransposedProductHasTheSameInnerProduct) {
  for (const auto& [unknown, precision] : kinds) {
    SCOPED_TRACE(name(unknown));
    this->use(unknown);
    const auto made = this->stored(precision);
    auto& op = *made;
    const VectorOn<TypeParam> density = TestFixture::on_space(this->densities()),
                              rows = TestFixture::on_space(this->factors(op));
    const VectorOn<TypeParam> fields("fields", static_cast<std::size_t>(op.rows())),
        transposed("transposed", static_cast<std::size_t>(op.columns()));
    const TypeParam space;
    op.apply(space, density, fields);
    op.apply_transpose(space, rows, transposed);
    const double forth = op.dot_fields(space, fields, rows), back = op.dot_densities(space, density, transposed);
    const double size = std::sqrt(op.dot_fields(space, fields, fields) * op.dot_fields(space, rows, rows));
    EXPECT_GT(std::abs(forth), 1e-6 * size);
    EXPECT_NEAR(forth, back, 1e-13 * size) << name(precision);
  }
}

TYPED_TEST(StoredOperatorOn, HasTheDirectOperatorsEntriesAndDiagonal) {
  this->m_request.execution.partition = Partition::points;
  const TypeParam space;
  for (const auto& [unknown, precision] : kinds) {
    SCOPED_TRACE(name(unknown));
    this->use(unknown);
    const auto computed_anew = make_direct_operator(space, *this->m_source, this->m_points, this->m_request, ranks());
    Operator<TypeParam>& direct = *computed_anew;
    EXPECT_EQ(direct.bytes(), 0);
    const auto made = this->stored(precision);
    auto& op = *made;
    ASSERT_EQ(op.points(), direct.points());
    const VectorOn<TypeParam> weights = TestFixture::on_space(this->factors(op, true));
    const VectorOn<TypeParam> expected("expected", static_cast<std::size_t>(op.columns())),
        diagonal("diagonal", expected.size());
    direct.diagonal(space, weights, expected);
    op.diagonal(space, weights, diagonal);
    const std::vector<double> a = TestFixture::on_host(diagonal), b = TestFixture::on_host(expected);
    for (std::size_t p = 0; p < a.size(); ++p) {
      ASSERT_NEAR(a[p], b[p], (1e-11 + 3 * storage_error(precision)) * b[p]) << name(precision) << ", prism " << p;
    }
    // some of the points, from where vectors of points begin in both: a pair's form goes by its vector
    const IndexRange some{op.points().size() / 3 / 8 * 8, op.points().size()};
    const typename Operator<TypeParam>::Entries kept("kept", op.fields().size(), some.size(), op.columns()),
        computed("computed", op.fields().size(), some.size(), op.columns());
    op.entries(space, some, kept);
    direct.entries(space, some, computed);
    const std::vector<double> k = TestFixture::on_host(VectorOn<TypeParam>(kept.data(), kept.size()));
    const std::vector<double> c = TestFixture::on_host(VectorOn<TypeParam>(computed.data(), computed.size()));
    for (std::size_t i = 0; i < k.size(); ++i) {
      // a half has less for what is smaller by 2^18 than its row's largest, which is below 1e-7 here
      ASSERT_NEAR(
          k[i], c[i],
          storage_error(precision) * std::abs(c[i]) + (precision == StoredPrecision::float16 ? 0x1p-29 * 1e-7 : 0))
          << name(precision);
    }
  }
}

TYPED_TEST(StoredOperatorOn, NeedsNoPointOnEveryRank) {
  this->m_points = points_above(1);
  const auto made = this->stored(StoredPrecision::float_);
  auto& op = *made;
  const VectorOn<TypeParam> transposed("transposed", static_cast<std::size_t>(op.columns()));
  op.apply_transpose(TypeParam(), TestFixture::on_space(this->factors(op)), transposed);
  const std::vector<double> values = TestFixture::on_host(transposed);
  const double sum = std::abs(values[0]);
  EXPECT_GT(sum, 0);
  for (const double other : gather_everywhere(ranks(), sum)) EXPECT_EQ(other, sum);
}

TYPED_TEST(StoredOperatorOn, RefusesVectorsOfAnotherLength) {
  const auto made = this->stored(StoredPrecision::double_);
  auto& op = *made;
  const VectorOn<TypeParam> density("density", 3), fields("fields", static_cast<std::size_t>(op.rows()));
  if (ranks().size() == 1) {
    EXPECT_THROW(op.apply(TypeParam(), density, fields), InputError);
  } else {
    EXPECT_THROW(op.apply(TypeParam(), density, fields), AgreedFailure);
  }
}

TYPED_TEST(StoredOperatorOn, IsMadeAsSettingsAsk) {
  const bool device = is_device(space_key<TypeParam>);
  const auto make = [&](StorageSettings settings, std::int64_t products) {
    StorageChoice choice;
    settings.likely.count = products;
    const auto op =
        make_operator(TypeParam(), *this->m_source, this->m_points, this->m_request, settings, ranks(), &choice);
    EXPECT_EQ(op->columns(), this->m_source->size());
    EXPECT_EQ(choice.store != Store::none, op->bytes() > 0);
    EXPECT_NE(choice.store, Store::automatic);
    // all ranks alike
    for (const std::int64_t other : gather_everywhere(ranks(), static_cast<std::int64_t>(choice.store))) {
      EXPECT_EQ(other, static_cast<std::int64_t>(choice.store));
    }
    return choice;
  };
  const Store here = device ? Store::device : Store::memory;
  StorageSettings settings;
  settings.store = Store::none;
  EXPECT_EQ(make(settings, 100).why, "computed anew in every product");
  settings.store = here;
  settings.precision = StoredPrecision::float16;
  EXPECT_THAT(make(settings, 100).why,
              HasSubstr(device ? "stored on the device as float16" : "stored in memory as float16"));
  settings.store = Store::automatic;
  EXPECT_THAT(make(settings, 100).why, HasSubstr(" ms"));
  // nothing is repaid by one product
  EXPECT_EQ(make(settings, 1).store, Store::none);
  settings.store = device ? Store::memory : Store::device;
  settings.precision = StoredPrecision::float_;
  const StorageChoice elsewhere = make(settings, 100);
  EXPECT_EQ(elsewhere.store, here);
  EXPECT_THAT(elsewhere.why, HasSubstr(std::string(", where ") + name(space_key<TypeParam>) + " computes"));
  settings.store = Store::file;
  EXPECT_THROW(make(settings, 100), InputError);
  settings.store = Store::automatic;
  settings.compression = 1e-3;
  StorageChoice choice;
  const auto make_compressed = [&] {
    return make_operator(TypeParam(), *this->m_source, this->m_points, this->m_request, settings, ranks(), &choice);
  };
  if (device) {
    EXPECT_THROW(make_compressed(), InputError);
  } else {
    EXPECT_EQ(make_compressed()->columns(), this->m_source->size());
    EXPECT_THAT(choice.why, HasSubstr("compressed in memory"));
    EXPECT_GT(choice.bytes, 0);
  }
}

/// 83 points x 4 fields are refused by a limit that is below them, with the remedy, and fit the next one.
TYPED_TEST(StoredOperatorOn, KeepsToItsMemoryLimit) {
  const bool device = is_device(space_key<TypeParam>);
  StorageChoice choice;
  const auto make = [&](const StorageSettings& settings) {
    return make_operator(TypeParam(), *this->m_source, this->m_points, this->m_request, settings, ranks(), &choice);
  };
  const auto refused = [&](const StorageSettings& settings) {
    try {
      make(settings);
    } catch (const AgreedFailure& failure) {
      return ranks().rank() == 0 ? failure.message : "not told here";
    } catch (const RunError& error) {
      return std::string(error.what());
    }
    return std::string("made");
  };
  StorageSettings settings;
  settings.store = Store::memory;
  settings.precision = StoredPrecision::double_;
  make(settings);
  const std::int64_t kept = choice.bytes;
  ASSERT_GT(kept, 0);
  settings.memory_limit = 4 * kept + (std::int64_t{64} << 20);
  EXPECT_EQ(refused(settings), "made");
  settings.memory_limit = kept - 1;
  const bool is_told = ranks().rank() == 0;
  EXPECT_THAT(refused(settings), HasSubstr(is_told ? "set sensitivity.precision to float" : "not told here"));
  // what is found by itself stays below it too
  settings.store = Store::automatic;
  settings.likely.count = 1'000'000;
  make(settings);
  EXPECT_EQ(choice.store, Store::none) << choice.why;
  settings.memory_limit = 0;
  EXPECT_THROW(make(settings), InputError);
  if (device) return;
  settings.memory_limit = 1;
  settings.compression = 1e-3;
  EXPECT_THAT(refused(settings), HasSubstr(is_told ? "but the limit is 1 B" : "not told here"));
}

/// What the plan tells of memory.
std::int64_t told_bytes(const Plan& plan) { return is_device(plan.space) ? plan.device_bytes : plan.host_bytes; }

TYPED_TEST(StoredOperatorOn, TellsTheScratchOfSeveralVectors) {
  for (const StoredPrecision precision : {StoredPrecision::double_, StoredPrecision::float16}) {
    const auto op = this->stored(precision);
    if (op->bytes() == 0) continue;
    constexpr std::int64_t n = 6;
    const typename Operator<TypeParam>::Vectors densities("densities", op->columns(), n),
        fields("fields", op->rows(), n);
    const std::int64_t before = told_bytes(op->plan());
    op->apply(TypeParam(), 1, densities, 1, fields);
    // of all vectors the product, of four at a time what the kernels add up
    const std::int64_t more = told_bytes(op->plan()) - before;
    EXPECT_GE(more, 8 * (n * op->rows() + 3 * op->columns()));
    EXPECT_LE(more, bytes_to_store(precision, op->fields().size(), op->points().size(), op->columns(), n) -
                        stored_bytes(precision, op->rows(), op->columns()));
    op->apply(TypeParam(), 1, densities, 1, fields);
    EXPECT_EQ(told_bytes(op->plan()) - before, more);
    TypeParam().fence();
  }
}

TYPED_TEST(StoredOperatorOn, HostOperatorTellsItsVectors) {
  StorageSettings settings;
  settings.store = Store::memory;
  HostOperator op(*this->m_source, this->m_points, this->m_request, settings, ranks());
  const std::int64_t before = told_bytes(op.plan());
  std::vector<double> densities(static_cast<std::size_t>(5 * op.columns()));
  std::vector<double> fields(static_cast<std::size_t>(5 * op.rows()));
  op.apply(densities, fields, 5);
  EXPECT_GE(told_bytes(op.plan()) - before, 8 * 4 * (op.columns() + op.rows()));
}

/// Vectors for which there was no memory leave an operator that works.
TYPED_TEST(StoredOperatorOn, HostOperatorGoesOnWithoutMemoryForMoreVectors) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer ends a process that asks for so much";
#endif
  StorageSettings settings;
  settings.store = Store::memory;
  HostOperator op(*this->m_source, this->m_points, this->m_request, settings, ranks());
  std::vector<double> density = this->densities(), fields(static_cast<std::size_t>(op.rows())), again = fields;
  op.apply(density, fields);
  // more than any machine has: not looked at
  constexpr std::int64_t n = std::int64_t{1} << 40;
  const std::span<double> many_densities(density.data(), static_cast<std::size_t>(n) * density.size());
  const std::span<double> many_fields(again.data(), static_cast<std::size_t>(n) * again.size());
  EXPECT_ANY_THROW(op.apply(many_densities, many_fields, n));
  EXPECT_GT(op.implementation().product_seconds().apply, 0);
  op.apply(density, again);
  EXPECT_EQ(again, fields);
}

/// By vectors on the host the same numbers as by Views, bit for bit.
TYPED_TEST(StoredOperatorOn, IsWrappedByAHostOperator) {
  StorageSettings settings;
  settings.store = Store::memory;
  settings.precision = StoredPrecision::float16;
  StorageChoice choice;
  HostOperator host(*this->m_source, this->m_points, this->m_request, settings, ranks(), &choice);
  EXPECT_EQ(choice.precision, StoredPrecision::float16);
  const auto made = this->stored(StoredPrecision::float16);
  auto& op = *made;
  EXPECT_EQ(choice.bytes, op.bytes());
  ASSERT_EQ(host.rows(), op.rows());
  ASSERT_EQ(host.columns(), op.columns());
  EXPECT_EQ(host.points(), op.points());
  EXPECT_EQ(host.error_bound(), op.error_bound());
  const std::vector<double> density = this->densities(), weights = this->factors(op, true);
  const typename TestFixture::Vector fields("fields", static_cast<std::size_t>(op.rows()));
  const typename TestFixture::Vector back("back", static_cast<std::size_t>(op.columns()));
  std::vector<double> host_fields(fields.size()), host_back(back.size());
  op.apply(TypeParam(), this->on_space(density), fields);
  host.apply(density, host_fields);
  EXPECT_EQ(host_fields, this->on_host(fields));
  op.apply_transpose(TypeParam(), this->on_space(weights), back);
  host.apply_transpose(weights, host_back);
  EXPECT_EQ(host_back, this->on_host(back));
  op.diagonal(TypeParam(), this->on_space(weights), back);
  host.diagonal(weights, host_back);
  EXPECT_EQ(host_back, this->on_host(back));
}

/// Differences between neighbouring points: G as a user composes it, with rows of its own.
template <class Space>
class DifferencesOfPoints final : public Operator<Space> {
public:
  using typename Operator<Space>::ConstVector;
  using typename Operator<Space>::ConstVectors;
  using typename Operator<Space>::Vectors;

  explicit DifferencesOfPoints(Operator<Space>& g) : m_g(g) {}
  [[nodiscard]] std::int64_t rows() const noexcept override { return m_g.rows() - 1; }
  [[nodiscard]] std::int64_t columns() const noexcept override { return m_g.columns(); }
  [[nodiscard]] FieldList fields() const noexcept override { return m_g.fields(); }
  [[nodiscard]] IndexRange points() const noexcept override { return m_g.points(); }
  [[nodiscard]] IndexRange prisms() const noexcept override { return m_g.prisms(); }
  void entries(const Space&, IndexRange, const typename Operator<Space>::Entries&) override {
    throw RunError("not needed here");
  }
  double dot_fields(const Space& space, const ConstVector& a, const ConstVector& b) override {
    double sum = 0;
    Kokkos::parallel_reduce("dot", Kokkos::RangePolicy<Space>(space, 0, rows()), Term{a, b}, sum);
    return sum;
  }
  double dot_densities(const Space& space, const ConstVector& a, const ConstVector& b) override {
    return m_g.dot_densities(space, a, b);
  }
  [[nodiscard]] double error_bound() const noexcept override { return m_g.error_bound(); }
  [[nodiscard]] const Plan& plan() const noexcept override { return m_g.plan(); }

  struct Term {
    ConstVector a, b;
    KOKKOS_FUNCTION void operator()(std::int64_t i, double& sum) const { sum += a(i) * b(i); }
  };
  /// to(i) = alpha (from(i + 1) - from(i)) + beta to(i)
  struct Difference {
    ConstVectors from;
    double alpha, beta;
    Vectors to;
    KOKKOS_FUNCTION void operator()(std::int64_t i) const {
      for (std::size_t v = 0; v < to.extent(1); ++v) {
        to(i, v) = alpha * (from(i + 1, v) - from(i, v)) + (beta == 0 ? 0 : beta * to(i, v));
      }
    }
  };
  /// The transposed, without factors.
  struct Spread {
    ConstVectors from;
    Vectors to;
    KOKKOS_FUNCTION void operator()(std::int64_t i) const {
      const auto n = static_cast<std::int64_t>(from.extent(0));
      for (std::size_t v = 0; v < to.extent(1); ++v) to(i, v) = (i > 0 ? from(i - 1, v) : 0) - (i < n ? from(i, v) : 0);
    }
  };

private:
  void multiply(const Space& space, double alpha, const ConstVectors& density, double beta,
                const Vectors& fields) override {
    const Vectors of_points("fields", static_cast<std::size_t>(m_g.rows()), density.extent(1));
    m_g.apply(space, density, of_points);
    Kokkos::parallel_for("difference", Kokkos::RangePolicy<Space>(space, 0, rows()),
                         Difference{of_points, alpha, beta, fields});
    space.fence();
  }
  void multiply_transposed(const Space& space, double alpha, const ConstVectors& fields, double beta,
                           const Vectors& density) override {
    const Vectors of_points("fields", static_cast<std::size_t>(m_g.rows()), fields.extent(1));
    Kokkos::parallel_for("spread", Kokkos::RangePolicy<Space>(space, 0, m_g.rows()), Spread{fields, of_points});
    m_g.apply_transpose(space, alpha, of_points, beta, density);
    space.fence();
  }
  void add_diagonal(const Space&, double, const ConstVectors&, double, const Vectors&) override {
    throw RunError("not needed here");
  }

  Operator<Space>& m_g;
};

TYPED_TEST(StoredOperatorOn, IsPartOfAnOperatorWithOtherRows) {
  if (ranks().size() > 1) GTEST_SKIP() << "differences of one rank's points";
  const auto made = this->stored(StoredPrecision::double_);
  Operator<TypeParam>& g = *made;
  DifferencesOfPoints<TypeParam> composed(g);
  Operator<TypeParam>& op = composed;
  const TypeParam space;
  const VectorOn<TypeParam> density = TestFixture::on_space(this->densities()),
                            rows = TestFixture::on_space(this->factors(g));
  const VectorOn<TypeParam> weights(rows.data(), static_cast<std::size_t>(op.rows()));
  const VectorOn<TypeParam> fields("fields", static_cast<std::size_t>(op.rows())),
      transposed("transposed", static_cast<std::size_t>(op.columns()));
  op.apply(space, density, fields);
  op.apply_transpose(space, weights, transposed);
  const double forth = op.dot_fields(space, fields, weights), back = op.dot_densities(space, density, transposed);
  const double size = std::sqrt(op.dot_fields(space, fields, fields) * op.dot_fields(space, weights, weights));
  EXPECT_GT(std::abs(forth), 1e-6 * size);
  EXPECT_NEAR(forth, back, 1e-12 * size);
  EXPECT_FALSE(op.apply_normal(space, weights, density, transposed));
  // least of all: A density - A density
  op.apply(space, -1, density, 1, fields);
  EXPECT_NEAR(op.dot_fields(space, fields, fields), 0, 1e-28 * size);
}

/// 1600 x 32,000 of one field, a product of 0.2 s computed anew and 10 ms read.
StorageFacts facts() { return {1, 1600, 32'000, std::int64_t{8} << 30, 0.2 / (1600 * 32'000.0), 204.8e6 / 0.01}; }

TEST(StorageChoice, StoresWhatIsReadFasterAndRepaid) {
  const StorageChoice stored = choose_storage(facts(), StoredPrecision::float_, Store::memory, 20);
  EXPECT_EQ(stored.store, Store::memory);
  EXPECT_EQ(stored.bytes, 1600 * 32'000 * 4);
  EXPECT_EQ(stored.why, "stored in memory as float, 195 MiB: a product reads it in 10 ms, computing anew takes 200 ms");
  // 1/(1 - 0.05) products
  EXPECT_EQ(choose_storage(facts(), StoredPrecision::float_, Store::memory, 2).store, Store::memory);
  EXPECT_THAT(choose_storage(facts(), StoredPrecision::float_, Store::memory, 1).why, HasSubstr("1.05 products"));
  StorageFacts slow = facts();
  slow.bytes_per_second /= 30;
  EXPECT_THAT(choose_storage(slow, StoredPrecision::float_, Store::memory, 1000).why,
              HasSubstr("would be read in 300 ms, computing takes 200 ms"));
  // one pass serves four vectors, each of which would be computed anew
  slow.vectors = 4;
  EXPECT_THAT(choose_storage(slow, StoredPrecision::float_, Store::memory, 1).why,
              HasSubstr("a product reads it in 300 ms, computing anew takes 800 ms"));
  slow.vectors = 5;
  EXPECT_THAT(choose_storage(slow, StoredPrecision::float_, Store::memory, 1).why,
              HasSubstr("a product reads it in 600 ms, computing anew takes 1.00e3 ms"));
  StorageFacts small = facts();
  small.available = 230'000'000;
  const StorageChoice anew = choose_storage(small, StoredPrecision::float_, Store::memory, 1000);
  EXPECT_EQ(anew.store, Store::none);
  EXPECT_EQ(anew.bytes, 0);
  EXPECT_THAT(anew.why, HasSubstr("there are 219 MiB"));
}

TEST(StorageChoice, CountsTheScratchOfAllVectors) {
  StorageFacts tight = facts();
  tight.available = bytes_to_store(StoredPrecision::float_, 1, 1600, 32'000);
  EXPECT_EQ(choose_storage(tight, StoredPrecision::float_, Store::memory, 1000).store, Store::memory);
  tight.vectors = 8;
  EXPECT_EQ(choose_storage(tight, StoredPrecision::float_, Store::memory, 1000).store, Store::none);
  tight.available = bytes_to_store(StoredPrecision::float_, 1, 1600, 32'000, 8);
  EXPECT_EQ(choose_storage(tight, StoredPrecision::float_, Store::memory, 1000).store, Store::memory);
  // an H-matrix of 20 MB whose products take 2 MB a vector
  tight.compressed = {20'000'000, 2, 0.004, 8e-8, 2'000'000};
  tight.available = 40'000'000;
  EXPECT_TRUE(choose_storage(tight, StoredPrecision::float_, Store::memory, 100).is_compressed);
  tight.vectors = 11;
  EXPECT_FALSE(choose_storage(tight, StoredPrecision::float_, Store::memory, 100).is_compressed);
}

TEST(StorageChoice, CompressesWhereThatIsFasterInAll) {
  // made in 2 s, entries in 8e-8 * 1600 * 32,000 = 4.1 s; its 20 MB are read in 1 ms
  StorageFacts both = facts();
  both.compressed = {20'000'000, 2, 0.004, 8e-8};
  const auto choose = [&](std::int64_t products) {
    return choose_storage(both, StoredPrecision::float_, Store::memory, products);
  };
  EXPECT_TRUE(choose(100).is_compressed);
  EXPECT_EQ(choose(100).store, Store::memory);
  EXPECT_EQ(choose(100).bytes, 20'000'000);
  EXPECT_EQ(choose(100).why, "a product takes 4 ms instead of 10 ms");
  // 0.2 s computed anew
  EXPECT_FALSE(choose(1).is_compressed);
  // 4.1 s + 10 ms each against 7 s + 4 ms each: from 484 products on
  both.compressed.seconds_to_make = 7;
  EXPECT_FALSE(choose(480).is_compressed);
  EXPECT_TRUE(choose(490).is_compressed);
  // no product is faster than reading what it reads
  both.compressed = {210'000'000, 2, 0.004, 8e-8};
  EXPECT_FALSE(choose(10'000).is_compressed);
  // where G itself does not fit
  both.compressed = {20'000'000, 7, 0.004, 8e-8};
  both.available = 100'000'000;
  EXPECT_EQ(choose(100).why, "a product takes 4 ms instead of 200 ms");
  both.available = 30'000'000;
  EXPECT_EQ(choose(100).store, Store::none);
}

TEST(StorageChoice, TellsTheRemedyWhereMemoryIsShort) {
  EXPECT_EQ(storage_shortage(10, 10, StoredPrecision::double_), "");
  EXPECT_THAT(storage_shortage(11, 10, StoredPrecision::double_), HasSubstr("float or float16"));
  EXPECT_THAT(storage_shortage(11, 10, StoredPrecision::float16), HasSubstr("sensitivity.store to none"));
  EXPECT_THAT(storage_shortage(11, 10, StoredPrecision::float16), ::testing::Not(HasSubstr("precision")));
}

TEST(StorageChoice, TakesAllPointsWhereTheyAreFew) {
  const Points points = points_above(83);
  EXPECT_EQ(sample_of(points, 1000).size(), 83);
  EXPECT_EQ(sample_of(points, 10).size(), 10);
  EXPECT_EQ(sample_of(points, 50).size(), 50);
  EXPECT_EQ(sample_of(Points{}, 50).size(), 0);
}

}  // namespace
}  // namespace prismfield::testing::test_stored_operator
