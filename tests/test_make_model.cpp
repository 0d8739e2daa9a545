// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "made_model.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismfield {
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
}  // namespace prismfield
