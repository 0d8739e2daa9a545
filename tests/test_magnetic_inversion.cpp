// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Inversions of magnetic data for susceptibility and for the magnetisation: what comes back of a block, with and
// without remanence, and what must not depend on the axes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <numbers>
#include <string>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/host_operator.hpp>
#include <prismfield/invert.hpp>

#include "inversion/cell_weights.hpp"
#include "ranks.hpp"

namespace prismfield::testing::test_magnetic_inversion {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Vector = std::array<double, 3>;
using Numbers = std::vector<double>;

constexpr double nanotesla = 1e-9;

/// A block of 4 x 4 x 3 cells below 10 x 10 stations, magnetised alike. What it holds and the inducing field can be
/// turned by quarter turns from easting to northing, the same problem in other axes.
class BuriedBlock {
public:
  explicit BuriedBlock(int quarter_turns = 0) : m_turns(quarter_turns), m_cells(edges()) {
    m_request.magnetic.inducing_field = turned(vector_of(60, 10, 50'000 * nanotesla));
  }

  [[nodiscard]] const ActiveCells& cells() const noexcept { return m_cells; }
  [[nodiscard]] const Magnetic& magnetic() const noexcept { return m_request.magnetic; }
  [[nodiscard]] std::int64_t n() const noexcept { return m_cells.size(); }
  [[nodiscard]] bool is_inside(std::int64_t cell) const {
    // beside the middle, so that a turn moves it
    const Vector at = unturned(m_cells.center(cell));
    return -150 < at[0] && at[0] < 50 && -100 < at[1] && at[1] < 100 && -150 < at[2] && at[2] < -50;
  }
  /// The number of the cell that a quarter turn brings to this one.
  [[nodiscard]] std::int64_t before_turn(std::int64_t cell) const {
    const std::int64_t easting = cell % size, northing = cell / size % size;
    return (cell / (size * size) * size + size - 1 - easting) * size + northing;
  }
  [[nodiscard]] Vector turned(Vector v) const {
    for (int k = 0; k < m_turns; ++k) v = {-v[1], v[0], v[2]};
    return v;
  }

  /// Fields of the block of this magnetisation, A/m, or of one cell, with noise of `sigma` nT; the noise turns with the
  /// stations.
  [[nodiscard]] DataSet data(FieldList fields, const Vector& magnetization, double sigma = 1,
                             std::int64_t only_cell = -1) const {
    DataSet set;
    set.name = "block";
    set.fields = fields;
    for (int k = 0; k < 100; ++k) {
      const Vector at = turned({-225.0 + 50 * (k % 10), -225.0 + 50 * (k / 10), 20});
      set.points.easting.push_back(at[0]);
      set.points.northing.push_back(at[1]);
      set.points.upward.push_back(at[2]);
    }
    Request request = m_request;
    request.fields = fields;
    const MagnetizedPrisms block(m_cells, turned(magnetization));
    HostOperator g(block, set.points, request);
    Numbers inside;
    for (std::int64_t j = 0; j < n(); ++j) inside.push_back((only_cell < 0 ? is_inside(j) : j == only_cell) ? 1 : 0);
    set.values.resize(static_cast<std::size_t>(set.size()));
    g.apply(inside, set.values);
    set.sigma.assign(set.values.size(), sigma * nanotesla);
    if (fields == FieldList{Field::tmi}) {
      for (std::size_t k = 0; k < set.values.size(); ++k) {
        const double u = std::fmod(0.6180339887498949 * static_cast<double>(k + 1), 1.0);
        const double v = std::fmod(0.7548776662466927 * static_cast<double>(k + 1), 1.0);
        set.values[k] += sigma * nanotesla * std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * std::numbers::pi * v);
      }
    }
    return set;
  }

  [[nodiscard]] InversionInput input(Unknown unknown, std::vector<DataSet> data) const {
    InversionInput input;
    input.request = m_request;
    input.storage.store = Store::memory;
    input.storage.precision = StoredPrecision::double_;
    input.settings.unknown = unknown;
    input.cells = &m_cells;
    input.data = std::move(data);
    return input;
  }

private:
  static constexpr std::int64_t size = 10;

  [[nodiscard]] Vector unturned(Vector v) const {
    for (int k = 0; k < m_turns; ++k) v = {v[1], -v[0], v[2]};
    return v;
  }
  static CellEdges edges() {
    CellEdges edges;
    for (int i = 0; i <= size; ++i) {
      edges[0].push_back(-250 + 50.0 * i);
      edges[1].push_back(-250 + 50.0 * i);
    }
    for (int i = 0; i <= 6; ++i) edges[2].push_back(-240 + 40.0 * i);
    return edges;
  }

  int m_turns;
  Request m_request;
  ActiveCells m_cells;
};

InversionOutcome invert_here(const InversionInput& input) { return invert(input, ranks()); }

/// The middle of a model, by the magnitudes of its cells, and the direction of their sum.
struct Summary {
  Vector middle{}, sum{};
  std::int64_t largest = 0;
};

Summary summary_of(const InvertedModel& model, const ActiveCells& cells) {
  Summary summary;
  const std::int64_t n = cells.size();
  const Numbers sizes = amplitude_of(model.values, model.unknown, n);
  double all = 0;
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    const double size = sizes[j] * sizes[j];
    all += size;
    const Vector at = cells.center(static_cast<std::int64_t>(j));
    for (std::size_t d = 0; d < 3; ++d) summary.middle[d] += size * at[d];
    for (std::size_t d = 0; d < static_cast<std::size_t>(components(model.unknown)); ++d) {
      summary.sum[d] += model.values[d * sizes.size() + j];
    }
  }
  for (double& middle : summary.middle) middle /= all;
  summary.largest = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
  return summary;
}

double degrees_between(const Vector& a, const Vector& b) {
  const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  return std::acos(dot / std::hypot(a[0], a[1], a[2]) / std::hypot(b[0], b[1], b[2])) * 180 / std::numbers::pi;
}

double distance(const Vector& a, const Vector& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

constexpr Vector middle_of_block{-50, 0, -100};

TEST(MagneticInversion, FindsTheSusceptibilityOfABlock) {
  const BuriedBlock block;
  constexpr double susceptibility = 0.05;
  Vector induced = block.magnetic().inducing_field;
  for (double& component : induced) component *= susceptibility / block.magnetic().vacuum_permeability;
  const DataSet tmi = block.data({Field::tmi}, induced);
  InversionInput input = block.input(Unknown::susceptibility, {tmi});
  input.settings.bounds = Range{0, 1.2 * susceptibility};
  input.settings.norm = {0, 2, 2, 2};
  const InversionOutcome outcome = invert_here(input);
  EXPECT_TRUE(outcome.on_target) << outcome.message;
  EXPECT_EQ(outcome.model.unknown, Unknown::susceptibility);
  EXPECT_EQ(std::ssize(outcome.model.values), block.n());
  EXPECT_NEAR(outcome.model.convergence.back().chi, 1, 0.05);
  const Summary found = summary_of(outcome.model, block.cells());
  EXPECT_TRUE(block.is_inside(found.largest));
  EXPECT_LT(distance(found.middle, middle_of_block), 30);

  // components of another flight beside it
  input.data.push_back(block.data({Field::bx, Field::by, Field::bz}, induced));
  const InversionOutcome joint = invert_here(input);
  EXPECT_TRUE(joint.on_target) << joint.message;
  EXPECT_LT(distance(summary_of(joint.model, block.cells()).middle, middle_of_block), 30);
}

/// Unless depth weights have a power of their own, that of magnetic data is 3.
TEST(MagneticInversion, WeighsByTheCubeOfDepth) {
  const BuriedBlock block;
  InversionInput input = block.input(Unknown::susceptibility, {block.data({Field::tmi}, {0, 1, -2})});
  input.settings.weighting.kind = WeightingKind::depth;
  const Numbers usual = invert_here(input).model.values;
  input.settings.weighting.power = 3;
  EXPECT_EQ(invert_here(input).model.values, usual);
  input.settings.weighting.power = 2;
  EXPECT_NE(invert_here(input).model.values, usual);
}

/// That with which the fields of a small body fall.
TEST(MagneticInversion, WeighsByThePowerOfItsData) {
  const auto power = [](std::initializer_list<FieldList> sets) {
    std::vector<DataSet> data;
    for (const FieldList fields : sets) data.emplace_back().fields = fields;
    return usual_power(data);
  };
  EXPECT_EQ(power({{Field::gz}}), 2);
  EXPECT_EQ(power({{Field::potential}}), 2);
  EXPECT_EQ(power({{Field::gxx, Field::guv}}), 3);
  EXPECT_EQ(power({{Field::gxx, Field::gx}}), 2);
  EXPECT_EQ(power({{Field::gxx}, {Field::gz}}), 2);
  EXPECT_EQ(power({{Field::bx, Field::tmi}}), 3);
  EXPECT_EQ(power({{Field::bxx, Field::tmi_z}}), 4);
  EXPECT_EQ(power({{Field::tmi_x}, {Field::tmi}}), 3);

  // twice as far a dipole's gradient is a sixteenth
  const std::vector<double> edges{-1, 1};
  const ActiveCells dipole({edges, edges, edges});
  Points points;
  points.easting = points.northing = {0, 0};
  points.upward = {500, 1000};
  Request request;
  request.fields = {Field::bzz};
  Numbers values(2);
  const MagnetizedPrisms magnet(dipole, {0, 0, 1});
  HostOperator(magnet, points, request).apply(Numbers{1}, values);
  EXPECT_NEAR(std::log2(values[0] / values[1]), power({request.fields}), 1e-4);
}

TEST(MagneticInversion, FindsTheDirectionOfARemanence) {
  const BuriedBlock block;
  const Vector remanence = vector_of(-35, 130, 2);
  const std::vector<DataSet> data{block.data({Field::tmi}, remanence),
                                  block.data({Field::bx, Field::by, Field::bz}, remanence)};
  for (const double p : {2.0, 0.0}) {
    InversionInput input = block.input(Unknown::magnetization, data);
    input.settings.norm = {p, 2, 2, 2};
    const InversionOutcome outcome = invert_here(input);
    EXPECT_TRUE(outcome.on_target) << outcome.message;
    ASSERT_EQ(std::ssize(outcome.model.values), 3 * block.n());
    const Summary found = summary_of(outcome.model, block.cells());
    EXPECT_LT(degrees_between(found.sum, remanence), 10) << p;
    // to a cell on the map; smooth models of few data lie deep
    EXPECT_LT(std::hypot(found.middle[0] - middle_of_block[0], found.middle[1] - middle_of_block[1]), 50) << p;
    EXPECT_LT(distance(found.middle, middle_of_block), 100) << p;
    const Numbers sizes = amplitude_of(outcome.model.values, Unknown::magnetization, block.n());
    EXPECT_EQ(outcome.model.convergence.back().maximum, *std::max_element(sizes.begin(), sizes.end()));
  }

  // a susceptibility is magnetised along the inducing field alone
  InversionInput input = block.input(Unknown::susceptibility, data);
  input.settings.bounds = Range{0, 10};
  const InversionOutcome induced = invert_here(input);
  EXPECT_FALSE(induced.on_target);
  EXPECT_GT(induced.model.convergence.back().chi, 10);
}

/// Tomofast-x's two bodies in small: cells of different magnetisations, which smoothing would spread over others.
TEST(MagneticInversion, FindsTwoBodiesOfOneCell) {
  const BuriedBlock block;
  // in the fourth layer from below, 80 to 120 m deep
  const std::array<std::int64_t, 2> cells{322, 376};
  const std::array<Vector, 2> magnetizations{vector_of(60, 10, 4), vector_of(-60, 90, 6)};
  DataSet tmi = block.data({Field::tmi}, magnetizations[0], 0.5, cells[0]);
  const DataSet other = block.data({Field::tmi}, magnetizations[1], 1e-9, cells[1]);
  for (std::size_t i = 0; i < tmi.values.size(); ++i) tmi.values[i] += other.values[i];
  InversionInput input = block.input(Unknown::magnetization, {tmi});
  input.settings.norm = {0, 2, 2, 2};
  input.settings.smoothness = {0, 0, 0};
  const InversionOutcome outcome = invert_here(input);
  EXPECT_TRUE(outcome.on_target) << outcome.message;
  const Numbers& values = outcome.model.values;
  double others = 0;
  for (const double size : amplitude_of(values, Unknown::magnetization, block.n())) others += size;
  for (std::size_t b = 0; b < cells.size(); ++b) {
    const auto at = static_cast<std::size_t>(cells[b]), n = static_cast<std::size_t>(block.n());
    const Vector found{values[at], values[n + at], values[2 * n + at]};
    EXPECT_LT(degrees_between(found, magnetizations[b]), 3) << b;
    EXPECT_LT(distance(found, magnetizations[b]), 0.05 * distance(magnetizations[b], {})) << b;
    others -= distance(found, {});
  }
  EXPECT_LT(others, 1);
}

/// The problem turned by a quarter has the turned model: no axis is preferred, not by compact norms either.
TEST(MagneticInversion, DoesNotDependOnTheAxes) {
  const BuriedBlock block, turned(1);
  const Vector remanence = vector_of(-35, 130, 2);
  const double beta = invert_here(block.input(Unknown::magnetization, {block.data({Field::tmi}, remanence)}))
                          .model.convergence.back()
                          .beta;
  const auto model_of = [&](const BuriedBlock& of, double p) {
    InversionInput input = of.input(Unknown::magnetization, {of.data({Field::tmi}, remanence)});
    input.settings.norm = {p, p, p, p};
    input.settings.beta = beta;
    return invert_here(input).model.values;
  };
  const auto n = static_cast<std::size_t>(block.n());
  for (const double p : {2.0, 1.0}) {
    const Numbers expected = model_of(block, p), found = model_of(turned, p);
    const double most = *std::max_element(expected.begin(), expected.end());
    double off = 0, change = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const auto from = static_cast<std::size_t>(block.before_turn(static_cast<std::int64_t>(j)));
      const Vector m = turned.turned({expected[from], expected[n + from], expected[2 * n + from]});
      for (std::size_t d = 0; d < 3; ++d) {
        off = std::max(off, std::abs(found[d * n + j] - m[d]));
        change = std::max(change, std::abs(found[d * n + j] - expected[d * n + j]));
      }
    }
    EXPECT_LT(off, 0.01 * most) << p;
    EXPECT_GT(change, 0.3 * most) << p;
  }
}

/// Epochs, samples and the depth of investigation of a vector.
TEST(MagneticInversion, HasEpochsAndUncertaintyOfVectors) {
  const BuriedBlock block;
  const DataSet tmi = block.data({Field::tmi}, vector_of(50, 20, 1)),
                grown = block.data({Field::tmi}, vector_of(50, 20, 2));
  InversionInput input = block.input(Unknown::magnetization, {tmi, grown});
  input.epochs = {"first", "second"};
  input.settings.uncertainty.samples = 2;
  input.settings.depth_of_investigation = true;
  const InvertedModel model = invert_here(input).model;
  const std::int64_t n = block.n();
  EXPECT_EQ(std::ssize(model.values), 6 * n);
  EXPECT_EQ(std::ssize(model.sigma), 6 * n);
  ASSERT_EQ(std::ssize(model.depth_of_investigation), 2 * n);
  for (const double depth : model.depth_of_investigation) {
    ASSERT_GE(depth, 0);
    ASSERT_LE(depth, 1);
  }
  const Numbers sizes = amplitude_of(model.values, model.unknown, n);
  ASSERT_EQ(std::ssize(sizes), 2 * n);
  const auto middle = sizes.begin() + n;
  EXPECT_GT(*std::max_element(middle, sizes.end()), 1.2 * *std::max_element(sizes.begin(), middle));
  const Numbers upward = component_of(model.values, model.unknown, 2, n);
  EXPECT_EQ(upward.front(), model.values[static_cast<std::size_t>(2 * n)]);
  EXPECT_EQ(upward[static_cast<std::size_t>(n)], model.values[static_cast<std::size_t>(5 * n)]);
}

/// Data of B's magnitude out of those of bx, by, bz; `inducing_field`: that of tmi_exact, T.
DataSet magnitudes(const DataSet& components, Field field, const Vector& inducing_field) {
  DataSet set = components;
  set.fields = {field};
  set.values.clear();
  const std::size_t n = set.points.easting.size();
  for (std::size_t i = 0; i < n; ++i) {
    Vector b{components.values[i], components.values[n + i], components.values[2 * n + i]};
    for (std::size_t d = 0; d < 3; ++d) b[d] += inducing_field[d];
    set.values.push_back(distance(b, {}) - distance(inducing_field, {}));
  }
  set.sigma.resize(n);
  return set;
}

/// What magnetometers measure over strong bodies, and magnitudes of the anomalous field.
TEST(MagneticInversion, TakesMagnitudesOfTheField) {
  const BuriedBlock block;
  constexpr double susceptibility = 2;
  Vector induced = block.magnetic().inducing_field;
  for (double& component : induced) component *= susceptibility / block.magnetic().vacuum_permeability;
  const DataSet components = block.data({Field::bx, Field::by, Field::bz}, induced, 20);
  const DataSet tmi = block.data({Field::tmi}, induced, 20);
  const DataSet exact = magnitudes(components, Field::tmi_exact, block.magnetic().inducing_field);
  const DataSet amplitude = magnitudes(components, Field::amplitude, {});
  // so strong that its part along the field is not the difference of magnitudes
  double apart = 0;
  for (std::size_t i = 0; i < tmi.values.size(); ++i) {
    apart = std::max(apart, std::abs(tmi.values[i] - exact.values[i]) / exact.sigma[i]);
  }
  ASSERT_GT(apart, 10);
  for (const DataSet& data : {exact, amplitude}) {
    InversionInput input = block.input(Unknown::susceptibility, {data});
    input.settings.bounds = Range{0, 1.2 * susceptibility};
    input.settings.norm = {0, 2, 2, 2};
    input.settings.target_misfit = 0.1;
    const InversionOutcome outcome = invert_here(input);
    EXPECT_TRUE(outcome.on_target) << outcome.message;
    const Summary found = summary_of(outcome.model, block.cells());
    EXPECT_TRUE(block.is_inside(found.largest));
    EXPECT_LT(distance(found.middle, middle_of_block), 30);
    // phi_d is that of the magnitudes themselves
    double phi_d = 0;
    const PredictedData& predicted = outcome.model.data.front();
    for (std::size_t i = 0; i < predicted.values.size(); ++i) {
      phi_d += std::pow((predicted.values[i] - predicted.predicted[i]) / predicted.sigma[i], 2);
    }
    EXPECT_NEAR(phi_d, outcome.model.convergence.back().phi_d, 1e-9 * phi_d);
  }
  // beside components of another flight, with a start
  InversionInput joint = block.input(Unknown::magnetization, {amplitude, components});
  joint.start.assign(static_cast<std::size_t>(3 * block.n()), 0.1);
  const InversionOutcome outcome = invert_here(joint);
  EXPECT_TRUE(outcome.on_target) << outcome.message;
}

/// A susceptibility along a given direction, and the magnetisation of that direction.
TEST(MagneticInversion, MagnetisesAlongAGivenDirection) {
  const BuriedBlock block;
  const Vector direction = vector_of(-35, 130, 1);
  const double size = distance(block.magnetic().inducing_field, {}) / block.magnetic().vacuum_permeability;
  constexpr double susceptibility = 0.05;
  Vector magnetization = direction;
  for (double& component : magnetization) component *= susceptibility * size;
  const DataSet tmi = block.data({Field::tmi}, magnetization);
  InversionInput input = block.input(Unknown::susceptibility, {tmi});
  input.settings.bounds = Range{0, 1.2 * susceptibility};
  input.settings.norm = {0, 2, 2, 2};
  input.request.magnetic.magnetization_direction = direction;
  const InversionOutcome outcome = invert_here(input);
  EXPECT_TRUE(outcome.on_target) << outcome.message;
  EXPECT_LT(distance(summary_of(outcome.model, block.cells()).middle, middle_of_block), 30);
  input.request.magnetic.magnetization_direction = {};
  EXPECT_FALSE(invert_here(input).on_target);
}

TEST(MagneticInversion, KeepsAmplitudesBelowTheLargest) {
  const BuriedBlock block;
  const DataSet tmi = block.data({Field::tmi}, vector_of(-35, 130, 2));
  InversionInput input = block.input(Unknown::magnetization, {tmi});
  const InversionOutcome free = invert_here(input);
  const double most = 0.5 * free.model.convergence.back().maximum;
  input.settings.most_amplitude = most;
  const InversionOutcome outcome = invert_here(input);
  EXPECT_TRUE(outcome.on_target) << outcome.message;
  EXPECT_NEAR(outcome.model.convergence.back().chi, 1, 0.05);
  const Numbers sizes = amplitude_of(outcome.model.values, Unknown::magnetization, block.n());
  EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), most * (1 + 1e-12));
  EXPECT_GT(std::count_if(sizes.begin(), sizes.end(), [&](double size) { return size > 0.99 * most; }), 1);
}

