// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Inversions of several epochs: against a dense solution, against epochs by themselves, and their properties.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/host_operator.hpp>
#include <prismfield/invert.hpp>

#include "base/random.hpp"
#include "inversion/outcome.hpp"
#include "parallel/collectives.hpp"
#include "ranks.hpp"
#include "stop_at.hpp"
#include "writers/sensitivity_file.hpp"

namespace prismfield::testing::test_epochs {
namespace {

using Numbers = std::vector<double>;

Numbers steps(double from, double step, int n) {
  Numbers edges;
  for (int i = 0; i <= n; ++i) edges.push_back(from + step * i);
  return edges;
}

/// A block whose density grows and which a second one joins, below 6 x 5 x 4 unequal cells; gz, noise of a known
/// sequence, sigma that differs from station to station.
class Monitored {
public:
  Monitored() : m_cells({steps(0, 100, 6), steps(0, 110, 5), {-300, -200, -120, -60, 0}}) {}

  [[nodiscard]] const ActiveCells& cells() const noexcept { return m_cells; }
  [[nodiscard]] std::size_t n() const noexcept { return static_cast<std::size_t>(m_cells.size()); }

  [[nodiscard]] Numbers truth(int epoch) const {
    Numbers density;
    for (std::int64_t j = 0; j < m_cells.size(); ++j) {
      const auto [x, y, z] = m_cells.center(j);
      const bool is_first = x < 300 && 100 < y && y < 350 && -200 < z && z < -60;
      const bool is_second = x > 350 && y > 200 && -120 < z;
      density.push_back(is_first ? 200.0 + 100 * epoch : is_second ? 80.0 * epoch : 0.0);
    }
    return density;
  }

  [[nodiscard]] DataSet data(int epoch, FieldList fields = {Field::gz}) const {
    DataSet set;
    set.name = "epoch " + std::to_string(epoch);
    set.fields = fields;
    for (int i = 0; i < 48; ++i) {
      set.points.easting.push_back(30 + 75.0 * (i % 8));
      set.points.northing.push_back(20 + 95.0 * (i / 8));
      set.points.upward.push_back(4 + i % 3);
    }
    Request request;
    request.fields = fields;
    HostOperator g(m_cells, set.points, request);
    set.values.resize(static_cast<std::size_t>(set.size()));
    g.apply(truth(epoch), set.values);
    for (std::size_t i = 0; i < set.values.size(); ++i) {
      const double unit = fields.contains(Field::gz) ? 1e-5 : 1e-9;
      const double sigma = (fields.contains(Field::gz) ? 0.02 : 1) * unit * (1 + 0.1 * static_cast<double>(i % 5));
      set.sigma.push_back(sigma);
      set.values[i] += sigma * random_normal(7 + static_cast<std::uint64_t>(epoch), RandomStream::noise, i);
    }
    return set;
  }

