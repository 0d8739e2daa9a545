// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "made_model.hpp"
#include "scratch_folder.hpp"

namespace prismfield::testing {

/// Prisms of a file; files named in messages are told without their folder.
class PrismsTest : public ::testing::Test {
protected:
  PrismsTest() {
    m_run.locations["model.prisms.file"] = "case.yaml:4";
    m_run.locations["model.prisms.group"] = "case.yaml:5";
    m_run.locations["model.prisms.columns"] = "case.yaml:6";
  }
  std::unique_ptr<MadeModel> make(std::string_view text) {
    m_spec.file = m_folder.write("b.csv", text);
    return made(m_run, m_spec);
  }
  std::string message() {
    return m_folder.removed_from(mistakes([&] { (void)made(m_run, m_spec); }));
  }
  std::string message(std::string_view text) {
    m_spec.file = m_folder.write("b.csv", text);
    return message();
  }

  ScratchFolder m_folder;
  Case m_run;
  PrismsSpec m_spec;
};

/// The two prisms that most of these tests read.
inline void expect_two(const PrismBlock& p) {
  EXPECT_THAT(p.west, ::testing::ElementsAre(0, 10));
  EXPECT_THAT(p.east, ::testing::ElementsAre(10, 30));
  EXPECT_THAT(p.south, ::testing::ElementsAre(1, 2));
  EXPECT_THAT(p.north, ::testing::ElementsAre(5, 6));
  EXPECT_THAT(p.bottom, ::testing::ElementsAre(-9, -8));
  EXPECT_THAT(p.top, ::testing::ElementsAre(-7, -1));
  EXPECT_THAT(p.density, ::testing::ElementsAre(300, -200));
}

}  // namespace prismfield::testing
