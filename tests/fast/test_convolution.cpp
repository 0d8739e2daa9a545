// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// The convolution against the direct operator, in every relation of points to cells, on any number of ranks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/make_operator.hpp>

#include "engine/with_space.hpp"
#include "lattice_samples.hpp"
#include "magnets.hpp"
#include "operators/convolution/make_convolution_operator.hpp"
#include "parallel/collectives.hpp"
#include "ranks.hpp"

namespace prismfield::testing::test_convolution {
namespace {

using ::testing::HasSubstr;

/// What operators are of.
struct KindOfOperator {
  FieldList fields = FieldList::gravity();
  Directions directions = Directions::random;
};
const std::array<KindOfOperator, 5> kinds_of_operators = {{{},
                                                           {linear_magnetic, Directions::alike},
                                                           {linear_magnetic, Directions::random},
                                                           {FieldList::magnetic_gradient(), Directions::alike},
                                                           {FieldList::magnetic_gradient(), Directions::random}}};

using Spaces = ::testing::Types<
#if defined(KOKKOS_ENABLE_CUDA)
    Kokkos::Cuda,
#endif
    Kokkos::DefaultHostExecutionSpace>;

template <class K>
class ConvolutionOn : public ::testing::Test {
protected:
  using Space = K;
  using Op = Operator<Space>;
  using Vectors = typename Op::Vectors;
  using Numbers = std::vector<double>;

  [[nodiscard]] static Request request_of(const Sample& sample, FieldList fields = FieldList::gravity()) {
    Request request{fields, 6.6743e-11, {}};
    request.magnetic.inducing_field = inducing_field_of_tests;
    request.execution.tolerance = sample.tolerance;
    request.execution.memory_limit = sample.memory_limit;
    return request;
  }

  /// Both operators of a sample: the direct one of this rank alone has all rows and columns.
  struct Both {
    Magnets source;
    std::unique_ptr<Op> direct, fast;
    explicit Both(const Sample& sample, const KindOfOperator& of = {})
        : source(sample.prisms, of.directions),
          direct(make_direct_operator(Space(), source, sample.points, request_of(sample, of.fields))),
          fast(make_convolution_operator(Space(), source, sample.points, request_of(sample, of.fields), ranks())) {}

    /// Of all columns, those of this rank.
    [[nodiscard]] Numbers mine(const Numbers& all) const {
      return {all.begin() + fast->prisms().begin, all.begin() + fast->prisms().end};
    }
  };

  static Vectors on_space(const Numbers& from, std::size_t vectors = 1) {
    Vectors to("values", from.size() / vectors, vectors);
    const typename Vectors::HostMirror host = Kokkos::create_mirror_view(to);
    std::copy(from.begin(), from.end(), host.data());
    Kokkos::deep_copy(to, host);
    return to;
  }
  static Numbers on_host(const Vectors& from) {
    Kokkos::fence();
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
    return {host.data(), host.data() + host.size()};
  }
  static Numbers applied(Op& op, const Numbers& density, std::size_t vectors = 1) {
    const Vectors fields("fields", static_cast<std::size_t>(op.rows()), vectors);
    op.apply(Space(), on_space(density, vectors), fields);
    return on_host(fields);
  }
  static Numbers applied_transposed(Op& op, const Numbers& fields, std::size_t vectors = 1) {
    const Vectors density("density", static_cast<std::size_t>(op.columns()), vectors);
    op.apply_transpose(Space(), on_space(fields, vectors), density);
    return on_host(density);
  }
  static Numbers diagonal(Op& op, const Numbers& weights) {
    const Vectors diagonal("diagonal", static_cast<std::size_t>(op.columns()), 1);
    op.diagonal(Space(), on_space(weights), diagonal);
    return on_host(diagonal);
  }

