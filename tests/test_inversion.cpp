// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Inversions: a small case whose models are known from a dense solver, its properties, and going on from a state.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/host_operator.hpp>
#include <prismfield/invert.hpp>

#include "base/random.hpp"
#include "inversion/trend_basis.hpp"
#include "ranks.hpp"
#include "stop_at.hpp"

namespace prismfield::testing::test_inversion {
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
    for (const FieldInfo& field : fields) {
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

class CountStates final : public InversionObserver {
public:
  void state(const InversionState&) override { ++states; }
  int states = 0;
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
  const std::vector<double>& model = outcome.model.values;
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
  EXPECT_NEAR(small.rms_to_truth(outcome.model.values), 39.1066, 0.2);
  // what the table says of the model is true of it
  EXPECT_DOUBLE_EQ(last.maximum, *std::max_element(outcome.model.values.begin(), outcome.model.values.end()));
  const PredictedData& data = outcome.model.data.front();
  double phi_d = 0;
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    phi_d += std::pow((data.predicted[i] - data.values[i]) / data.sigma[i], 2);
  }
  EXPECT_NEAR(phi_d, last.phi_d, 1e-9 * phi_d);
}

TEST(Inversion, FindsTheTargetHoweverGoodTheDataAre) {
  const SmallCase small;
  InversionInput input = small.input();
  // the largest gz is 1.4 mGal: from 140 to 140,000 times sigma
  for (const double sigma : {1e-2, 1e-3, 1e-4, 1e-5}) {
    input.data = {small.data({Field::gz}, sigma)};
    for (const bool bounded : {false, true}) {
      input.settings.bounds = bounded ? std::optional(Range{-50, 400}) : std::nullopt;
      const InversionOutcome outcome = invert_here(input);
      EXPECT_TRUE(outcome.on_target) << sigma << ' ' << bounded << ": " << outcome.message;
      EXPECT_NEAR(outcome.model.convergence.back().chi, 1, 0.02) << sigma << ' ' << bounded;
    }
  }
}

TEST(Inversion, KeepsBoundsOfEachCell) {
  const SmallCase small;
  InversionInput input = small.input();
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (std::int64_t j = 0; j < small.cells().size(); ++j) {
    const bool west = small.cells().center(j)[0] < 400;
    input.lower.push_back(west ? 0 : -inf);
    input.upper.push_back(west ? 100 : inf);
  }
  const InversionOutcome outcome = invert_here(input);
  EXPECT_TRUE(outcome.on_target) << outcome.message;
  double most = 0;
  for (std::size_t j = 0; j < input.lower.size(); ++j) {
    ASSERT_GE(outcome.model.values[j], input.lower[j]);
    ASSERT_LE(outcome.model.values[j], input.upper[j]);
    if (input.upper[j] > 100) most = std::max(most, outcome.model.values[j]);
  }
  EXPECT_GT(most, 100);
}

TEST(Inversion, WeighsCells) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.beta = 1e-6;
  const std::vector<double> plain = invert_here(input).model.values;
  // twice the weight everywhere is twice the beta
  input.cell_weights.assign(plain.size(), 2.0);
  const std::vector<double> doubled = invert_here(input).model.values;
  input.cell_weights.clear();
  input.settings.beta = 2e-6;
  const std::vector<double> stronger = invert_here(input).model.values;
  for (std::size_t j = 0; j < plain.size(); ++j) ASSERT_NEAR(doubled[j], stronger[j], 1e-3);
  // a heavy cell stays at the reference
  const std::size_t heavy = (3 * 16 + 8) * 16 + 8;
  input.cell_weights.assign(plain.size(), 1.0);
  input.cell_weights[heavy] = 1e9;
  EXPECT_LT(std::abs(invert_here(input).model.values[heavy]), 0.05 * std::abs(stronger[heavy]));
}

TEST(Inversion, ComesToTheSameModelFromAnyStart) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.beta = 1e-6;
  const std::vector<double> plain = invert_here(input).model.values;
  input.start = small.truth();
  const std::vector<double> other = invert_here(input).model.values;
  for (std::size_t j = 0; j < plain.size(); ++j) ASSERT_NEAR(other[j], plain[j], 0.05);
}

