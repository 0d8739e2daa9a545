// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Inversions: a small case whose models are known from a dense solver, its properties, and going on from a state.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/host_operator.hpp>

#include "base/random.hpp"
#include "inversion/inverter.hpp"
#include "ranks.hpp"

namespace prismfield::testing {
namespace {

using ::testing::HasSubstr;

/// The small case: a block below unequal cells, 100 stations, gz with noise of a known sequence.
class SmallCase {
public:
  SmallCase() : m_cells(edges()) {
    for (std::int64_t j = 0; j < m_cells.size(); ++j) {
      const auto [x, y, z] = m_cells.center(j);
      const bool inside = 250 <= x && x < 450 && 300 <= y && y < 500 && -220 <= z && z < -60;
      m_truth.push_back(inside ? 300.0 : 0.0);
    }
  }

  [[nodiscard]] const ActiveCells& cells() const noexcept { return m_cells; }
  [[nodiscard]] const std::vector<double>& truth() const noexcept { return m_truth; }

  /// gz of the truth, or several fields, with noise of `sigma` in output units.
  [[nodiscard]] DataSet data(FieldList fields = {Field::gz}, double sigma = 0.01) const {
    DataSet set;
    set.name = "small";
    set.fields = fields;
    for (int i = 0; i < 100; ++i) {
      set.points.easting.push_back(40 + 80.0 * (i % 10));
      set.points.northing.push_back(40 + 80.0 * (i / 10));
      set.points.upward.push_back(5);
    }
    Request request;
    request.fields = fields;
    HostOperator g(m_cells, set.points, request);
    set.values.resize(static_cast<std::size_t>(set.size()));
    g.apply(m_truth, set.values);
    std::size_t row = 0;
    for (const FieldInfo& field : field_infos) {
      if (!fields.contains(field.field)) continue;
      const double factor = output_factor(field.field, Axes::z_down);
      for (int k = 1; k <= 100; ++k, ++row) {
        const double u = std::fmod(0.6180339887498949 * k, 1.0);
        const double v = std::fmod(0.7548776662466927 * k, 1.0);
        const double noise = sigma * std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * M_PI * v);
        set.values[row] += noise / factor;
        set.sigma.push_back(sigma / std::abs(factor));
      }
    }
    return set;
  }

  /// Smoothness of 50 m, depth weights without an offset, everything kept in double.
  [[nodiscard]] InversionInput input() const {
    InversionInput input;
    input.storage.store = Store::automatic;
    input.storage.precision = StoredPrecision::double_;
    input.settings.smoothness = {50.0 / 15, 50.0 / 15, 50.0 / 15};
    input.settings.weighting = {WeightingKind::depth, 2, 0};
    input.cells = &m_cells;
    input.data = {data()};
    input.reference.assign(m_truth.size(), 0.0);
    return input;
  }

  [[nodiscard]] double rms_to_truth(const std::vector<double>& model) const {
    double sum = 0;
    for (std::size_t i = 0; i < model.size(); ++i) sum += (model[i] - m_truth[i]) * (model[i] - m_truth[i]);
    return std::sqrt(sum / static_cast<double>(model.size()));
  }

private:
  static CellEdges edges() {
    CellEdges edges;
    for (int i = 0; i <= 16; ++i) {
      edges[0].push_back(50.0 * i);
      edges[1].push_back(50.0 * i);
    }
    edges[2] = {-400};
    for (const double width : {100, 80, 60, 50, 40, 30, 25, 15}) edges[2].push_back(edges[2].back() + width);
    return edges;
  }

