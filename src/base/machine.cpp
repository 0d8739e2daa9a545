// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/machine.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>

#include "base/human_text.hpp"
#include "base/memory_limits.hpp"

namespace prismfield {
namespace {

/// The cores of this thread from the system: bits, and the number of bytes written. It exceeds the mask of any system,
/// which refuses smaller ones.
struct CoreMask {
  std::array<unsigned char, std::size_t{1} << 14> bits{};
  long bytes = 0;

  __attribute__((no_sanitize("address", "thread"))) void ask() noexcept {
    bytes = ::syscall(SYS_sched_getaffinity, 0, sizeof(bits), &bits);
  }
};

/// As remember_usable_cores() found it; no bytes before.
CoreMask remembered;

}  // namespace

std::vector<int> usable_cores(std::span<const unsigned char> mask) {
  std::vector<int> cores;
  for (std::size_t core = 0; core < 8 * mask.size(); ++core) {
    if ((mask[core / 8] >> core % 8 & 1) != 0) cores.push_back(static_cast<int>(core));
  }
  return cores.empty() ? std::vector<int>{0} : cores;
}

std::vector<int> usable_cores() {
  CoreMask mask = remembered;
  if (mask.bytes <= 0) mask.ask();
  return usable_cores({mask.bits.data(), static_cast<std::size_t>(std::max(mask.bytes, 0L))});
}

__attribute__((no_sanitize("address", "thread"))) void remember_usable_cores() noexcept { remembered.ask(); }

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

void ask_for_huge_pages(void* memory, std::size_t bytes) noexcept {
#if defined(MADV_HUGEPAGE)
  const long page_size = ::sysconf(_SC_PAGESIZE);
  if (page_size <= 0) return;
  const auto page = static_cast<std::uintptr_t>(page_size);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t begin = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + bytes) / page * page;
  if (begin >= end) return;
  // refused by a kernel without huge pages
  static_cast<void>(::madvise(static_cast<char*>(memory) + (begin - address), end - begin, MADV_HUGEPAGE));
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
}

void return_freed_memory() {
#ifdef M_MMAP_THRESHOLD
  // set explicitly, these values stay fixed; arrays of blocks, freed by the thousand, are smaller
  ::mallopt(M_MMAP_THRESHOLD, 4 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}

}  // namespace prismfield
