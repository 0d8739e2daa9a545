// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace prismfield::testing_samples {

/// True when the system's Python can draw.
inline bool can_draw() {
  static const bool answer = std::system("/usr/bin/python3 -c 'import matplotlib, h5py' >/dev/null 2>&1") == 0;
  return answer;
}

}  // namespace prismfield::testing_samples

#define PRISMFIELD_NEED_DRAWING() \
  if (!::prismfield::testing_samples::can_draw()) GTEST_SKIP() << "/usr/bin/python3 has no h5py, or no matplotlib"
