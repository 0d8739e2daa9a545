// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "made_hdf5.hpp"
#include "made_model.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace prismfield::test_make_model {
namespace {

using ::testing::HasSubstr;
using testing::made;
using testing::mistakes;
using testing::ScratchFolder;

TEST(PrismBlock, ResizesEveryColumn) {
  PrismBlock block;
  block.resize(3);
  EXPECT_EQ(block.size(), 3);
  for (const auto* column :
       {&block.west, &block.east, &block.south, &block.north, &block.bottom, &block.top, &block.density}) {
    EXPECT_EQ(column->size(), 3U);
  }
  block.resize(0);
  EXPECT_EQ(block.size(), 0);
}

TEST(MakeModel, MakesEachKindOfModel) {
  ScratchFolder folder;
  Case run;
  VoxelsSpec voxels;
  voxels.easting = voxels.northing = voxels.upward = {0, 2, 2};
  voxels.density = ConstantProperty{1};
  run.model = voxels;
  EXPECT_EQ(made(run)->description(), "voxels 2 x 2 x 2, 8 prisms with density");
  PrismsSpec prisms;
  prisms.file = folder.write("b.csv", "0,1,0,1,0,1,5\n");
  run.model = prisms;
  EXPECT_EQ(made(run)->description(), "1 prism");
  MeshSpec mesh;
  mesh.easting = mesh.northing = mesh.upward = EdgesList{{0, 1, 4}};
  mesh.density = ConstantProperty{1};
  run.model = mesh;
  EXPECT_EQ(made(run)->description(), "mesh 2 x 2 x 2, 8 prisms with density");
}

TEST(MakeModel, TellsTheRangeOfDensities) {
  ScratchFolder folder;
  Case run;
  const auto densities = [&](ModelSpec model) {
    run.model = std::move(model);
    const Range range = make_model(run, Communicator()).ranges().density;
    return std::pair{range.min, range.max};
  };
  using Pair = std::pair<double, double>;
  VoxelsSpec voxels;
  voxels.easting = voxels.northing = voxels.upward = {0, 4, 4};
  // cells of density 0 are no prisms
  voxels.boxes = {{{0, 2}, {0, 4}, {0, 4}, -350}, {{2, 4}, {0, 4}, {0, 2}, 70}};
  EXPECT_EQ(densities(voxels), Pair(-350, 70));
  // a box that covers all of another: its density is nowhere
  voxels.boxes.push_back({{2, 4}, {0, 4}, {0, 4}, -20});
  EXPECT_EQ(densities(voxels), Pair(-350, -20));
  voxels.density = ConstantProperty{500};
  EXPECT_EQ(densities(voxels), Pair(-350, -20));
  voxels.boxes.pop_back();
  EXPECT_EQ(densities(voxels), Pair(-350, 500));
  voxels.density = RandomProperty{{100, 3000}, 1};
  EXPECT_EQ(densities(voxels), Pair(-350, 3000));
  MeshSpec mesh;
  mesh.easting = mesh.northing = EdgesList{{0, 1}};
  mesh.upward = EdgesList{{0, 1, 2, 3}};
  mesh.density = DensityFile{folder.write("d.txt", "2.5\n0\n3\n"), "", 1000};
  EXPECT_EQ(densities(mesh), Pair(2500, 3000));
  PrismsSpec prisms;
  prisms.file = folder.write("b.csv", "0,1,0,1,0,1,5\n1,2,0,1,0,1,-7\n2,3,0,1,0,1,0\n3,3,0,1,0,1,99\n");
  EXPECT_EQ(densities(prisms), Pair(-7, 5));
}

TEST(MakeModel, ReadsMagnetisationsOfCells) {
  ScratchFolder folder;
  Case run;
  run.magnetic = testing::small_field();
  MeshSpec mesh;
  mesh.easting = EdgesList{{0, 1, 3}};
  mesh.northing = mesh.upward = EdgesList{{0, 1}};
  mesh.magnetization = DensityFile{folder / "m.h5", "", {}, "magnetization"};
  const auto read = [&](const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& datasets) {
    MadeHdf5 file(folder / "m.h5");
    double first = 1;
    for (const auto& [name, shape] : datasets) {
      std::vector<double> values(shape.front() == 3 ? 6 : 2);
      std::iota(values.begin(), values.end(), first);
      first += static_cast<double>(values.size());
      file.write(name, shape, values.data());
    }
    file.close();
    run.model = mesh;
    return testing::read_all(*made(run)).magnetization;
  };
  using ::testing::ElementsAre;
  const auto expected = ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4), ElementsAre(5, 6));
  EXPECT_THAT(read({{"magnetization", {3, 1, 1, 2}}}), expected);
  EXPECT_THAT(read({{"magnetization", {3, 2}}}), expected);
  EXPECT_THAT(
      read({{"magnetization_easting", {1, 1, 2}}, {"magnetization_northing", {2}}, {"magnetization_upward", {2}}}),
      expected);
  mesh.susceptibility = ConstantProperty{10};
  EXPECT_THAT(read({{"magnetization", {3, 2}}}),
              ElementsAre(ElementsAre(11, 12), ElementsAre(23, 24), ElementsAre(-25, -24)));
  EXPECT_THAT(
      mistakes([&] {
        (void)read({{"magnetization", {2, 1}}});
      }),
      ::testing::HasSubstr("has /magnetization of shape (2, 1); (3, upward, northing, easting) = (3, 1, 1, 2) or "
                           "(3, 2) is needed"));
  EXPECT_THAT(mistakes([&] {
                (void)read({{"magnetization_easting", {2}}});
              }),
              ::testing::HasSubstr("has no dataset /magnetization_northing"));
}

