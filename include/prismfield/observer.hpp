// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

namespace prismfield {

/// Receives the progress of a run between launches, on each rank by itself. Callers of forward() implement it.
class Observer {
public:
  virtual ~Observer() = default;
  /// Fraction and number of this rank's pairs of this run that are done. May throw Stopped, also on a single rank.
  virtual void progress(double done_fraction, std::int64_t pairs_done) = 0;
};

}  // namespace prismfield
