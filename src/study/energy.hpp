// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "study/nvml.hpp"

namespace prismfield {

/// Energy that processors (Linux' powercap, RAPL) and devices (NVML) take, all of the machine's, where it counts it and
/// lets this user read it.
class EnergyMeter {
public:
  /// `root`: the folder that holds sys
  explicit EnergyMeter(const std::filesystem::path& root = "/");

  /// What is counted: "2 processors, devices", "" for nothing.
  [[nodiscard]] std::string description() const;
  void start();
  /// To be called now and then while a run goes on: counters begin anew after some minutes.
  void look();
  /// Joules since start(), NaN where nothing is counted.
  [[nodiscard]] double joules();

private:
  struct Counter {
    std::filesystem::path file;
    /// at which it begins anew, 0: not known
    double range = 0;
    double last = 0;
    double sum = 0;
    bool valid = false;
  };

  std::vector<Counter> m_counters;
  Nvml m_nvml;
  std::optional<double> m_devices_at_start;
};

}  // namespace prismfield
