// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <prismfield/communicator.hpp>

#include "case/case.hpp"
#include "case/make_points.hpp"
#include "scratch_folder.hpp"

namespace prismfield::testing {

/// Points of a case; files named in messages are told without their folder.
class PointsTest : public ::testing::Test {
protected:
  PointsTest() { m_run.locations["observations"] = "case.yaml:9"; }

  Points make() const {
    m_notes.clear();
    return make_points(m_run, {0, 1000, 2000, 5000, -800, -50}, Communicator(), m_notes);
  }
  std::string message() const {
    return m_folder.removed_from(mistakes([&] { (void)make(); }));
  }

  ScratchFolder m_folder;
  Case m_run;
  /// of the last make()
  mutable std::vector<std::string> m_notes;
};

}  // namespace prismfield::testing
