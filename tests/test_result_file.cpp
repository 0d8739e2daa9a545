// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "base/version.hpp"
#include "case/output_check.hpp"
#include "folder_test.hpp"
#include "formats/hdf5_file.hpp"
#include "result_samples.hpp"
#include "run_program.hpp"
#include "writers/result_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>

namespace prismfield::test_result_file {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace testing_samples;

using OutputTest = FolderTest;

TEST(OutputUnits, ScalesAndFlips) {
  const Points points = grid_points(3, 2);
  const Fields result = sample_result(points);
  const FieldTable down = testing_samples::to_output_units(result, Axes::z_down);
  const FieldTable up = testing_samples::to_output_units(result, Axes::z_up);
  ASSERT_EQ(down.values.size(), result.values.size());
  for (const FieldInfo& field : FieldList::all()) {
    const bool flips = field.name == "gz" || field.name == "gxz" || field.name == "gyz";
    const double scale = field.unit == "mGal" ? 1e5 : field.unit == "Eotvos" ? 1e9 : 1.0;
    const auto first = static_cast<std::size_t>(field.field) * 6;
    for (std::size_t i = first; i < first + 6; ++i) {
      EXPECT_DOUBLE_EQ(up.values[i], result.values[i] * scale) << field.name;
      EXPECT_EQ(down.values[i], flips ? -up.values[i] : up.values[i]) << field.name;
    }
  }
}

TEST(OutputUnits, HasNoNegativeZero) {
  Fields result;
  result.fields = {Field::gz};
  result.values = {0.0, -0.0};
  for (const Axes axes : {Axes::z_down, Axes::z_up}) {
    for (const double value : testing_samples::to_output_units(result, axes).values) EXPECT_FALSE(std::signbit(value));
  }
}

TEST(OutputUnits, KeepsTheOrderOfASubset) {
  const Points points = station_points(4);
  const FieldList fields{Field::gyz, Field::potential, Field::gz};
  const Fields result = sample_result(points, fields);
  const Case run = sample_case("x.h5", fields);
  const FieldTable table = testing_samples::to_output_units(result, Axes::z_down);
  const auto gyz = output_values(result_header(run), result, Field::gyz);
  ASSERT_EQ(gyz.size(), 4U);
  // gyz, field number 9, is the third of the subset and odd in z
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(gyz[i], -10e-5 * std::sin(static_cast<double>(i) + 9) * 1e9);
    EXPECT_EQ(gyz[i], table.values[8 + i]);
  }
}

TEST(OutputNoise, HasTheAskedForDeviation) {
  const Points points = grid_points(200, 100);
  Case run = sample_case("x.h5", {Field::gz, Field::gzz});
  Fields result = sample_result(points, run.fields);
  std::fill(result.values.begin(), result.values.end(), 0.0);
  run.noise = NoiseSpec{{{Field::gzz, 2.5}}, 11};
  const auto noise = output_values(result_header(run), result, Field::gzz);
  double sum = 0, squares = 0;
  for (const double value : noise) {
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(noise.size());
  // Five standard errors of the mean and of the deviation of 20,000 normal values: a wrong generator is far outside.
  EXPECT_NEAR(sum / n, 0.0, 5 * 2.5 / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n), 2.5, 5 * 2.5 / std::sqrt(2 * n));
  for (const double value : output_values(result_header(run), result, Field::gz)) EXPECT_EQ(value, 0.0);
}

TEST(OutputNoise, DependsOnSeedFieldAndPointOnly) {
  const Points points = grid_points(10, 10);
  Case all = sample_case("x.h5");
  all.noise = NoiseSpec{{{Field::gz, 1.0}, {Field::gx, 1.0}}, 5};
  Case one = sample_case("x.h5", {Field::gz});
  one.noise = NoiseSpec{{{Field::gz, 1.0}}, 5};
  const auto with_others = output_values(result_header(all), sample_result(points), Field::gz);
  EXPECT_EQ(with_others, output_values(result_header(one), sample_result(points, {Field::gz}), Field::gz));
  EXPECT_EQ(with_others, output_values(result_header(all), sample_result(points), Field::gz));

  Fields zero = sample_result(points);
  std::fill(zero.values.begin(), zero.values.end(), 0.0);
  const auto gz = output_values(result_header(all), zero, Field::gz);
  EXPECT_NE(gz, output_values(result_header(all), zero, Field::gx));
  EXPECT_EQ(std::set<double>(gz.begin(), gz.end()).size(), gz.size());
  all.noise->seed = 6;
  EXPECT_NE(gz, output_values(result_header(all), zero, Field::gz));
}

