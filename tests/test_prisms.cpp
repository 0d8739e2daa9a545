// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/hdf5_file.hpp"
#include "made_model.hpp"
#include "scratch_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace prismfield {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::lines_in;
using testing::made;
using testing::mistakes;
using ::testing::Not;
using testing::ScratchFolder;

class Prisms : public ::testing::Test {
protected:
  Prisms() {
    m_run.locations["model.prisms.file"] = "case.yaml:4";
    m_run.locations["model.prisms.group"] = "case.yaml:5";
    m_run.locations["model.prisms.columns"] = "case.yaml:6";
  }
  std::unique_ptr<testing::MadeModel> make(std::string_view text) {
    m_spec.file = m_folder.write("b.csv", text);
    return made(m_run, m_spec);
  }
  static PrismBlock read(const PrismSource& ensemble) {
    PrismBlock block;
    ensemble.read({0, ensemble.size()}, block);
    return block;
  }
  std::string message() {
    std::string text = mistakes([&] { (void)made(m_run, m_spec); });
    return without_folder(text);
  }
  std::string message(std::string_view text) {
    m_spec.file = m_folder.write("b.csv", text);
    return message();
  }
  std::string without_folder(std::string text) {
    const std::string folder = (m_folder / "").string();
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
    return text;
  }

  ScratchFolder m_folder;
  Case m_run;
  PrismsSpec m_spec;
};

void expect_two(const PrismBlock& p) {
  EXPECT_THAT(p.west, ElementsAre(0, 10));
  EXPECT_THAT(p.east, ElementsAre(10, 30));
  EXPECT_THAT(p.south, ElementsAre(1, 2));
  EXPECT_THAT(p.north, ElementsAre(5, 6));
  EXPECT_THAT(p.bottom, ElementsAre(-9, -8));
  EXPECT_THAT(p.top, ElementsAre(-7, -1));
  EXPECT_THAT(p.density, ElementsAre(300, -200));
}

TEST_F(Prisms, ReadTheDefaultOrder) {
  const auto ensemble = make("0,10,1,5,-9,-7,300\n10,30,2,6,-8,-1,-200\n");
  expect_two(read(*ensemble));
  EXPECT_EQ(ensemble->size(), 2);
  EXPECT_EQ(ensemble->description(), "2 prisms");
  EXPECT_THAT(ensemble->warnings(), IsEmpty());
  EXPECT_GE(ensemble->memory_bytes(), 2 * 7 * 8);
  EXPECT_GE(ensemble->peak_memory_bytes(), ensemble->memory_bytes());
  const Bounds bounds = ensemble->bounds();
  EXPECT_EQ(bounds.west, 0);
  EXPECT_EQ(bounds.east, 30);
  EXPECT_EQ(bounds.south, 1);
  EXPECT_EQ(bounds.north, 6);
  EXPECT_EQ(bounds.bottom, -9);
  EXPECT_EQ(bounds.top, -1);
  PrismBlock second;
  ensemble->read({1, 2}, second);
  EXPECT_THAT(second.density, ElementsAre(-200));
}

TEST_F(Prisms, FollowTheHeader) {
  expect_two(read(*make("density;top;bottom;north;south;east;west\n300;-7;-9;5;1;10;0\n-200;-1;-8;6;2;30;10\n")));
  expect_two(read(*make("x1 y1 z1 x2 y2 z2 density\n0 1 -9 10 5 -7 300\n10 2 -8 30 6 -1 -200\n")));
  expect_two(read(*make("# x1 y1 z1 x2 y2 z2 density\n0 1 -9 10 5 -7 300\n10 2 -8 30 6 -1 -200\n")));
}

TEST_F(Prisms, FollowTheOrderOfThePapers) {
  m_spec.columns = {"x1", "y1", "z1", "x2", "y2", "z2", "density"};
  expect_two(read(*make("0,1,-9,10,5,-7,300\n10,2,-8,30,6,-1,-200\n")));
}

