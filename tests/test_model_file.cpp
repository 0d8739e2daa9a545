// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "base/version.hpp"
#include "folder_test.hpp"
#include "formats/hdf5_file.hpp"
#include "model_samples.hpp"
#include "run_program.hpp"
#include "writers/inversion_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace prismfield::test_model_file {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing_samples;

using ModelFileTest = FolderTest;

/// 4 x 3 x 2 cells, of which the two uppermost in the south-western corner are inactive.
InvertedModel small_model() {
  InvertedModel model = sample_model(growing_edges({4, 3, 2}, {100, 200, 50}));
  model.data.push_back(sample_data("grid.h5", grid_points(5, 4, 300), {Field::gz, Field::gxx}));
  model.data.push_back(sample_data("Süd.csv", station_points(7), {Field::gzz}));
  return model;
}

TEST_F(ModelFileTest, WritesCellsWithTheirEdges) {
  const InvertedModel model = small_model();
  write_model(sample_model_header(path("m.h5")), model);
  EXPECT_EQ(names(), std::set<std::string>{"m.h5"});
  const Hdf5File file = Hdf5File::open(path("m.h5"));
  const std::array<const char*, 3> directions{"easting", "northing", "upward"};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string name = directions[d];
    const std::vector<double> centres = file.read(name);
    const std::vector<double> bounds = file.read(name + "_bounds");
    const auto n = static_cast<std::int64_t>(model.edges[d].size()) - 1;
    EXPECT_THAT(file.dimension_names(name), ElementsAre(name));
    EXPECT_THAT(file.dimension_names(name + "_bounds"), ElementsAre(name, "bounds"));
    EXPECT_EQ(file.shape(name + "_bounds"), (std::vector<std::int64_t>{n, 2}));
    EXPECT_EQ(file.read_text_attribute(name, "bounds"), name + "_bounds");
    EXPECT_EQ(file.read_text_attribute(name, "units"), "m");
    EXPECT_EQ(file.read_text_attribute(name, "axis"), d == 0 ? "X" : d == 1 ? "Y" : "Z");
    for (std::size_t i = 0; i < centres.size(); ++i) {
      EXPECT_EQ(bounds[2 * i], model.edges[d][i]);
      EXPECT_EQ(bounds[2 * i + 1], model.edges[d][i + 1]);
      EXPECT_DOUBLE_EQ(centres[i], (model.edges[d][i] + model.edges[d][i + 1]) / 2);
    }
  }
  EXPECT_EQ(file.read_text_attribute("upward", "positive"), "up");
}

TEST_F(ModelFileTest, HasNaNInInactiveCells) {
  const InvertedModel model = small_model();
  write_model(sample_model_header(path("m.h5")), model);
  const Hdf5File file = Hdf5File::open(path("m.h5"));
  EXPECT_THAT(file.dimension_names("density"), ElementsAre("upward", "northing", "easting"));
  EXPECT_EQ(file.shape("density"), (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(file.read_text_attribute("density", "units"), "kg m-3");
  EXPECT_TRUE(std::isnan(file.read_attribute("density", "_FillValue")));
  const std::vector<double> density = file.read("density");
  ASSERT_EQ(density.size(), 24U);
  ASSERT_EQ(model.cells.size(), 22U);
  std::size_t active = 0;
  for (std::size_t cell = 0; cell < density.size(); ++cell) {
    if (active < model.cells.size() && model.cells[active] == static_cast<std::int64_t>(cell)) {
      EXPECT_EQ(density[cell], model.values[active++]);
    } else {
      EXPECT_TRUE(std::isnan(density[cell])) << cell;
    }
  }
  EXPECT_EQ(active, model.cells.size());
  for (const char* absent : {"density_sigma", "depth_of_investigation"}) EXPECT_FALSE(file.has(absent));
  for (const char* absent : {"resolution_trace", "resolution_trace_error", "resolution_trace_least"}) {
    EXPECT_FALSE(file.has_attribute("/", absent));
  }
}

TEST_F(ModelFileTest, SaysWhereItComesFrom) {
  write_model(sample_model_header(path("m.h5")), small_model());
  const Hdf5File file = Hdf5File::open(path("m.h5"));
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"Conventions", "CF-1.8"}, {"title", "A sample"}, {"axes", "z_down"}, {"case", "title: A sample\n"}}) {
    EXPECT_EQ(file.read_text_attribute("/", name), value) << name;
  }
  EXPECT_EQ(file.read_text_attribute("/", "source"), std::string("prismfield ") + version_text);
  EXPECT_THAT(file.read_text_attribute("/", "history"),
              ::testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z: prismfield invert sample.yaml"));
  EXPECT_EQ(file.read_attribute("/", "gravitational_constant"), 6.6743e-11);
  EXPECT_EQ(file.read_attribute("/", "active_cells"), 22);
  EXPECT_EQ(file.read_attribute("/", "data_sets"), 2);
  const std::string group = "/performance";
  EXPECT_EQ(file.read_text_attribute(group, "space"), "openmp");
  EXPECT_EQ(file.read_text_attribute(group, "device"), "none");
  EXPECT_EQ(file.read_text_attribute(group, "sensitivities"), "data_1: on the fly");
  EXPECT_EQ(file.read_attribute(group, "ranks"), 2);
  EXPECT_EQ(file.read_attribute(group, "threads"), 8);
  EXPECT_EQ(file.read_attribute(group, "stored_bytes"), 4096);
  std::int64_t rows = 0;
  for (const PredictedData& data : small_model().data) rows += data.size();
  EXPECT_EQ(file.read_attribute(group, "rows"), rows);
  EXPECT_EQ(file.read_attribute(group, "data"), rows);
  EXPECT_EQ(file.read_attribute(group, "setup_seconds"), 0.5);
  EXPECT_EQ(file.read_attribute(group, "inversion_seconds"), 2);
  EXPECT_DOUBLE_EQ(file.read_attribute(group, "total_seconds"), 3 + file.read_attribute(group, "output_seconds"));
}

