// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "study/run_row.hpp"

namespace prismfield {

/// A device as its driver knows it; -1 and NaN where it does not tell.
struct DeviceRecord {
  std::string name, driver;
  std::int64_t memory_bytes = -1;
  /// MHz: at present, and the most
  double clock = not_known, most_clock = not_known, memory_clock = not_known;
  double power_limit_watts = not_known;
};

/// The management library of NVIDIA's driver, where this machine has one: it is looked for when the program runs.
class Nvml {
public:
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] std::vector<DeviceRecord> devices() const;
  /// Energy that all devices have taken since their driver was loaded, joules; nothing where they do not count it.
  [[nodiscard]] std::optional<double> energy_joules() const;

private:
  struct Library;
  std::unique_ptr<Library> m_library;
};

}  // namespace prismfield