  /// One run of these epochs' data, everything kept in double.
  [[nodiscard]] InversionInput input(const std::vector<int>& epochs) const {
    InversionInput input;
    input.storage.store = Store::automatic;
    input.storage.precision = StoredPrecision::double_;
    input.settings.smoothness = {1, 1.5, 0.5};
    input.settings.beta = 3e-7;
    input.cells = &m_cells;
    for (const int epoch : epochs) input.data.push_back(data(epoch));
    if (epochs.size() > 1) {
      for (std::size_t e = 0; e < epochs.size(); ++e) input.epochs.push_back("e" + std::to_string(e));
    }
    input.reference.assign(n(), 0.0);
    return input;
  }

private:
  ActiveCells m_cells;
};

InversionOutcome invert_here(const InversionInput& input, InversionObserver* observer = nullptr,
                             const InversionState* resume = nullptr) {
  return invert(input, ranks(), observer, resume);
}

Numbers epoch_of(const Numbers& all, std::size_t n, std::size_t epoch) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(epoch * n);
  return {first, first + static_cast<std::ptrdiff_t>(n)};
}

double largest(const Numbers& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

/// The largest difference over the largest of b.
double difference(const Numbers& a, const Numbers& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most / largest(b);
}

/// The problem of one beta as dense matrices: H m = b, row by row.
struct Dense {
  std::size_t n = 0;
  Numbers h, data_part, b;
  double& at(std::size_t i, std::size_t j) { return h[i * n + j]; }

  /// (x - y)^2 times this
  void add_difference(std::size_t x, std::size_t y, double weight) {
    at(x, x) += weight, at(y, y) += weight, at(x, y) -= weight, at(y, x) -= weight;
  }

  /// Columns of H^-1 right, by Gauss and Jordan: H is positive definite.
  [[nodiscard]] Numbers solve(Numbers right, std::size_t columns) const {
    Numbers a = h;
    for (std::size_t p = 0; p < n; ++p) {
      const double pivot = a[p * n + p];
      for (std::size_t j = p; j < n; ++j) a[p * n + j] /= pivot;
      for (std::size_t j = 0; j < columns; ++j) right[p * columns + j] /= pivot;
      for (std::size_t i = 0; i < n; ++i) {
        const double factor = a[i * n + p];
        if (i == p || factor == 0) continue;
        for (std::size_t j = p; j < n; ++j) a[i * n + j] -= factor * a[p * n + j];
        for (std::size_t j = 0; j < columns; ++j) right[i * columns + j] -= factor * right[p * columns + j];
      }
    }
    return right;
  }
};

/// As docs/inversion.md states the objective, with depth weights of power 2 and z0 20 m.
Dense dense_problem(const InversionInput& input) {
  const ActiveCells& cells = *input.cells;
  const auto n = static_cast<std::size_t>(cells.size());
  const std::size_t n_epochs = input.data.size();
  Dense dense;
  dense.n = n * n_epochs;
  dense.h.assign(dense.n * dense.n, 0);
  dense.b.assign(dense.n, 0);
  Numbers volume(n), weight(n);
  double most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto [x, y, z] = cells.widths(static_cast<std::int64_t>(i));
    volume[i] = x * y * z;
    const double depth = cells.edges()[2].back() - cells.center(static_cast<std::int64_t>(i))[2];
    weight[i] = 1 / std::pow(depth + 20, 2);
    most = std::max(most, weight[i]);
  }
  for (double& w : weight) w /= most;
  Request request;
  request.fields = input.data.front().fields;
  HostOperator g(cells, input.data.front().points, request);
  const auto rows = static_cast<std::size_t>(g.rows());
  Numbers columns;
  for (std::size_t j = 0; j < n; ++j) {
    Numbers unit(n, 0.0), field(rows);
    unit[j] = 1;
    g.apply(unit, field);
    columns.insert(columns.end(), field.begin(), field.end());
  }
  for (std::size_t e = 0; e < n_epochs; ++e) {
    const DataSet& data = input.data[e];
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t r = 0; r < rows; ++r) {
        const double scaled = columns[i * rows + r] / (data.sigma[r] * data.sigma[r]);
        dense.b[e * n + i] += scaled * data.values[r];
        for (std::size_t j = 0; j < n; ++j) dense.at(e * n + i, e * n + j) += scaled * columns[j * rows + r];
      }
    }
  }
  dense.data_part = dense.h;
  const double beta = *input.settings.beta, shortest = 60;
  for (std::size_t e = 0; e < n_epochs; ++e) {
    for (std::size_t i = 0; i < n; ++i) {
      const double smallness = beta * input.settings.smallness * volume[i] * weight[i];
      dense.at(e * n + i, e * n + i) += smallness;
      dense.b[e * n + i] += smallness * input.reference[i];
      if (e + 1 < n_epochs) {
        const double change = beta * input.settings.change * volume[i] * weight[i];
        dense.add_difference(e * n + i, (e + 1) * n + i, change);
      }
      for (std::size_t d = 0; d < 3; ++d) {
        const std::int32_t next = cells.next(d)[i];
        if (next < 0) continue;
        const auto j = static_cast<std::size_t>(next);
        const double h = cells.center(next)[d] - cells.center(static_cast<std::int64_t>(i))[d];
        const double a = std::pow(input.settings.smoothness.value()[d] * shortest / h, 2);
        dense.add_difference(e * n + i, e * n + j,
                             beta * a * (volume[i] + volume[j]) / 2 * (weight[i] + weight[j]) / 2);
      }
    }
  }
  return dense;
}

InversionInput of_three_epochs(const Monitored& monitored) {
  InversionInput input = monitored.input({0, 1, 2});
  input.settings.weighting = {WeightingKind::depth, 2, 20};
  // one epoch is known better than the others
  for (double& sigma : input.data[1].sigma) sigma /= 2;
  for (std::size_t i = 0; i < input.reference.size(); ++i) input.reference[i] = static_cast<double>(i % 7);
  return input;
}

