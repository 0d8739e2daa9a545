// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/prisms.hpp>

#include "scratch_folder.hpp"

namespace prismfield::test_prism_list {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::lines_in;
using testing::mistakes;

class PrismLists : public ::testing::Test {
protected:
  [[nodiscard]] std::string message() const {
    return mistakes([&] { const PrismList list(m_prisms.columns()); });
  }

  PrismBlock m_prisms = {{0, 10, -5}, {10, 30, 1}, {1, 2, 3}, {5, 6, 7}, {-9, -8, -7}, {-7, -1, -6}, {300, -200, 0}};
};

TEST_F(PrismLists, GiveTheCallersOwnNumbers) {
  const PrismList list(m_prisms.columns());
  EXPECT_EQ(list.size(), 3);
  PrismBlock block;
  list.read({1, 3}, block);
  EXPECT_THAT(block.west, ElementsAre(10, -5));
  EXPECT_THAT(block.east, ElementsAre(30, 1));
  EXPECT_THAT(block.south, ElementsAre(2, 3));
  EXPECT_THAT(block.north, ElementsAre(6, 7));
  EXPECT_THAT(block.bottom, ElementsAre(-8, -7));
  EXPECT_THAT(block.top, ElementsAre(-1, -6));
  EXPECT_THAT(block.density, ElementsAre(-200, 0));
  // nothing was copied
  m_prisms.density[1] = 7;
  list.read({1, 2}, block);
  EXPECT_THAT(block.density, ElementsAre(7));
  EXPECT_THROW(list.read({2, 4}, block), RunError);
}

TEST_F(PrismLists, KnowWhetherAllHaveOneShape) {
  EXPECT_FALSE(PrismList(m_prisms.columns()).uniform_shape());
  for (std::size_t i = 0; i < m_prisms.west.size(); ++i) {
    m_prisms.east[i] = m_prisms.west[i] + 0.1;
    m_prisms.north[i] = m_prisms.south[i] + 3;
    m_prisms.top[i] = m_prisms.bottom[i] + 2;
  }
  // coordinates are rounded
  EXPECT_TRUE(PrismList(m_prisms.columns()).uniform_shape());
  m_prisms.top[1] += 1e-6;
  EXPECT_FALSE(PrismList(m_prisms.columns()).uniform_shape());
}

TEST_F(PrismLists, AreBlocksOfSeveralMagnetisations) {
  const PrismList list(m_prisms.columns());
  const MagnetizedPrisms blocks(list, {{1, 0, 0}, {0, 2, 5}});
  EXPECT_EQ(blocks.size(), 6);
  PrismBlock block;
  blocks.read({1, 5}, block);
  EXPECT_THAT(block.west, ElementsAre(10, -5, 0, 10));
  EXPECT_THAT(block.top, ElementsAre(-1, -6, -7, -1));
  EXPECT_THAT(block.density, ElementsAre(-200, 0, 300, -200));
  EXPECT_THAT(block.magnetization[0], ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(block.magnetization[1], ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(block.magnetization[2], ElementsAre(0, 0, 5, 5));
  blocks.read({4, 4}, block);
  EXPECT_EQ(block.size(), 0);
  EXPECT_THROW(blocks.read({5, 7}, block), RunError);
  const MagnetizedPrisms as_they_are(list, std::vector<std::array<double, 3>>());
  EXPECT_EQ(as_they_are.size(), 3);
  EXPECT_FALSE(as_they_are.is_magnetized());
}

TEST_F(PrismLists, TakeAMagnetisationAPrism) {
  const PrismList list(m_prisms.columns());
  const MagnetizedPrisms magnets(list, std::array<std::vector<double>, 3>{{{1, 2, 3}, {0, 0, 0}, {4, 5, 6}}});
  EXPECT_EQ(magnets.size(), 3);
  EXPECT_TRUE(magnets.is_magnetized());
  PrismBlock block;
  magnets.read({1, 3}, block);
  EXPECT_THAT(block.west, ElementsAre(10, -5));
  EXPECT_THAT(block.magnetization[0], ElementsAre(2, 3));
  EXPECT_THAT(block.magnetization[2], ElementsAre(5, 6));
  const auto message_of = [&](const std::vector<double>& upward) {
    const std::vector<double> zeros(3);
    return mistakes([&] { const MagnetizedPrisms no(list, std::array{zeros, zeros, upward}); });
  };
  EXPECT_EQ(message_of({1, 2}), "magnetization_upward: has 2 values for 3 prisms");
  EXPECT_EQ(message_of({1, std::numeric_limits<double>::infinity(), 2}), "magnetization_upward: is NaN or infinite");
  EXPECT_THAT(message_of({1, 2, -2e12}), HasSubstr("magnetization_upward: is more than 1e+12 A/m"));
}

TEST_F(PrismLists, KnowTheBoxAroundThem) {
  const Bounds bounds = PrismList(m_prisms.columns()).bounds();
  EXPECT_EQ(bounds.west, -5);
  EXPECT_EQ(bounds.east, 30);
  EXPECT_EQ(bounds.south, 1);
  EXPECT_EQ(bounds.north, 7);
  EXPECT_EQ(bounds.bottom, -9);
  EXPECT_EQ(bounds.top, -1);
  const Bounds none = PrismList(PrismColumns{}).bounds();
  EXPECT_EQ(none.west, 0);
  EXPECT_EQ(none.top, 0);
}

TEST_F(PrismLists, NameColumnsOfAnotherLength) {
  m_prisms.top.pop_back();
  m_prisms.density.push_back(1);
  EXPECT_EQ(message(),
            "top: has 2 values, west has 3; one a prism is needed\n"
            "density: has 4 values, west has 3; one a prism is needed");
}

TEST_F(PrismLists, NamePrismsThatAreNone) {
  m_prisms.north[0] = 1;
  m_prisms.bottom[1] = 4;
  m_prisms.density[2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message(),
            "prism 0: south: 1 is not below north 1\n"
            "prism 1: bottom: 4 is not below top -1\n"
            "prism 2: density: is NaN or infinite");
}

TEST_F(PrismLists, NameNumbersWhoseResultsWouldNotBeFinite) {
  m_prisms.east[0] = 1e38;
  m_prisms.density[1] = -1e20;
  m_prisms.east[2] = m_prisms.west[2] + 1e-7;
  m_prisms.north[2] = m_prisms.south[2] + 1e-7;
  m_prisms.top[2] = m_prisms.bottom[2] + 1e-7;
  EXPECT_EQ(message(),
            "prism 0: east: lies more than 1e+12 m from 0, the limit up to which results are finite\n"
            "prism 1: density: is more than 1e+12 kg/m3, the limit up to which results are finite\n"
            "prism 2: all edges are shorter than 1e-06 m, the limit down to which results are finite");
}

TEST_F(PrismLists, EndAListOfMistakesInAPage) {
  const std::vector<double> same(1000, 1);
  const std::string text = mistakes([&] { const PrismList list({same, same, same, same, same, same, same}); });
  EXPECT_LT(lines_in(text), 30U);
  EXPECT_THAT(text, AllOf(HasSubstr("prism 0: west: 1 is not below east 1"), HasSubstr("inverted or flat prisms")));
}

}  // namespace
}  // namespace prismfield::test_prism_list
