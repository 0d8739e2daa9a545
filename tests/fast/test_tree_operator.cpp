// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// The tree's operator beside the direct one, on any number of ranks.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <prismfield/make_operator.hpp>

#include "magnets.hpp"
#include "operators/tree/make_tree_operator.hpp"
#include "ranks.hpp"
#include "tree_cases.hpp"

namespace prismfield::testing::test_tree_operator {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, Space::memory_space>;

Vector random_vector(std::int64_t n, std::int64_t first, std::uint64_t seed, double size) {
  const Vector values("values", static_cast<std::size_t>(n));
  const auto host = Kokkos::create_mirror_view(values);
  for (std::int64_t i = 0; i < n; ++i) {
    host(i) = size * random_uniform(-1, 1, seed, RandomStream::cell_density, static_cast<std::uint64_t>(first + i));
  }
  Kokkos::deep_copy(values, host);
  return values;
}
std::vector<double> on_host(const Vector& values) {
  std::vector<double> copy(values.extent(0));
  Kokkos::deep_copy(Kokkos::View<double*, Kokkos::HostSpace>(copy.data(), copy.size()), values);
  return copy;
}

struct Operators {
  Magnets prisms;
  Points points;
  Request request;
  std::unique_ptr<Operator<Space>> tree, direct;

  Operators(Masses masses, Places places, double tolerance, FieldList fields, std::size_t n_prisms = 2000)
      : prisms(random_prisms(masses, n_prisms, true, 31)),
        points(make_station_points(random_points(places, random_prisms(masses, n_prisms, true, 31), 1000, 31))),
        request(make_request({}, fields)) {
    request.gravitational_constant = 3;
    request.magnetic.inducing_field = inducing_field_of_tests;
    request.magnetic.inside = Inside::borehole;
    direct = make_direct_operator(Space(), prisms, points, request, ranks());
    request.execution.tolerance = tolerance;
    tree = fast::make_tree_operator(Space(), prisms, points, request, ranks());
  }
};

// Against the largest sum of magnitudes of a row of G, by rows at some points.
std::vector<double> row_sizes(Operators& o) {
  const auto n_fields = static_cast<std::size_t>(o.direct->fields().size());
  std::vector<double> size(n_fields);
  const auto n = static_cast<std::size_t>(o.direct->columns());
  for (std::int64_t i = 0; i < o.direct->points().size(); i += 25) {
    const Operator<Space>::Entries entries("entries", n_fields, 1, n);
    o.direct->entries(Space(), {i, i + 1}, entries);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), entries);
    for (std::size_t f = 0; f < n_fields; ++f) {
      double sum = 0;
      for (std::size_t p = 0; p < n; ++p) sum += std::abs(host(f, 0, p));
      size[f] = std::max(size[f], sum);
    }
  }
  return size;
}

TEST(TreeOperator, KeepsToTheTolerance) {
  FieldList some = FieldList::tensor();
  some.add(Field::guv);
  for (const FieldList fields : {FieldList::gravity(), FieldList{Field::gz}, some, linear_magnetic,
                                 FieldList{Field::tmi}, FieldList::magnetic_gradient(), FieldList{Field::tmi_z}}) {
    for (const double tolerance : {1e-4, 1e-8}) {
      Operators o(Masses::uniform, Places::above, tolerance, fields);
      ASSERT_EQ(o.tree->rows(), o.direct->rows());
      const Vector density = random_vector(o.tree->columns(), o.tree->prisms().begin, 5, 1);
      const Vector of_tree("of_tree", static_cast<std::size_t>(o.tree->rows()));
      const Vector of_direct("of_direct", static_cast<std::size_t>(o.tree->rows()));
      o.tree->apply(Space(), density, of_tree);
      o.direct->apply(Space(), density, of_direct);
      Kokkos::fence();
      const std::vector<double> found = on_host(of_tree), exact = on_host(of_direct), size = row_sizes(o);
      const auto n = static_cast<std::size_t>(o.tree->points().size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], exact[i], tolerance * size[i / n]) << i;
      }
    }
  }
}

class TreeOperatorOf : public ::testing::TestWithParam<FieldList> {};
INSTANTIATE_TEST_SUITE_P(Kinds, TreeOperatorOf,
                         ::testing::Values(FieldList::gravity(), linear_magnetic, FieldList::magnetic_gradient()),
                         [](const auto& of) {
                           return of.param == linear_magnetic        ? "magnetic"
                                  : of.param == FieldList::gravity() ? "gravity"
                                                                     : "gradient";
                         });

TEST_P(TreeOperatorOf, IsTransposedByItsOwnTranspose) {
  Operators o(Masses::cells, Places::on_top, 1e-4, GetParam());
  const Vector density = random_vector(o.tree->columns(), o.tree->prisms().begin, 6, 1);
  const Vector factors = random_vector(o.tree->rows(), 0, 7, 1);
  const Vector fields("fields", static_cast<std::size_t>(o.tree->rows()));
  const Vector sums("sums", static_cast<std::size_t>(o.tree->columns()));
  o.tree->apply(Space(), density, fields);
  o.tree->apply_transpose(Space(), factors, sums);
  const double one = o.tree->dot_fields(Space(), factors, fields);
  const double other = o.tree->dot_densities(Space(), sums, density);
  const double size =
      std::sqrt(o.tree->dot_fields(Space(), factors, factors) * o.tree->dot_fields(Space(), fields, fields));
  EXPECT_NEAR(one, other, 1e-13 * size);
}

TEST_P(TreeOperatorOf, HasDiagonalAndEntriesOfDirectSums) {
  Operators o(Masses::uniform, Places::above, 1e-11, GetParam(), 200);
  const Vector weights = random_vector(o.tree->rows(), 0, 8, 1);
  const Vector of_tree("of_tree", static_cast<std::size_t>(o.tree->columns()));
  const Vector of_direct("of_direct", static_cast<std::size_t>(o.tree->columns()));
  Kokkos::deep_copy(weights, 1.0);
  o.tree->diagonal(Space(), weights, of_tree);
  o.direct->diagonal(Space(), weights, of_direct);
  Kokkos::fence();
  const std::vector<double> found = on_host(of_tree), exact = on_host(of_direct);
  for (std::size_t p = 0; p < found.size(); ++p) EXPECT_NEAR(found[p], exact[p], 1e-11 * exact[p]);
  const auto n_fields = static_cast<std::size_t>(o.tree->fields().size());
  const Operator<Space>::Entries entries("entries", n_fields, 2, of_tree.extent(0)),
      direct("direct", n_fields, 2, of_tree.extent(0));
  o.tree->entries(Space(), {3, 5}, entries);
  o.direct->entries(Space(), {3, 5}, direct);
  Kokkos::fence();
  const auto a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), entries);
  const auto b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), direct);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a.data()[i], b.data()[i], 1e-11 * std::abs(b.data()[i]));
}

}  // namespace
}  // namespace prismfield::testing::test_tree_operator