TEST(Epochs, AreTheModelsOfADenseSolver) {
  const Monitored monitored;
  for (const double change : {0.0, 0.3, 4.0}) {
    InversionInput input = of_three_epochs(monitored);
    input.settings.change = change;
    const InversionOutcome outcome = invert_here(input);
    const Dense dense = dense_problem(input);
    const Numbers expected = dense.solve(dense.b, 1);
    EXPECT_LT(difference(outcome.model.values, expected), 2e-5) << change;
    // phi_d + beta phi_m of the solution is what the quadratic form is there
    const ConvergenceRow& row = outcome.model.convergence.back();
    double least = 0;
    for (std::size_t i = 0; i < dense.n; ++i) least -= dense.b[i] * expected[i];
    for (const DataSet& data : input.data) {
      for (std::size_t r = 0; r < data.values.size(); ++r) least += std::pow(data.values[r] / data.sigma[r], 2);
    }
    for (std::size_t i = 0; i < input.reference.size(); ++i) {
      const auto [x, y, z] = monitored.cells().widths(static_cast<std::int64_t>(i));
      const double depth = -monitored.cells().center(static_cast<std::int64_t>(i))[2];
      least += 3 * *input.settings.beta * x * y * z * std::pow(50 / (depth + 20), 2) * std::pow(input.reference[i], 2);
    }
    EXPECT_NEAR(row.phi_d + row.beta * row.phi_m, least, 1e-6 * std::abs(least)) << change;
    EXPECT_EQ(outcome.model.values.size(), 3 * monitored.n());
    ASSERT_EQ(outcome.model.data.size(), 3U);
    for (std::size_t e = 0; e < 3; ++e) EXPECT_EQ(outcome.model.data[e].name, input.data[e].name);
  }
}

TEST(Epochs, HaveTheDeviationsOfADenseSolver) {
  const Monitored monitored;
  InversionInput input = of_three_epochs(monitored);
  input.settings.change = 2;
  input.settings.uncertainty.samples = 300;
  const InvertedModel model = invert_here(input).model;
  const Dense dense = dense_problem(input);
  Numbers identity(dense.n * dense.n, 0.0);
  for (std::size_t i = 0; i < dense.n; ++i) identity[i * dense.n + i] = 1;
  const Numbers inverse = dense.solve(identity, dense.n);
  ASSERT_EQ(model.sigma.size(), dense.n);
  double squares = 0, trace = 0;
  for (std::size_t i = 0; i < dense.n; ++i) {
    const double ratio = model.sigma[i] / std::sqrt(inverse[i * dense.n + i]);
    // five standard errors of 4.1 %
    EXPECT_NEAR(ratio, 1, 0.2) << i;
    squares += ratio * ratio / static_cast<double>(dense.n);
    for (std::size_t j = 0; j < dense.n; ++j) trace += inverse[i * dense.n + j] * dense.data_part[j * dense.n + i];
  }
  EXPECT_NEAR(squares, 1, 0.03);
  ASSERT_TRUE(model.resolution_trace);
  EXPECT_NEAR(*model.resolution_trace, trace, 4 * *model.resolution_trace_error);
  EXPECT_LT(*model.resolution_trace_error, 0.05 * trace);
}

TEST(Epochs, OfEqualDataHaveTheModelOfOne) {
  const Monitored monitored;
  for (const double norm : {2.0, 1.0}) {
    const auto with = [&](InversionInput input) {
      input.settings.norm = {norm, 2, 2, 2};
      input.settings.bounds = Range{-20, 260};
      input.settings.depth_of_investigation = true;
      return invert_here(input).model;
    };
    const InvertedModel one = with(monitored.input({1}));
    const InvertedModel two = with(monitored.input({1, 1}));
    for (std::size_t e = 0; e < 2; ++e) {
      EXPECT_LT(difference(epoch_of(two.values, monitored.n(), e), one.values), norm < 2 ? 1e-2 : 1e-4);
      EXPECT_LT(difference(epoch_of(two.depth_of_investigation, monitored.n(), e), one.depth_of_investigation), 1e-3);
    }
    EXPECT_NEAR(two.convergence.back().phi_d, 2 * one.convergence.back().phi_d, 0.01 * two.convergence.back().phi_d);
    EXPECT_NEAR(two.convergence.back().phi_m, 2 * one.convergence.back().phi_m, 0.01 * two.convergence.back().phi_m);
    EXPECT_NEAR(two.convergence.back().chi, one.convergence.back().chi, 0.01 * one.convergence.back().chi);
  }
}