TEST_F(Prisms, TurnDepthsKilometresAndGramsIntoSi) {
  m_spec.z_down = true;
  m_spec.length_to_si = 1000;
  m_spec.density_to_si = 1000;
  // the papers' z1 < z2 is the top where z points down
  expect_two(read(*make("x1,y1,z1,x2,y2,z2,density\n0,.001,.007,.01,.005,.009,.3\n.01,.002,.001,.03,.006,.008,-.2\n")));
  expect_two(read(*make(
      "west,east,south,north,bottom,top,density\n0,.01,.001,.005,.009,.007,.3\n.01,.03,.002,.006,.008,.001,-.2\n")));
}

TEST_F(Prisms, WarnOfColumnsThatTheyIgnore) {
  const auto ensemble = make("name,west,east,south,north,bottom,top,density,year\nrock,0,1,0,1,0,1,5,1998\n");
  ASSERT_EQ(ensemble->warnings().size(), 1U);
  EXPECT_EQ(without_folder(ensemble->warnings()[0]), "b.csv: columns ignored: 'name', 'year'");
}

TEST_F(Prisms, OfZeroSizeAreLeftOutWithOneWarning) {
  const auto ensemble = make("0,10,1,5,-9,-7,300\n3,3,0,1,0,1,9\n10,30,2,6,-8,-1,-200\n0,1,2,2,0,1,9\n0,1,0,1,7,7,9\n");
  expect_two(read(*ensemble));
  ASSERT_EQ(ensemble->warnings().size(), 1U);
  EXPECT_EQ(without_folder(ensemble->warnings()[0]), "b.csv: 3 prisms of zero size left out, the first at line 2");
  EXPECT_EQ(message("3,3,0,1,0,1,9\n"),
            "case.yaml:4: model.prisms.file: 'b.csv' holds no prism of more than zero size");
  // lines are those of the file, whatever was left out before
  EXPECT_THAT(message("3,3,0,1,0,1,9\n0,1,0,1,0,1,1\n\n0,1,0,1,0,1,1\n"),
              HasSubstr("b.csv:4: overlaps the prism of line 2"));
}

TEST_F(Prisms, OfDensityZeroStay) { EXPECT_EQ(make("0,1,0,1,0,1,0\n")->size(), 1); }

TEST_F(Prisms, InvertedOnesAreNamedByLine) {
  EXPECT_EQ(
      message(
          "west,east,south,north,bottom,top,density\n2,1,0,1,0,1,5\n0,1,3,2,0,1,5\n0,1,0,1,-1,-2,5\n4,3,2,1,0,1,5\n"),
      "b.csv:2: west 2 is east of east 1\n"
      "b.csv:3: south 3 is north of north 2\n"
      "b.csv:4: bottom -1 is above top -2; with axis_z: up these are heights\n"
      "b.csv:5: west 4 is east of east 3\n"
      "b.csv:5: south 2 is north of north 1");
  m_spec.z_down = true;
  EXPECT_EQ(message("0,1,0,1,1000,2000,5\n"),
            "b.csv:1: bottom 1000 is above top 2000; with axis_z: down these are depths");
}

TEST_F(Prisms, EveryMistakeIsFoundInOneGo) {
  const std::string text = message(
      "west,east,south,north,bottom,top,density\n0,1,0,1,0,1,5\n0,x,0,1,0,1,5\nnan,1,0,1,0,1,5\n2,1,0,1,0,1,5\n0,1,0,1,"
      "0.5,2,5\n1,2\n");
  EXPECT_THAT(text,
              AllOf(HasSubstr("b.csv:3: east: 'x' is not a number"), HasSubstr("b.csv:4: west: 'nan' is not finite"),
                    HasSubstr("b.csv:5: west 2 is east of east 1"), HasSubstr("b.csv:6: overlaps the prism of line 2"),
                    HasSubstr("b.csv:7: 2 columns, 7 are needed")));
  EXPECT_EQ(lines_in(text), 5U);
}

TEST_F(Prisms, NumbersBeyondDoubleInSiAreMistakes) {
  m_spec.length_to_si = 1000;
  EXPECT_EQ(message("0,1e306,0,1,0,1,5\n"), "b.csv:1: a number is too large for double precision in metres and kg/m3");
}

