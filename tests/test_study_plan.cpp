// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/human_text.hpp"
#include "scratch_folder.hpp"
#include "study/child_run.hpp"
#include "study/estimate.hpp"
#include "study/problem.hpp"
#include "study/report_folder.hpp"
#include "study/schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace prismfield {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* small_case =
    "model:\n  voxels: {easting: [0, 300, 3], northing: [0, 200, 2], upward: [-100, 0, 1], density: 300}\n"
    "observations:\n  grid: {easting: [0, 300, 4], northing: [0, 200, 3], upward: 20}\n"
    "fields: [gz, gxx, gyy, gzz]\noutput: {file: a.nc, figure: a.png}\n";

/// Eight cores with two hardware threads each, no device.
MachineRecord host() {
  MachineRecord machine;
  machine.name = machine.host = "host";
  machine.processor = "A processor";
  machine.cores = 8;
  machine.hardware_threads = 16;
  machine.program.version = "1";
  machine.program.git_hash = "abc";
  machine.program.spaces = {"openmp", "serial"};
  machine.program.default_space = "openmp";
  machine.program.mpi = "Open MPI v4";
  machine.program.has_mpi = true;
  return machine;
}

MachineRecord with_devices(int n) {
  MachineRecord machine = host();
  machine.program.spaces = {"cuda", "openmp", "serial"};
  machine.program.default_space = "cuda";
  machine.program.devices.assign(static_cast<std::size_t>(n), "A card");
  return machine;
}

class StudyPlanTest : public ::testing::Test {
protected:
  StudyPlanTest() {
    m_folder.write("case.yaml", small_case);
    for (const char* variable : {"OMP_NUM_THREADS", "SLURM_JOB_ID", "CUDA_VISIBLE_DEVICES"}) ::unsetenv(variable);
    // mpirun is needed on PATH, not to be run
    fs::create_directory(m_folder / "bin");
    m_folder.write("bin/mpirun", "#!/bin/sh\n");
    fs::permissions(m_folder / "bin/mpirun", fs::perms::owner_all);
    ::setenv("PATH", (m_folder / "bin").c_str(), 1);
  }

  StudySpec spec(const std::string& text) const {
    return read_study_file(m_folder.write("study.yaml", "base: case.yaml\n" + text), {});
  }
  StudyPlan plan(const std::string& text, const MachineRecord& machine = host()) const {
    return plan_study(spec(text), machine);
  }
  std::string refused(const std::string& text, const MachineRecord& machine = host()) const {
    return m_folder.removed_from(testing::mistakes([&] { static_cast<void>(plan(text, machine)); }));
  }
  std::vector<std::string> why_not(const std::string& text, const MachineRecord& machine = host()) const {
    std::vector<std::string> result;
    for (const PlannedPoint& point : plan(text, machine).points) result.push_back(point.job.start.why_not);
    return result;
  }

  testing::ScratchFolder m_folder;
};

TEST_F(StudyPlanTest, PointsOfOneProblemHaveOneReference) {
  const StudyPlan one = plan("sweep: {execution.precision: [double, single], threads: [1, 2]}\n");
  ASSERT_EQ(one.points.size(), 4U);
  ASSERT_EQ(one.problems.size(), 1U);
  // two precisions, and the reference, which is the double one but for kernel: auto
  EXPECT_EQ(one.cases.size(), 3U);
  const YamlNode& reference = one.cases[one.problems[0].reference.case_number];
  EXPECT_EQ(reference.find("execution")->find("precision")->text, "double");
  EXPECT_EQ(reference.find("output"), nullptr);
  EXPECT_EQ(plan("sweep: {fields: [[gz], all], axes: [z_up, z_down]}\n").problems.size(), 4U);
  EXPECT_EQ(plan("sweep: {model.voxels.density: [300, 200]}\n").problems.size(), 2U);
}

