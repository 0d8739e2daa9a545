// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/figure.hpp"
#include "case/output_check.hpp"
#include "drawing_python.hpp"
#include "folder_test.hpp"
#include "result_samples.hpp"
#include "writers/result_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace prismfield::test_figure {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace testing_samples;

/// A folder of its own, and the environment put back afterwards.
class FigureTest : public FolderTest {
protected:
  FigureTest() : m_path(std::getenv("PATH")) { ::unsetenv("PRISMFIELD_PYTHON"); }
  ~FigureTest() override {
    ::setenv("PATH", m_path.c_str(), 1);
    ::unsetenv("PRISMFIELD_PYTHON");
  }

  /// A program in the folder that does what a few lines of shell say, in place of a Python.
  [[nodiscard]] std::string fake(const std::string& name, const std::string& lines) const {
    const fs::path file = fs::absolute(path(name));
    std::ofstream(file) << "#!/bin/sh\n" << lines << "\n";
    fs::permissions(file, fs::perms::owner_all);
    return file.string();
  }
  /// Looks for python3 in the test's folder first.
  void search_here_first() const { ::setenv("PATH", (fs::absolute(path("")).string() + ":" + m_path).c_str(), 1); }

  void write_sample(const fs::path& file, const Points& points, FieldList fields = FieldList::all()) const {
    write_result(result_header(sample_case(file, fields)), points, sample_result(points, fields), {});
  }

private:
  std::string m_path;
};

TEST_F(FigureTest, HandsToolAndNamesToPython) {
  // Names that a shell would take apart or run.
  const std::string result = "a b'\"$(touch stolen);-r.h5";
  const std::string figure = "-f `touch stolen` ü.png";
  ::setenv(
      "PRISMFIELD_PYTHON",
      fake("python with spaces", "printf '%s|' \"$@\" > \"" + fs::absolute(path("arguments")).string() + "\"").c_str(),
      1);
  EXPECT_EQ(draw_figure(result, figure), "");
  const fs::path package = fs::canonical("/proc/self/exe").parent_path().parent_path() / "share/prismfield/python";
  EXPECT_TRUE(fs::equivalent(package, fs::path(PRISMFIELD_SOURCE_DIR) / "python"));
  EXPECT_EQ(content(path("arguments")), "-B|" + package.string() + "|figures.fields|" + result + "|" + figure + "|{}|");
  EXPECT_FALSE(fs::exists("stolen"));
}

TEST(FigureStyleText, IsJsonOfWhatIsAsked) {
  FigureStyle style;
  EXPECT_EQ(style_json(style), "{}");
  style.contours = std::int64_t{7};
  style.colour_map = "a \"b\" \xFF";
  style.dpi = 150;
  style.model_outline = false;
  style.annotations = false;
  style.fields = {"gz", "gxx"};
  style.cut = {1500, {}, -0.5};
  EXPECT_EQ(
      style_json(style),
      R"({"annotations":false,"colour_map":"a \"b\" \ufffd","contours":7,"cut":{"easting":1500.0,"upward":-0.5},"dpi":150,"fields":["gz","gxx"],"model_outline":false})");
  style = {};
  style.contours = std::vector<double>{-1, 0.5};
  EXPECT_EQ(style_json(style), R"({"contours":[-1.0,0.5]})");
}

TEST(DrawnText, NamesTheFigureAndItsTime) {
  const auto draws = [] { return std::string(); };
  OutputSpec output;
  EXPECT_EQ(draw_and_tell(output, true, draws), "");
  output.figure = "a.png";
  EXPECT_THAT(draw_and_tell(output, true, draws), ::testing::MatchesRegex("; a\\.png drawn in .* m?s"));
  EXPECT_EQ(draw_and_tell(output, true, [] { return std::string("no figure"); }), "");
}

TEST_F(FigureTest, ColourMapsAreAskedOfPython) {
  ::setenv("PRISMFIELD_PYTHON", fake("failing", "echo 'OSError: no room' >&2; exit 1").c_str(), 1);
  EXPECT_EQ(colour_map_problem("viridis"), "") << "who cannot tell says nothing";
  PRISMFIELD_NEED_DRAWING();
  ::setenv("PRISMFIELD_PYTHON", "/usr/bin/python3", 1);
  EXPECT_EQ(colour_map_problem(""), "");
  EXPECT_EQ(colour_map_problem("viridis"), "");
  EXPECT_THAT(colour_map_problem("rdbu_"),
              AllOf(StartsWith("'rdbu_' is no colour map of matplotlib; did you mean "), HasSubstr("RdBu_r")));
  EXPECT_THAT(colour_map_problem("qqqqqqqq"), HasSubstr("; viridis, cividis and RdBu_r are three of them"));
}