TEST(Inversion, FindsABetaWithoutSigma) {
  const SmallCase small;
  InversionInput input = small.input();
  // 100 times too small: neither choice looks at it
  for (double& sigma : input.data.front().sigma) sigma /= 100;
  for (const BetaChoice choice : {BetaChoice::gcv, BetaChoice::l_curve}) {
    input.settings.beta_choice = choice;
    const InversionOutcome outcome = invert_here(input);
    EXPECT_TRUE(outcome.on_target) << outcome.message;
    const double chi = outcome.model.convergence.back().chi / 1e4;
    // betas are tried by factors of four; half of one changes phi_d by four at most
    EXPECT_GT(chi, 0.25) << static_cast<int>(choice);
    EXPECT_LT(chi, 4) << static_cast<int>(choice);
    EXPECT_LT(small.rms_to_truth(outcome.model.values), 41) << static_cast<int>(choice);
  }
}

TEST(Inversion, HubersNormPassesOutliersBy) {
  const SmallCase small;
  InversionInput input = small.input();
  const std::vector<double> clean = invert_here(input).model.values;
  // every twentieth value is off by 50 sigma
  for (std::size_t i = 7; i < input.data.front().values.size(); i += 20) {
    input.data.front().values[i] += (i % 40 == 7 ? 50 : -50) * input.data.front().sigma[i];
  }
  const auto off = [&](const std::vector<double>& model) {
    double sum = 0;
    for (std::size_t j = 0; j < model.size(); ++j) sum += (model[j] - clean[j]) * (model[j] - clean[j]);
    return std::sqrt(sum / static_cast<double>(model.size()));
  };
  const double squares = off(invert_here(input).model.values);
  input.settings.data_norm = DataNorm::huber;
  for (const Trend trend : {Trend::none, Trend::linear}) {
    input.settings.trend = trend;
    const InversionOutcome huber = invert_here(input);
    EXPECT_TRUE(huber.on_target) << huber.message;
    EXPECT_LT(off(huber.model.values), 0.3 * squares);
  }
}

TEST(Inversion, HubersNormDoesNotTakeAnAnomalyForOutliers) {
  const SmallCase small;
  InversionInput input = small.input();
  // smooth in space: every station errs as its neighbours do
  DataSet& data = input.data.front();
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    data.values[i] +=
        1.5 * data.sigma[i] * std::sin(0.01 * data.points.easting[i]) * std::cos(0.013 * data.points.northing[i]);
  }
  const double by_squares = invert_here(input).model.convergence.back().maximum;
  input.settings.data_norm = DataNorm::huber;
  const InversionOutcome huber = invert_here(input);
  EXPECT_TRUE(huber.on_target) << huber.message;
  EXPECT_GT(huber.model.convergence.back().maximum, 0.9 * by_squares);
}

TEST(Inversion, HubersNormComesToTheSameModelFromAnyStart) {
  const SmallCase small;
  InversionInput input = small.input();
  for (std::size_t i = 7; i < input.data.front().values.size(); i += 20) {
    input.data.front().values[i] += (i % 40 == 7 ? 50 : -50) * input.data.front().sigma[i];
  }
  input.settings.beta = 1e-7;
  input.settings.data_norm = DataNorm::huber;
  const auto phi = [&] {
    const ConvergenceRow row = invert_here(input).model.convergence.back();
    return row.phi_d + row.beta * row.phi_m;
  };
  const double from_reference = phi();
  input.start = small.truth();
  // both are above the least phi by what they stop at
  EXPECT_NEAR(phi(), from_reference, 1e-5 * from_reference);
}

TEST(Inversion, TakesNoReferenceAsZero) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.beta = 1;
  // a store that is chosen by measured times may be another one in the second inversion, which rounds otherwise
  input.storage.store = Store::memory;
  const std::vector<double> expected = invert_here(input).model.values;
  input.reference.clear();
  EXPECT_EQ(invert_here(input).model.values, expected);
}