/// Standard deviations of vectors by a low rank, beside those of samples.
TEST(MagneticInversion, HasUncertaintyOfVectorsByRank) {
  const BuriedBlock block;
  InversionInput input = block.input(Unknown::magnetization, {block.data({Field::tmi}, vector_of(50, 20, 1))});
  input.settings.uncertainty.rank = 80;
  const Numbers by_rank = invert_here(input).model.sigma;
  ASSERT_EQ(std::ssize(by_rank), 3 * block.n());
  input.settings.uncertainty = {400, 1, 0};
  const Numbers by_samples = invert_here(input).model.sigma;
  double squares = 0;
  for (std::size_t i = 0; i < by_rank.size(); ++i) squares += std::pow(by_rank[i] / by_samples[i] - 1, 2);
  // samples are good to 3.5 %
  EXPECT_LT(std::sqrt(squares / static_cast<double>(by_rank.size())), 0.05);
}

TEST(MagneticInversion, NamesWhatIsWrong) {
  const BuriedBlock block;
  const DataSet tmi = block.data({Field::tmi}, {0, 1, -1});
  const auto message = [&](Unknown unknown, const std::function<void(InversionInput&)>& change) -> std::string {
    InversionInput input = block.input(unknown, {tmi});
    change(input);
    try {
      invert_here(input);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(Unknown::density, [](InversionInput&) {}), HasSubstr("data[0].fields: has tmi, which is no"));
  EXPECT_THAT(message(Unknown::susceptibility, [](InversionInput& input) { input.data[0].fields = {Field::gz}; }),
              HasSubstr("data[0].fields: has gz, which is no"));
  EXPECT_THAT(message(Unknown::magnetization,
                      [](InversionInput& input) {
                        input.data = {input.data[0], input.data[0]};
                        input.epochs = {"first", "second"};
                        for (DataSet& epoch : input.data) epoch.fields = {Field::amplitude};
                      }),
              HasSubstr("data[0].fields: has amplitude, which is for one epoch alone"));
  EXPECT_THAT(message(Unknown::susceptibility, [](InversionInput& input) { input.settings.most_amplitude = 3; }),
              HasSubstr("inversion.bounds.amplitude: must be above 0, and is for a magnetization alone"));
  for (const Unknown unknown : {Unknown::susceptibility, Unknown::magnetization}) {
    EXPECT_THAT(message(unknown, [](InversionInput& input) { input.request.magnetic.inducing_field = {}; }),
                HasSubstr("magnetic.inducing_field"));
  }
  EXPECT_THAT(message(Unknown::magnetization,
                      [](InversionInput& input) {
                        input.request.magnetic.inducing_field = {};
                        input.data[0].fields = {Field::bx, Field::tmi_y};
                      }),
              AllOf(HasSubstr("magnetic.inducing_field: data[0] has tmi_y, which needs the inducing field"),
                    HasSubstr("data[0].values: has 100 values, 200 are expected")));
  EXPECT_THAT(message(Unknown::magnetization,
                      [&](InversionInput& input) { input.reference.assign(static_cast<std::size_t>(block.n()), 0); }),
              HasSubstr("reference: has 600 values, 1800 are expected"));
  EXPECT_THAT(message(Unknown::magnetization,
                      [](InversionInput& input) {
                        input.settings.bounds = Range{0, 2};
                        input.settings.intervals = {{0, 1}, {1.5, 2}};
                      }),
              HasSubstr("inversion.bounds: has intervals"));
}

}  // namespace
}  // namespace prismfield::testing::test_magnetic_inversion