TEST_F(StudyPlanTest, StoredSensitivitiesAreComparedWithARun) {
  m_folder.write("case.yaml",
                 std::string(small_case) + "sensitivity: {file: G.h5, store: memory}\ninversion: {data: no.csv}\n");
  const std::string sweep = "sweep: {sensitivity.store: [memory, none], fields: [[gz], [gzz]]}\n";
  const StudyPlan made = plan("command: sensitivity\n" + sweep);
  ASSERT_EQ(made.points.size(), 4U);
  ASSERT_EQ(made.problems.size(), 2U) << "how G is kept is no other problem";
  const StudyJob& reference = made.problems[0].reference;
  EXPECT_EQ(reference.start.use, CaseUse::forward);
  EXPECT_EQ(made.cases[reference.case_number].find("sensitivity"), nullptr);
  for (const PlannedPoint& point : made.points) {
    EXPECT_EQ(point.job.start.use, CaseUse::sensitivity);
    const YamlNode& tree = made.cases[point.job.case_number];
    EXPECT_EQ(tree.find("sensitivity")->find("file"), nullptr);
    EXPECT_EQ(tree.find("inversion"), nullptr);
    EXPECT_EQ(run_words(spec("command: sensitivity\n"), host(), {"prismfield", {}}, point.job.start, {"a", "b", ""})[1],
              "sensitivity");
  }
  EXPECT_NE(made.hash,
            plan("command: sensitivity\nsweep: {sensitivity.store: [memory, auto], fields: [[gz], [gzz]]}\n").hash);
  EXPECT_THAT(refused(sweep), HasSubstr("sweep.sensitivity.store.0: changes nothing that a study measures"));
}

TEST_F(StudyPlanTest, ModelsAreComparedWithThatOfGInDouble) {
  m_folder.write("case.yaml", std::string(small_case) + "sensitivity: {compression: 1e-4}\ninversion: {data: d.csv}\n");
  m_folder.write("d.csv", "easting,northing,upward,gz,gz_sigma\n1,1,1,1,1\n");
  const StudyPlan made =
      plan("command: invert\nsweep: {sensitivity.precision: [float, double], inversion.norm: [1, 2]}\n");
  ASSERT_EQ(made.problems.size(), 2U);
  const StudyJob& reference = made.problems[0].reference;
  EXPECT_EQ(reference.start.use, CaseUse::inversion);
  const YamlNode& tree = made.cases[reference.case_number];
  EXPECT_EQ(tree.find("sensitivity")->find("precision")->text, "double");
  EXPECT_EQ(tree.find("sensitivity")->find("compression"), nullptr);
  EXPECT_EQ(tree.find("observations"), nullptr);
  // other data are another problem
  m_folder.write("d.csv", "easting,northing,upward,gz,gz_sigma\n1,1,1,2,1\n");
  EXPECT_NE(plan("command: invert\nsweep: {inversion.norm: [1, 2]}\n").problems[0].hash, made.problems[0].hash);
}

TEST_F(StudyPlanTest, PreconditionersHaveOneProblemAndReference) {
  m_folder.write("d.csv", "easting,northing,upward,gz,gz_sigma\n1,1,1,1,1\n");
  m_folder.write("case.yaml", std::string(small_case) + "inversion: {data: d.csv}\n");
  const std::string ranks = "command: invert\nsweep: {inversion.preconditioner: [jacobi, {rank: 5}]}\n";
  const StudyPlan made = plan(ranks);
  ASSERT_EQ(made.problems.size(), 1U);
  EXPECT_EQ(made.cases[made.problems[0].reference.case_number].find("inversion")->find("preconditioner"), nullptr);
  ASSERT_EQ(made.points.size(), 2U);
  EXPECT_NE(made.hash, plan("command: invert\nsweep: {inversion.preconditioner: [jacobi, {rank: 6}]}\n").hash);
}

TEST_F(StudyPlanTest, TheReferenceIsAskedForByKeysOfExecution) {
  const StudyPlan made = plan(
      "sweep: {execution.kernel: [auto, corners], execution.slots: [1, 2]}\nreference: {execution.kernel: corners, "
      "execution.space: serial, threads: 1}\n");
  const StudyJob& reference = made.problems[0].reference;
  const YamlNode& execution = *made.cases[reference.case_number].find("execution");
  EXPECT_EQ(execution.find("kernel")->text, "corners");
  EXPECT_EQ(execution.find("space")->text, "serial");
  EXPECT_EQ(execution.find("slots"), nullptr);
  EXPECT_EQ(reference.start.threads, 1);
  EXPECT_EQ(refused("reference: {fields: [gz], observations.grid.upward: 3}\n"),
            "study.yaml:2: reference.fields: would make the reference another problem; only keys of execution and "
            "sensitivity, inversion.preconditioner, threads, ranks, devices and bind are allowed\n"
            "study.yaml:2: reference.observations.grid.upward: would make the reference another problem; only keys of "
            "execution and sensitivity, inversion.preconditioner, threads, ranks, devices and bind are allowed");
}

