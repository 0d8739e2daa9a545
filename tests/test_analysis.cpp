// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "made_study.hpp"
#include "study/analysis.hpp"
#include "study/read_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace prismfield {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MadeStudy;
using ::testing::Pair;

const StudyPoint& point(const StudyData& study, std::int64_t id) {
  for (const StudyPoint& p : study.points) {
    if (p.id == id) return p;
  }
  ADD_FAILURE() << "no point " << id;
  return study.points.front();
}

class Analysis : public ::testing::Test {
protected:
  StudyData analysed(const std::vector<std::string>& axes) {
    m_study.write_all(axes);
    StudyData study = read_study(m_study.folder());
    analyse(study);
    return study;
  }

  MadeStudy m_study;
};

TEST_F(Analysis, TakesMediansOfTimedRunsAlone) {
  m_study.yaml = "sweep: {threads: [1]}\n";
  m_study.add_runs(1, {"1"}, 1, {5, 1, 4, 2, 3});
  m_study.add(1, {"1"}, 1, 100).kind = RunKind::warmup;
  m_study.add(1, {"1"}, 1, 200).kind = RunKind::reference;
  const StudyData study = analysed({"threads"});
  ASSERT_EQ(study.points.size(), 1U);
  const StudyPoint& p = study.points[0];
  EXPECT_EQ(p.status, RunStatus::ok);
  EXPECT_EQ(p.field_seconds.median.value, 3);
  EXPECT_EQ(p.field_seconds.median.low, 1);
  EXPECT_EQ(p.field_seconds.median.high, 5);
  EXPECT_THAT(p.field_seconds.all, ElementsAre(5, 1, 4, 2, 3));
  EXPECT_DOUBLE_EQ(p.pairs_per_second.median.value, 1e9 / 3);
  EXPECT_DOUBLE_EQ(p.total_seconds.median.value, 3.1);
  EXPECT_TRUE(std::isnan(p.processor_seconds.median.value));
  EXPECT_THAT(p.processor_seconds.all, IsEmpty());
  EXPECT_EQ(p.memory_bytes, 50'000'000);
  EXPECT_EQ(p.largest_error, 1e-15);
  EXPECT_DOUBLE_EQ(p.core_seconds, 3.2);
  EXPECT_TRUE(std::isnan(p.energy_joules));
  EXPECT_TRUE(std::isnan(p.speed_up.value)) << "an axis of one value is no scaling";
}

TEST_F(Analysis, ComputesSpeedUpsByHand) {
  m_study.yaml = "sweep: {threads: [1, 2, 4]}\n";
  m_study.add_runs(1, {"1"}, 1, {10, 10, 10});
  m_study.add_runs(2, {"2"}, 2, {5.5, 5.5, 5.5});
  m_study.add_runs(3, {"4"}, 4, {2.5, 3, 4});
  const StudyData study = analysed({"threads"});
  const StudyPoint& one = point(study, 1);
  EXPECT_EQ(one.speed_up.value, 1);
  EXPECT_EQ(one.speed_up.low, 1);
  EXPECT_EQ(one.efficiency.value, 1);
  EXPECT_TRUE(std::isnan(one.karp_flatt.value));
  const StudyPoint& two = point(study, 2);
  EXPECT_EQ(two.baseline, 1);
  EXPECT_DOUBLE_EQ(two.speed_up.value, 10 / 5.5);
  EXPECT_DOUBLE_EQ(two.speed_up.low, 10 / 5.5);
  EXPECT_DOUBLE_EQ(two.efficiency.value, 10 / 11.0);
  EXPECT_NEAR(two.karp_flatt.value, (5.5 / 10 - 0.5) / 0.5, 1e-15);
  const StudyPoint& four = point(study, 3);
  EXPECT_DOUBLE_EQ(four.speed_up.value, 10 / 3.0);
  // of three runs the median of three draws is the least with P(Bin(3, 1/3) >= 2) = 26 %
  EXPECT_DOUBLE_EQ(four.speed_up.low, 10 / 4.0);
  EXPECT_DOUBLE_EQ(four.speed_up.high, 10 / 2.5);
  EXPECT_DOUBLE_EQ(four.efficiency.high, 1.0);
  EXPECT_NEAR(four.karp_flatt.value, (0.3 - 0.25) / 0.75, 1e-15);
  // the least serial fraction belongs to the largest speed-up
  EXPECT_NEAR(four.karp_flatt.low, 0, 1e-15);
  EXPECT_NEAR(four.karp_flatt.high, (0.4 - 0.25) / 0.75, 1e-15);
}