TEST_F(ModelFileTest, WritesUncertainty) {
  InvertedModel model = small_model();
  add_uncertainty(model);
  write_model(sample_model_header(path("m.h5")), model);
  const Hdf5File file = Hdf5File::open(path("m.h5"));
  for (const auto& [name, values] :
       {std::pair{"density_sigma", &model.sigma}, std::pair{"depth_of_investigation", &model.depth_of_investigation}}) {
    EXPECT_THAT(file.dimension_names(name), ElementsAre("upward", "northing", "easting")) << name;
    const std::vector<double> seen = file.read(name);
    for (std::size_t j = 0; j < model.cells.size(); ++j) {
      EXPECT_EQ(seen[static_cast<std::size_t>(model.cells[j])], (*values)[j]) << name;
    }
  }
  EXPECT_EQ(file.read_text_attribute("density", "ancillary_variables"), "density_sigma depth_of_investigation");
  EXPECT_EQ(file.read_text_attribute("density_sigma", "units"), "kg m-3");
  EXPECT_EQ(file.read_text_attribute("depth_of_investigation", "units"), "1");
  EXPECT_EQ(file.read_attribute("density_sigma", "samples"), 100);
  EXPECT_EQ(file.read_attribute("/", "resolution_trace"), 40.72);
  EXPECT_EQ(file.read_attribute("/", "resolution_trace_error"), 0.4);
}

TEST_F(ModelFileTest, WritesSusceptibilities) {
  InvertedModel model = small_model();
  add_uncertainty(model);
  model.unknown = Unknown::susceptibility;
  write_model(sample_model_header(path("m.h5")), model);
  const Hdf5File file = Hdf5File::open(path("m.h5"));
  EXPECT_FALSE(file.has("density"));
  EXPECT_EQ(file.read_text_attribute("susceptibility", "units"), "1");
  EXPECT_EQ(file.read("susceptibility")[static_cast<std::size_t>(model.cells[3])], model.values[3]);
  EXPECT_EQ(file.read_text_attribute("susceptibility", "ancillary_variables"),
            "susceptibility_sigma depth_of_investigation");
  EXPECT_EQ(file.read_text_attribute("/convergence/maximum", "long_name"), "greatest susceptibility");
  EXPECT_EQ(file.read_text_attribute("/", "unknown"), "susceptibility");
}