  [[nodiscard]] static Numbers densities_of(const Sample& sample) {
    Numbers all;
    for (const Prism& prism : sample.prisms) all.push_back(prism.density);
    return all;
  }
  static double largest(const Numbers& values) {
    double most = 0;
    for (const double value : values) most = std::max(most, std::abs(value));
    return most;
  }
  /// Largest difference, of the largest value.
  static double error(const Numbers& found, const Numbers& expected) {
    Numbers difference(expected.size());
    EXPECT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) difference[i] = found[i] - expected[i];
    // a rank may have none
    return expected.empty() ? 0 : largest(difference) / largest(expected);
  }
  static Numbers part(const Numbers& values, std::int64_t number, std::int64_t length) {
    return {values.begin() + number * length, values.begin() + (number + 1) * length};
  }
  /// Factors of rows by which each field counts alike, whatever its unit: between `low` and 1 over a field's largest
  /// value, or that to a power.
  static Numbers factors(const Numbers& fields, std::int64_t n_points, double low, int power = 1) {
    Numbers values;
    const std::int64_t n_fields = static_cast<std::int64_t>(fields.size()) / n_points;
    for (std::int64_t f = 0; f < n_fields; ++f) {
      const double size = std::pow(largest(part(fields, f, n_points)), power);
      for (std::int64_t i = 0; i < n_points; ++i) values.push_back(uniform(3, values.size(), low, 1) / size);
    }
    return values;
  }
};
TYPED_TEST_SUITE(ConvolutionOn, Spaces);

/// Calls f(operators) for every kind of a sample's.
template <class Both, class F>
void for_each_kind(const Sample& sample, const F& f) {
  for (const KindOfOperator& kind : kinds_of_operators) {
    const bool is_random = kind.directions == Directions::random;
    SCOPED_TRACE(sample.name + ", " + std::string((*kind.fields.begin()).name) + (is_random ? ", random" : ""));
    f(Both(sample, kind));
  }
}

TYPED_TEST(ConvolutionOn, AgreesWithTheDirectOperator) {
  const auto agrees = [&](const Sample& sample, const typename TestFixture::Both& both) {
    const std::int64_t n_points = sample.points.size();
    const auto density = this->densities_of(sample);
    const auto expected = this->applied(*both.direct, density);
    const auto fields = this->applied(*both.fast, both.mine(density));
    ASSERT_EQ(fields.size(), expected.size());
    for (const FieldInfo& field : both.fast->fields()) {
      const std::int64_t f = both.fast->fields().index_of(field.field);
      const auto of_field = this->part(expected, f, n_points);
      // a component that vanishes by symmetry is rounding of both
      const double scale = this->largest(of_field) / this->largest(this->part(expected, 3, n_points));
      if (scale < 1e-20) continue;
      EXPECT_LE(this->error(this->part(fields, f, n_points), of_field), sample.error) << field.name;
    }

    const auto factors = this->factors(expected, n_points, -1);
    const auto products = this->applied_transposed(*both.fast, factors);
    const auto expected_products = this->applied_transposed(*both.direct, factors);
    EXPECT_LE(this->error(products, both.mine(expected_products)), sample.error);

    const auto weights = this->factors(expected, n_points, 0.5, 2);
    const auto expected_squares = this->diagonal(*both.direct, weights);
    // between levels squares vary more than what they are squares of
    const double of_squares = (sample.error > 1e-12 ? 4 : 1) * sample.error;
    EXPECT_LE(this->error(this->diagonal(*both.fast, weights), both.mine(expected_squares)), of_squares);
  };
  for (const Sample& sample : samples()) {
    for_each_kind<typename TestFixture::Both>(sample, [&](const auto& both) { agrees(sample, both); });
  }
}

TYPED_TEST(ConvolutionOn, AgreesInRandomCases) {
  const char* const wanted = std::getenv("PRISMFIELD_SEARCH_MESHES");
  const std::uint64_t n = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 40;
  for (std::uint64_t seed = 1; seed <= n; ++seed) {
    const Sample sample = random_sample(seed);
    SCOPED_TRACE(sample.name);
    const KindOfOperator& kind = kinds_of_operators[seed / 4 % kinds_of_operators.size()];
    const typename TestFixture::Both both(sample, kind);
    const std::int64_t n_points = sample.points.size();
    const auto density = this->densities_of(sample);
    const auto expected = this->applied(*both.direct, density);
    const auto fields = this->applied(*both.fast, both.mine(density));
    for (const FieldInfo& field : kind.fields) {
      const std::int64_t f = kind.fields.index_of(field.field);
      const auto of_field = this->part(expected, f, n_points);
      // Pairs of both operators are truncated at 1e-12 of their own vector or tensor, of which far away a component may
      // vanish; densities of both signs cancel, these errors need not. The bound is what 1,000 seeds were found to
      // keep: at most 2.5e-12 of the largest component.
      const bool is_flat = sample.tolerance <= default_tolerance;
      double size = this->largest(of_field);
      for (const FieldInfo& other : kind.fields) {
        if (!is_flat || !is_native(other.field) || other.order != field.order) continue;
        size = std::max(size, this->largest(this->part(expected, kind.fields.index_of(other.field), n_points)));
      }
      const double error = this->error(this->part(fields, f, n_points), of_field) * this->largest(of_field);
      EXPECT_LE(error, (is_flat ? 4 : 1) * sample.error * size) << field.name;
    }
  }
}

// Of a cell that is a point, nearly, whose fields grow most towards the top of the mass.
TYPED_TEST(ConvolutionOn, KeepsToTheToleranceOverAPoint) {
  const auto heights = [](std::size_t i) { return uniform(5, i, 400, 1200); };
  Sample sample{"", SampleMesh{1, 1, {{-9, 0}}}.prisms(), sample_grid({25, 50, 9}, {20, 40, 7}, heights)};
  const std::int64_t n_points = sample.points.size();
  for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
    sample.tolerance = tolerance;
    for_each_kind<typename TestFixture::Both>(sample, [&](const auto& both) {
      const auto density = this->densities_of(sample);
      const auto expected = this->applied(*both.direct, density),
                 fields = this->applied(*both.fast, both.mine(density));
      for (std::int64_t f = 0; f < both.fast->fields().size(); ++f) {
        EXPECT_LE(this->error(this->part(fields, f, n_points), this->part(expected, f, n_points)), tolerance) << f;
      }
      const auto weights = this->factors(expected, n_points, 0.5, 2);
      const auto squares = both.mine(this->diagonal(*both.direct, weights));
      EXPECT_LE(this->error(this->diagonal(*both.fast, weights), squares), 10 * tolerance);
    });
  }
}