TEST_F(Analysis, FitsTheLawsThatMadeTheTimes) {
  m_study.yaml = "sweep:\n  execution.precision: [double, single]\n  threads: [1, 2, 4, 8, 16]\n";
  std::int64_t id = 0;
  for (const double serial : {0.1, 0.02}) {
    for (const int n : {1, 2, 4, 8, 16}) {
      const double t = 8 * (serial + (1 - serial) / n);
      m_study.add_runs(++id, {serial == 0.1 ? "double" : "single", std::to_string(n)}, n, {t, t * 1.01, t * 0.99});
    }
  }
  const StudyData study = analysed({"execution.precision", "threads"});
  ASSERT_EQ(study.fits.size(), 2U);
  EXPECT_EQ(study.fits[0].along, "threads");
  EXPECT_EQ(study.fits[0].key, "threads");
  EXPECT_THAT(study.fits[0].group, ElementsAre(Pair("execution.precision", "double")));
  EXPECT_THAT(study.fits[0].points, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_NEAR(study.fits[0].amdahl.value, 0.1, 1e-12);
  EXPECT_NEAR(study.fits[0].seconds_of_one, 8, 1e-10);
  EXPECT_NEAR(study.fits[1].amdahl.value, 0.02, 1e-12);
  // numpy: s of 1 - S/n = s (1 - 1/n), S = 1/(0.1 + 0.9/n)
  double product = 0, square = 0;
  for (const double n : {2.0, 4.0, 8.0, 16.0}) {
    const double x = 1 - 1 / n;
    product += (1 - 1 / (0.1 * n + 0.9)) * x;
    square += x * x;
  }
  EXPECT_NEAR(study.fits[0].gustafson.value, product / square, 1e-12);
  for (const StudyFit& fit : study.fits) {
    EXPECT_LT(fit.amdahl.low, fit.amdahl.value);
    EXPECT_GT(fit.amdahl.high, fit.amdahl.value);
    // times known to 1 % give the fraction to about that
    EXPECT_LT(fit.amdahl.high - fit.amdahl.low, 0.03);
    EXPECT_LT(fit.gustafson.low, fit.gustafson.high);
  }
  // speed-ups are relative to the same precision
  EXPECT_EQ(point(study, 7).baseline, 6);
  // the same runs, the same intervals
  const StudyData again = analysed({"execution.precision", "threads"});
  EXPECT_EQ(again.fits[0].amdahl.low, study.fits[0].amdahl.low);
  EXPECT_EQ(again.points[3].speed_up.high, study.points[3].speed_up.high);
}

TEST_F(Analysis, TakesRatesInWeakScaling) {
  m_study.yaml =
      "weak: true\nscaling: ranks\nsweep:\n  point: [{ranks: 1, model: a}, {ranks: 4, model: b}, {ranks: 16, model: "
      "c}]\n";
  m_study.add_runs(1, {"one"}, 1, {2, 2});
  m_study.add_runs(2, {"four"}, 1, {2.5, 2.5});
  m_study.add_runs(3, {"sixteen"}, 1, {2.5, 2.5});
  for (RunRow& row : m_study.rows) {
    const std::int64_t times = row.point == 1 ? 1 : row.point == 2 ? 4 : 16;
    row.ranks = times;
    row.pairs *= times;
    row.pairs_per_second *= static_cast<double>(times);
    row.problem = "p" + std::to_string(row.point);
  }
  const StudyData study = analysed({"point"});
  EXPECT_DOUBLE_EQ(point(study, 2).speed_up.value, 4 * 2 / 2.5);
  EXPECT_DOUBLE_EQ(point(study, 2).efficiency.value, 0.8);
  ASSERT_EQ(study.fits.size(), 1U);
  EXPECT_EQ(study.fits[0].along, "point");
  EXPECT_EQ(study.fits[0].key, "ranks");
  EXPECT_TRUE(std::isnan(study.fits[0].amdahl.value));
  // each efficiency is 0.8: 1 - 0.8 = s (1 - 1/n)
  EXPECT_NEAR(study.fits[0].gustafson.value, 0.2 * (0.75 + 0.9375) / (0.75 * 0.75 + 0.9375 * 0.9375), 1e-14);
}

TEST_F(Analysis, FitsNoLawThroughTwoPoints) {
  m_study.yaml = "sweep: {threads: [1, 2]}\n";
  m_study.add_runs(1, {"1"}, 1, {1, 1.1});
  m_study.add_runs(2, {"2"}, 2, {1.2, 1.3});
  EXPECT_TRUE(analysed({"threads"}).fits.empty());
}

TEST_F(Analysis, KeepsOversubscribedPointsOutOfScaling) {
  m_study.yaml = "sweep: {threads: [1, 2, 8, 4]}\n";
  m_study.add_runs(1, {"1"}, 1, {8});
  m_study.add_runs(2, {"2"}, 2, {4});
  m_study.add(3, {"8"}, 8, 3).oversubscribed = true;
  m_study.add_runs(4, {"4"}, 4, {2});
  const StudyData study = analysed({"threads"});
  const StudyPoint& p = point(study, 3);
  EXPECT_TRUE(p.oversubscribed);
  EXPECT_DOUBLE_EQ(p.speed_up.value, 8 / 3.0);
  EXPECT_TRUE(std::isnan(p.efficiency.value));
  EXPECT_TRUE(std::isnan(p.karp_flatt.value));
  ASSERT_EQ(study.fits.size(), 1U);
  EXPECT_THAT(study.fits[0].points, ElementsAre(1, 2, 4));
  EXPECT_NEAR(study.fits[0].amdahl.value, 0, 1e-14);
  EXPECT_TRUE(std::isnan(study.fits[0].amdahl.low)) << "one run each";
  EXPECT_THAT(study.rules.notes, Contains(HasSubstr("point 3: more ranks x threads than cores")));
}

TEST_F(Analysis, GivesWrongPointsNoSpeed) {
  m_study.yaml = "sweep: {threads: [1, 2, 4]}\n";
  m_study.add_runs(1, {"1"}, 1, {8, 8, 8, 8, 8});
  m_study.add_runs(2, {"2"}, 2, {4, 4, 4, 4, 4});
  m_study.rows.back().status = RunStatus::wrong;
  m_study.rows.back().why = "gz is off by 0.1";
  m_study.rows.back().largest_error = 0.1;
  m_study.leave_out(3, {"4"}, RunStatus::not_run, "4 threads, 2 hardware threads are here");
  const StudyData study = analysed({"threads"});
  const StudyPoint& wrong = point(study, 2);
  EXPECT_EQ(wrong.status, RunStatus::wrong);
  EXPECT_EQ(wrong.why, "gz is off by 0.1");
  EXPECT_EQ(wrong.largest_error, 0.1);
  EXPECT_THAT(wrong.field_seconds.all, IsEmpty());
  EXPECT_TRUE(std::isnan(wrong.pairs_per_second.median.value));
  EXPECT_TRUE(std::isnan(wrong.speed_up.value));
  const StudyPoint& left = point(study, 3);
  EXPECT_EQ(left.status, RunStatus::not_run);
  EXPECT_EQ(left.threads, 4) << "by its label";
  EXPECT_THAT(study.fits, IsEmpty());
  EXPECT_THAT(study.rules.notes, ElementsAre("point 3: not run here, left out of all fits",
                                             "point 2: outside the tolerance, therefore without a speed"));
}

TEST_F(Analysis, TellsRunsThatFailedAmongGoodOnes) {
  m_study.yaml = "repeats: 3\nsweep: {threads: [1, 2]}\n";
  m_study.add_runs(1, {"1"}, 1, {8, 8, 8});
  m_study.rows[1].status = RunStatus::failed;
  m_study.rows[1].why = "exit code 1";
  m_study.rows[1].field_seconds = not_known;
  m_study.add_runs(2, {"2"}, 2, {8});
  m_study.leave_out(2, {"2"}, RunStatus::out_of_budget, "").repeat = 2;
  const StudyData study = analysed({"threads"});
  EXPECT_EQ(point(study, 1).status, RunStatus::ok);
  EXPECT_EQ(point(study, 1).why, "1 of 3 runs failed: exit code 1");
  EXPECT_THAT(point(study, 1).field_seconds.all, ElementsAre(8, 8));
  EXPECT_EQ(point(study, 2).status, RunStatus::ok);
  EXPECT_TRUE(study.rules.budget_forbade);
  EXPECT_THAT(study.rules.notes, ElementsAre("3 repeats are asked for, 5 are the rule",
                                             "points 1, 2: fewer than 3 timed runs, the time budget was spent"));
}

TEST_F(Analysis, TakesTheBaselineThatTheStudyNames) {
  m_study.yaml =
      "baseline: {execution.partition: points}\nsweep:\n  execution.partition: [prisms, points]\n"
      "  execution.precision: [double, single]\n";
  m_study.add_runs(1, {"prisms", "double"}, 2, {2});
  m_study.add_runs(2, {"prisms", "single"}, 2, {1});
  m_study.add_runs(3, {"points", "double"}, 2, {6});
  m_study.add_runs(4, {"points", "single"}, 2, {5});
  const StudyData study = analysed({"execution.partition", "execution.precision"});
  EXPECT_DOUBLE_EQ(point(study, 1).speed_up.value, 3);
  EXPECT_DOUBLE_EQ(point(study, 2).speed_up.value, 5);
  EXPECT_EQ(point(study, 3).speed_up.value, 1);
  EXPECT_THAT(study.fits, IsEmpty());
}

TEST_F(Analysis, CountsDevicesAsWorkers) {
  m_study.yaml = "sweep: {devices: [1, 2, 3]}\n";
  m_study.add_runs(1, {"1"}, 1, {8, 8});
  m_study.add_runs(2, {"2"}, 1, {4.4, 4.4});
  m_study.add_runs(3, {"3"}, 1, {3, 3});
  for (RunRow& row : m_study.rows) {
    row.space = "cuda";
    row.device = "A card";
    row.ranks = row.point;
  }
  const StudyData study = analysed({"devices"});
  EXPECT_EQ(point(study, 2).devices, 2);
  EXPECT_EQ(point(study, 2).workers(), 2);
  EXPECT_DOUBLE_EQ(point(study, 2).efficiency.value, 8 / 4.4 / 2);
  ASSERT_EQ(study.fits.size(), 1U);
  EXPECT_EQ(study.fits[0].key, "devices");
}

TEST_F(Analysis, FitsNoLawToCoresAndDevicesTogether) {
  m_study.yaml =
      "sweep: {hardware: [{label: core, ranks: 1}, {label: card, ranks: 1}, {label: two cards, ranks: 2, devices: "
      "2}, {label: three cards, ranks: 3, devices: 3}]}\n";
  m_study.add_runs(1, {"core"}, 1, {100, 100});
  m_study.add_runs(2, {"card"}, 1, {8, 8});
  m_study.add_runs(3, {"two cards"}, 1, {4.4, 4.4});
  m_study.add_runs(4, {"three cards"}, 1, {3, 3});
  for (RunRow& row : m_study.rows) {
    if (row.point == 1) continue;
    row.space = "cuda";
    row.device = "A card";
    row.ranks = row.point - 1;
  }
  const StudyData study = analysed({"hardware"});
  ASSERT_EQ(study.fits.size(), 1U);
  EXPECT_THAT(study.fits[0].points, ElementsAre(2, 3, 4));
}

TEST_F(Analysis, PlacesPointsOnTheRoofline) {
  m_study.machine =
      R"({"name": "m", "calibration": {"openmp": {"peak_double": 4e11, "peak_single": 8e11, "bandwidth": 2e10,
          "threads": 4}}})";
  m_study.yaml = "sweep: {threads: [1, 2]}\n";
  m_study.add_runs(1, {"1"}, 1, {2});
  m_study.add_runs(2, {"2"}, 2, {1});
  m_study.write("errors.csv",
                "point,field,unit,rms_difference,largest_difference,largest_reference,relative\n"
                "1,gz,mGal,0,0,1,0\n2,gz,mGal,0,0,1,0\n");
  const StudyData study = analysed({"threads"});
  // 46 operations of gz by the multipole of order 4 in double
  const Roofline& one = point(study, 1).roofline;
  EXPECT_EQ(one.double_operations, 46e9);
  EXPECT_EQ(one.single_operations, 0);
  EXPECT_DOUBLE_EQ(one.arithmetic_rate, 23e9);
  EXPECT_DOUBLE_EQ(one.fraction_of_peak, 23e9 / 1e11) << "of one of four threads";
  // 8 bytes of three coordinates and of one field there and back, once in 64 prisms
  EXPECT_DOUBLE_EQ(one.intensity, 46 / (8 * 5 / 64.0));
  EXPECT_EQ(one.bound, "arithmetic");
  EXPECT_DOUBLE_EQ(point(study, 2).roofline.fraction_of_peak, 46e9 / 2e11);
}