TEST(Inversion, NamesEveryErrorOfItsInput) {
  const SmallCase small;
  const auto problems = [](const InversionInput& input) {
    try {
      static_cast<void>(invert_here(input));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const auto with = [&](const auto& change) {
    InversionInput input = small.input();
    change(input);
    return problems(input);
  };
  const std::size_t n = small.truth().size();
  EXPECT_EQ(with([](InversionInput& i) { i.cells = nullptr; }),
            "cells: is null; the cells to be inverted for are needed");
  EXPECT_EQ(with([](InversionInput& i) { i.data.clear(); }), "data: is empty; one data set or more are needed");
  EXPECT_EQ(with([](InversionInput& i) { i.data[0].points.upward[3] = std::nan(""); }),
            "data[0].points.upward: point 3 is NaN or infinite");
  EXPECT_EQ(with([](InversionInput& i) { i.data[0].values.pop_back(); }),
            "data[0].values: has 99 values, 100 are expected");
  EXPECT_EQ(with([](InversionInput& i) { i.data[0].sigma[7] = 0; }),
            "data[0].sigma: is 0 at number 7; a finite number above 0 is expected");
  EXPECT_EQ(with([](InversionInput& i) { i.reference.resize(5); }),
            "reference: has 5 values, " + std::to_string(n) + " are expected");
  EXPECT_EQ(with([&](InversionInput& i) { i.lower.assign(n, 1), i.upper.assign(n, 0); }),
            "lower: is above upper at number 0");
  EXPECT_EQ(
      with([](InversionInput& i) {
        i.settings.bounds = {1, 0};
      }),
      "inversion.bounds: is 1 and 0; a minimum and a maximum that is not below it are expected, -inf and inf where "
      "there is none");
  EXPECT_EQ(with([](InversionInput& i) {
              i.epochs = {"2021", "2022"};
            }),
            "data: has 1 sets for 2 epochs; each epoch needs as many");
  EXPECT_EQ(with([](InversionInput& i) { i.settings.norm[2] = 3; }),
            "inversion.norm: is 3; numbers from 0 to 2 are expected");
  EXPECT_EQ(with([&](InversionInput& i) { i.settings.beta = 0, i.cell_weights.assign(n, -1); }),
            "inversion.beta: must be above 0\n"
            "cell_weights: is -1 at number 0; a finite number above 0 is expected");
}

TEST(Inversion, BringsDensitiesIntoIntervals) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.bounds = Range{0, 310};
  const double bounded = small.rms_to_truth(invert_here(input).model.values);
  input.settings.intervals = {{0, 10}, {290, 310}};
  const InversionOutcome outcome = invert_here(input);
  EXPECT_TRUE(outcome.on_target) << outcome.message;
  EXPECT_NEAR(outcome.model.convergence.back().chi, 1, 0.02);
  for (const double density : outcome.model.values) {
    ASSERT_TRUE((density >= 0 && density <= 10) || (density >= 290 && density <= 310)) << density;
  }
  EXPECT_LT(small.rms_to_truth(outcome.model.values), 0.9 * bounded);
}

TEST(Inversion, RefusesATrendThatFitsAllData) {
  const SmallCase small;
  InversionInput input = small.input();
  DataSet& data = input.data.front();
  for (auto* values : {&data.points.easting, &data.points.northing, &data.points.upward, &data.values, &data.sigma}) {
    *values = {(*values)[0], (*values)[5], (*values)[37]};
  }
  input.settings.trend = Trend::linear;
  try {
    invert_here(input);
    FAIL() << "a model out of rounding";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("inversion.trend"));
  }
}

TEST(Inversion, CompactNormsSharpen) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.bounds = Range{0, 300};
  input.settings.norm = {0, 2, 2, 2};
  const InversionOutcome outcome = invert_here(input);
  EXPECT_TRUE(outcome.on_target) << outcome.message;
  EXPECT_NEAR(outcome.model.convergence.back().chi, 1, 0.02);
  EXPECT_LE(small.rms_to_truth(outcome.model.values), 19);
  const auto [least, most] = std::minmax_element(outcome.model.values.begin(), outcome.model.values.end());
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
    ASSERT_NEAR(outcome.model.values[i], input.reference[i], 1e-6);
  }
  EXPECT_NEAR(outcome.model.convergence.back().phi_m, 0, 1e-3);
}

