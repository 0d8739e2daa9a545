// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Forward runs by convolution against direct ones, on any number of ranks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/forward.hpp>

#include "compute/method.hpp"
#include "lattice_samples.hpp"
#include "magnets.hpp"
#include "ranks.hpp"

namespace prismfield::testing::test_convolution_method {
namespace {

using ::testing::HasSubstr;

Request request_of(const Sample& sample, Method method = Method::fft, FieldList fields = FieldList::gravity()) {
  Request request{fields, 6.6743e-11, {}};
  request.magnetic.inducing_field = inducing_field_of_tests;
  request.magnetic.inside = Inside::borehole;
  request.execution.method = method;
  request.execution.tolerance = method == Method::fft ? sample.tolerance : default_tolerance;
  return request;
}

Fields computed(const Sample& sample, const Request& request, Directions directions = Directions::random) {
  return forward(Magnets(sample.prisms, directions), sample.points, request, ranks());
}

double largest(const std::vector<double>& values, std::size_t begin, std::size_t n) {
  double most = 0;
  for (std::size_t i = begin; i < begin + n; ++i) most = std::max(most, std::abs(values[i]));
  return most;
}

/// Fields within `error` of the largest value of each, or without a tolerance of the largest component, as pairs may be
/// truncated at other distances where the direct method computes fields together; and the same contacts; on rank 0.
void expect_alike(const Sample& sample, const Fields& found, const Fields& expected, double error) {
  if (ranks().rank() != 0) return;
  ASSERT_EQ(found.values.size(), expected.values.size());
  const auto n = static_cast<std::size_t>(sample.points.size());
  std::vector<double> difference(found.values.size());
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] = found.values[i] - expected.values[i];
  for (const FieldInfo& field : found.fields) {
    const auto begin = static_cast<std::size_t>(found.fields.index_of(field.field)) * n;
    double size = largest(expected.values, begin, n);
    // a component that vanishes by symmetry is rounding of both
    if (size < 1e-20 * largest(expected.values, 3 * n, n)) continue;
    for (const FieldInfo& other : found.fields) {
      if (error > default_tolerance || !is_native(other.field) || order_of_size(other) != order_of_size(field))
        continue;
      size =
          std::max(size, largest(expected.values, static_cast<std::size_t>(found.fields.index_of(other.field)) * n, n));
    }
    EXPECT_LE(largest(difference, begin, n), error * size) << field.name;
  }
  EXPECT_EQ(found.points_inside, expected.points_inside);
  EXPECT_EQ(found.singular_points, expected.singular_points);
}

/// Of magnetised prisms.
class ConvolutionFields : public ::testing::TestWithParam<std::tuple<KindOfFields, Directions>> {
protected:
  [[nodiscard]] static Request request(const Sample& sample, Method method = Method::fft) {
    return request_of(sample, method, std::get<0>(GetParam()).fields);
  }
  [[nodiscard]] static Fields fields(const Sample& sample, const Request& of) {
    return computed(sample, of, std::get<1>(GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, ConvolutionFields,
                         ::testing::Combine(::testing::ValuesIn(kinds_of_fields()),
                                            ::testing::Values(Directions::alike, Directions::random)),
                         [](const auto& of) {
                           const bool alike = std::get<1>(of.param) == Directions::alike;
                           return std::get<0>(of.param).name + std::string(alike ? "_alike" : "_random");
                         });

TEST_P(ConvolutionFields, AgreeWithTheDirectMethod) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    const Fields found = fields(sample, request(sample));
    EXPECT_EQ(found.plan.method, Method::fft);
    expect_alike(sample, found, fields(sample, request(sample, Method::direct)), sample.error);
  }
}

/// Points on faces, edges and corners of cells, inside and outside of them.
Points touching(double height) { return flat_grid({-25, 25, 17}, {-20, 20, 13}, height); }

TEST_P(ConvolutionFields, CountContactsAsTheDirectMethodDoes) {
  const std::vector<Prism> prisms = SampleMesh().prisms();
  std::vector<Sample> all;
  for (const double height : {0.0, -50.0, -60.0, -80.0, -120.0, -120.1}) all.push_back({"", prisms, touching(height)});
  for (const double height : {0.0, -50.0}) {
    Sample holes{"missing cells", prisms, touching(height)};
    std::erase_if(holes.prisms, [](const Prism& p) { return p.density > 100; });
    all.push_back(holes);
    Sample alike{"densities that cancel", prisms, touching(height)};
    for (std::size_t p = 0; p < alike.prisms.size(); ++p) alike.prisms[p].density = p % 5 == 0 ? 0 : 200;
    all.push_back(alike);
    Sample twice{"cells twice", prisms, touching(height)};
    twice.prisms.insert(twice.prisms.end(), {prisms[3], prisms[40], prisms[102]});
    all.push_back(twice);
    // whose coordinates are rounded
    const double east = 500000.1, north = 7654321.3;
    all.push_back({"large coordinates", SampleMesh{7, 5, {{-100, -50}, {-50, 0}}, east, north}.prisms(),
                   flat_grid({east - 50.0 / 3, 50.0 / 3, 24}, {north - 40.0 / 3, 40.0 / 3, 18}, height)});
  }
  for (const Sample& sample : all) {
    SCOPED_TRACE(sample.name);
    const Fields found = fields(sample, request(sample)), expected = fields(sample, request(sample, Method::direct));
    if (ranks().rank() != 0) continue;
    EXPECT_EQ(found.points_inside, expected.points_inside);
    EXPECT_EQ(found.singular_points, expected.singular_points);
  }
}

TEST_P(ConvolutionFields, SharePrismsAndPointsAmongRanks) {
  const int n = ranks().size();
  for (const Sample& sample : samples()) {
    if (sample.name != "half_cells" && sample.name != "one_layer" && sample.name != "draped" &&
        sample.name != "numbered_by_columns") {
      continue;
    }
    const Fields expected = fields(sample, request(sample, Method::direct));
    Request of_parts = request(sample);
    const Fields automatic = fields(sample, of_parts);
    expect_alike(sample, automatic, expected, sample.error);
    if (sample.name == "one_layer") {
      EXPECT_EQ(automatic.plan.prism_parts, 1);
    }
    for (const Partition partition : {Partition::prisms, Partition::points, Partition::rank_grid}) {
      SCOPED_TRACE(sample.name + std::string(", ") + name(partition));
      of_parts.execution.partition = partition;
      of_parts.execution.rank_grid = n % 2 == 0 ? std::array{2, n / 2} : std::array{1, n};
      expect_alike(sample, fields(sample, of_parts), expected, sample.error);
    }
  }
}

TEST(ConvolutionMethod, KeepsToItsToleranceAndSaysWhatItFound) {
  // more points than a check takes
  const Sample sample{"", SampleMesh{9, 8}.prisms(), sample_grid({0, 25, 19}, {0, 20, 17}, draped), 1e-7, 1e-7};
  const Fields found = computed(sample, request_of(sample));
  expect_alike(sample, found, computed(sample, request_of(sample, Method::direct)), sample.error);
  if (ranks().rank() != 0) return;
  EXPECT_EQ(found.check.points, 100);
  EXPECT_EQ(found.check.repeats, 0);
  EXPECT_LE(found.check.largest(), 0.2 * sample.tolerance);
  EXPECT_EQ(found.plan.method, Method::fft);
}

TEST(ConvolutionMethod, TakesNoMoreThanTheMemoryLimit) {
  const Sample sample{"", SampleMesh{31, 25}.prisms(), flat_grid({0, 25, 40}, {0, 20, 40}, 30)};
  Request request = request_of(sample);
  const Fields expected = computed(sample, request);
  std::int64_t layers = 16, planes = 4;
  // down to the least, which depends on the space
  for (std::int64_t limit = 10'000'000; limit > 0; limit = limit / 50 * 49) {
    request.execution.memory_limit = limit;
    Fields found;
    try {
      found = computed(sample, request);
    } catch (const InputError&) {
      break;
    }
    EXPECT_LE(found.plan.fft.scratch_bytes, limit);
    EXPECT_LE(found.plan.fft.layers_at_once, layers);
    EXPECT_LE(found.plan.fft.planes_at_once, planes);
    layers = found.plan.fft.layers_at_once;
    planes = found.plan.fft.planes_at_once;
    expect_alike(sample, found, expected, 1e-13);
  }
  EXPECT_EQ(planes, 1);
}

TEST(ConvolutionMethod, SaysWhyItCannotServe) {
  const auto refusal = [](const Sample& sample, const Request& request) -> std::string {
    try {
      (void)computed(sample, request);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  Sample sample = samples().front();
  Request request = request_of(sample);
  request.execution.precision = Precision::single;
  EXPECT_THAT(refusal(sample, request), HasSubstr("execution.method: fft cannot serve: it computes in double; leave "
                                                  "out execution.precision single"));
  request = request_of(sample);
  request.execution.kernel = KernelKind::corners;
  EXPECT_THAT(refusal(sample, request), HasSubstr("fft cannot serve: execution.kernel corners is for every pair"));
  request = request_of(sample);
  request.execution.memory_limit = 1000;
  EXPECT_THAT(refusal(sample, request), HasSubstr("fft cannot serve: a convolution of 10 fields takes"));
  sample.prisms[40].east += 3;
  EXPECT_THAT(refusal(sample, request_of(sample)), HasSubstr("fft cannot serve: prism 40 is from 250 to 303 m east"));
  const Sample many{"", SampleMesh().prisms(), sample_grid({0, 50, 10}, {0, 40, 10}, draped)};
  EXPECT_THAT(refusal(many, request_of(many)), HasSubstr("give execution.tolerance"));
}

TEST(ConvolutionMethod, DoesWithoutPrismsOrPoints) {
  const Sample no_prisms{"", {}, flat_grid({0, 50, 3}, {0, 40, 3}, 10)}, no_points{"", SampleMesh().prisms(), {}};
  for (const Sample& sample : {no_prisms, no_points}) {
    const Fields found = computed(sample, request_of(sample));
    for (const double value : found.values) EXPECT_EQ(value, 0);
  }
}

}  // namespace
}  // namespace prismfield::testing::test_convolution_method