TEST_F(Analysis, RatesPortabilityOverSpaces) {
  m_study.machine =
      R"({"name": "m", "calibration": {"openmp": {"peak_double": 1e12}, "serial": {"peak_double": 1e11}}})";
  m_study.yaml = "sweep:\n  execution.kernel: [auto, corners]\n  execution.space: [openmp, serial]\n";
  m_study.add_runs(1, {"auto", "openmp"}, 1, {0.1});
  m_study.add_runs(2, {"auto", "serial"}, 1, {0.8});
  m_study.add_runs(3, {"corners", "openmp"}, 1, {1});
  m_study.leave_out(4, {"corners", "serial"}, RunStatus::failed, "exit code 1");
  m_study.rows[1].space = "serial";
  std::string errors = "point,field,unit,rms_difference,largest_difference,largest_reference,relative\n";
  for (int p = 1; p <= 3; ++p) errors += std::to_string(p) + ",gz,mGal,0,0,1,0\n";
  m_study.write("errors.csv", errors);
  const StudyData study = analysed({"execution.kernel", "execution.space"});
  ASSERT_EQ(study.portability.size(), 2U);
  const Portability& fast = study.portability[0];
  EXPECT_THAT(fast.kept, ElementsAre(Pair("execution.kernel", "auto")));
  ASSERT_EQ(fast.platforms.size(), 2U);
  EXPECT_EQ(fast.platforms[0].name, "m, openmp");
  EXPECT_EQ(fast.platforms[1].name, "m, serial");
  EXPECT_DOUBLE_EQ(fast.platforms[0].architectural, 46e9 / 0.1 / 1e12);
  EXPECT_DOUBLE_EQ(fast.platforms[1].architectural, 46e9 / 0.8 / 1e11);
  EXPECT_DOUBLE_EQ(fast.architectural, 2 / (1 / 0.46 + 1 / 0.575));
  EXPECT_DOUBLE_EQ(fast.application, 1);
  const Portability& slow = study.portability[1];
  EXPECT_DOUBLE_EQ(slow.platforms[0].application, 0.1);
  EXPECT_EQ(slow.platforms[1].application, 0) << "it failed there";
  EXPECT_EQ(slow.application, 0);
}

