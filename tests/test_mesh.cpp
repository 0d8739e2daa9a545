// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/random.hpp"
#include "mesh_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismfield::test_mesh {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::made;

using Mesh = testing::MeshTest;

TEST_F(Mesh, TakesEdgesAsTheyAreWritten) {
  const PrismBlock p = read();
  ASSERT_EQ(p.size(), 3 * 2 * 2);
  EXPECT_THAT(p.west, ElementsAre(0, 100, 250, 0, 100, 250, 0, 100, 250, 0, 100, 250));
  EXPECT_THAT(p.east, ElementsAre(100, 250, 500, 100, 250, 500, 100, 250, 500, 100, 250, 500));
  EXPECT_THAT(p.south, ElementsAre(0, 0, 0, 100, 100, 100, 0, 0, 0, 100, 100, 100));
  EXPECT_THAT(p.north, ElementsAre(100, 100, 100, 300, 300, 300, 100, 100, 100, 300, 300, 300));
  EXPECT_THAT(p.bottom, ElementsAre(-30, -30, -30, -30, -30, -30, -15, -15, -15, -15, -15, -15));
  EXPECT_THAT(p.top, ElementsAre(-15, -15, -15, -15, -15, -15, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(p.density, Each(7));
  EXPECT_EQ(made(m_run, m_spec)->description(), "mesh 3 x 2 x 2, 12 prisms with density");
}

TEST_F(Mesh, TakesDensitiesByCell) {
  m_spec.density = RandomProperty{{100, 3000}, 7};
  const PrismBlock p = read();
  for (std::size_t c = 0; c < 12; ++c)
    EXPECT_EQ(p.density[c], random_uniform(100, 3000, 7, RandomStream::cell_density, c));
  m_spec.density = DensityFile{m_folder.write("d.txt", "1\n0\n3\n4\n5\n6\n7\n8\n9\n10\n0\n0\n"), "", 1};
  EXPECT_THAT(read().density, ElementsAre(1, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_THAT(read().west, ElementsAre(0, 250, 0, 100, 250, 0, 100, 250, 0));
}

TEST_F(Mesh, RefusesAMeshWithoutDensity) {
  m_spec.density = ConstantProperty{0};
  EXPECT_EQ(message(),
            "case.yaml:1: model.mesh: every cell has a density of 0; at least one needs a density, "
            "susceptibility or magnetization");
}

}  // namespace
}  // namespace prismfield::test_mesh