TEST_F(StudyPlanTest, MistakesOfCasesAreToldOnceWhereTheyWereWritten) {
  EXPECT_EQ(refused("sweep:\n  execution.precision: [double, duoble]\n  execution.slots: [0, 2]\n"),
            "study.yaml:3: execution.precision: is 'duoble'; did you mean double? Allowed: double, mixed, single\n"
            "study.yaml:4: execution.slots: is '0'; auto or a whole number from 1 to 1000000000 is expected");
  m_folder.write("case.yaml", "model: {voxel: 1}\nfields: [gz]\n");
  EXPECT_EQ(refused("sweep: {threads: [1, 2, 3]}\n"),
            "case.yaml:1: model.voxel: is no known key; did you mean voxels? Allowed: voxels, prisms, mesh, terrain\n"
            "case.yaml:1: observations: is missing; a map with grid or stations is expected");
}

TEST_F(StudyPlanTest, AStudyIsNoCase) {
  m_folder.write("case.yaml", "base: x.yaml\nsweep: {threads: [1]}\n");
  EXPECT_EQ(refused("sweep: {threads: [1, 2]}\n"), "case.yaml: is a study, not a case; prismfield study runs it");
}

TEST_F(StudyPlanTest, WhatTheStudyDrawsHasToBeComputed) {
  EXPECT_EQ(refused("maps: [gz, gx]\ntrace: true\nsweep: {fields: [gz, all]}\n"),
            "study.yaml:2: maps: has gx, which is not among the fields of every point\n"
            "study.yaml:3: trace: needs gxx, gyy and gzz among the fields of every point");
}

TEST_F(StudyPlanTest, PointsThatTheMachineCannotRunAreKept) {
  EXPECT_THAT(why_not("sweep: {execution.space: [openmp, serial, cuda]}\n"),
              ElementsAre("", "", "this build has no space cuda, only openmp, serial"));
  EXPECT_THAT(why_not("sweep: {threads: [8, 16, 17]}\n"),
              ElementsAre("", "", "1 rank x 17 threads need 17 hardware threads, there are 16 here"));
  EXPECT_THAT(why_not("sweep: {ranks: [8, 32]}\n"),
              ElementsAre("", "32 ranks x 1 thread need 32 hardware threads, there are 16 here"));
  EXPECT_THAT(why_not("oversubscribe: true\nsweep: {threads: [17]}\n"), ElementsAre(""));
  EXPECT_THAT(why_not("sweep: {devices: [1]}\n"), ElementsAre("the space openmp has no devices"));
  EXPECT_THAT(why_not("sweep: {devices: [1, 4, 5]}\n", with_devices(4)),
              ElementsAre("", "", "5 devices asked for, there are 4 here"));
  EXPECT_THAT(why_not("", with_devices(0)), ElementsAre("1 device asked for, there is none here"));
  MachineRecord alone = host();
  alone.program.has_mpi = false;
  EXPECT_THAT(why_not("sweep: {ranks: [1, 2]}\n", alone),
              ElementsAre("", "this build has no MPI, which several ranks need"));
  ::setenv("PATH", "/nowhere", 1);
  EXPECT_THAT(why_not("sweep: {ranks: [1, 2]}\n"), ElementsAre("", "mpirun, which starts ranks, is not on PATH"));
}

TEST_F(StudyPlanTest, RanksAndThreadsThatNobodyNamesAreChosen) {
  const StudyPlan ranks = plan("sweep: {ranks: [1, 2, 3, 8]}\n");
  std::vector<std::int64_t> threads;
  for (const PlannedPoint& point : ranks.points) threads.push_back(point.job.start.threads);
  EXPECT_THAT(threads, ElementsAre(8, 4, 2, 1));
  EXPECT_EQ(plan("sweep: {execution.space: [serial]}\n").points[0].job.start.threads, 1);
  // a rank a device
  const RunStart start = plan("sweep: {devices: [2]}\n", with_devices(4)).points[0].job.start;
  EXPECT_EQ(start.ranks, 2);
  EXPECT_EQ(start.devices, 2);
  EXPECT_TRUE(start.on_device);
  EXPECT_EQ(refused("sweep:\n  devices: [2]\n  ranks: [1]\n", with_devices(4)),
            "study.yaml:4: devices: 2 devices with 1 rank: a rank computes on one device; leave ranks out, or have as "
            "many");
  ::setenv("OMP_NUM_THREADS", "3,1", 1);
  EXPECT_EQ(plan("").points[0].job.start.threads, 3);
}