/// Every way of keeping G gives the model of G computed anew, to what its precision costs.
TEST(Inversion, DoesNotDependOnHowGIsKept) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.beta = 1e-6;
  input.storage.store = Store::none;
  const std::vector<double> direct = invert_here(input).model.values;
  const auto furthest = [&](Store store, StoredPrecision precision) {
    input.storage.store = store;
    input.storage.precision = precision;
    const std::vector<double> model = invert_here(input).model.values;
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

TEST(Inversion, StationsInALineTellNoTrendAcrossIt) {
  DataSet data;
  data.fields = {Field::gz, Field::gzz};
  data.points.easting = {0, 10, 20, 30};
  data.points.northing = {5, 5, 5, 5};
  data.points.upward = {1, 1, 1, 1};
  data.values.assign(8, 0.0);
  data.sigma = {1, 2, 1, 2, 3, 1, 1, 1};
  const TrendBasis basis = make_trend_basis(data, Trend::linear);
  EXPECT_EQ(basis.functions.size(), 4U);
  // 1 + 2 (x - 15) and 4 - 3 (x - 15)
  const std::vector<double> residual = {-29, -9, 11, 31, 49, 19, -11, -41};
  const std::vector<double> coefficients = basis.coefficients(residual);
  const std::vector<double> expected = {1, 2, 0, 4, -3, 0};
  ASSERT_EQ(coefficients.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(coefficients[k], expected[k], 1e-12) << k;
  std::vector<double> values(8, 0.0);
  basis.add(coefficients, values);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(values[i], residual[i], 1e-12) << i;
}

/// A trend of these coefficients (mGal), added to the data, changes nothing but the trend that is found.
void expect_taken_out(Trend trend, const std::vector<double>& added) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.beta = 1.5474e-7;
  input.settings.trend = trend;
  const InversionOutcome without = invert_here(input);
  DataSet& data = input.data.front();
  const double factor = output_factor(Field::gz, Axes::z_down);
  const auto middle = [](const std::vector<double>& of) {
    return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
  };
  const double x0 = middle(data.points.easting), y0 = middle(data.points.northing);
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    const double x = data.points.easting[i] - x0, y = data.points.northing[i] - y0;
    const std::array<double, 6> of = {1, x, y, x * x, x * y, y * y};
    for (std::size_t k = 0; k < added.size(); ++k) data.values[i] += added[k] * of.at(k) / factor;
  }
  const InversionOutcome with = invert_here(input);
  for (std::size_t i = 0; i < with.model.values.size(); ++i) {
    ASSERT_NEAR(with.model.values[i], without.model.values[i], 2e-3);
  }
  ASSERT_EQ(with.model.trend.front().size(), added.size());
  for (std::size_t k = 0; k < added.size(); ++k) {
    EXPECT_NEAR((with.model.trend[0][k] - without.model.trend[0][k]) * factor, added[k], 1e-3 * std::abs(added[k]));
  }
}

TEST(Inversion, TakesATrendOut) {
  expect_taken_out(Trend::linear, {3, 2e-3, -1e-3});
  expect_taken_out(Trend::quadratic, {3, 2e-3, -1e-3, 5e-6, -4e-6, 3e-6});
}

TEST(Inversion, TellsWhatItsModelIsWorth) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.beta = 1.547407811250569e-07;
  input.settings.uncertainty.samples = 60;
  input.settings.depth_of_investigation = true;
  const InversionOutcome outcome = invert_here(input);
  const InvertedModel& model = outcome.model;
  ASSERT_EQ(model.sigma.size(), model.values.size());
  const auto [least, most] = std::minmax_element(model.sigma.begin(), model.sigma.end());
  // exact: 5.8 to 139.8 kg/m3; an extreme of 2048 estimates that are good to 9 % each
  EXPECT_NEAR(*least, 5.8, 5.8 * 0.4);
  EXPECT_NEAR(*most, 139.8, 139.8 * 0.4);
  ASSERT_TRUE(model.resolution_trace);
  EXPECT_NEAR(*model.resolution_trace, 40.72, 4 * *model.resolution_trace_error);
  EXPECT_LT(*model.resolution_trace_error, 2);
  ASSERT_EQ(model.depth_of_investigation.size(), model.values.size());
  const auto at = [&](std::size_t k) { return model.depth_of_investigation[(k * 16 + 8) * 16 + 8]; };
  EXPECT_GT(at(0), at(7));
  for (const double value : model.depth_of_investigation) {
    EXPECT_GE(value, 0);
    EXPECT_LE(value, 1);
  }
}

