// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/figure.hpp"
#include "drawing_python.hpp"
#include "folder_test.hpp"
#include "model_samples.hpp"
#include "result_samples.hpp"
#include "writers/inversion_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace prismfield::test_model_figure {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace testing_samples;

/// A folder of its own, and drawing by the system's Python.
class ModelFigureTest : public FolderTest {
protected:
  ModelFigureTest() { ::setenv("PRISMFIELD_PYTHON", "/usr/bin/python3", 1); }
  ~ModelFigureTest() override { ::unsetenv("PRISMFIELD_PYTHON"); }

  /// The warning for a model that is written and drawn.
  [[nodiscard]] std::string drawn(const InvertedModel& model) const {
    ModelHeader header = sample_model_header(path("m.h5"));
    // a title that is no formula
    header.title = "Costs $5 and $6, 100 % \\frac{";
    write_model(header, model);
    return draw_model(path("m.h5"), path("m.png"));
  }
};

TEST_F(ModelFigureTest, DrawsEveryKind) {
  PRISMFIELD_NEED_DRAWING();
  InvertedModel model = sample_model(growing_edges({9, 8, 6}, {100, 100, 50}));
  add_uncertainty(model);
  model.data = {sample_data("a.h5", grid_points(6, 5, 150), {Field::gz}),
                sample_data("$1 ü.csv", station_points(20), {Field::gz, Field::gzz})};
  write_model(sample_model_header(path("m.h5")), model);
  for (const auto& [suffix, start] :
       {std::pair{".png", std::string("\x89PNG")}, {".pdf", std::string("%PDF")}, {".svg", std::string("<?xml")}}) {
    const fs::path figure = path(std::string("fig 'x'") + suffix);
    EXPECT_EQ(draw_model(path("m.h5"), figure), "");
    EXPECT_THAT(content(figure), StartsWith(start)) << suffix;
    EXPECT_GT(fs::file_size(figure), 10'000U) << suffix;
  }
}

TEST_F(ModelFigureTest, DrawsEveryShapeOfModel) {
  PRISMFIELD_NEED_DRAWING();
  for (const std::array<int, 3>& counts :
       {std::array{1, 1, 1}, {5, 4, 1}, {60, 2, 5}, {2, 60, 5}, {9, 1, 6}, {1, 9, 6}, {1, 1, 6}, {4, 1, 1}}) {
    InvertedModel model = sample_model(growing_edges(counts, {100, 100, 50}, 1));
    add_uncertainty(model);
    EXPECT_EQ(drawn(model), "") << counts[0] << " x " << counts[1] << " x " << counts[2];
    EXPECT_TRUE(fs::exists(path("m.png")));
  }
}

TEST_F(ModelFigureTest, DrawsEveryShapeOfData) {
  PRISMFIELD_NEED_DRAWING();
  InvertedModel model = sample_model(growing_edges({5, 4, 3}, {100, 100, 50}));
  Points borehole = station_points(20);
  std::fill(borehole.easting.begin(), borehole.easting.end(), 5.0);
  std::fill(borehole.northing.begin(), borehole.northing.end(), 6.0);
  Points line = station_points(20);
  std::fill(line.northing.begin(), line.northing.end(), 6.0);
  model.data = {sample_data("row", grid_points(9, 1), {Field::gz}),
                sample_data("column", grid_points(1, 9), {Field::gz}),
                sample_data("point", grid_points(1, 1), {Field::gz}),
                sample_data("strip", grid_points(90, 3), FieldList::vector()),
                sample_data("one", station_points(1), {Field::gz}),
                sample_data("borehole", borehole, {Field::gz}),
                sample_data("line", line, FieldList::tensor()),
                sample_data("all", station_points(30), FieldList::all())};
  EXPECT_EQ(drawn(model), "");
}

TEST_F(ModelFigureTest, DrawsWhatHasNoContrast) {
  PRISMFIELD_NEED_DRAWING();
  InvertedModel model = sample_model(growing_edges({5, 4, 3}, {100, 100, 50}));
  PredictedData data = sample_data("zero", grid_points(4, 4), {Field::gz});
  std::fill(data.values.begin(), data.values.end(), 0.0);
  data.predicted = data.values;
  model.data = {data};
  for (const double density : {0.0, 2670.0}) {
    std::fill(model.values.begin(), model.values.end(), density);
    EXPECT_EQ(drawn(model), "") << density;
  }
  model.data.clear();
  model.convergence.clear();
  EXPECT_EQ(drawn(model), "");
}

TEST_F(ModelFigureTest, KeepsTheOldFigureWhenDrawingFails) {
  PRISMFIELD_NEED_DRAWING();
  std::ofstream(path("f.png")) << "old";
  EXPECT_THAT(draw_model(path("none.h5"), path("f.png")), AllOf(StartsWith("no figure "), HasSubstr("none.h5")));
  EXPECT_EQ(content(path("f.png")), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(path("")), {}), 1);
}

}  // namespace
}  // namespace prismfield::test_model_figure