/// Each component, and the magnitude, which says no more.
TEST_F(ModelFileTest, WritesMagnetisations) {
  InvertedModel model = small_model();
  add_uncertainty(model);
  model.unknown = Unknown::magnetization;
  const std::size_t n = model.values.size();
  for (auto* values : {&model.values, &model.sigma}) {
    for (std::size_t i = 0; i < 2 * n; ++i) values->push_back(static_cast<double>(i));
  }
  model.solutions = {model.values};
  write_model(sample_model_header(path("m.h5")), model);
  const Hdf5File file = Hdf5File::open(path("m.h5"));
  const auto at = [&](const std::string& name, std::size_t cell) {
    return file.read(name)[static_cast<std::size_t>(model.cells[cell])];
  };
  EXPECT_EQ(at("magnetization_easting", 4), model.values[4]);
  EXPECT_EQ(at("magnetization_northing", 4), 4);
  EXPECT_EQ(at("magnetization_upward", 4), static_cast<double>(n + 4));
  EXPECT_EQ(at("magnetization_upward_sigma", 4), static_cast<double>(n + 4));
  EXPECT_EQ(at("magnetization_northing_solutions", 4), 4);
  EXPECT_DOUBLE_EQ(at("amplitude", 4), std::hypot(model.values[4], 4, static_cast<double>(n + 4)));
  EXPECT_EQ(file.shape("depth_of_investigation"), file.shape("amplitude"));
  EXPECT_EQ(file.read_text_attribute("amplitude", "units"), "A m-1");
  EXPECT_EQ(file.read_text_attribute("magnetization_upward", "long_name"), "magnetization, upward component");
  model.values.resize(n);
  EXPECT_THROW(write_model(sample_model_header(path("n.h5")), model), RunError);
}

TEST_F(ModelFileTest, WritesTheModelsOfAllSolutions) {
  InvertedModel model = small_model();
  model.solutions = {model.values, model.values, model.values};
  model.solutions[1][5] = -7;
  write_model(sample_model_header(path("m.h5")), model);
  const Hdf5File file = Hdf5File::open(path("m.h5"));
  EXPECT_THAT(file.dimension_names("density_solutions"), ElementsAre("solution", "upward", "northing", "easting"));
  EXPECT_EQ(file.shape("density_solutions"), (std::vector<std::int64_t>{3, 2, 3, 4}));
  EXPECT_EQ(file.read_text_attribute("density_solutions", "units"), "kg m-3");
  EXPECT_THAT(file.read("solution"), ElementsAre(1, 2, 3));
  const std::vector<double> all = file.read("density_solutions"), last = file.read("density");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t cell = i % 24;
    if (std::isnan(last[cell])) {
      EXPECT_TRUE(std::isnan(all[i])) << i;
    } else {
      const bool changed = i / 24 == 1 && cell == static_cast<std::size_t>(model.cells[5]);
      EXPECT_EQ(all[i], changed ? -7 : last[cell]) << i;
    }
  }
  model.solutions[1].pop_back();
  EXPECT_THROW(write_model(sample_model_header(path("n.h5")), model), RunError);
}

TEST_F(ModelFileTest, WritesUncertaintyByALowRank) {
  InvertedModel model = small_model();
  add_uncertainty(model);
  model.samples = 0;
  model.rank = 75;
  model.sigma_error = 0.003;
  model.resolution_trace_least = 36.2;
  write_model(sample_model_header(path("m.h5")), model);
  const Hdf5File file = Hdf5File::open(path("m.h5"));
  EXPECT_FALSE(file.has_attribute("density_sigma", "samples"));
  EXPECT_EQ(file.read_attribute("density_sigma", "rank"), 75);
  EXPECT_EQ(file.read_attribute("density_sigma", "relative_error"), 0.003);
  EXPECT_EQ(file.read_attribute("/", "resolution_trace_least"), 36.2);
}