TEST_F(Prisms, OverlapsAreNamedTenAtATime) {
  EXPECT_EQ(message("0,2,0,2,0,2,1\n1,3,0.5,2,1.75,4,1\n5,6,0,1,0,1,1\n"),
            "b.csv:2: overlaps the prism of line 1 by 1 x 1.5 x 0.25 m; allow_overlap: true accepts this");
  std::string text;
  for (int i = 0; i < 40; ++i) text += fmt::format("{},{},0,1,0,1,1\n", i, i + 1.5);
  const std::string found = message(text);
  EXPECT_EQ(lines_in(found), 11U);
  EXPECT_THAT(found, AllOf(HasSubstr("b.csv:2: overlaps the prism of line 1 "),
                           HasSubstr("b.csv:11: overlaps the prism of line 10 "),
                           HasSubstr("b.csv: 29 more overlapping pairs")));
  m_spec.allow_overlap = true;
  EXPECT_EQ(make(text)->size(), 40);
}

TEST_F(Prisms, ThatShareFacesOrAreRoundedIntoEachOtherDoNotOverlap) {
  EXPECT_EQ(make("0,1,0,1,0,1,1\n1,2,0,1,0,1,1\n0,1,1,2,0,1,1\n")->size(), 3);
  EXPECT_EQ(make("0,1.0000009,0,1,0,1,1\n1,2,0,1,0,1,1\n")->size(), 2);
  EXPECT_NE(message("0,1.0000011,0,1,0,1,1\n1,2,0,1,0,1,1\n"), "");
}

TEST_F(Prisms, AMillionIdenticalOnesEndInAPage) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "0,1,0,1,0,1,1\n";
  const std::string found = message(text);
  EXPECT_EQ(lines_in(found), 11U);
  EXPECT_THAT(found, HasSubstr("b.csv: more than 99990 more overlapping pairs"));
}

TEST_F(Prisms, FilesThatAreNoTableAreRefused) {
  EXPECT_EQ(message(""), "case.yaml:4: model.prisms.file: 'b.csv' is empty");
  EXPECT_EQ(message("west,east,south,north,bottom,top,density\n"),
            "case.yaml:4: model.prisms.file: 'b.csv' has a header but no data");
  EXPECT_THAT(message("0,10,1,5,-9,-7\n"),
              HasSubstr("b.csv:1: 6 columns, but without a header 7 are expected: west, east"));
  EXPECT_THAT(
      message("west,east,south,north,bottom,top,densty\n0,1,0,1,0,1,1\n"),
      HasSubstr("b.csv:1: missing column density; the columns are 'west', 'east', 'south', 'north', 'bottom', 'top', "
                "'densty'; 'densty': did you mean density?"));
  m_spec.file = m_folder / "none.csv";
  EXPECT_EQ(message(), "case.yaml:4: model.prisms.file: 'none.csv' cannot be read: there is no such file");
}

class PrismHdf5 : public Prisms {
protected:
  using Columns = std::vector<std::pair<std::string, std::vector<double>>>;
  static Columns two() {
    return {{"west", {0, 10}},    {"east", {10, 30}}, {"south", {1, 2}},       {"north", {5, 6}},
            {"bottom", {-9, -8}}, {"top", {-7, -1}},  {"density", {300, -200}}};
  }
  void write(const Columns& columns, const std::string& group = "") {
    m_spec.file = m_folder / "b.h5";
    Hdf5File file = Hdf5File::create(m_spec.file);
    if (!group.empty()) file.make_group(group);
    for (const auto& [name, values] : columns) {
      file.write(group + "/" + name, {static_cast<std::int64_t>(values.size())}, values.data());
    }
    file.close();
  }
};