TYPED_TEST(ConvolutionOn, IsAdjoint) {
  const auto is_adjoint = [&](const Sample& sample, const typename TestFixture::Both& both) {
    const auto density = both.mine(this->densities_of(sample));
    const auto fields = this->applied(*both.fast, density);
    // of one sign with the fields, so that the sum does not cancel
    auto factors = this->factors(fields, sample.points.size(), 0.5);
    for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = std::copysign(factors[i], fields[i]);
    const auto products = this->applied_transposed(*both.fast, factors);
    const auto flat = [&](const auto& values) { return Kokkos::subview(this->on_space(values), Kokkos::ALL, 0); };
    const double by_fields = both.fast->dot_fields(TypeParam(), flat(fields), flat(factors));
    const double by_densities = both.fast->dot_densities(TypeParam(), flat(density), flat(products));
    EXPECT_NEAR(by_densities / by_fields, 1, 1e-13);
  };
  for (const Sample& sample : samples()) {
    for_each_kind<typename TestFixture::Both>(sample, [&](const auto& both) { is_adjoint(sample, both); });
  }
}

TYPED_TEST(ConvolutionOn, HasTheEntriesOfTheDirectOperator) {
  const auto has_entries = [&](const Sample& sample, const typename TestFixture::Both& both) {
    const auto n_points = static_cast<std::size_t>(sample.points.size());
    const auto entries_of = [&](Operator<TypeParam>& op) {
      const typename Operator<TypeParam>::Entries entries("entries", 3, n_points - 3,
                                                          static_cast<std::size_t>(op.columns()));
      op.entries(TypeParam(), {2, sample.points.size() - 1}, entries);
      Kokkos::fence();
      return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), entries);
    };
    const auto expected = entries_of(*both.direct);
    const auto entries = entries_of(*both.fast);
    for (std::size_t f = 0; f < 3; ++f) {
      for (std::size_t i = 0; i < entries.extent(1); ++i) {
        for (std::size_t p = 0; p < entries.extent(2); ++p) {
          const double of_direct = expected(f, i, p + static_cast<std::size_t>(both.fast->prisms().begin));
          EXPECT_NEAR(entries(f, i, p), of_direct, 1e-11 * std::abs(of_direct) + 1e-24);
        }
      }
    }
  };
  for (const Sample& sample : samples()) {
    if (sample.name != "centres" && sample.name != "inside" && sample.name != "points_anywhere") continue;
    has_entries(sample, typename TestFixture::Both(sample, {{Field::gz, Field::gxy, Field::guv}}));
    has_entries(sample, typename TestFixture::Both(sample, {{Field::bx, Field::bz, Field::tmi}}));
    has_entries(sample, typename TestFixture::Both(sample, {{Field::bxx, Field::byz, Field::tmi_z}}));
  }
}