TEST(MakeModel, ReadsUbcsSusceptibilities) {
  ScratchFolder folder;
  Case run;
  run.magnetic = testing::small_field();
  MeshSpec mesh;
  mesh.ubc.emplace();
  mesh.ubc->mesh = folder.write("m.msh", "2 1 2\n0 0 0\n10 10\n10\n5 5\n");
  mesh.ubc->susceptibility = folder.write("m.sus", "-100\n0.25\n-100\n0.5\n");
  run.model = mesh;
  EXPECT_THAT(mistakes([&] { (void)made(run); }),
              ::testing::HasSubstr(
                  "has -100, no susceptibility, in 2 of its 4 cells: if that marks inactive cells, such as air, write "
                  "inactive: -100 beside it"));
  mesh.ubc->inactive = -100;
  run.model = mesh;
  const auto ensemble = made(run);
  EXPECT_EQ(ensemble->description(), "mesh 2 x 1 x 2, 2 prisms with susceptibility");
  EXPECT_THAT(testing::read_all(*ensemble).magnetization[0], ::testing::ElementsAre(0.25, 0.5));
  EXPECT_EQ(ensemble->notes().size(), 1U);
}

TEST(MakeModel, ReadsUbcsVectors) {
  using ::testing::ElementsAre;
  using ::testing::HasSubstr;
  ScratchFolder folder;
  Case run;
  run.magnetic = testing::small_field();
  // |F0|/mu0, A/m
  run.magnetic.inducing_field = {0, 0, -4 * 0x1p-20};
  run.locations["model.mesh.ubc.magnetization"] = run.locations["model.mesh.magnetization.file"] = "case.yaml:5";
  MeshSpec mesh;
  mesh.ubc.emplace();
  mesh.ubc->mesh = folder.write("m.msh", "2 1 2\n0 0 0\n10 10\n10\n5 5\n");
  // from the top down, then eastward: east, north, down
  mesh.ubc->magnetization = folder.write("m.fld", "-100 -100 -100\n1 2 3\n-100 -100 -100\n0 -100 0.5\n");
  const auto wrong = [&] {
    run.model = mesh;
    return folder.removed_from(mistakes([&] { (void)made(run); }));
  };
  EXPECT_EQ(wrong(),
            "case.yaml:5: model.mesh.ubc.magnetization: 'm.fld' has -100 -100 -100 in 2 cells: if that marks inactive "
            "cells, such as air, write inactive: -100 beside it");
  mesh.ubc->inactive = -100;
  folder.write("m.fld", "-100 -100 -100\n1 2 3\n-100 -100 -100\n0 -1 0.5\n");
  run.model = mesh;
  const auto ensemble = made(run);
  EXPECT_EQ(ensemble->description(), "mesh 2 x 1 x 2, 2 prisms with magnetization");
  EXPECT_THAT(testing::read_all(*ensemble).magnetization,
              ElementsAre(ElementsAre(4, 0), ElementsAre(8, -4), ElementsAre(-12, -2)));
  EXPECT_THAT(ensemble->notes(), ElementsAre(HasSubstr("2 of 4 cells of")));
  // a vector is inactive by all of its numbers
  mesh.ubc->inactive = 0;
  folder.write("m.fld", "0 0 0\n1 0 0\n0 0 0\n0 -1 0\n");
  run.model = mesh;
  EXPECT_EQ(made(run)->description(), "mesh 2 x 1 x 2, 2 prisms with magnetization");
  mesh.ubc->inactive = -100;
  // the same beside edges of a case's own
  MeshSpec own;
  own.easting = EdgesList{{0, 10, 20}};
  own.northing = EdgesList{{0, 10}};
  own.upward = EdgesList{{-10, -5, 0}};
  own.magnetization = DensityFile{folder.write("own.fld", "0 0 0\n1 2 3\n0 0 0\n0 -1 0.5\n"), "", {}, "magnetization"};
  run.model = own;
  const auto listed = made(run);
  EXPECT_EQ(testing::read_all(*listed).magnetization, testing::read_all(*ensemble).magnetization);
  EXPECT_THAT(listed->notes(),
              ElementsAre(HasSubstr("'own.fld' is read as a UBC vector model, depth fastest and down")));

  folder.write("m.fld", "1 2 3\n1 2\n1 2 3\n0 -1 0.5\n");
  EXPECT_EQ(wrong(), "m.fld:2: three numbers a line are needed: along easting, northing and downwards");
  folder.write("m.fld", "1 2 3\n");
  EXPECT_EQ(
      wrong(),
      "case.yaml:5: model.mesh.ubc.magnetization: 'm.fld' holds 1 vector, but the mesh of 2 x 1 x 2 needs one for "
      "each of its 4 cells");
  folder.write("m.fld", "1 2 3\n1 2 x\n1 2 3\n0 -1 0.5\n");
  EXPECT_EQ(wrong(), "m.fld:2: 'x' is not a number");
  mesh = own;
  folder.write("own.fld", "1 2 3\n1 2 3\n-100 -100 -100\n0 0 0\n");
  EXPECT_THAT(wrong(), HasSubstr("model.mesh.magnetization.file: 'own.fld' has -100 -100 -100 in 1 cell: if that marks "
                                 "inactive cells, such as air, name it by model.mesh.ubc.magnetization and write"));
  run.magnetic.inducing_field = {};
  EXPECT_THAT(wrong(), HasSubstr("case.yaml:5: model.mesh.magnetization.file: 'own.fld' holds effective "
                                 "susceptibilities, M over |F0|/mu0, and the case has no inducing field; write "
                                 "magnetic: {inducing_field"));
  // with the files that are not there
  mesh = MeshSpec();
  mesh.ubc.emplace();
  mesh.ubc->mesh = "no.msh";
  mesh.ubc->magnetization = "no.fld";
  EXPECT_THAT(wrong(), ::testing::AllOf(HasSubstr("has no inducing field"), HasSubstr("'no.msh' cannot be read"),
                                        HasSubstr("'no.fld' cannot be read")));
}