/// The small case's posterior by dense Cholesky factors, at the beta of its target.
class DensePosterior {
public:
  explicit DensePosterior(const SmallCase& small) {
    const ActiveCells& cells = small.cells();
    m_n = static_cast<std::size_t>(cells.size());
    const InversionInput input = small.input();
    const DataSet& data = input.data.front();
    Request request;
    request.fields = data.fields;
    HostOperator g(cells, data.points, request);
    std::vector<std::vector<double>> rows;
    for (std::size_t i = 0; i < data.values.size(); ++i) {
      std::vector<double> unit(data.values.size(), 0.0), row(m_n);
      unit[i] = 1 / data.sigma[i];
      g.apply_transpose(unit, row);
      rows.push_back(row);
    }
    const std::vector<double> r = regularization(cells);
    std::vector<double> h(m_n * m_n);
    for (std::size_t k = 0; k < h.size(); ++k) h[k] = beta * r[k];
    prior = deviations(h);
    for (const std::vector<double>& row : rows) {
      for (std::size_t i = 0; i < m_n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) h[i * m_n + j] += row[i] * row[j];
      }
    }
    sigma = deviations(h);
  }
  static constexpr double beta = 1.547407811250569e-07;
  /// kg/m3, one a cell: without data, and with them
  std::vector<double> prior, sigma;

private:
  /// R of input(): depth weights of power 2 without an offset, lengths of 50 m.
  [[nodiscard]] std::vector<double> regularization(const ActiveCells& cells) const {
    std::vector<double> weight(m_n), r(m_n * m_n, 0.0);
    for (std::size_t i = 0; i < m_n; ++i) weight[i] = std::pow(cells.center(static_cast<std::int64_t>(i))[2], -2);
    const double most = *std::max_element(weight.begin(), weight.end());
    for (double& w : weight) w /= most;
    const auto volume = [&](std::size_t i) {
      const auto [x, y, z] = cells.widths(static_cast<std::int64_t>(i));
      return x * y * z;
    };
    for (std::size_t i = 0; i < m_n; ++i) r[i * m_n + i] += volume(i) * weight[i];
    for (std::size_t d = 0; d < 3; ++d) {
      const std::vector<std::int32_t> next = cells.next(d);
      for (std::size_t i = 0; i < m_n; ++i) {
        if (next[i] < 0) continue;
        const auto j = static_cast<std::size_t>(next[i]);
        const double h = (cells.widths(static_cast<std::int64_t>(i))[d] + cells.widths(next[i])[d]) / 2;
        const double c = 2500 * (volume(i) + volume(j)) / 2 * (weight[i] + weight[j]) / 2 / (h * h);
        r[i * m_n + i] += c;
        r[j * m_n + j] += c;
        r[i * m_n + j] -= c;
        r[j * m_n + i] -= c;
      }
    }
    return r;
  }
  /// Roots of the diagonal of the inverse of a matrix of which the lower triangle counts.
  [[nodiscard]] std::vector<double> deviations(std::vector<double> a) const {
    for (std::size_t i = 0; i < m_n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = a[i * m_n + j];
        for (std::size_t k = 0; k < j; ++k) sum -= a[i * m_n + k] * a[j * m_n + k];
        a[i * m_n + j] = j < i ? sum / a[j * m_n + j] : std::sqrt(sum);
      }
    }
    // rows of the factor's inverse, one after the other
    std::vector<double> inverse(m_n * m_n, 0.0), result(m_n, 0.0);
    for (std::size_t i = 0; i < m_n; ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        const double factor = a[i * m_n + k];
        if (factor == 0) continue;
        for (std::size_t j = 0; j <= k; ++j) inverse[i * m_n + j] -= factor * inverse[k * m_n + j];
      }
      inverse[i * m_n + i] = 1;
      for (std::size_t j = 0; j <= i; ++j) {
        inverse[i * m_n + j] /= a[i * m_n + i];
        result[j] += inverse[i * m_n + j] * inverse[i * m_n + j];
      }
    }
    for (double& value : result) value = std::sqrt(value);
    return result;
  }
  std::size_t m_n = 0;
};

/// Computed once.
const DensePosterior& dense_posterior(const SmallCase& small) {
  static const DensePosterior posterior(small);
  return posterior;
}

/// Root of the mean square of a / b - 1.
double off_by(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] / b[i] - 1) * (a[i] / b[i] - 1);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