TEST_F(StudyPlanTest, MoreThanTheCoresIsOversubscribed) {
  const StudyPlan made = plan("oversubscribe: true\nsweep: {threads: [8, 16, 17]}\n");
  EXPECT_FALSE(made.points[0].job.start.oversubscribed);
  EXPECT_TRUE(made.points[1].job.start.oversubscribed && made.points[1].job.start.hyper_threads);
  EXPECT_TRUE(made.points[2].job.start.oversubscribed && !made.points[2].job.start.hyper_threads);
}

TEST_F(StudyPlanTest, RankGridsNeedTheirRanks) {
  EXPECT_THAT(
      refused("sweep: {execution.partition: [prisms, {ranks: [4, 2]}]}\n"),
      HasSubstr("study.yaml:2: execution.partition: 4 x 2 ranks asked for, but points with it have 1 rank; an axis "
                "of maps moves both together, with values such as {ranks: 8, execution.partition: {ranks: [4, "
                "2]}}"));
  EXPECT_EQ(refused("sweep: {point: [{ranks: 8, execution.partition: {ranks: [4, 2]}}]}\n"), "");
}

TEST_F(StudyPlanTest, InputsAreKnownByWhatTheyHold) {
  m_folder.write("bodies.csv", "west,east,south,north,bottom,top,density\n0,1,0,1,-1,0,300\n");
  m_folder.write("case.yaml",
                 "model: {prisms: {file: bodies.csv}}\nobservations: {stations: {random: 3}}\nfields: [gz]\n");
  const StudyPlan first = plan("");
  m_folder.write("others.csv", "west,east,south,north,bottom,top,density\n0,1,0,1,-1,0,300\n");
  EXPECT_EQ(plan("sweep: {model.prisms.file: [bodies.csv, others.csv]}\n").problems.size(), 1U);
  m_folder.write("others.txt", "west,east,south,north,bottom,top,density\n0,1,0,1,-1,0,300\n");
  EXPECT_EQ(plan("sweep: {model.prisms.file: [bodies.csv, others.txt]}\n").problems.size(), 2U);
  m_folder.write("bodies.csv", "west,east,south,north,bottom,top,density\n0,1,0,1,-1,0,301\n");
  EXPECT_NE(plan("").problems[0].hash, first.problems[0].hash);
  EXPECT_NE(plan("").hash, first.hash);
  EXPECT_EQ(refused("sweep:\n  model.prisms.file: [bodies.csv, none.csv]\n"),
            "study.yaml:3: model.prisms.file: 'none.csv' cannot be read: there is no such file");
}

TEST_F(StudyPlanTest, TheHashTellsStudiesApartThatCannotGoOn) {
  const std::string text = "sweep: {threads: [1, 2]}\n";
  const std::string hash = plan(text).hash;
  EXPECT_EQ(
      plan(text + "title: Another\nrepeats: 9\ntime_budget: 1 h\nrun_limit: 1 s\nreport: x\ntolerance: 1e-3\n").hash,
      hash);
  for (const char* other : {"seed: 2\n", "busy: true\n", "reference: {threads: 1}\n", "order: as_written\n",
                            "launcher: mpiexec -n {ranks} {program}\n"}) {
    EXPECT_NE(plan(text + other).hash, hash) << other;
  }
  // what a finished run did not leave is not made later
  const std::string kept = plan(text + "keep_results: true\n").hash;
  for (const char* other : {"histogram: true\n", "maps: [gz]\n"}) {
    EXPECT_NE(plan(text + "keep_results: true\n" + other).hash, kept) << other;
  }
  EXPECT_NE(plan("sweep: {threads: [1, 3]}\n").hash, hash);
  MachineRecord rebuilt = host();
  rebuilt.program.git_hash = "def";
  EXPECT_NE(plan(text, rebuilt).hash, hash);
  // threads that nobody names are those of OMP_NUM_THREADS
  const std::string unnamed = "sweep: {execution.slots: [1, 2]}\n";
  const std::string before = plan(unnamed).hash;
  ::setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(plan(text).hash, hash);
  EXPECT_NE(plan(unnamed).hash, before);
  ::unsetenv("OMP_NUM_THREADS");
}