TEST_F(OutputTest, WritesAGrid) {
  const Points points = grid_points(4, 3);
  const Fields result = sample_result(points);
  Case run = sample_case(path("grid.h5"));
  run.gravitational_constant = 6.67e-11;
  write_result(result_header(run), points, result, RunTimes{0.5, 10.0});
  EXPECT_EQ(names(), std::set<std::string>{"grid.h5"});

  const Hdf5File file = Hdf5File::open(path("grid.h5"));
  EXPECT_EQ(file.read("easting"), points.grid_easting);
  EXPECT_EQ(file.read("northing"), points.grid_northing);
  EXPECT_EQ(file.read("upward"), points.upward);
  EXPECT_THAT(file.dimension_names("upward"), ElementsAre("northing", "easting"));
  const FieldTable table = testing_samples::to_output_units(result, Axes::z_down);
  for (const FieldInfo& field : FieldList::all()) {
    const std::string name(field.name);
    ASSERT_TRUE(file.has(name)) << name;
    EXPECT_EQ(file.shape(name), (std::vector<std::int64_t>{3, 4})) << name;
    EXPECT_THAT(file.dimension_names(name), ElementsAre("northing", "easting")) << name;
    // UDUNITS knows no Eotvos
    const bool is_gradient = FieldList::tensor().contains(field.field);
    EXPECT_EQ(file.read_text_attribute(name, "units"), is_gradient ? "1e-9 s-2" : field.unit) << name;
    EXPECT_EQ(file.read_text_attribute(name, "long_name"),
              std::string(field.long_name) + (is_gradient ? " (Eotvos)" : ""))
        << name;
    EXPECT_FALSE(file.has_attribute(name, "grid_mapping")) << name;
    EXPECT_EQ(file.read_text_attribute(name, "axes"), "z_down") << name;
    const auto first = table.values.begin() + static_cast<std::ptrdiff_t>(field.field) * 12;
    EXPECT_EQ(file.read(name), std::vector<double>(first, first + 12)) << name;
  }
  EXPECT_EQ(file.read_text_attribute("/", "Conventions"), "CF-1.8");
  EXPECT_FALSE(file.has("crs"));
  EXPECT_TRUE(file.has_attribute("upward", "actual_range"));
  EXPECT_EQ(file.read_text_attribute("upward", "positive"), "up");
  // of two dimensions: no axis
  EXPECT_FALSE(file.has_attribute("upward", "axis"));
  EXPECT_EQ(file.read_text_attribute("/", "title"), "A sample");
  EXPECT_EQ(file.read_text_attribute("/", "source"), std::string("prismfield ") + version_text);
  EXPECT_THAT(file.read_text_attribute("/", "history"),
              ::testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z: prismfield run sample.yaml"));
  EXPECT_EQ(file.read_text_attribute("/", "case"), "title: A sample\n");
  EXPECT_EQ(file.read_attribute("/", "gravitational_constant"), 6.67e-11);
  EXPECT_EQ(file.read_attribute("/", "singular_points"), 0);
  EXPECT_EQ(file.read_attribute("/", "points_inside"), 3);
  EXPECT_FALSE(file.has("singular"));
  EXPECT_FALSE(file.has("gz_sigma"));
}

TEST_F(OutputTest, RecordsPerformance) {
  const Points points = grid_points(4, 3);
  const Fields result = sample_result(points);
  Case run = sample_case(path("p.h5"));
  ResultHeader header = result_header(run);
  header.program.processor = "A processor";
  header.program.host = "a host's name";
  header.program.compiler = "c++ 1";
  header.program.kokkos = "4.7.0";
  header.program.kokkos_configuration = "openmp; NATIVE";
  header.program.mpi = "An MPI";
  header.program.hdf5 = "1.10.8";
  header.performance = {{"pays_after", 12.0}, {"stored_bytes", 1e10}};
  write_result(header, points, result, RunTimes{0.5, 10.0});
  const Hdf5File file = Hdf5File::open(path("p.h5"));
  const std::string group = "/performance";
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"space", "openmp"},
                                                        {"device", "a host"},
                                                        {"partition", "{ranks: [2, 1]}"},
                                                        {"partition_asked", "{ranks: [2, 1]}"},
                                                        {"precision", "single"},
                                                        {"kernel", "auto"},
                                                        {"method", "direct"},
                                                        {"processor", "A processor"},
                                                        {"host", "a host's name"},
                                                        {"compiler", "c++ 1"},
                                                        {"kokkos", "4.7.0"},
                                                        {"kokkos_configuration", "openmp; NATIVE"},
                                                        {"mpi", "An MPI"},
                                                        {"hdf5", "1.10.8"}}) {
    EXPECT_EQ(file.read_text_attribute(group, name), value) << name;
  }
  for (const auto& [name, value] : std::vector<std::pair<std::string, double>>{{"ranks", 2},
                                                                               {"threads", 8},
                                                                               {"slots", 8},
                                                                               {"batch", 64},
                                                                               {"scratch_bytes", 4096},
                                                                               {"pairs", 12'000},
                                                                               {"pairs_multipole_6", 11'990},
                                                                               {"pairs_compact", 10},
                                                                               {"pairs_corners", 0},
                                                                               {"setup_seconds", 0.75},
                                                                               {"field_seconds", 2.0},
                                                                               {"pays_after", 12},
                                                                               {"stored_bytes", 1e10},
                                                                               {"pairs_per_second", 6000}}) {
    EXPECT_EQ(file.read_attribute(group, name), value) << name;
  }
  const double output_seconds = file.read_attribute(group, "output_seconds");
  EXPECT_GT(output_seconds, 0);
  EXPECT_DOUBLE_EQ(file.read_attribute(group, "total_seconds"), 10.0 + output_seconds);
  EXPECT_THAT(file.read("/performance/rank_pairs"), ElementsAre(7200, 4800));
  EXPECT_EQ(file.read("/performance/rank_busy_seconds"), result.rank_busy_seconds);
  EXPECT_EQ(file.read("/performance/rank_cost"), result.rank_cost);
  EXPECT_EQ(file.read("/performance/rank_begin"), result.rank_begin);
  EXPECT_EQ(file.read("/performance/rank_end"), result.rank_end);
  EXPECT_THAT(file.dimension_names("/performance/rank_end"), ElementsAre("rank"));
}

TEST_F(OutputTest, WritesStationsWithNoise) {
  const Points points = station_points(5);
  Case run = sample_case(path("stations.h5"), {Field::gz, Field::gxx});
  run.axes = Axes::z_up;
  run.title = "Große Mulde";
  run.noise = NoiseSpec{{{Field::gz, 0.02}}, 3};
  const Fields result = sample_result(points, run.fields);
  write_result(result_header(run), points, result, {});
  const Hdf5File file = Hdf5File::open(path("stations.h5"));
  EXPECT_EQ(file.read("easting"), points.easting);
  EXPECT_EQ(file.read("northing"), points.northing);
  EXPECT_EQ(file.read("upward"), points.upward);
  for (const char* name : {"easting", "upward", "gz", "gz_sigma"}) {
    EXPECT_THAT(file.dimension_names(name), ElementsAre("station")) << name;
  }
  EXPECT_EQ(file.read("gz_sigma"), std::vector<double>(5, 0.02));
  EXPECT_EQ(file.read_text_attribute("gz_sigma", "units"), "mGal");
  EXPECT_FALSE(file.has("gxx_sigma"));
  EXPECT_FALSE(file.has("gx"));
  EXPECT_EQ(file.read("gz"), output_values(result_header(run), result, Field::gz));
  const FieldTable clean = testing_samples::to_output_units(result, Axes::z_up);
  const auto gz = file.read("gz");
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NE(gz[i], clean.values[i]);
    EXPECT_NEAR(gz[i], clean.values[i], 9 * 0.02);
  }
  EXPECT_EQ(file.read_text_attribute("gz", "axes"), "z_up");
  EXPECT_EQ(file.read_text_attribute("/", "title"), "Große Mulde");
  EXPECT_EQ(file.read_text_attribute("/", "featureType"), "point");
  EXPECT_EQ(file.read_text_attribute("/", "Conventions"), "CF-1.6, CF-1.8");
  EXPECT_EQ(file.read_text_attribute("upward", "axis"), "Z");
  for (const char* name : {"easting", "northing", "upward"}) EXPECT_TRUE(file.has_attribute(name, "actual_range"));
}

