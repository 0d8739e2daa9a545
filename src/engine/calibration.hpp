// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>

#include <prismfield/request.hpp>

namespace prismfield {

/// What small kernels reach in a space, for rooflines.
struct Calibration {
  /// name of the device, "host"
  std::string device;
  /// threads that took part; 1 for a device
  std::int64_t threads = 1;
  /// operations per second, a fused multiply-add counting two
  double peak_double = 0, peak_single = 0;
  /// bytes per second of a = b + s c (McCalpin's triad), 24 an element, in memory beyond all caches; NaN where there is
  /// no room for that
  double bandwidth = 0;
};

/// Measures a space, the best of several repeats each, about a second in all. Kokkos must run. Throws InputError for a
/// space that was not built, RunError where a device does not answer.
[[nodiscard]] Calibration calibrate(Space space);

}  // namespace prismfield