  ActiveCells m_cells;
  std::vector<double> m_truth;
};

InversionOutcome invert_here(const InversionInput& input, InversionObserver* observer = nullptr,
                             const InversionState* resume = nullptr) {
  return invert(input, ranks(), observer, resume);
}

/// Column 8, 8 from the bottom to the top.
std::vector<double> middle_column(const std::vector<double>& model) {
  std::vector<double> column;
  for (std::size_t k = 0; k < 8; ++k) column.push_back(model[(k * 16 + 8) * 16 + 8]);
  return column;
}

/// What a dense solver found.
struct Expected {
  double beta, phi_d, least, most, rms;
  std::array<double, 8> column;
};

void expect_model(const SmallCase& small, const InversionInput& input, const Expected& expected) {
  const InversionOutcome outcome = invert_here(input);
  const std::vector<double>& model = outcome.model.density;
  ASSERT_EQ(outcome.model.convergence.size(), 1U);
  const ConvergenceRow& row = outcome.model.convergence.back();
  // three digits, and in phi_d the two decimals that are written
  const auto near = [](double value) { return 1.5e-3 * std::abs(value); };
  EXPECT_NEAR(row.phi_d, expected.phi_d, near(expected.phi_d));
  EXPECT_NEAR(row.minimum, expected.least, near(expected.least) + 1e-9);
  EXPECT_NEAR(row.maximum, expected.most, near(expected.most));
  EXPECT_NEAR(small.rms_to_truth(model), expected.rms, near(expected.rms));
  const std::vector<double> column = middle_column(model);
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_NEAR(column[k], expected.column[k], near(expected.column[k]) + 2e-4 * expected.most) << k;
  }
}

TEST(Inversion, FindsTheModelsOfADenseSolver) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.beta = 1e-6;
  expect_model(small, input,
               {1e-6,
                408.130,
                -21.7039,
                161.1432,
                40.7249,
                {125.084, 137.342, 127.718, 96.5607, 54.5532, 21.8263, 8.07615, 6.70065}});
  input.settings.beta = 1.547407811250569e-07;
  expect_model(small, input,
               {1.5474e-7,
                100.0,
                -26.9042,
                218.8379,
                39.1066,
                {144.303, 167.42, 165.524, 132.264, 78.1782, 32.2364, 12.0642, 9.9721}});
}

TEST(Inversion, WeighsBySensitivity) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.weighting = {WeightingKind::sensitivity, {}, {}};
  input.settings.beta = 1e-6;
  expect_model(small, input,
               {1e-6,
                2719.78,
                -1.99754,
                33.46796,
                42.5869,
                {23.7859, 26.9726, 29.2784, 29.5055, 27.3499, 23.9636, 21.3755, 20.5307}});
  input.settings.beta = 3.834037044758393e-08;
  expect_model(small, input,
               {3.834e-8,
                100.0,
                -12.92408,
                95.41826,
                39.1695,
                {40.0055, 51.2981, 62.6953, 69.813, 70.1288, 64.8212, 59.4887, 57.6472}});
}

TEST(Inversion, KeepsBoundsAsTheExactSolutionDoes) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.beta = 1.547407811250569e-07;
  input.settings.bounds = Range{0, 300};
  expect_model(small, input,
               {1.5474e-7,
                140.6878,
                0,
                251.2489,
                26.7408,
                {0.0, 93.3988, 182.064, 178.671, 113.155, 47.8435, 18.4403, 15.3905}});
  input.settings.bounds = Range{-20, 100};
  expect_model(small, input,
               {1.5474e-7, 129.8568, -20, 100, 41.5481, {100, 100, 100, 100, 93.8301, 43.5957, 16.9942, 14.1227}});
}

TEST(Inversion, FindsTheBetaOfTheTarget) {
  const SmallCase small;
  const InversionInput input = small.input();
  const InversionOutcome outcome = invert_here(input);
  EXPECT_TRUE(outcome.on_target) << outcome.message;
  const ConvergenceRow& last = outcome.model.convergence.back();
  EXPECT_NEAR(last.chi, 1, 0.02);
  EXPECT_NEAR(std::log(last.beta / 1.5474e-7), 0, 0.2);
  EXPECT_NEAR(small.rms_to_truth(outcome.model.density), 39.1066, 0.2);
  // what the table says of the model is true of it
  EXPECT_DOUBLE_EQ(last.maximum, *std::max_element(outcome.model.density.begin(), outcome.model.density.end()));
  const PredictedData& data = outcome.model.data.front();
  double phi_d = 0;
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    phi_d += std::pow((data.predicted[i] - data.values[i]) / data.sigma[i], 2);
  }
  EXPECT_NEAR(phi_d, last.phi_d, 1e-9 * phi_d);
}