TEST_F(OutputTest, CarriesTheReferenceSystem) {
  Crs crs;
  crs.name = "mine";
  crs.attributes = {{"grid_mapping_name", std::string("transverse_mercator")},
                    {"scale_factor_at_central_meridian", 0.9996},
                    {"standard_parallel", std::vector<double>{1, 2}}};
  for (const Points& points : {grid_points(2, 2), station_points(4)}) {
    Fields result = sample_result(points);
    result.singular_points = {1};
    Case run = sample_case(path("c.h5"));
    run.crs = crs;
    run.noise = NoiseSpec{{{Field::gz, 0.02}}, 3};
    write_result(result_header(run), points, result, {});
    const Hdf5File file = Hdf5File::open(path("c.h5"));
    EXPECT_TRUE(file.shape("crs").empty());
    EXPECT_EQ(file.read_text_attribute("crs", "grid_mapping_name"), "transverse_mercator");
    EXPECT_EQ(file.read_attribute("crs", "scale_factor_at_central_meridian"), 0.9996);
    EXPECT_TRUE(file.has_attribute("crs", "standard_parallel"));
    for (const char* name : {"potential", "gz", "gz_sigma", "gyz", "singular"}) {
      EXPECT_EQ(file.read_text_attribute(name, "grid_mapping"), "crs") << name;
    }
    for (const char* name : {"easting", "upward"}) EXPECT_FALSE(file.has_attribute(name, "grid_mapping"));
  }
}

