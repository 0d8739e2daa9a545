// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace prismfield {

// The calls as NVIDIA documents them (NVML API Reference): 0 is success, a device is a handle.
struct Nvml::Library {
  using Device = void*;
  struct Memory {
    unsigned long long total, free, used;
  };
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device)(unsigned, Device*) = nullptr;
  int (*driver)(char*, unsigned) = nullptr;
  int (*device_name)(Device, char*, unsigned) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*most_clock)(Device, int, unsigned*) = nullptr;
  int (*power_limit)(Device, unsigned*) = nullptr;
  int (*energy)(Device, unsigned long long*) = nullptr;

  void* handle = nullptr;
  bool ready = false;

  Library() : handle(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) return;
    const auto find = [&](const char* name, auto& call) {
      call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(::dlsym(handle, name));
    };
    find("nvmlInit_v2", init);
    find("nvmlShutdown", shutdown);
    find("nvmlDeviceGetCount_v2", device_count);
    find("nvmlDeviceGetHandleByIndex_v2", device);
    find("nvmlSystemGetDriverVersion", driver);
    find("nvmlDeviceGetName", device_name);
    find("nvmlDeviceGetMemoryInfo", memory);
    find("nvmlDeviceGetClockInfo", clock);
    find("nvmlDeviceGetMaxClockInfo", most_clock);
    find("nvmlDeviceGetEnforcedPowerLimit", power_limit);
    find("nvmlDeviceGetTotalEnergyConsumption", energy);
    ready = init != nullptr && shutdown != nullptr && device_count != nullptr && device != nullptr && init() == 0;
  }
  ~Library() {
    if (ready) shutdown();
    if (handle != nullptr) ::dlclose(handle);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] std::vector<Device> all_devices() const {
    std::vector<Device> found;
    unsigned n = 0;
    if (!ready || device_count(&n) != 0) return found;
    for (unsigned i = 0; i < n; ++i) {
      if (Device one = nullptr; device(i, &one) == 0) found.push_back(one);
    }
    return found;
  }
};

Nvml::Nvml() : m_library(std::make_unique<Library>()) {}
Nvml::~Nvml() = default;

std::vector<DeviceRecord> Nvml::devices() const {
  const Library& nvml = *m_library;
  constexpr int clock_of_sm = 1, clock_of_memory = 2;
  std::vector<DeviceRecord> records;
  for (const Library::Device device : nvml.all_devices()) {
    DeviceRecord record;
    std::array<char, 128> text{};
    if (nvml.device_name != nullptr && nvml.device_name(device, text.data(), text.size() - 1) == 0) {
      record.name = text.data();
    }
    text.fill('\0');
    if (nvml.driver != nullptr && nvml.driver(text.data(), text.size() - 1) == 0) record.driver = text.data();
    Library::Memory memory{};
    if (nvml.memory != nullptr && nvml.memory(device, &memory) == 0) {
      record.memory_bytes = static_cast<std::int64_t>(memory.total);
    }
    unsigned value = 0;
    if (nvml.clock != nullptr && nvml.clock(device, clock_of_sm, &value) == 0) record.clock = value;
    if (nvml.most_clock != nullptr && nvml.most_clock(device, clock_of_sm, &value) == 0) record.most_clock = value;
    if (nvml.clock != nullptr && nvml.clock(device, clock_of_memory, &value) == 0) record.memory_clock = value;
    if (nvml.power_limit != nullptr && nvml.power_limit(device, &value) == 0) {
      record.power_limit_watts = 1e-3 * value;
    }
    records.push_back(std::move(record));
  }
  return records;
}

std::optional<double> Nvml::energy_joules() const {
  const Library& nvml = *m_library;
  if (nvml.energy == nullptr) return std::nullopt;
  std::optional<double> sum;
  for (const Library::Device device : nvml.all_devices()) {
    unsigned long long millijoules = 0;
    if (nvml.energy(device, &millijoules) == 0) sum = sum.value_or(0) + 1e-3 * static_cast<double>(millijoules);
  }
  return sum;
}

}  // namespace prismfield