TEST_F(FigureTest, EveryKeyOfTheStyleChangesThePicture) {
  PRISMFIELD_NEED_DRAWING();
  ::setenv("PRISMFIELD_PYTHON", "/usr/bin/python3", 1);
  const Points points = grid_points(15, 12);
  ResultHeader header = result_header(sample_case(path("r.h5"), {Field::gz, Field::gzz}));
  header.model_bounds = Bounds{300, 900, 200, 700, -500, 0};
  write_result(header, points, sample_result(points, {Field::gz, Field::gzz}), {});
  std::vector<FigureStyle> styles(10);
  styles[1].contours = std::int64_t{0};
  styles[2].contours = std::int64_t{30};
  styles[3].contours = std::vector<double>{1};
  styles[4].colour_map = "PuOr";
  styles[5].colour_map = "cividis";
  styles[6].dpi = 72;
  styles[7].model_outline = false;
  styles[8].fields = {"gzz"};
  styles[9].annotations = false;
  std::set<std::string> pictures;
  for (const FigureStyle& style : styles) {
    EXPECT_EQ(draw_figure(path("r.h5"), path("f.png"), style), "");
    pictures.insert(content(path("f.png")));
  }
  EXPECT_EQ(pictures.size(), styles.size());
  FigureStyle wrong;
  wrong.fields = {"gx"};
  EXPECT_THAT(draw_figure(path("r.h5"), path("f.png"), wrong), HasSubstr("holds no gx; it holds gz, gzz"));
}

TEST_F(FigureTest, TakesTheFirstPythonThatCanImport) {
  const std::string log = "echo \"$0\" >> \"" + fs::absolute(path("log")).string() + "\"\n";
  ::setenv("PRISMFIELD_PYTHON", fake("lacking", log + "echo 'No module named xarray' >&2; exit 77").c_str(), 1);
  (void)fake("python3", log + "exit 0");
  search_here_first();
  EXPECT_EQ(draw_figure("r.h5", "f.png"), "");
  EXPECT_THAT(content(path("log")), ::testing::MatchesRegex(".*/lacking\n.*/python3\n"));

  fs::remove(path("log"));
  ::setenv("PRISMFIELD_PYTHON", path("no such program").c_str(), 1);
  EXPECT_EQ(draw_figure("r.h5", "f.png"), "");
  EXPECT_THAT(content(path("log")), ::testing::MatchesRegex(".*/python3\n"));

  fs::remove(path("log"));
  ::setenv("PRISMFIELD_PYTHON", "", 1);
  EXPECT_EQ(draw_figure("r.h5", "f.png"), "");
  EXPECT_THAT(content(path("log")), ::testing::MatchesRegex(".*/python3\n"));
}

TEST_F(FigureTest, PassesOnWhyDrawingFailed) {
  ::setenv("PRISMFIELD_PYTHON",
           fake("failing", "echo Traceback >&2; echo 'OSError: no room' >&2; echo >&2; exit 1").c_str(), 1);
  EXPECT_EQ(draw_figure("r.h5", "f.png"), "no figure f.png: OSError: no room");
  ::setenv("PRISMFIELD_PYTHON", fake("silent", "exit 3").c_str(), 1);
  EXPECT_THAT(draw_figure("r.h5", "f.png"), HasSubstr("ended with 3"));
  ::setenv("PRISMFIELD_PYTHON", fake("killed", "kill -9 $$").c_str(), 1);
  EXPECT_THAT(draw_figure("r.h5", "f.png"), HasSubstr("signal 9"));
  // more output than a pipe holds
  ::setenv("PRISMFIELD_PYTHON",
           fake("loud", "i=0; while [ $i -lt 30000 ]; do echo line $i; i=$((i+1)); done; exit 1").c_str(), 1);
  EXPECT_EQ(draw_figure("r.h5", "f.png"), "no figure f.png: line 29999");
}

TEST_F(FigureTest, HidesTheLauncherFromPython) {
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  ::setenv("PRISMFIELD_SEEN", "yes", 1);
  ::setenv("PRISMFIELD_PYTHON", fake("environment", "echo \"$OMPI_COMM_WORLD_SIZE,$PRISMFIELD_SEEN\"; exit 1").c_str(),
           1);
  EXPECT_EQ(draw_figure("r.h5", "f.png"), "no figure f.png: ,yes");
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
  ::unsetenv("PRISMFIELD_SEEN");
}