TEST_F(StudyPlanTest, CasesAndStudiesOfAReportFindTheirInputs) {
  fs::create_directory(m_folder / "report");
  m_folder.write("bodies.csv", "west,east,south,north,bottom,top,density\n0,1,0,1,-1,0,300\n");
  m_folder.write("case.yaml",
                 "model: {prisms: {file: bodies.csv}}\nobservations: {stations: {random: 3}}\nfields: [gz]\n");
  const StudySpec original = spec("sweep: {threads: [1, 2]}\n");
  const StudyPlan made = plan_study(original, host());
  EXPECT_THAT(case_text(original, made.cases[0], m_folder / "report"),
              AllOf(HasSubstr("file: \"../bodies.csv\""), HasSubstr("title: \"case\"")));
  m_folder.write("report/study.yaml", study_text(original, m_folder / "report"));
  const StudySpec copy = read_study_file(m_folder / "report/study.yaml", {});
  EXPECT_EQ(plan_study(copy, host()).hash, made.hash);
}

TEST_F(StudyPlanTest, RanksAreStartedWithCoresOfTheirOwn) {
  const fs::path program = "/bin/prismfield";
  const auto words = [&](const std::string& text, const MachineRecord& machine = host()) {
    const StudySpec study = spec(text);
    return launch_of(study, machine, plan_study(study, machine).points[0].job.start, program).words;
  };
  EXPECT_THAT(words("sweep: {threads: [4]}\n"), ElementsAre("/bin/prismfield"));
  EXPECT_THAT(words("sweep: {ranks: [2], threads: [4]}\n"),
              ElementsAre("mpirun", "-n", "2", "--map-by", "slot:PE=4", "/bin/prismfield"));
  EXPECT_THAT(words("sweep: {ranks: [2], threads: [8]}\n"),
              ElementsAre("mpirun", "-n", "2", "--use-hwthread-cpus", "--map-by", "slot:PE=8", "/bin/prismfield"));
  EXPECT_THAT(words("oversubscribe: true\nsweep: {ranks: [2], threads: [9]}\n"),
              ElementsAre("mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "/bin/prismfield"));
  EXPECT_THAT(words("sweep: {devices: [2]}\n", with_devices(2)),
              ElementsAre("mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "/bin/prismfield"));
  EXPECT_THAT(words("launcher: mpiexec -np {ranks} -x A={threads} {program} -- more\nsweep: {ranks: [2]}\n"),
              ElementsAre("mpiexec", "-np", "2", "-x", "A=4", "/bin/prismfield", "--", "more"));
  MachineRecord other = host();
  other.program.mpi = "MPICH";
  EXPECT_THAT(words("sweep: {ranks: [2]}\n", other), ElementsAre("mpirun", "-n", "2", "/bin/prismfield"));
  m_folder.write("bin/srun", "#!/bin/sh\n");
  fs::permissions(m_folder / "bin/srun", fs::perms::owner_all);
  ::setenv("SLURM_JOB_ID", "1", 1);
  EXPECT_THAT(words("sweep: {ranks: [2]}\n"), ElementsAre("srun", "-n", "2", "-c", "4", "/bin/prismfield"));
  ::unsetenv("SLURM_JOB_ID");
}

TEST_F(StudyPlanTest, RunsGetTheirWordsAndVariables) {
  const StudySpec study = spec("launcher: wrap {ranks} {program} --tail\nsweep: {ranks: [2]}\n");
  RunStart start;
  start.ranks = 2;
  EXPECT_THAT(
      run_words(study, host(), {"/bin/p", {"--kokkos-x"}}, start, {"c.yaml", "r.h5", "log"}),
      ElementsAre("wrap", "2", "/bin/p", "run", "c.yaml", "--quiet", "--output", "r.h5", "--kokkos-x", "--tail"));
  start.threads = 3;
  // nobody knows how this launcher binds
  EXPECT_EQ(run_environment(study, host(), start).find("OMP_PROC_BIND"), "false");
  start.ranks = 1;
  Environment one = run_environment(study, host(), start);
  EXPECT_EQ(one.find("OMP_NUM_THREADS"), "3");
  EXPECT_EQ(one.find("OMP_PROC_BIND"), "spread");
  EXPECT_EQ(one.find("OMP_PLACES"), "cores");
  start.bind = "none";
  EXPECT_EQ(run_environment(study, host(), start).find("OMP_PROC_BIND"), "false");
  EXPECT_FALSE(run_environment(study, host(), start).find("OMP_PLACES"));
  start.bind = "close";
  start.hyper_threads = start.oversubscribed = true;
  EXPECT_EQ(run_environment(study, host(), start).find("OMP_PROC_BIND"), "close");
  EXPECT_EQ(run_environment(study, host(), start).find("OMP_PLACES"), "threads");
  RunStart device;
  device.on_device = true;
  device.devices = 2;
  EXPECT_EQ(run_environment(study, with_devices(4), device).find("CUDA_VISIBLE_DEVICES"), "0,1");
  EXPECT_FALSE(run_environment(study, with_devices(2), device).find("CUDA_VISIBLE_DEVICES"));
  ::setenv("CUDA_VISIBLE_DEVICES", "3,5,7,9", 1);
  EXPECT_EQ(run_environment(study, with_devices(4), device).find("CUDA_VISIBLE_DEVICES"), "3,5");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(StudyPlanTest, EveryBlockHoldsEveryPointOnce) {
  const StudySpec study = spec("repeats: 3\nwarmup: 2\nsweep: {threads: [1, 2, 3, 4, 17], execution.slots: [1, 2]}\n");
  const StudyPlan made = plan_study(study, host());
  const std::vector<PlannedRun> runs = schedule(study, made);
  // two of ten points cannot be run
  ASSERT_EQ(runs.size(), 5U * 8U);
  std::set<std::vector<std::size_t>> orders;
  for (std::size_t block = 0; block < 5; ++block) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < 8; ++i) {
      const PlannedRun& run = runs[8 * block + i];
      EXPECT_EQ(run.kind, block < 2 ? RunKind::warmup : RunKind::timed);
      EXPECT_EQ(run.repeat, static_cast<int>(block < 2 ? block + 1 : block - 1));
      order.push_back(run.point);
    }
    orders.insert(order);
    std::sort(order.begin(), order.end());
    EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  }
  EXPECT_GT(orders.size(), 3U);
}

TEST_F(StudyPlanTest, MoreRepeatsChangeNothingOfThoseBefore) {
  const auto runs_of = [&](const std::string& text) {
    const StudySpec study = spec(text + "sweep: {threads: [1, 2, 3, 4, 5, 6]}\n");
    std::vector<std::size_t> points;
    for (const PlannedRun& run : schedule(study, plan_study(study, host()))) {
      if (run.kind == RunKind::timed) points.push_back(run.point);
    }
    return points;
  };
  const std::vector<std::size_t> few = runs_of("repeats: 2\n"), many = runs_of("repeats: 4\nwarmup: 3\n");
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_NE(few, runs_of("repeats: 2\nseed: 2\n"));
  EXPECT_THAT(runs_of("repeats: 1\norder: as_written\n"), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Estimate, ReadsWhatADryRunPrints) {
  const RunEstimate estimate = estimate_in(
      "Title\n  model             voxels\n  memory            23.5 MiB, on the device 1 GiB\n  memory limit      2 "
      "GiB\n"
      "  estimated time    2 h 5 min\n");
  EXPECT_EQ(estimate.memory, "23.5 MiB");
  EXPECT_EQ(estimate.seconds, 7500);
  EXPECT_TRUE(std::isnan(estimate_in("").seconds));
  for (const double seconds : {0.0005, 0.25, 43.0, 200.0, 7500.0, 3 * 86400.0 + 4 * 3600.0, 5000 * 86400.0}) {
    EXPECT_NEAR(seconds_in(duration_text(seconds)), seconds, 1e-9 * seconds) << duration_text(seconds);
  }
  for (const char* other : {"", "?", "soon", "3", "3 weeks", "x s"})
    EXPECT_TRUE(std::isnan(seconds_in(other))) << other;
}

class ReportFolderTest : public StudyPlanTest {
protected:
  std::string refusal(const StudySpec& study, bool resume = false, const MachineRecord& machine = host()) const {
    return m_folder.removed_from(testing::mistakes(
        [&] { static_cast<void>(look_at_folder(study, plan_study(study, machine), machine, resume)); }));
  }
  StudySpec study(const std::string& text = "") const {
    return spec(text + "report: " + (m_folder / "report").string() + "\n");
  }
  void begin(const StudySpec& spec) const {
    const StudyPlan made = plan_study(spec, host());
    const ReportFolder folder(spec, made, host(), false);
    folder.begin(spec, made, host());
    m_folder.write("report/runs.csv", "old");
  }
};

TEST_F(ReportFolderTest, AStudyKnowsItsOwnFolder) {
  EXPECT_EQ(look_at_folder(study(), plan_study(study(), host()), host(), false), FolderState::fresh);
  begin(study());
  EXPECT_EQ(look_at_folder(study(), plan_study(study(), host()), host(), true), FolderState::same_study);
  EXPECT_EQ(refusal(study("seed: 2\n")),
            "study.yaml:3: report: report holds another study, 'study', or this one with other points, inputs, "
            "rules or OMP_NUM_THREADS; "
            "choose another folder by --output");
  MachineRecord rebuilt = host();
  rebuilt.program.git_hash = "def";
  EXPECT_EQ(refusal(study(), true, rebuilt),
            "study.yaml:2: report: report holds runs of prismfield 1 (git abc), this is 1 (git def); choose another "
            "folder by --output");
  MachineRecord other = host();
  other.processor = "Another";
  EXPECT_THAT(refusal(study(), true, other), HasSubstr("report holds runs of another machine, A processor, 1 node x 8 "
                                                       "cores (16 hardware threads), this is Another"));
  EXPECT_EQ(refusal(study(), false, other), "");
}

TEST_F(ReportFolderTest, OtherPeoplesFilesStay) {
  m_folder.write("report", "a file");
  EXPECT_EQ(refusal(study()),
            "study.yaml:2: report: report is no folder, and a study has many files; choose another "
            "folder by --output");
  fs::remove(m_folder / "report");
  fs::create_directory(m_folder / "report");
  EXPECT_EQ(refusal(study()), "");
  m_folder.write("report/thesis.txt", "years of work");
  EXPECT_EQ(refusal(study()),
            "study.yaml:2: report: report holds files that are no report of a study, and is left "
            "alone; choose another folder by --output");
  m_folder.write("report/machine.json", "{\"name\": \"mine\"}");
  EXPECT_THAT(refusal(study(), true), HasSubstr("is left alone"));
  fs::create_symlink("nowhere", m_folder / "link");
  EXPECT_EQ(refusal(spec("report: " + (m_folder / "link").string() + "\n")),
            "study.yaml:2: report: link is a link to nothing; choose another folder by --output");
  EXPECT_EQ(refusal(spec("report: " + (m_folder / "no/report").string() + "\n")),
            "study.yaml:2: report: no/report cannot be made: the folder no does not exist; make it first");
}

TEST_F(ReportFolderTest, AStudyThatIsReplacedLeavesItsTables) {
  begin(study());
  m_folder.write("report/figures", "");
  {
    const StudyPlan made = plan_study(study(), host());
    const ReportFolder folder(study(), made, host(), false);
    EXPECT_FALSE(folder.goes_on());
    EXPECT_FALSE(fs::exists(m_folder / "report/runs.csv"));
    EXPECT_TRUE(fs::exists(m_folder / "report/previous/runs.csv"));
    EXPECT_TRUE(fs::exists(m_folder / "report/machine.json"));
    // a kill at this place
  }
  EXPECT_EQ(refusal(study()), "");
  begin(study());
  EXPECT_TRUE(fs::exists(m_folder / "report/previous/runs.csv"));
}

TEST_F(ReportFolderTest, AFolderIsOneStudysAtATime) {
  const StudyPlan made = plan_study(study(), host());
  const ReportFolder folder(study(), made, host(), false);
  EXPECT_EQ(m_folder.removed_from(testing::mistakes([&] { const ReportFolder second(study(), made, host(), false); })),
            "study.yaml:2: report: report is used by another study; wait for its end, or choose another folder by "
            "--output");
}

TEST_F(ReportFolderTest, AStudyDoesNotReplaceItself) {
  fs::create_directory(m_folder / "report");
  m_folder.write("report/study.yaml", "base: ../case.yaml\n");
  StudySpec inside = read_study_file(m_folder / "report/study.yaml", {{}, m_folder / "report", false});
  EXPECT_EQ(refusal(inside),
            "--output: report holds report/study.yaml itself, which would be replaced; choose another folder by "
            "--output");
}

}  // namespace
}  // namespace prismfield
