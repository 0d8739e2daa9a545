// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "prisms_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace prismfield::test_prism_arrays {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::expect_two;
using ::testing::HasSubstr;
using testing::made;
using testing::read_all;

class PrismHdf5 : public testing::PrismsTest {
protected:
  using Columns = std::vector<std::pair<std::string, std::vector<double>>>;
  static Columns two() {
    return {{"west", {0, 10}},    {"east", {10, 30}}, {"south", {1, 2}},       {"north", {5, 6}},
            {"bottom", {-9, -8}}, {"top", {-7, -1}},  {"density", {300, -200}}};
  }
  void write(const Columns& columns, const std::string& group = "") {
    m_spec.file = m_folder / "b.h5";
    MadeHdf5 file(m_spec.file);
    if (!group.empty()) file.make_group(group);
    for (const auto& [name, values] : columns) {
      file.write(group + "/" + name, {static_cast<std::int64_t>(values.size())}, values.data());
    }
    file.close();
  }
};

TEST_F(PrismHdf5, IsReadFromAnyGroup) {
  write(two());
  expect_two(read_all(*made(m_run, m_spec)));
  write(two(), "/bodies");
  for (const char* group : {"/bodies", "bodies", "/bodies/"}) {
    m_spec.group = group;
    expect_two(read_all(*made(m_run, m_spec)));
  }
  m_spec.group = "/none";
  EXPECT_EQ(message(), "case.yaml:5: model.prisms.group: 'b.h5' has no group /none");
  m_spec.group = "/";
  EXPECT_THAT(message(), HasSubstr("case.yaml:4: model.prisms.file: 'b.h5' has no datasets west, east, south, north, "
                                   "bottom, top, density in group /"));
}

TEST_F(PrismHdf5, NamesOfDatasetsCommandNoTerminal) {
  Columns columns = {{"\x1b[2Jw\xE2\x80\xAE", {0}}};
  for (int i = 0; i < 50; ++i)
    columns.emplace_back("z" + std::to_string(i) + std::string(1000, 'x'), columns[0].second);
  write(columns);
  EXPECT_THAT(message(), AllOf(HasSubstr("its datasets are: ?[2Jw?, z0x"), HasSubstr("... (51 in all)"),
                               ::testing::SizeIs(::testing::Lt(2000U))));
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
  expect_two(read_all(*made(m_run, m_spec)));
}

TEST_F(PrismHdf5, MayHaveMagneticColumns) {
  m_run.magnetic = testing::small_field();
  Columns columns = two();
  columns.back() = {"magnetization_northing", {7, -7}};
  write(columns);
  PrismBlock p = read_all(*made(m_run, m_spec));
  EXPECT_THAT(p.density, ElementsAre(0, 0));
  EXPECT_THAT(p.magnetization, ElementsAre(ElementsAre(0, 0), ElementsAre(7, -7), ElementsAre(0, 0)));
  columns.push_back({"susceptibility", {0, 2}});
  write(columns);
  const auto both = made(m_run, m_spec);
  p = read_all(*both);
  EXPECT_THAT(p.magnetization, ElementsAre(ElementsAre(0, 2), ElementsAre(7, -3), ElementsAre(0, -6)));
  EXPECT_EQ(both->model().ranges().susceptibility.max, 2);
  EXPECT_EQ(both->model().ranges().remanence.min, 7);
  columns.back().second = {1};
  write(columns);
  EXPECT_THAT(message(), HasSubstr("has 1 values in /susceptibility but 2 in /west"));
}

TEST_F(PrismHdf5, MagneticColumnsChangeTheDigest) {
  Columns columns = two();
  const auto digest = [&] {
    write(columns);
    return made(m_run, m_spec)->model().digest();
  };
  const Digest plain = digest();
  columns.push_back({"susceptibility", {0, 2}});
  const Digest with = digest();
  EXPECT_NE(with, plain);
  columns.back().second = {2, 0};
  EXPECT_NE(digest(), with);
}

TEST_F(PrismHdf5, OfIntegersIsRead) {
  write(two());
  MadeHdf5 file(m_folder / "i.h5");
  for (const auto& [name, values] : two()) {
    const std::vector<std::int64_t> whole(values.begin(), values.end());
    file.write("/" + name, {2}, whole.data());
  }
  file.close();
  m_spec.file = m_folder / "i.h5";
  expect_two(read_all(*made(m_run, m_spec)));
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
  EXPECT_EQ(m_folder.removed_from(made(m_run, m_spec)->warnings().at(0)),
            "b.h5: 1 prism of zero size left out, at index 0");
}

TEST_F(PrismHdf5, OfTheWrongShapeIsRefused) {
  Columns columns = two();
  columns[2].second = {1, 2, 3};
  columns.pop_back();
  write(columns);
  EXPECT_THAT(message(), AllOf(HasSubstr("has 3 values in /south but 2 in /west"),
                               HasSubstr("has no dataset density in group /")));

  const std::vector<double> four = {1, 2, 3, 4};
  MadeHdf5 file(m_folder / "rank.h5");
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
  MadeHdf5 file(m_folder / "g.h5");
  for (const auto& [name, values] : columns) file.write("/" + name, {2}, values.data());
  file.make_group("/density");
  file.close();
  m_spec.file = m_folder / "g.h5";
  EXPECT_THAT(message(), AllOf(HasSubstr("case.yaml:4: model.prisms.file: "), HasSubstr("density")));
}

}  // namespace
}  // namespace prismfield::test_prism_arrays
