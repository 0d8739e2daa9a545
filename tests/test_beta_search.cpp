// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// The search for beta on curves whose target is known.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "inversion/beta_search.hpp"
#include "inversion/outcome.hpp"

namespace prismfield::testing::test_beta_search {
namespace {

using Curve = std::function<double(double)>;

/// Solutions until the search ends.
int run(BetaSearch& search, const Curve& phi_d, int most = 60) {
  int n = 0;
  while (search.status() == BetaSearch::Status::searching && n < most) {
    search.add(phi_d(search.beta()));
    ++n;
  }
  return n;
}

/// Tikhonov's: phi_d of a few singular values, from 1000 down to `least`.
double smooth_curve(double beta, double least) {
  double sum = least;
  for (int i = 0; i < 8; ++i) {
    const double eigenvalue = std::pow(10.0, -i);
    sum += 125 * std::pow(beta / (beta + eigenvalue), 2);
  }
  return sum;
}

TEST(BetaSearch, FindsATargetOnASteepCurve) {
  // as chi of Huber's norm is where anomalies begin to be missed
  const Curve steep = [](double beta) { return 30 + 1000 * std::pow(beta / 3, 20); };
  BetaSearch search(10, 100, 4, true);
  EXPECT_LE(run(search, steep), 14);
  EXPECT_EQ(search.status(), BetaSearch::Status::on_target);
}

TEST(BetaSearch, CoolsUntilTheTargetLiesBetweenTwoSolutionsThenFindsIt) {
  for (const double target : {20.0, 100.0, 500.0, 900.0}) {
    BetaSearch search(10, target, 4, true);
    const int n = run(search, [](double beta) { return smooth_curve(beta, 1); });
    EXPECT_EQ(search.status(), BetaSearch::Status::on_target);
    EXPECT_NEAR(smooth_curve(search.beta(), 1), target, 0.02 * target);
    EXPECT_LE(n, 20) << target;
  }
}

TEST(BetaSearch, FindsAPowerLawAtOnce) {
  for (const double power : {0.4, 1.0, 1.25, 2.0}) {
    for (const double target : {60.0, 100.0, 300.0}) {
      BetaSearch search(10, target, 4, true);
      const Curve curve = [&](double beta) { return 40 + 1000 * std::pow(beta, power); };
      run(search, curve, 200);
      EXPECT_EQ(search.status(), BetaSearch::Status::on_target) << power << ' ' << target;
      const auto& solutions = search.solutions();
      const auto is_below = [&](const auto& solution) { return solution[1] < std::log(target); };
      const auto n_below = std::count_if(solutions.begin(), solutions.end(), is_below);
      // the first one below the target ends the bracket, the next is on it, unless one that was aimed at is near it
      EXPECT_LE(n_below, 2) << power << ' ' << target;
      EXPECT_NEAR(std::exp(solutions.back()[1]), target, BetaSearch::tolerance * target) << power << ' ' << target;
      EXPECT_LE(solutions.size(), 14) << power << ' ' << target;
    }
  }
}

TEST(BetaSearch, AimsAtATargetThatIsNearAndBelowTheSolutionsBefore) {
  const Curve curve = [](double beta) { return 40 + 1000 * std::pow(beta, 1.25); };
  // betas 10, 2.5, 0.625 and then, in place of 0.156, the target's own
  BetaSearch search(10, 140, 4, true);
  EXPECT_EQ(run(search, curve), 4);
  EXPECT_NEAR(curve(search.beta()), 140, 1e-6 * 140);
  EXPECT_EQ(search.bracketed(), 0);
}

TEST(BetaSearch, EndsAsNearTheTargetAsAskedFor) {
  const auto last = [](double within) {
    BetaSearch search(10, 100, 4, true, within);
    run(search, [](double beta) { return smooth_curve(beta, 1); });
    return std::abs(smooth_curve(search.beta(), 1) / 100 - 1);
  };
  EXPECT_LE(last(0.001), 0.001);
  EXPECT_LE(last(0.2), 0.2);
}

TEST(BetaSearch, HeatsWhenTheFirstSolutionIsBelowTheTarget) {
  BetaSearch search(1e-6, 500, 4, true);
  run(search, [](double beta) { return smooth_curve(beta, 1); });
  EXPECT_EQ(search.status(), BetaSearch::Status::on_target);
}

TEST(BetaSearch, StepsLessWhereItIsNearer) {
  BetaSearch search(1, 100, 2.5, false);
  search.add(110);
  EXPECT_NEAR(search.beta(), std::sqrt(100.0 / 110), 1e-12);
  // phi_d fell by half of what beta's square did: the next step reckons with that
  search.add(105);
  const double power = std::log(105 / 110.0) / std::log(std::sqrt(100.0 / 110));
  EXPECT_NEAR(search.beta(), std::sqrt(100.0 / 110) * std::pow(100.0 / 105, 1 / power), 1e-12);
  BetaSearch far(1, 100, 2.5, false);
  far.add(1e4);
  EXPECT_NEAR(far.beta(), 1 / 2.5, 1e-12);
}

TEST(BetaSearch, SeesThatATargetIsOutOfReach) {
  BetaSearch search(10, 50, 4, true);
  const int n = run(search, [](double beta) { return smooth_curve(beta, 60); });
  EXPECT_EQ(search.status(), BetaSearch::Status::slow);
  EXPECT_LE(n, 25);
}

TEST(BetaSearch, DoesNotCallATargetOutOfReachBecauseItsFirstBetasAreTooLarge) {
  BetaSearch search(300, 900, 4, true);
  run(search, [](double beta) { return smooth_curve(beta, 1); });
  EXPECT_EQ(search.status(), BetaSearch::Status::on_target);
}

TEST(BetaSearch, EndsWherePhiJumpsOverTheTarget) {
  BetaSearch search(10, 100, 4, true);
  const int n = run(
      search, [](double beta) { return beta > 0.3 ? 150.0 : 50.0; }, 300);
  EXPECT_EQ(search.status(), BetaSearch::Status::stuck);
  EXPECT_LT(n, 300);
}

TEST(BetaSearch, EndsWhereTheSolverGaveUpOnEitherSide) {
  for (const double phi_d : {50.0, 150.0}) {
    BetaSearch search(10, 100, 4, true);
    search.add(phi_d, true);
    EXPECT_EQ(search.status(), BetaSearch::Status::unsettled) << phi_d;
  }
  BetaSearch search(10, 100, 4, true);
  search.add(101, true);
  EXPECT_EQ(search.status(), BetaSearch::Status::on_target);
}

TEST(BetaSearch, GoesOnBitForBit) {
  const Curve curve = [](double beta) { return smooth_curve(beta, 1); };
  BetaSearch whole(10, 100, 4, true);
  run(whole, curve);
  for (std::size_t n = 1; n < whole.solutions().size(); ++n) {
    BetaSearch first(10, 100, 4, true);
    run(first, curve, static_cast<int>(n));
    BetaSearch rest(10, 100, 4, true);
    rest.go_on(first.solutions());
    run(rest, curve);
    EXPECT_EQ(rest.solutions(), whole.solutions()) << n;
  }
}

TEST(UnsettledMessage, SaysWhatEndedTheSteps) {
  const auto message = [](std::int64_t steps, double change, std::int64_t max_iterations) {
    std::vector<ConvergenceRow> rows(3);
    for (ConvergenceRow& row : rows) row.stage = "cool";
    for (std::int64_t i = 0; i < steps; ++i) {
      rows.emplace_back().stage = "compact";
      rows.back().phi_m = i + 1 < steps ? 500 * (1 + change) : 500;
    }
    InversionSettings settings;
    settings.max_iterations = max_iterations;
    return unsettled_message(rows, settings);
  };
  EXPECT_EQ(message(0, 0.1, 30), "");
  EXPECT_EQ(message(46, 0.1, 30), "") << "they ended for another reason";
  EXPECT_EQ(message(47, 0.0005, 30), "");
  EXPECT_EQ(message(27, 0.004, 10), "the compact model had not settled after 27 steps; raise inversion.max_iterations");
  EXPECT_EQ(message(18, 0.1, 1), "the compact model had not settled after 18 steps; raise inversion.max_iterations");
}

}  // namespace
}  // namespace prismfield::testing::test_beta_search