TEST(Epochs, HaveVectorsAndWeightsOfTheirOwn) {
  InversionSettings settings;
  const auto bytes = [&](std::int64_t n_epochs) { return vector_bytes(settings, false, 100, n_epochs, 10); };
  const std::int64_t of_epoch = bytes(3) - bytes(2);
  // those of inverter, state and solver, and weights of a cell and its faces
  EXPECT_EQ(of_epoch, 8 * (100 * (8 + 8 + 4) + 10 * 5));
  // the weights of one epoch are those of the cells, until compact norms weigh them
  EXPECT_LT(bytes(1), bytes(3) - 2 * of_epoch);
  settings.norm = {1, 1, 1, 1};
  EXPECT_EQ(bytes(1), bytes(3) - 2 * of_epoch - 8 * 100) << "but for those of the change between epochs";
}

TEST(Epochs, WithoutWeightOfTheirChangeAreThoseOfSeparateRuns) {
  const Monitored monitored;
  for (const WeightingKind weighting : {WeightingKind::sensitivity, WeightingKind::distance}) {
    const auto with = [&](InversionInput input) {
      input.settings.weighting.kind = weighting;
      input.settings.change = 0;
      input.settings.bounds = Range{0, 300};
      return invert_here(input).model;
    };
    const InvertedModel all = with(monitored.input({0, 1, 2}));
    double phi_d = 0, phi_m = 0;
    for (int epoch = 0; epoch < 3; ++epoch) {
      const InvertedModel one = with(monitored.input({epoch}));
      EXPECT_LT(difference(epoch_of(all.values, monitored.n(), static_cast<std::size_t>(epoch)), one.values), 2e-4);
      phi_d += one.convergence.back().phi_d, phi_m += one.convergence.back().phi_m;
    }
    EXPECT_NEAR(all.convergence.back().phi_d, phi_d, 1e-4 * phi_d);
    EXPECT_NEAR(all.convergence.back().phi_m, phi_m, 1e-4 * phi_m);
    EXPECT_GT(difference(epoch_of(all.values, monitored.n(), 0), epoch_of(all.values, monitored.n(), 2)), 0.1);
  }
}

TEST(Epochs, ComeTogetherAsTheirChangeWeighsMore) {
  const Monitored monitored;
  double before = 1e9;
  for (const double change : {0.0, 1.0, 100.0, 1e4}) {
    InversionInput input = monitored.input({0, 2});
    input.settings.change = change;
    const Numbers model = invert_here(input).model.values;
    const Numbers first = epoch_of(model, monitored.n(), 0), last = epoch_of(model, monitored.n(), 1);
    const double apart = difference(first, last);
    EXPECT_LT(apart, 0.7 * before) << change;
    before = apart;
    if (change < 1e4) continue;
    EXPECT_LT(apart, 1e-3);
    // the model of the mean of data that are known equally well
    InversionInput mean = monitored.input({0});
    const DataSet other = monitored.data(2);
    for (std::size_t i = 0; i < other.values.size(); ++i) {
      double& value = mean.data[0].values[i];
      value = (value + other.values[i]) / 2;
    }
    EXPECT_LT(difference(first, invert_here(mean).model.values), 2e-3);
  }
}