TEST_F(Analysis, RatesPortabilityZeroForADeviceWhereRunsFailed) {
  m_study.machine = R"({"name": "m"})";
  m_study.yaml = "sweep:\n  execution.kernel: [auto, corners]\n  execution.space: [openmp, cuda]\n";
  m_study.add_runs(1, {"auto", "openmp"}, 1, {0.1});
  m_study.add_runs(2, {"auto", "cuda"}, 1, {0.01});
  m_study.rows[1].space = "cuda";
  m_study.rows[1].device = "a device";
  m_study.add_runs(3, {"corners", "openmp"}, 1, {1});
  // neither tells the device
  m_study.leave_out(4, {"corners", "cuda"}, RunStatus::failed, "exit code 1");
  for (const RunStatus status : {RunStatus::failed, RunStatus::not_run}) {
    m_study.rows.back().status = status;
    const StudyData study = analysed({"execution.kernel", "execution.space"});
    ASSERT_EQ(study.portability.size(), 2U);
    EXPECT_EQ(study.portability[0].platforms.at(1).name, "m, a device");
    EXPECT_EQ(study.portability[0].application, 1);
    EXPECT_EQ(study.portability[1].platforms.at(1).application, 0);
    EXPECT_EQ(study.portability[1].application, 0);
  }
  m_study.rows.back().status = RunStatus::out_of_budget;
  EXPECT_TRUE(std::isnan(analysed({"execution.kernel", "execution.space"}).portability[1].application));
}

