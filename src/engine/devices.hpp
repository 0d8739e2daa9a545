// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace prismfield {

/// Devices that this process may use; 0 in a build without a space of devices.
[[nodiscard]] int device_count();

/// Their names.
[[nodiscard]] std::vector<std::string> device_names();

/// The device that this process computes on, a number that no other device has, even where ranks see the same devices
/// under different numbers; 0 without one. Kokkos must run.
[[nodiscard]] std::int64_t chosen_device_key();

/// The device that this process computes on.
struct ChosenDevice {
  std::string name;
  /// bytes that are free now
  std::int64_t free_memory = 0;
};

/// Throws RunError without one, or when it does not answer.
[[nodiscard]] ChosenDevice chosen_device();

}  // namespace prismfield