TEST_F(PrismHdf5, IsReadFromAnyGroup) {
  write(two());
  expect_two(read(*made(m_run, m_spec)));
  write(two(), "/bodies");
  for (const char* group : {"/bodies", "bodies", "/bodies/"}) {
    m_spec.group = group;
    expect_two(read(*made(m_run, m_spec)));
  }
  m_spec.group = "/none";
  EXPECT_EQ(message(), "case.yaml:5: model.prisms.group: 'b.h5' has no group /none");
  m_spec.group = "/";
  EXPECT_THAT(message(), HasSubstr("case.yaml:4: model.prisms.file: 'b.h5' has no datasets west, east, south, north, "
                                   "bottom, top, density in group /"));
}

TEST_F(PrismHdf5, MayUseThePapersNamesAndUnits) {
  write({{"x1", {0, 0.01}},
         {"x2", {0.01, 0.03}},
         {"y1", {0.001, 0.002}},
         {"y2", {0.005, 0.006}},
         {"z1", {0.007, 0.001}},
         {"z2", {0.009, 0.008}},
         {"density", {0.3, -0.2}}});
  m_spec.z_down = true;
  m_spec.length_to_si = m_spec.density_to_si = 1000;
  expect_two(read(*made(m_run, m_spec)));
}

TEST_F(PrismHdf5, OfIntegersIsRead) {
  write(two());
  Hdf5File file = Hdf5File::create(m_folder / "i.h5");
  for (const auto& [name, values] : two()) {
    const std::vector<std::int64_t> whole(values.begin(), values.end());
    file.write("/" + name, {2}, whole.data());
  }
  file.close();
  m_spec.file = m_folder / "i.h5";
  expect_two(read(*made(m_run, m_spec)));
}

TEST_F(PrismHdf5, MistakesAreNamedByIndex) {
  Columns columns = two();
  columns[0].second = {0, std::numeric_limits<double>::quiet_NaN()};
  columns[3].second = {0, 6};
  write(columns);
  EXPECT_EQ(message(), "b.h5: prism [0]: south 1 is north of north 0\nb.h5: west[1]: is NaN or infinite");
  columns = two();
  columns[0].second[1] = 5;
  write(columns);
  EXPECT_EQ(message(),
            "b.h5: prism [1]: overlaps the prism of index 0 by 5 x 3 x 1 m; allow_overlap: true accepts this");
  columns[1].second[0] = 0;
  write(columns);
  EXPECT_EQ(without_folder(made(m_run, m_spec)->warnings().at(0)), "b.h5: 1 prism of zero size left out, at index 0");
}

TEST_F(PrismHdf5, OfTheWrongShapeIsRefused) {
  Columns columns = two();
  columns[2].second = {1, 2, 3};
  columns.pop_back();
  write(columns);
  EXPECT_THAT(message(), AllOf(HasSubstr("has 3 values in /south but 2 in /west"),
                               HasSubstr("has no dataset density in group /")));

  const std::vector<double> four = {1, 2, 3, 4};
  Hdf5File file = Hdf5File::create(m_folder / "rank.h5");
  for (const auto& [name, values] : two()) file.write("/" + name, {2, 2}, four.data());
  file.close();
  m_spec.file = m_folder / "rank.h5";
  EXPECT_THAT(message(), HasSubstr("'rank.h5' has /west of shape (2, 2); one dimension is needed"));

  Columns none = two();
  for (auto& [name, values] : none) values.clear();
  write(none);
  EXPECT_THAT(message(), HasSubstr("'b.h5' holds no prisms"));

  Columns both = two();
  both.push_back({"x1", {0, 10}});
  write(both);
  EXPECT_THAT(message(), HasSubstr("holds both /west and /x1"));
}

TEST_F(PrismHdf5, WithAGroupWhereADatasetBelongsIsRefused) {
  Columns columns = two();
  columns.pop_back();
  write(columns);
  Hdf5File file = Hdf5File::create(m_folder / "g.h5");
  for (const auto& [name, values] : columns) file.write("/" + name, {2}, values.data());
  file.make_group("/density");
  file.close();
  m_spec.file = m_folder / "g.h5";
  EXPECT_THAT(message(), AllOf(HasSubstr("case.yaml:4: model.prisms.file: "), HasSubstr("density")));
}

}  // namespace
}  // namespace prismfield