TEST_F(Analysis, FitsNoLawToRanksThatShareTheCores) {
  m_study.yaml = "sweep: {ranks: [1, 2, 4]}\n";
  m_study.add_runs(1, {"1"}, 4, {1, 1});
  m_study.add_runs(2, {"2"}, 2, {1, 1});
  m_study.add_runs(3, {"4"}, 1, {1, 1});
  for (RunRow& row : m_study.rows) row.ranks = 4 / row.threads;
  const StudyData study = analysed({"ranks"});
  EXPECT_THAT(study.fits, IsEmpty()) << "four workers each";
  EXPECT_EQ(point(study, 3).efficiency.value, 1);
}

TEST_F(Analysis, DoesNotTellHowLongAWrongPointWasBusy) {
  m_study.yaml = "sweep: {threads: [1, 2]}\n";
  m_study.add_runs(1, {"1"}, 1, {8, 8});
  m_study.add_runs(2, {"2"}, 2, {4, 4});
  m_study.rows.back().status = RunStatus::wrong;
  m_study.write("busy.csv", "point,rank,slot,begin,end\n1,0,0,0,8\n2,0,0,0,4\n");
  const StudyData study = analysed({"threads"});
  ASSERT_EQ(study.busy.size(), 1U);
  EXPECT_EQ(study.busy[0].point, 1);
}

TEST_F(Analysis, TakesAStudyWithoutAxesOrRuns) {
  m_study.yaml = "base: case.yaml\n";
  StudyData empty = analysed({});
  EXPECT_THAT(empty.points, IsEmpty());
  m_study.add_runs(1, {}, 2, {1, 1, 1, 1, 1});
  const StudyData one = analysed({});
  ASSERT_EQ(one.points.size(), 1U);
  EXPECT_THAT(one.rules.notes, IsEmpty());
}

}  // namespace
}  // namespace prismfield
