// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/machine.hpp"

#include <malloc.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/human_text.hpp"
#include "base/memory_limits.hpp"

namespace prismfield {
namespace {

/// As remember_usable_cores() found it: bytes of the mask that the system wrote, none before.
std::array<unsigned char, std::size_t{1} << 14> remembered_mask{};
long remembered_bytes = 0;

}  // namespace

std::vector<int> usable_cores(const AffinityQuery& query) {
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  constexpr int most = 1 << 20;
  // The system refuses a mask smaller than its own and does not say how large that is.
  for (int size = CPU_SETSIZE; size <= most; size *= 2) {
    const std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(size));
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    CPU_ZERO_S(bytes, set.get());
    const int error = query(bytes, set.get());
    if (error == EINVAL) continue;
    if (error != 0) break;
    std::vector<int> cores;
    for (int core = 0; core < size; ++core) {
      if (CPU_ISSET_S(static_cast<std::size_t>(core), bytes, set.get())) cores.push_back(core);
    }
    if (!cores.empty()) return cores;
    break;
  }
  return {0};
}

std::vector<int> usable_cores() {
  if (remembered_bytes > 0) {
    return usable_cores([](std::size_t bytes, void* mask) {
      if (bytes < static_cast<std::size_t>(remembered_bytes)) return EINVAL;
      std::memcpy(mask, remembered_mask.data(), static_cast<std::size_t>(remembered_bytes));
      return 0;
    });
  }
  return usable_cores([](std::size_t bytes, void* mask) {
    return ::sched_getaffinity(0, bytes, static_cast<cpu_set_t*>(mask)) == 0 ? 0 : errno;
  });
}

__attribute__((no_sanitize("address", "thread"))) void remember_usable_cores() noexcept {
  remembered_bytes = ::syscall(SYS_sched_getaffinity, 0, sizeof(remembered_mask), &remembered_mask);
}

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 ? shown(names.nodename) : "";
}

std::string processor_name(const std::filesystem::path& root) {
  const std::string name = value_in(root / "proc/cpuinfo", "model name", ':');
  utsname names{};
  return name.empty() && ::uname(&names) == 0 ? names.machine : name;
}

std::string value_in(const std::filesystem::path& file, const std::string& name, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    std::string key = line.substr(0, at);
    while (!key.empty() && (key.back() == ' ' || key.back() == '\t')) key.pop_back();
    if (key != name) continue;
    std::string value = line.substr(at + 1);
    value.erase(0, value.find_first_not_of(" \t\""));
    while (!value.empty() && (value.back() == '"' || value.back() == ' ')) value.pop_back();
    return shown(value);
  }
  return "";
}

std::int64_t physical_memory() {
  const auto pages = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES));
  const auto bytes = static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
  return std::max<std::int64_t>(pages, 0) * std::max<std::int64_t>(bytes, 0);
}

std::int64_t available_memory() { return std::min(share_of(memory_limits(), 1), available_memory_of_machine()); }

std::int64_t available_memory_of_machine() {
  const std::vector<MemoryLimit> limits = memory_limits("/", {});
  return limits.empty() ? physical_memory() / 2 : share_of(limits, 1);
}

void return_freed_memory() {
#ifdef M_MMAP_THRESHOLD
  // named, they stay; arrays of blocks, which come and go by thousands, are smaller
  ::mallopt(M_MMAP_THRESHOLD, 4 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}

}  // namespace prismfield