TEST_F(OutputTest, SaysWhatMagneticFieldsDependOn) {
  const Points points = grid_points(3, 2);
  Case run = sample_case(path("m.nc"), {Field::bz, Field::tmi});
  run.magnetic.inducing_field = vector_of(-62.5, 11.25, 48250e-9);
  run.magnetic.inside = Inside::cavity;
  (void)write_result(result_header(run), points, sample_result(points, run.fields), {});
  const Hdf5File file = Hdf5File::open(path("m.nc"));
  const auto number = [&](const char* name) { return file.read_attribute("/", name); };
  EXPECT_EQ(number("inducing_field_inclination"), -62.5);
  EXPECT_EQ(number("inducing_field_declination"), 11.25);
  EXPECT_EQ(number("inducing_field_intensity"), 48250);
  EXPECT_EQ(number("vacuum_permeability"), 1.25663706212e-6);
  EXPECT_EQ(file.read_text_attribute("/", "inside"), "cavity");
  EXPECT_EQ(file.read_text_attribute("/tmi", "units"), "nT");
  run.fields = {Field::gz};
  EXPECT_FALSE(result_header(run).magnetic);
}

TEST_F(OutputTest, FlagsSingularPoints) {
  const Points points = grid_points(2, 2);
  Fields result = sample_result(points);
  result.singular_points = {1, 3};
  write_result(result_header(sample_case(path("s.h5"))), points, result, {});
  const Hdf5File file = Hdf5File::open(path("s.h5"));
  EXPECT_EQ(file.read_attribute("/", "singular_points"), 2);
  EXPECT_THAT(file.read("singular"), ElementsAre(0, 1, 0, 1));
}

TEST_F(OutputTest, KeepsALongCaseAsADataset) {
  const Points points = grid_points(2, 2);
  Case run = sample_case(path("c.h5"));
  for (const std::size_t length : {60'000U, 60'001U, 1'000'000U}) {
    run.text = std::string(length - 1, 'x') + "\n";
    write_result(result_header(run), points, sample_result(points), {});
    const Hdf5File file = Hdf5File::open(path("c.h5"));
    const bool as_dataset = length > 60'000;
    EXPECT_EQ(file.has("case"), as_dataset) << length;
    EXPECT_EQ(file.has_attribute("/", "case"), !as_dataset) << length;
    EXPECT_EQ(as_dataset ? file.read_texts("case").front() : file.read_text_attribute("/", "case"), run.text) << length;
  }
}

TEST_F(OutputTest, ReplacesAnOldResultWhenComplete) {
  const Points points = grid_points(2, 2);
  std::ofstream(path("r.h5")) << "old";
  write_result(result_header(sample_case(path("r.h5"))), points, sample_result(points), {});
  EXPECT_TRUE(Hdf5File::open(path("r.h5")).has("gz"));
  EXPECT_EQ(names(), std::set<std::string>{"r.h5"});
}