TEST(MakeModel, SaysThatTheModelIsMissing) {
  Case run;
  run.locations["model"] = "case.yaml:2";
  EXPECT_EQ(mistakes([&] { (void)made(run); }),
            "case.yaml:2: model: is missing; prisms, voxels, mesh or terrain is needed");
}

TEST(MakeModel, GivesTheSamePrismsWhicheverWayTheyAreDescribed) {
  ScratchFolder folder;
  Case run;
  VoxelsSpec voxels;
  voxels.easting = {0, 40, 4};
  voxels.northing = {0, 30, 3};
  voxels.upward = {-20, 0, 2};
  voxels.density = RandomProperty{{100, 3000}, 4};
  run.model = voxels;
  const auto as_voxels = made(run);
  MeshSpec mesh;
  mesh.easting = EdgesWidths{0, {10, 10, 10, 10}};
  mesh.northing = EdgesList{{0, 10, 20, 30}};
  mesh.upward = EdgesRandom{{10, 10}, 2, 0, 0.0, 1};
  mesh.density = RandomProperty{{100, 3000}, 4};
  run.model = mesh;
  const auto as_mesh = made(run);
  PrismBlock a, b;
  as_voxels->read({0, as_voxels->size()}, a);
  as_mesh->read({0, as_mesh->size()}, b);
  EXPECT_EQ(a.west, b.west);
  EXPECT_EQ(a.top, b.top);
  EXPECT_EQ(a.density, b.density);
  std::string text;
  for (std::size_t i = 0; i < 24; ++i) {
    for (const auto* column : {&a.west, &a.east, &a.south, &a.north, &a.bottom, &a.top})
      text += std::to_string((*column)[i]) + ",";
    text += std::to_string(a.density[i]) + "\n";
  }
  PrismsSpec prisms;
  prisms.file = folder.write("b.csv", text);
  run.model = prisms;
  const auto as_list = made(run);
  as_list->read({0, as_list->size()}, b);
  EXPECT_EQ(a.west, b.west);
  EXPECT_EQ(a.north, b.north);
  EXPECT_EQ(as_list->bounds().bottom, as_voxels->bounds().bottom);
  EXPECT_EQ(as_list->bounds().north, as_voxels->bounds().north);
}

}  // namespace
}  // namespace prismfield::test_make_model