TEST_F(ModelFileTest, WritesConvergence) {
  InvertedModel model = small_model();
  // a stage that the file's list does not begin with
  model.convergence.back().stage = "polish";
  write_model(sample_model_header(path("m.h5")), model);
  const Hdf5File file = Hdf5File::open(path("m.h5"));
  const std::string group = "/convergence/";
  for (const char* name :
       {"stage", "stage_name", "beta", "phi_d", "chi", "phi_m", "products", "minimum", "maximum", "seconds"}) {
    EXPECT_THAT(file.dimension_names(group + name), ElementsAre("iteration")) << name;
  }
  EXPECT_THAT(file.read(group + "iteration"), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(file.read_integers(group + "stage"), ElementsAre(0, 0, 0, 0, 1, 4));
  EXPECT_EQ(file.read_text_attribute(group + "stage", "flag_meanings"), "cool target compact beta polish");
  const std::vector<double> chi = file.read(group + "chi");
  const std::vector<double> products = file.read(group + "products");
  for (std::size_t i = 0; i < chi.size(); ++i) {
    EXPECT_EQ(chi[i], model.convergence[i].chi);
    EXPECT_EQ(products[i], static_cast<double>(model.convergence[i].products));
  }
  EXPECT_EQ(file.read_text_attribute(group + "seconds", "units"), "s");
}

TEST_F(ModelFileTest, WritesDataInUnitsAndAxesOfTheOutput) {
  const InvertedModel model = small_model();
  for (const Axes axes : {Axes::z_down, Axes::z_up}) {
    ModelHeader header = sample_model_header(path("m.h5"));
    header.axes = axes;
    write_model(header, model);
    const Hdf5File file = Hdf5File::open(path("m.h5"));
    EXPECT_EQ(file.read_text_attribute("/data_1", "name"), "grid.h5");
    EXPECT_EQ(file.read_text_attribute("/data_2", "name"), "Süd.csv");
    EXPECT_FALSE(file.has("/data_3"));
    for (const auto& [path, unit, set, field] :
         {std::tuple{"/data_1/gz", "mGal", 0U, Field::gz}, std::tuple{"/data_1/gxx", "1e-9 s-2", 0U, Field::gxx},
          std::tuple{"/data_2/gzz", "1e-9 s-2", 1U, Field::gzz}}) {
      const std::string name = path;
      const PredictedData& data = model.data[set];
      const double factor = output_factor(field, axes);
      const auto first = static_cast<std::size_t>(data.fields.index_of(field) * data.points.size());
      const auto observed = file.read(name), sigma = file.read(name + "_sigma");
      const auto predicted = file.read(name + "_predicted"), residual = file.read(name + "_residual");
      for (std::size_t i = 0; i < observed.size(); ++i) {
        EXPECT_EQ(observed[i], data.values[first + i] * factor) << name;
        EXPECT_EQ(sigma[i], data.sigma[first + i] * std::abs(factor)) << name;
        EXPECT_EQ(predicted[i], data.predicted[first + i] * factor) << name;
        EXPECT_EQ(residual[i], (observed[i] - predicted[i]) / sigma[i]) << name;
      }
      for (const char* suffix : {"", "_sigma", "_predicted"}) {
        EXPECT_EQ(file.read_text_attribute(name + suffix, "units"), unit) << name << suffix;
      }
      EXPECT_EQ(file.read_text_attribute(name + "_residual", "units"), "1");
      EXPECT_EQ(file.read_text_attribute(name, "axes"), axes == Axes::z_down ? "z_down" : "z_up");
    }
    EXPECT_THAT(file.dimension_names("/data_1/gz_residual"), ElementsAre("northing", "easting"));
    EXPECT_THAT(file.dimension_names("/data_2/gzz"), ElementsAre("station"));
    EXPECT_EQ(file.read("/data_1/easting"), model.data[0].points.grid_easting);
    EXPECT_EQ(file.read("/data_2/upward"), model.data[1].points.upward);
  }
}

TEST_F(ModelFileTest, CarriesTheReferenceSystem) {
  ModelHeader header = sample_model_header(path("m.h5"));
  write_model(header, small_model());
  EXPECT_FALSE(Hdf5File::open(path("m.h5")).has("crs"));
  header.crs = Crs{"mine", {{"name", std::string("mine")}}};
  write_model(header, small_model());
  const Hdf5File file = Hdf5File::open(path("m.h5"));
  for (const char* crs : {"crs", "/data_1/crs", "/data_2/crs"}) {
    EXPECT_EQ(file.read_text_attribute(crs, "name"), "mine") << crs;
  }
  for (const char* name : {"density", "/data_1/gz", "/data_1/gxx_residual", "/data_2/gzz_predicted"}) {
    EXPECT_EQ(file.read_text_attribute(name, "grid_mapping"), "crs") << name;
  }
}

TEST_F(ModelFileTest, WritesTrends) {
  InvertedModel model = small_model();
  model.trend = {{1, 0.5, 0.25, 2, 0, 0}, {}};
  write_model(sample_model_header(path("m.h5")), model);
  const Hdf5File file = Hdf5File::open(path("m.h5"));
  EXPECT_TRUE(file.has_attribute("/data_1/gz_predicted", "trend"));
  EXPECT_TRUE(file.has_attribute("/data_1/gxx_predicted", "trend"));
  EXPECT_FALSE(file.has_attribute("/data_2/gzz_predicted", "trend"));
  EXPECT_EQ(file.read_text_attribute("/data_1/gxx_predicted", "trend_units"), "Eotvos, Eotvos m-1, Eotvos m-1");
  model.trend = {std::vector<double>(12, 1), {}};
  write_model(sample_model_header(path("m.h5")), model);
  EXPECT_EQ(Hdf5File::open(path("m.h5")).read_text_attribute("/data_1/gz_predicted", "trend_units"),
            "mGal, mGal m-1, mGal m-1, mGal m-2, mGal m-2, mGal m-2");
  // one number a field can be read as one
  model.trend = {{1, 2}, {7}};
  write_model(sample_model_header(path("m.h5")), model);
  const Hdf5File constant = Hdf5File::open(path("m.h5"));
  EXPECT_EQ(constant.read_attribute("/data_1/gz_predicted", "trend"), -1e5);
  EXPECT_EQ(constant.read_attribute("/data_1/gxx_predicted", "trend"), 2e9);
  EXPECT_EQ(constant.read_attribute("/data_2/gzz_predicted", "trend"), 7e9);
  EXPECT_EQ(constant.read_text_attribute("/data_1/gz_predicted", "trend_units"), "mGal");
}

TEST_F(ModelFileTest, KeepsALongCaseAsADataset) {
  ModelHeader header = sample_model_header(path("m.h5"));
  header.case_text = std::string(100'000, '#') + "\n";
  write_model(header, small_model());
  const Hdf5File file = Hdf5File::open(path("m.h5"));
  EXPECT_EQ(file.read_texts("case"), std::vector{header.case_text});
}

TEST_F(ModelFileTest, WritesAModelWithoutDataAndRows) {
  InvertedModel model = small_model();
  model.data.clear();
  model.convergence.clear();
  write_model(sample_model_header(path("m.h5")), model);
  const Hdf5File file = Hdf5File::open(path("m.h5"));
  EXPECT_TRUE(file.has("/convergence"));
  EXPECT_FALSE(file.has("/convergence/beta"));
  EXPECT_FALSE(file.has("/data_1"));
}

TEST_F(ModelFileTest, ReplacesAnOldModelOnlyByACompleteOne) {
  std::ofstream(path("m.h5")) << "old";
  InvertedModel broken = small_model();
  broken.values.pop_back();
  EXPECT_THROW(write_model(sample_model_header(path("m.h5")), broken), RunError);
  broken = small_model();
  broken.cells.back() = 24;
  EXPECT_THROW(write_model(sample_model_header(path("m.h5")), broken), RunError);
  broken = small_model();
  broken.data.front().predicted.pop_back();
  EXPECT_THROW(write_model(sample_model_header(path("m.h5")), broken), RunError);
  EXPECT_EQ(content(path("m.h5")), "old");
  EXPECT_EQ(names(), std::set<std::string>{"m.h5"});
  write_model(sample_model_header(path("m.h5")), small_model());
  EXPECT_TRUE(Hdf5File::open(path("m.h5")).has("density"));
  EXPECT_EQ(names(), std::set<std::string>{"m.h5"});
}

TEST_F(ModelFileTest, ThrowsForAFolderThatVanished) {
  try {
    write_model(sample_model_header(path("gone/m.h5")), small_model());
    FAIL() << "nothing was thrown";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("gone/m.h5"), HasSubstr("the model is not"), HasSubstr("No such file or directory")));
  }
}

