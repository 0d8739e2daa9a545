// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/machine.hpp"

#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/memory_limits.hpp"

namespace prismfield {

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
  return usable_cores([](std::size_t bytes, void* mask) {
    return ::sched_getaffinity(0, bytes, static_cast<cpu_set_t*>(mask)) == 0 ? 0 : errno;
  });
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
  // its own value at the start; named, it stays
  ::mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

}  // namespace prismfield