TEST(Epochs, MeetTheTargetTogetherWithOneBeta) {
  const Monitored monitored;
  InversionInput input = monitored.input({0, 1, 2});
  input.settings.beta.reset();
  // a second data set, of the gradient
  for (const int epoch : {0, 1, 2}) input.data.push_back(monitored.data(epoch, {Field::gzz}));
  const InversionOutcome outcome = invert_here(input);
  EXPECT_TRUE(outcome.on_target) << outcome.message;
  ASSERT_EQ(outcome.model.data.size(), 6U);
  double phi_d = 0;
  for (std::size_t k = 0; k < 6; ++k) {
    const PredictedData& data = outcome.model.data[k];
    EXPECT_EQ(data.name, "epoch " + std::to_string(k % 3));
    // what is predicted is the field of this epoch's model
    Request request;
    request.fields = data.fields;
    HostOperator g(monitored.cells(), data.points, request);
    Numbers field(static_cast<std::size_t>(g.rows()));
    g.apply(epoch_of(outcome.model.values, monitored.n(), k % 3), field);
    EXPECT_LT(difference(data.predicted, field), 1e-9) << k;
    for (std::size_t i = 0; i < data.values.size(); ++i) {
      phi_d += std::pow((data.predicted[i] - data.values[i]) / data.sigma[i], 2);
    }
  }
  EXPECT_NEAR(phi_d, outcome.model.convergence.back().phi_d, 1e-6 * phi_d);
  EXPECT_NEAR(phi_d / 288, 1, 0.02);
}

TEST(Epochs, HaveTrendsOfTheirOwn) {
  const Monitored monitored;
  InversionInput input = monitored.input({0, 1, 2});
  input.settings.trend = Trend::constant;
  const InversionOutcome without = invert_here(input);
  for (std::size_t e = 0; e < 3; ++e) {
    for (double& value : input.data[e].values) value += 1e-5 * static_cast<double>(e * e);
  }
  const InversionOutcome with = invert_here(input);
  EXPECT_LT(difference(with.model.values, without.model.values), 1e-4);
  ASSERT_EQ(with.model.trend.size(), 3U);
  for (std::size_t e = 0; e < 3; ++e) {
    EXPECT_NEAR(with.model.trend[e].at(0) - without.model.trend[e].at(0), 1e-5 * static_cast<double>(e * e), 1e-9);
  }
}

TEST(Epochs, DoNotDependOnHowGIsKept) {
  const Monitored monitored;
  InversionInput input = monitored.input({0, 1, 2});
  const auto model = [&](Store store, Trend trend = Trend::none) {
    input.storage.store = store;
    input.settings.trend = trend;
    return invert_here(input).model.values;
  };
  const std::string file = "G of epochs on " + std::to_string(ranks().size()) + ".h5";
  const auto remove = [&] {
    barrier(ranks());
    if (ranks().rank() == 0) std::filesystem::remove(file);
    barrier(ranks());
  };
  remove();
  SensitivityHeader header;
  header.cells = &monitored.cells();
  SensitivityFiles files(header, ranks());
  input.storage.file = file;
  input.storage.rows = &files;
  for (const Trend trend : {Trend::none, Trend::linear}) {
    const Numbers anew = model(Store::none, trend);
    EXPECT_LT(difference(model(Store::automatic, trend), anew), 2e-5);
    EXPECT_LT(difference(model(Store::file, trend), anew), 2e-5);
  }
  remove();
}

TEST(Epochs, GoOnToTheSameModelsBitForBit) {
  const Monitored monitored;
  InversionInput input = monitored.input({0, 1, 2});
  // the whole run and those that are stopped would measure and choose each for itself
  input.storage.store = Store::memory;
  input.settings.beta.reset();
  input.settings.bounds = Range{0, 350};
  input.settings.norm = {0, 2, 2, 2};
  input.settings.trend = Trend::constant;
  input.settings.uncertainty.samples = 3;
  input.settings.depth_of_investigation = true;
  const InversionOutcome whole = invert_here(input);
  ASSERT_TRUE(whole.on_target) << whole.message;
  const int solutions = static_cast<int>(whole.model.convergence.size());
  for (const int stop : {1, solutions / 2, solutions, solutions + 3}) {
    StopAt observer(stop);
    EXPECT_THROW(invert_here(input, &observer), Stopped) << stop;
    ASSERT_TRUE(observer.kept);
    EXPECT_EQ(observer.kept->model.size(), 3 * monitored.n());
    const InversionOutcome rest = invert_here(input, nullptr, &*observer.kept);
    EXPECT_EQ(rest.model.values, whole.model.values) << stop;
    EXPECT_EQ(rest.model.sigma, whole.model.sigma) << stop;
    EXPECT_EQ(rest.model.depth_of_investigation, whole.model.depth_of_investigation) << stop;
    EXPECT_EQ(rest.model.convergence.size(), whole.model.convergence.size()) << stop;
  }
}

}  // namespace
}  // namespace prismfield::testing::test_epochs
