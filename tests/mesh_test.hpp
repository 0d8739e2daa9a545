// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "made_model.hpp"
#include "scratch_folder.hpp"

namespace prismfield::testing {

/// A mesh of 3 x 2 x 2 cells; files named in messages are told without their folder.
class MeshTest : public ::testing::Test {
protected:
  MeshTest() {
    for (const char* key : {"model.mesh", "model.mesh.easting.file", "model.mesh.ubc.mesh", "model.mesh.ubc.density"}) {
      m_run.locations[key] = "case.yaml:" + std::to_string(++m_lines);
    }
    m_spec.easting = EdgesList{{0, 100, 250, 500}};
    m_spec.northing = EdgesWidths{0, {100, 200}};
    m_spec.upward = Axis{-30, 0, 2};
    m_spec.density = ConstantProperty{7};
  }
  PrismBlock read() { return read_all(*made(m_run, m_spec)); }
  std::string message() {
    return m_folder.removed_from(mistakes([&] { (void)made(m_run, m_spec); }));
  }

  ScratchFolder m_folder;
  Case m_run;
  MeshSpec m_spec;
  int m_lines = 0;
};

}  // namespace prismfield::testing