TEST(Inversion, CompactNormsSharpen) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.bounds = Range{0, 300};
  input.settings.norm = {0, 2, 2, 2};
  const InversionOutcome outcome = invert_here(input);
  EXPECT_TRUE(outcome.on_target) << outcome.message;
  EXPECT_NEAR(outcome.model.convergence.back().chi, 1, 0.02);
  EXPECT_LE(small.rms_to_truth(outcome.model.density), 19);
  const auto [least, most] = std::minmax_element(outcome.model.density.begin(), outcome.model.density.end());
  EXPECT_EQ(*least, 0);
  EXPECT_LE(*most, 300);
}

TEST(Inversion, GoesToItsReferenceWithoutData) {
  const SmallCase small;
  InversionInput input = small.input();
  for (std::size_t i = 0; i < input.reference.size(); ++i) input.reference[i] = 10.0 + static_cast<double>(i % 7);
  input.settings.reference_in_smoothness = true;
  // data that weigh nothing
  for (double& sigma : input.data.front().sigma) sigma *= 1e6;
  input.settings.beta = 1;
  const InversionOutcome outcome = invert_here(input);
  for (std::size_t i = 0; i < input.reference.size(); ++i) {
    ASSERT_NEAR(outcome.model.density[i], input.reference[i], 1e-6);
  }
  EXPECT_NEAR(outcome.model.convergence.back().phi_m, 0, 1e-3);
}

/// Every way of keeping G gives the model of G computed anew, to what its precision costs.
TEST(Inversion, DoesNotDependOnHowGIsKept) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.beta = 1e-6;
  input.storage.store = Store::none;
  const std::vector<double> direct = invert_here(input).model.density;
  const auto furthest = [&](Store store, StoredPrecision precision) {
    input.storage.store = store;
    input.storage.precision = precision;
    const std::vector<double> model = invert_here(input).model.density;
    double most = 0;
    for (std::size_t i = 0; i < model.size(); ++i) most = std::max(most, std::abs(model[i] - direct[i]));
    return most / 161.0;
  };
  // the solver stops at a millionth of the first gradient
  EXPECT_LT(furthest(Store::automatic, StoredPrecision::double_), 2e-5);
  EXPECT_LT(furthest(Store::automatic, StoredPrecision::float_), 2e-5);
  EXPECT_LT(furthest(Store::automatic, StoredPrecision::float16), 2e-2);
}

TEST(Inversion, FitsSeveralFieldsAndSetsTogether) {
  const SmallCase small;
  InversionInput input = small.input();
  input.data = {small.data(), small.data({Field::gzz, Field::gxz}, 0.5)};
  const InversionOutcome outcome = invert_here(input);
  EXPECT_TRUE(outcome.on_target) << outcome.message;
  ASSERT_EQ(outcome.model.data.size(), 2U);
  EXPECT_EQ(outcome.model.data[1].predicted.size(), 200U);
  double phi_d = 0;
  for (const PredictedData& data : outcome.model.data) {
    for (std::size_t i = 0; i < data.values.size(); ++i) {
      phi_d += std::pow((data.predicted[i] - data.values[i]) / data.sigma[i], 2);
    }
  }
  EXPECT_NEAR(phi_d / 300, 1, 0.02);
}

TEST(Inversion, TakesATrendOut) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.beta = 1.5474e-7;
  input.settings.trend = Trend::linear;
  const InversionOutcome without = invert_here(input);
  DataSet& data = input.data.front();
  const double factor = output_factor(Field::gz, Axes::z_down);
  double mean = 0;
  for (const double easting : data.points.easting) mean += easting / 100;
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    data.values[i] += (3 + 2e-3 * (data.points.easting[i] - mean) - 1e-3 * (data.points.northing[i] - mean)) / factor;
  }
  const InversionOutcome with = invert_here(input);
  // a trend more or less changes nothing but itself
  for (std::size_t i = 0; i < with.model.density.size(); ++i) {
    ASSERT_NEAR(with.model.density[i], without.model.density[i], 2e-3);
  }
  ASSERT_EQ(with.model.trend.front().size(), 3U);
  const std::array<double, 3> added = {3, 2e-3, -1e-3};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR((with.model.trend[0][k] - without.model.trend[0][k]) * factor, added[k], 1e-3 * std::abs(added[k]));
  }
}