TEST_F(OutputTest, WritesThroughALink) {
  const Points points = grid_points(2, 2);
  fs::create_directories(path("elsewhere"));
  fs::create_symlink("elsewhere/target.h5", path("link.h5"));
  const Case run = sample_case(path("link.h5"));
  EXPECT_NO_THROW(check_output(run));
  write_result(result_header(run), points, sample_result(points), {});
  EXPECT_TRUE(fs::is_symlink(path("link.h5")));
  EXPECT_TRUE(Hdf5File::open(path("elsewhere/target.h5")).has("gz"));
}

TEST_F(OutputTest, ThrowsForAFolderThatVanished) {
  const Points points = grid_points(2, 2);
  try {
    write_result(result_header(sample_case(path("gone/r.h5"))), points, sample_result(points), {});
    FAIL() << "nothing was thrown";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("gone/r.h5"), HasSubstr("No such file or directory")));
  }
}

/// What a process with a limit of its files' size gets: 7 when write_result throws RunError that names file and reason.
int write_under_limit(const Case& run, rlim_t bytes) {
  const Points points = grid_points(50, 50);
  const Fields result = sample_result(points);
  const rlimit limit{bytes, bytes};
  // as the program does
  std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  try {
    write_result(result_header(run), points, result, {});
  } catch (const RunError& error) {
    const std::string what = error.what();
    const bool telling = what.find(run.output.file.string()) == 0 && what.find("too large") != std::string::npos;
    return telling ? 7 : 8;
  }
  return 0;
}

TEST(OutputDeathTest, AFullDiskLeavesTheOldResult) {
  const fs::path folder = "output full disk";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const Case run = sample_case(folder / "r.h5");
  std::ofstream(run.output.file) << "the old result";
  // The process must end by itself, not by SIGXFSZ and not in HDF5's clean-up. A complete file has some 230 kB.
  for (const rlim_t bytes : {0U, 1U, 1000U, 10'000U, 100'000U, 200'000U}) {
    EXPECT_EXIT(std::exit(write_under_limit(run, bytes)), ::testing::ExitedWithCode(7), "") << bytes;
    EXPECT_EQ(content(run.output.file), "the old result") << bytes;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << bytes;
  }
  EXPECT_EXIT(std::exit(write_under_limit(run, 1'000'000)), ::testing::ExitedWithCode(0), "");
  EXPECT_TRUE(Hdf5File::open(run.output.file).has("gz"));
  fs::remove_all(folder);
}

TEST_F(OutputTest, OpensInOtherPrograms) {
  std::string files;
  const auto write = [&](const std::string& name, const Points& points, Case run, const Fields& result) {
    run.output.file = path(name);
    write_result(result_header(run), points, result, RunTimes{0.5, 10.0});
    files += " '" + path(name).string() + "'";
  };
  const Points grid = grid_points(30, 20, 73.7);
  Case run = sample_case("x.h5");
  run.title = "Große Mulde";
  write("grid.h5", grid, run, sample_result(grid));
  Fields singular = sample_result(grid);
  singular.singular_points = {0, 7};
  run.noise = NoiseSpec{{{Field::gz, 0.02}}, 1};
  run.text = std::string(100'000, '#');
  write("everything.h5", grid, run, singular);
  const Points stations = station_points(12);
  write("stations.h5", stations, sample_case("x.h5"), sample_result(stations));
  for (const auto& [name, points] :
       {std::pair{"row.h5", grid_points(9, 1)}, std::pair{"column.h5", grid_points(1, 9)},
        std::pair{"point.h5", grid_points(1, 1)}, std::pair{"few.h5", grid_points(2, 2)}}) {
    const FieldList fields{Field::gz};
    write(name, points, sample_case("x.h5", fields), sample_result(points, fields));
  }
  // UTM coordinates, and spacings of which GMT guesses two different registrations without help
  Points far = grid_points(300, 30, 22000.0 / 299);
  for (double& value : far.grid_easting) value += 500'000;
  for (std::size_t j = 0; j < 30; ++j) far.grid_northing[j] = 7'200'000 + 2000.0 / 29 * static_cast<double>(j);
  write("far.h5", far, sample_case("x.h5"), sample_result(far));

  const auto [code, output] =
      run_program("/usr/bin/python3 '" PRISMFIELD_SOURCE_DIR "/tests/check_openers.py'" + files);
  if (code == 77 || code == 127) GTEST_SKIP() << output;
  EXPECT_EQ(code, 0) << output;
}

}  // namespace
}  // namespace prismfield::test_result_file