TYPED_TEST(ConvolutionOn, TakesVectorsAsIfAlone) {
  for (const Sample& sample : samples()) {
    if (sample.name != "half_cells") continue;
    const typename TestFixture::Both both(sample);
    std::vector<double> density, fields;
    for (int v = 0; v < 3; ++v) {
      for (std::int64_t p = 0; p < both.fast->columns(); ++p) density.push_back(uniform(40, density.size(), -1, 1));
      for (std::int64_t p = 0; p < both.fast->rows(); ++p) {
        fields.push_back(uniform(41, static_cast<std::size_t>(v * both.fast->rows() + p), -1, 1));
      }
    }
    const auto together = this->applied(*both.fast, density, 3);
    const auto products = this->applied_transposed(*both.fast, fields, 3);
    for (std::int64_t v = 0; v < 3; ++v) {
      EXPECT_EQ(this->part(together, v, both.fast->rows()),
                this->applied(*both.fast, this->part(density, v, both.fast->columns())));
      EXPECT_EQ(this->part(products, v, both.fast->columns()),
                this->applied_transposed(*both.fast, this->part(fields, v, both.fast->rows())));
    }
  }
}

TYPED_TEST(ConvolutionOn, SharesPointsAmongRanks) {
  for (const Sample& sample : samples()) {
    if (sample.name != "half_cells" && sample.name != "inside" && sample.name != "draped") continue;
    SCOPED_TRACE(sample.name);
    const typename TestFixture::Both both(sample);
    Request request = this->request_of(sample);
    request.execution.partition = Partition::points;
    const auto fast = make_convolution_operator(TypeParam(), both.source, sample.points, request, ranks());
    ASSERT_EQ(fast->columns(), both.direct->columns());
    const auto density = this->densities_of(sample);
    const auto expected = this->applied(*both.direct, density);
    const auto factors = this->factors(expected, sample.points.size(), -1);
    // of all rows, those of this rank
    const auto mine = [&](const std::vector<double>& all) {
      std::vector<double> rows;
      for (std::int64_t f = 0; f < fast->fields().size(); ++f) {
        const auto begin = all.begin() + f * sample.points.size();
        rows.insert(rows.end(), begin + fast->points().begin, begin + fast->points().end);
      }
      return rows;
    };
    const auto fields = this->applied(*fast, density);
    const auto of_rank = mine(expected);
    const std::int64_t n = fast->points().size();
    for (std::int64_t f = 0; f < fast->fields().size(); ++f) {
      EXPECT_LE(this->error(this->part(fields, f, n), this->part(of_rank, f, n)), 10 * sample.error) << f;
    }
    EXPECT_LE(
        this->error(this->applied_transposed(*fast, mine(factors)), this->applied_transposed(*both.direct, factors)),
        sample.error);
  }
}