TEST_F(FigureTest, DrawsEveryKind) {
  PRISMFIELD_NEED_DRAWING();
  ::setenv("PRISMFIELD_PYTHON", "/usr/bin/python3", 1);
  const fs::path result = path("it's a \"result\".h5");
  write_sample(result, grid_points(15, 10));
  for (const auto& [suffix, start] :
       {std::pair{".png", std::string("\x89PNG")}, {".pdf", std::string("%PDF")}, {".svg", std::string("<?xml")}}) {
    const fs::path figure = path(std::string("fig $HOME 'x'") + suffix);
    EXPECT_EQ(draw_figure(result, figure), "");
    EXPECT_THAT(content(figure), StartsWith(start)) << suffix;
    EXPECT_GT(fs::file_size(figure), 10'000U) << suffix;
  }
}

TEST_F(FigureTest, DrawsEveryShapeOfResult) {
  PRISMFIELD_NEED_DRAWING();
  ::setenv("PRISMFIELD_PYTHON", "/usr/bin/python3", 1);
  const FieldList gz{Field::gz};
  Points borehole = station_points(20);
  std::fill(borehole.easting.begin(), borehole.easting.end(), 5.0);
  std::fill(borehole.northing.begin(), borehole.northing.end(), 6.0);
  Points line = station_points(20);
  std::fill(line.northing.begin(), line.northing.end(), 6.0);
  Points oblique = station_points(20);
  for (std::size_t i = 0; i < 20; ++i) oblique.easting[i] = 2 * oblique.northing[i] + 1e6;
  Points in_one_place = station_points(3);
  for (auto* values : {&in_one_place.easting, &in_one_place.northing, &in_one_place.upward}) values->assign(3, 5.0);
  // so many that their map is of triangles
  Points many;
  for (int i = 0; i < 400; ++i) {
    many.easting.push_back(100 * (i % 20) + 20 * std::sin(i));
    many.northing.push_back(100 * (i / 20) + 20 * std::cos(3 * i));
    many.upward.push_back(10);
  }
  const std::vector<std::pair<Points, FieldList>> cases = {
      {grid_points(9, 1), FieldList::tensor()},
      {grid_points(1, 9), gz},
      {grid_points(1, 1), gz},
      {grid_points(2, 2), gz},
      {grid_points(200, 3), FieldList::vector()},
      {station_points(30), FieldList::vector()},
      {station_points(1), gz},
      {borehole, FieldList::all()},
      {line, FieldList::tensor()},
      {oblique, gz},
      {many, FieldList::vector()},
      {in_one_place, gz},
  };
  int number = 0;
  for (const auto& [points, fields] : cases) {
    const fs::path figure = path("figure" + std::to_string(++number) + ".png");
    write_sample(path("r.h5"), points, fields);
    EXPECT_EQ(draw_figure(path("r.h5"), figure), "") << number;
    EXPECT_TRUE(fs::exists(figure)) << number;
  }
}

TEST_F(FigureTest, DrawsAFieldThatIsZeroEverywhere) {
  PRISMFIELD_NEED_DRAWING();
  ::setenv("PRISMFIELD_PYTHON", "/usr/bin/python3", 1);
  const Points points = grid_points(5, 5);
  Fields result = sample_result(points, {Field::gz, Field::gzz});
  std::fill(result.values.begin(), result.values.end(), 0.0);
  Case run = sample_case(path("r.h5"));
  // a title that is no formula
  run.title = "Costs $5 and $6, 100 % \\frac{";
  write_result(result_header(run), points, result, {});
  EXPECT_EQ(draw_figure(path("r.h5"), path("f.png")), "");
  EXPECT_TRUE(fs::exists(path("f.png")));
}

TEST_F(FigureTest, ModulesOfTheWorkingFolderAreNotTaken) {
  PRISMFIELD_NEED_DRAWING();
  ::setenv("PRISMFIELD_PYTHON", "/usr/bin/python3", 1);
  write_sample(path("r.h5"), grid_points(3, 3));
  const fs::path before = fs::current_path();
  std::ofstream(path("random.py")) << "raise SystemExit(5)\n";
  std::ofstream(path("xarray.py")) << "raise SystemExit(5)\n";
  fs::current_path(path(""));
  EXPECT_EQ(draw_figure("r.h5", "f.png"), "");
  fs::current_path(before);
}

TEST_F(FigureTest, KeepsTheOldFigureWhenDrawingFails) {
  PRISMFIELD_NEED_DRAWING();
  ::setenv("PRISMFIELD_PYTHON", "/usr/bin/python3", 1);
  std::ofstream(path("f.png")) << "old";
  EXPECT_THAT(draw_figure(path("none.h5"), path("f.png")), AllOf(StartsWith("no figure "), HasSubstr("none.h5")));
  EXPECT_EQ(content(path("f.png")), "old");
  EXPECT_THAT(draw_figure(path("none.h5"), path("gone/f.png")), StartsWith("no figure "));
  EXPECT_EQ(std::distance(fs::directory_iterator(path("")), {}), 1);
}

}  // namespace
}  // namespace prismfield::test_figure
