// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

namespace prismfield {

/// Told between launches how far a run is, on each rank by itself.
class Observer {
public:
  virtual ~Observer() = default;
  /// Fraction of this rank's pairs of this run that are done, and their number; may throw Stopped, also on one rank.
  virtual void progress(double done_fraction, std::int64_t pairs_done) = 0;
};

}  // namespace prismfield