TYPED_TEST(ConvolutionOn, KeepsKernelsWithinTheMemoryLimit) {
  Sample sample{"", SampleMesh{31, 25}.prisms(), flat_grid({0, 25, 40}, {0, 20, 40}, 30)};
  std::vector<double> expected, expected_products;
  std::vector<std::int64_t> kept;
  double limit = 4e8;
  bool fits = true;
  for (; fits; limit *= 0.8) {
    sample.memory_limit = static_cast<std::int64_t>(limit);
    try {
      const typename TestFixture::Both both(sample);
      const auto density = both.mine(this->densities_of(sample));
      const auto fields = this->applied(*both.fast, density, 1);
      EXPECT_EQ(fields, this->applied(*both.fast, density)) << "kernels that were kept, or made anew";
      std::vector<double> twice = density;
      twice.insert(twice.end(), density.begin(), density.end());
      EXPECT_EQ(fields, this->part(this->applied(*both.fast, twice, 2), 1, both.fast->rows()));
      const auto products = this->applied_transposed(*both.fast, fields);
      EXPECT_LE(both.fast->bytes(), *sample.memory_limit);
      kept.push_back(both.fast->bytes());
      if (expected.empty()) {
        expected = fields;
        expected_products = products;
      }
      EXPECT_LE(this->error(fields, expected), 1e-13);
      EXPECT_LE(this->error(products, expected_products), 1e-13);
    } catch (const std::exception& error) {
      // other ranks than the first that fails hear of it only
      if (ranks().size() == 1) {
        EXPECT_THAT(std::string(error.what()), HasSubstr("execution.memory_limit"));
      }
      fits = false;
    }
  }
  // all, some and nearly none; a rank of many has few
  EXPECT_TRUE(std::is_sorted(kept.rbegin(), kept.rend()));
  EXPECT_LT(kept.back(), kept.front() / 2 + 1);
}

TYPED_TEST(ConvolutionOn, SaysWhyItCannotServe) {
  Sample sample = samples().front();
  sample.prisms.back().top += 10;
  sample.prisms.back().west += 3;
  const ListEnsemble source(sample.prisms);
  const auto refusal = [&](const Request& request) -> std::string {
    try {
      (void)make_convolution_operator(TypeParam(), source, sample.points, request, ranks());
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(this->request_of(sample)), HasSubstr("fft cannot serve: prism 104 is from"));
  sample = samples().front();
  sample.memory_limit = 1000;
  const ListEnsemble mesh(sample.prisms);
  EXPECT_THROW((void)make_convolution_operator(TypeParam(), mesh, sample.points, this->request_of(sample), ranks()),
               std::exception);
}

#if defined(KOKKOS_ENABLE_OPENMP)
TEST(Convolution, HasTheSameBitsForAnyNumberOfThreads) {
  using Space = Kokkos::OpenMP;
  const Sample sample{"", SampleMesh{31, 25}.prisms(), sample_grid({0, 25, 40}, {0, 20, 40}, draped), 1e-6};
  Request request{FieldList::all(), 6.6743e-11, {}};
  request.execution.tolerance = 1e-6;
  const ListEnsemble source(sample.prisms);
  const auto product = [&](const Space& space) {
    const auto op = make_convolution_operator(space, source, sample.points, request);
    const Kokkos::View<double*, Kokkos::HostSpace> density("density", sample.prisms.size());
    for (std::size_t p = 0; p < density.extent(0); ++p) density(p) = sample.prisms[p].density;
    const Kokkos::View<double*, Kokkos::HostSpace> fields("fields", static_cast<std::size_t>(op->rows()));
    op->apply(space, density, fields);
    op->apply_transpose(space, fields, density);
    space.fence();
    std::vector<double> all(fields.data(), fields.data() + fields.size());
    all.insert(all.end(), density.data(), density.data() + density.size());
    return all;
  };
  EXPECT_EQ(product(Space()), product(Space(1)));
}
#endif

}  // namespace
}  // namespace prismfield::testing::test_convolution