/// What a process with a limit of its files' size gets: 7 when write_model throws RunError that names file and reason.
int write_under_limit(const fs::path& file, rlim_t bytes) {
  const InvertedModel model = sample_model(growing_edges({30, 30, 15}, {100, 100, 50}));
  const rlimit limit{bytes, bytes};
  // as the program does
  std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  try {
    write_model(sample_model_header(file), model);
  } catch (const RunError& error) {
    const std::string what = error.what();
    const bool telling = what.find(file.string()) == 0 && what.find("too large") != std::string::npos;
    return telling ? 7 : 8;
  }
  return 0;
}

TEST(ModelFileDeathTest, AFullDiskLeavesTheOldModel) {
  const fs::path folder = "model full disk";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const fs::path file = folder / "m.h5";
  std::ofstream(file) << "the old model";
  // 13,500 cells make 108 kB.
  for (const rlim_t bytes : {0U, 1000U, 100'000U}) {
    EXPECT_EXIT(std::exit(write_under_limit(file, bytes)), ::testing::ExitedWithCode(7), "") << bytes;
    EXPECT_EQ(content(file), "the old model") << bytes;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << bytes;
  }
  EXPECT_EXIT(std::exit(write_under_limit(file, 1'000'000)), ::testing::ExitedWithCode(0), "");
  EXPECT_TRUE(Hdf5File::open(file).has("density"));
  fs::remove_all(folder);
}

TEST_F(ModelFileTest, OpensInOtherPrograms) {
  std::string files;
  const auto write = [&](const std::string& name, const InvertedModel& model) {
    write_model(sample_model_header(path(name)), model);
    files += " '" + path(name).string() + "'";
  };
  write("model.h5", small_model());
  InvertedModel everything = sample_model(growing_edges({12, 10, 8}, {100, 100, 50}, 1));
  add_uncertainty(everything);
  everything.data = {sample_data("a.h5", grid_points(12, 10), FieldList::all()),
                     sample_data("b.csv", station_points(30), {Field::gz})};
  everything.trend = {std::vector<double>(30, 0.5), {1, 2, 3}};
  write("everything.h5", everything);
  write("one cell.h5", sample_model(growing_edges({1, 1, 1}, {100, 100, 100})));

  const auto [code, output] =
      run_program("/usr/bin/python3 '" PRISMFIELD_SOURCE_DIR "/tests/check_openers.py' --models" + files);
  if (code == 77 || code == 127) GTEST_SKIP() << output;
  EXPECT_EQ(code, 0) << output;
}

/// Values are (epoch, upward, northing, easting), and each epoch of a data set has its group.
TEST_F(ModelFileTest, WritesEpochs) {
  InvertedModel model = small_model();
  add_uncertainty(model);
  const std::size_t n = model.values.size();
  const InvertedModel one = model;
  model.epochs = {"2021", "Süd.csv"};
  for (auto* values : {&model.values, &model.sigma, &model.depth_of_investigation}) {
    for (std::size_t i = 0; i < n; ++i) values->push_back((*values)[i] + 1000);
  }
  model.solutions = {model.values};
  // two data sets of two epochs each
  model.data = {one.data[0], one.data[0], one.data[1], one.data[1]};
  write_model(sample_model_header(path("m.h5")), model);
  write_model(sample_model_header(path("one.h5")), one);
  const Hdf5File file = Hdf5File::open(path("m.h5")), of_one = Hdf5File::open(path("one.h5"));
  EXPECT_THAT(file.dimension_names("epoch"), ElementsAre("epoch"));
  EXPECT_EQ(file.shape("epoch"), std::vector<std::int64_t>{2});
  EXPECT_THAT(file.dimension_names("density_solutions"),
              ElementsAre("solution", "epoch", "upward", "northing", "easting"));
  for (const char* name : {"density", "density_sigma", "depth_of_investigation"}) {
    EXPECT_THAT(file.dimension_names(name), ElementsAre("epoch", "upward", "northing", "easting"));
    EXPECT_EQ(file.shape(name), (std::vector<std::int64_t>{2, 2, 3, 4}));
    const std::vector<double> both = file.read(name), expected = of_one.read(name);
    ASSERT_EQ(both.size(), 2 * expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (std::isnan(expected[i])) {
        EXPECT_TRUE(std::isnan(both[i]) && std::isnan(both[i + expected.size()])) << i;
      } else {
        EXPECT_EQ(both[i], expected[i]);
        EXPECT_EQ(both[i + expected.size()], expected[i] + 1000);
      }
    }
  }
  EXPECT_EQ(file.read_attribute("/", "data_sets"), 4);
  for (std::int64_t k = 0; k < 4; ++k) {
    const std::string group = "/data_" + std::to_string(k + 1);
    EXPECT_EQ(file.read_text_attribute(group, "epoch"), model.epochs[static_cast<std::size_t>(k % 2)]);
    EXPECT_EQ(file.read_attribute(group, "data_set"), k / 2 + 1);
  }
  EXPECT_FALSE(of_one.has("epoch"));
  EXPECT_FALSE(of_one.has_attribute("/data_1", "epoch"));
  model.values.pop_back();
  EXPECT_THROW(write_model(sample_model_header(path("no.h5")), model), RunError);
}

}  // namespace
}  // namespace prismfield::test_model_file
