// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "mesh_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismfield::test_edges_file {
namespace {

using ::testing::ElementsAre;

using EdgesOfAFile = testing::MeshTest;

TEST_F(EdgesOfAFile, TakesEdgesFromAFile) {
  m_spec.easting = EdgesFile{m_folder.write("e.txt", "# west to east\n0\n100, 250 # two\r\n500")};
  EXPECT_THAT(read().east, ElementsAre(100, 250, 500, 100, 250, 500, 100, 250, 500, 100, 250, 500));
}

TEST_F(EdgesOfAFile, NamesTheLineOfABadEdge) {
  m_spec.easting = EdgesFile{m_folder.write("e.txt", "0 1 2\n\n3 2.5\n4\n")};
  EXPECT_EQ(message(), "e.txt:3: easting: edge 4, 2.5, is not above the one before, 3; edges must increase");
  m_spec.easting = EdgesFile{m_folder.write("e.txt", "0\n1\nx\n1e999\n")};
  EXPECT_EQ(message(), "e.txt:3: easting: 'x' is not a number\ne.txt:4: easting: '1e999' is too large");
  m_spec.easting = EdgesFile{m_folder.write("e.txt", "# edges in km\n0\n1\n")};
  EXPECT_EQ(message(), "e.txt:1: easting: the comment has the unit km; metres are needed, in the numbers and there");
  m_spec.easting = EdgesFile{m_folder.write("e.txt", "0\n")};
  EXPECT_EQ(message(), "e.txt: easting: 1 edge; two or more are needed");
  m_spec.easting = EdgesFile{m_folder.write("e.txt", "")};
  EXPECT_EQ(message(), "e.txt: easting: 0 edges; two or more are needed");
  m_spec.easting = EdgesFile{m_folder / "none.txt"};
  EXPECT_EQ(message(), "case.yaml:2: model.mesh.easting.file: 'none.txt' cannot be read: there is no such file");
}

}  // namespace
}  // namespace prismfield::test_edges_file