TEST(Inversion, KnowsTheTraceWhereTheRankIsThatOfTheData) {
  const SmallCase small;
  const DensePosterior& exact = dense_posterior(small);
  InversionInput input = small.input();
  input.settings.beta = DensePosterior::beta;
  input.settings.uncertainty.rank = 1000;
  const InvertedModel model = invert_here(input).model;
  EXPECT_EQ(model.rank, 100);
  EXPECT_NEAR(*model.resolution_trace, 40.7177, 0.002);
  EXPECT_EQ(*model.resolution_trace_error, 0);
  EXPECT_EQ(*model.resolution_trace_least, *model.resolution_trace);
  // what is left is the error of the prior's variances, and it is told
  const double off = off_by(model.sigma, exact.sigma);
  EXPECT_LT(off, 0.005);
  EXPECT_LT(off, 2 * model.sigma_error);
  EXPECT_GT(off, model.sigma_error / 4);
}

/// However long the regularisation reaches, which makes the prior's variances uncertain: none is below what H allows.
TEST(Inversion, KeepsDeviationsAboveZero) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.beta = DensePosterior::beta;
  input.settings.smallness = 1e-4;
  input.settings.smoothness = {30, 30, 30};
  input.settings.uncertainty.rank = 30;
  const InvertedModel model = invert_here(input).model;
  for (const double sigma : model.sigma) ASSERT_GT(sigma, 0);
  EXPECT_GT(model.sigma_error, 0.05);
}

TEST(Inversion, TellsDeviationsByALowRankBesideATrend) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.beta = DensePosterior::beta;
  input.settings.uncertainty.rank = 100;
  const double without = *invert_here(input).model.resolution_trace;
  input.settings.trend = Trend::linear;
  const InvertedModel by_rank = invert_here(input).model;
  input.settings.uncertainty = {200, 1, 0};
  const InvertedModel by_samples = invert_here(input).model;
  // three directions of the data go to the trend
  EXPECT_LT(*by_rank.resolution_trace, without - 1);
  EXPECT_GT(*by_rank.resolution_trace, without - 3);
  EXPECT_NEAR(*by_rank.resolution_trace, *by_samples.resolution_trace, 4 * *by_samples.resolution_trace_error);
  // 200 samples are good to 5 %
  EXPECT_LT(off_by(by_samples.sigma, by_rank.sigma), 0.06);
}

TEST(Inversion, TellsDeviationsByALowRank) {
  const SmallCase small;
  const DensePosterior& exact = dense_posterior(small);
  EXPECT_NEAR(*std::max_element(exact.sigma.begin(), exact.sigma.end()), 139.8, 0.05);
  EXPECT_NEAR(*std::min_element(exact.sigma.begin(), exact.sigma.end()), 5.8, 0.06);
  InversionInput input = small.input();
  input.settings.beta = DensePosterior::beta;
  for (const auto& [rank, most, least_trace] :
       {std::array{10.0, 0.026, 9.7}, std::array{20.0, 0.019, 18.1}, std::array{50.0, 0.008, 32.5}}) {
    input.settings.uncertainty.rank = static_cast<std::int64_t>(rank);
    const InvertedModel model = invert_here(input).model;
    const double off = off_by(model.sigma, exact.sigma);
    // the best approximation of this rank
    EXPECT_LT(off, most) << rank;
    EXPECT_GT(*model.resolution_trace_least, least_trace) << rank;
    EXPECT_LT(*model.resolution_trace_least, 40.72) << rank;
    EXPECT_NEAR(*model.resolution_trace, 40.72, 4 * *model.resolution_trace_error) << rank;
    EXPECT_EQ(model.rank, rank * 3 / 2);
    EXPECT_EQ(model.samples, 0);
  }
}

TEST(Inversion, RefusesALowRankWithoutAPrior) {
  const SmallCase small;
  InversionInput input = small.input();
  input.settings.smallness = 0;
  input.settings.uncertainty.rank = 5;
  EXPECT_THROW(invert_here(input), InputError);
}

/// Where it is not stated, speeds measured at each start decide whether G is stored, whose entries are rounded
/// otherwise.
class StatedStore : public ::testing::TestWithParam<Store> {
protected:
  [[nodiscard]] InversionInput input() const {
    InversionInput input = m_small.input();
    input.storage.store = GetParam();
    return input;
  }

private:
  SmallCase m_small;
};