TEST(Inversion, TellsWhatItsModelIsWorth) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.beta = 1.547407811250569e-07;
  input.settings.uncertainty.samples = 60;
  input.settings.depth_of_investigation = true;
  const InversionOutcome outcome = invert_here(input);
  const InvertedModel& model = outcome.model;
  ASSERT_EQ(model.density_sigma.size(), model.density.size());
  const auto [least, most] = std::minmax_element(model.density_sigma.begin(), model.density_sigma.end());
  // exact: 5.8 to 139.8 kg/m3; an extreme of 2048 estimates that are good to 9 % each
  EXPECT_NEAR(*least, 5.8, 5.8 * 0.4);
  EXPECT_NEAR(*most, 139.8, 139.8 * 0.4);
  ASSERT_TRUE(model.resolution_trace);
  EXPECT_NEAR(*model.resolution_trace, 40.72, 4 * *model.resolution_trace_error);
  EXPECT_LT(*model.resolution_trace_error, 2);
  ASSERT_EQ(model.depth_of_investigation.size(), model.density.size());
  const auto at = [&](std::size_t k) { return model.depth_of_investigation[(k * 16 + 8) * 16 + 8]; };
  EXPECT_GT(at(0), at(7));
  for (const double value : model.depth_of_investigation) {
    EXPECT_GE(value, 0);
    EXPECT_LE(value, 1);
  }
}

/// Keeps the state of one moment, and stops there.
class StopAt final : public InversionObserver {
public:
  explicit StopAt(int states) : m_left(states) {}
  void state(const InversionState& state) override {
    if (--m_left > 0) return;
    kept = state;
    throw Stopped();
  }
  std::optional<InversionState> kept;

private:
  int m_left;
};

TEST(Inversion, GoesOnToTheSameModelBitForBit) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.bounds = Range{0, 300};
  input.settings.norm = {0, 2, 2, 2};
  input.settings.uncertainty.samples = 3;
  input.settings.depth_of_investigation = true;
  const InversionOutcome whole = invert_here(input);
  const int solutions = static_cast<int>(whole.model.convergence.size());
  for (const int stop : {1, 3, solutions / 2, solutions, solutions + 3, solutions + 5}) {
    StopAt observer(stop);
    EXPECT_THROW(invert_here(input, &observer), Stopped) << stop;
    ASSERT_TRUE(observer.kept);
    const InversionOutcome rest = invert_here(input, nullptr, &*observer.kept);
    EXPECT_EQ(rest.model.density, whole.model.density) << stop;
    EXPECT_EQ(rest.model.density_sigma, whole.model.density_sigma) << stop;
    EXPECT_EQ(rest.model.depth_of_investigation, whole.model.depth_of_investigation) << stop;
    ASSERT_EQ(rest.model.convergence.size(), whole.model.convergence.size()) << stop;
    for (std::size_t i = 0; i < whole.model.convergence.size(); ++i) {
      EXPECT_EQ(rest.model.convergence[i].phi_d, whole.model.convergence[i].phi_d) << stop << ' ' << i;
      EXPECT_EQ(rest.model.convergence[i].beta, whole.model.convergence[i].beta) << stop << ' ' << i;
      EXPECT_EQ(rest.model.convergence[i].products, whole.model.convergence[i].products) << stop << ' ' << i;
    }
  }
}

TEST(Inversion, SaysWhenBoundsCannotFitTheData) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.bounds = Range{-1, 1};
  const InversionOutcome outcome = invert_here(input);
  EXPECT_FALSE(outcome.on_target);
  EXPECT_THAT(outcome.message, HasSubstr("bounds or mesh cannot fit the data"));
  EXPECT_THAT(outcome.message, HasSubstr("wider bounds"));
}

TEST(Inversion, SaysWhenTheReferenceFitsAlready) {
  const SmallCase small;
  InversionInput input = small.input();
  for (double& sigma : input.data.front().sigma) sigma *= 1e3;
  const InversionOutcome outcome = invert_here(input);
  EXPECT_FALSE(outcome.on_target);
  EXPECT_THAT(outcome.message, HasSubstr("the reference fits the data already"));
}

TEST(Inversion, SaysWhenIterationsRunOut) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.max_iterations = 2;
  const InversionOutcome outcome = invert_here(input);
  EXPECT_FALSE(outcome.on_target);
  EXPECT_EQ(outcome.model.convergence.size(), 2U);
  EXPECT_THAT(outcome.message, HasSubstr("inversion.max_iterations"));
}

}  // namespace
}  // namespace prismfield::testing
