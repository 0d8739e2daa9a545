// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/energy.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "base/human_text.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

std::optional<double> number_in(const fs::path& file) {
  std::ifstream stream(file);
  double value = 0;
  if (!(stream >> value)) return std::nullopt;
  return value;
}

}  // namespace

EnergyMeter::EnergyMeter(const fs::path& root) {
  std::error_code error;
  // a package a processor: what lies below one is part of it
  for (const auto& entry : fs::directory_iterator(root / "sys/class/powercap", error)) {
    const std::string name = entry.path().filename().string();
    const bool is_zone = name.starts_with("intel-rapl:") && std::count(name.begin(), name.end(), ':') == 1;
    std::string kind;
    if (!is_zone || !(std::ifstream(entry.path() / "name") >> kind) || !kind.starts_with("package")) continue;
    if (!number_in(entry.path() / "energy_uj")) continue;
    m_counters.push_back({entry.path() / "energy_uj", number_in(entry.path() / "max_energy_range_uj").value_or(0)});
  }
}

std::string EnergyMeter::description() const {
  const auto processors = static_cast<std::int64_t>(m_counters.size());
  std::string text = processors > 0 ? counted(processors, "processor") : "";
  if (m_nvml.energy_joules()) text += text.empty() ? "devices" : ", devices";
  return text;
}

void EnergyMeter::start() {
  for (Counter& counter : m_counters) {
    const std::optional<double> now = number_in(counter.file);
    counter.valid = now.has_value();
    counter.last = now.value_or(0);
    counter.sum = 0;
  }
  m_devices_at_start = m_nvml.energy_joules();
}

void EnergyMeter::look() {
  for (Counter& counter : m_counters) {
    const std::optional<double> now = number_in(counter.file);
    if (!now || (*now < counter.last && counter.range <= 0)) {
      counter.valid = false;
      continue;
    }
    counter.sum += *now >= counter.last ? *now - counter.last : *now + counter.range - counter.last;
    counter.last = *now;
  }
}

double EnergyMeter::joules() {
  look();
  std::optional<double> sum;
  for (const Counter& counter : m_counters) {
    if (counter.valid) sum = sum.value_or(0) + 1e-6 * counter.sum;
  }
  if (const std::optional<double> devices = m_nvml.energy_joules(); devices && m_devices_at_start) {
    sum = sum.value_or(0) + *devices - *m_devices_at_start;
  }
  return sum.value_or(not_known);
}

}  // namespace prismfield