INSTANTIATE_TEST_SUITE_P(Inversion, StatedStore, ::testing::Values(Store::none, Store::memory),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST_P(StatedStore, FindsTheSameModelBitForBit) {
  const InversionInput input = this->input();
  const InversionOutcome first = invert_here(input);
  for (int run = 0; run < 2; ++run) {
    const InversionOutcome again = invert_here(input);
    EXPECT_EQ(again.model.values, first.model.values);
    EXPECT_EQ(again.model.convergence.back().phi_d, first.model.convergence.back().phi_d);
  }
}

TEST_P(StatedStore, GoesOnToTheSameModelBitForBit) {
  InversionInput input = this->input();
  input.settings.bounds = Range{0, 300};
  input.settings.norm = {0, 2, 2, 2};
  input.settings.uncertainty.samples = 3;
  input.settings.depth_of_investigation = true;
  // few compact steps
  input.settings.max_iterations = 6;
  const InversionOutcome whole = invert_here(input);
  const int solutions = static_cast<int>(whole.model.convergence.size());
  for (const int stop : {1, 3, solutions / 2, solutions, solutions + 3, solutions + 5}) {
    StopAt observer(stop);
    EXPECT_THROW(invert_here(input, &observer), Stopped) << stop;
    ASSERT_TRUE(observer.kept);
    const InversionOutcome rest = invert_here(input, nullptr, &*observer.kept);
    EXPECT_EQ(rest.model.values, whole.model.values) << stop;
    EXPECT_EQ(rest.model.sigma, whole.model.sigma) << stop;
    EXPECT_EQ(rest.model.depth_of_investigation, whole.model.depth_of_investigation) << stop;
    ASSERT_EQ(rest.model.convergence.size(), whole.model.convergence.size()) << stop;
    for (std::size_t i = 0; i < whole.model.convergence.size(); ++i) {
      EXPECT_EQ(rest.model.convergence[i].phi_d, whole.model.convergence[i].phi_d) << stop << ' ' << i;
      EXPECT_EQ(rest.model.convergence[i].beta, whole.model.convergence[i].beta) << stop << ' ' << i;
      EXPECT_EQ(rest.model.convergence[i].products, whole.model.convergence[i].products) << stop << ' ' << i;
    }
  }
}

TEST_P(StatedStore, GoesOnToTheSameIntervalsBitForBit) {
  InversionInput input = this->input();
  input.settings.bounds = Range{0, 310};
  input.settings.intervals = {{0, 10}, {290, 310}};
  input.settings.data_norm = DataNorm::huber;
  input.settings.beta = 1.5e-7;
  CountStates all;
  const InversionOutcome whole = invert_here(input, &all);
  for (const int stop : {2, all.states / 2, all.states - 1}) {
    StopAt observer(stop);
    EXPECT_THROW(invert_here(input, &observer), Stopped) << stop;
    ASSERT_TRUE(observer.kept);
    const InversionOutcome rest = invert_here(input, nullptr, &*observer.kept);
    EXPECT_EQ(rest.model.values, whole.model.values) << stop;
    EXPECT_EQ(rest.model.convergence.back().products, whole.model.convergence.back().products) << stop;
  }
}

TEST_P(StatedStore, GoesOnToTheSameLowRankBitForBit) {
  InversionInput input = this->input();
  input.settings.norm = {0, 2, 2, 2};
  input.settings.uncertainty.rank = 12;
  const InversionOutcome whole = invert_here(input);
  const int solutions = static_cast<int>(whole.model.convergence.size());
  for (const int stop : {2, solutions - 2, solutions + 10, solutions + 40}) {
    StopAt observer(stop);
    EXPECT_THROW(invert_here(input, &observer), Stopped) << stop;
    ASSERT_TRUE(observer.kept);
    const InversionOutcome rest = invert_here(input, nullptr, &*observer.kept);
    EXPECT_EQ(rest.model.values, whole.model.values) << stop;
    EXPECT_EQ(rest.model.sigma, whole.model.sigma) << stop;
    EXPECT_EQ(rest.model.resolution_trace, whole.model.resolution_trace) << stop;
    for (std::size_t i = 0; i < whole.model.convergence.size(); ++i) {
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
  // what the last solutions show, and no more
  const std::vector<ConvergenceRow>& rows = outcome.model.convergence;
  ASSERT_GT(rows.size(), 4U);
  EXPECT_GT(rows.back().chi, 0.9 * rows[rows.size() - 4].chi);
  EXPECT_THAT(outcome.message, HasSubstr("lowered chi by less than a tenth"));
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
}  // namespace prismfield::testing::test_inversion
