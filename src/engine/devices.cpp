// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/devices.hpp"

#include <Kokkos_Core.hpp>
#include <cstring>

#include <prismfield/error.hpp>

namespace prismfield {
namespace {

// The few calls to a vendor's runtime, under one set of names.
#if defined(KOKKOS_ENABLE_CUDA)
using Properties = cudaDeviceProp;
constexpr const char* vendor = "CUDA";
bool ask_count(int& n) { return cudaGetDeviceCount(&n) == cudaSuccess; }
bool ask_properties(int device, Properties& p) { return cudaGetDeviceProperties(&p, device) == cudaSuccess; }
bool ask_current(int& device) { return cudaGetDevice(&device) == cudaSuccess; }
bool ask_free_memory(std::size_t& free) {
  std::size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess;
}
std::int64_t key_of(const Properties& p, int) {
  std::int64_t halves[2] = {0, 0};
  static_assert(sizeof(halves) == sizeof(p.uuid));
  std::memcpy(halves, &p.uuid, sizeof(halves));
  return (halves[0] ^ halves[1]) | 1;
}
#elif defined(KOKKOS_ENABLE_HIP)
using Properties = hipDeviceProp_t;
constexpr const char* vendor = "HIP";
bool ask_count(int& n) { return hipGetDeviceCount(&n) == hipSuccess; }
bool ask_properties(int device, Properties& p) { return hipGetDeviceProperties(&p, device) == hipSuccess; }
bool ask_current(int& device) { return hipGetDevice(&device) == hipSuccess; }
bool ask_free_memory(std::size_t& free) {
  std::size_t total = 0;
  return hipMemGetInfo(&free, &total) == hipSuccess;
}
std::int64_t key_of(const Properties&, int device) {
  // its place on the bus: the number that ranks of one node share
  char place[32] = "";
  if (hipDeviceGetPCIBusId(place, sizeof(place), device) != hipSuccess) return device + 1;
  std::int64_t key = 0;
  for (const char* c = place; *c != '\0'; ++c) key = 31 * key + *c;
  return key | 1;
}
#else
struct Properties {
  const char* name = "";
};
constexpr const char* vendor = "";
bool ask_count(int&) { return false; }
bool ask_properties(int, Properties&) { return false; }
bool ask_current(int&) { return false; }
bool ask_free_memory(std::size_t&) { return false; }
std::int64_t key_of(const Properties&, int) { return 0; }
#endif

}  // namespace

int device_count() {
  int devices = 0;
  return ask_count(devices) ? devices : 0;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  const int n = device_count();
  for (int d = 0; d < n; ++d) {
    Properties device{};
    if (ask_properties(d, device)) names.emplace_back(device.name);
  }
  return names;
}

std::int64_t chosen_device_key() {
  int current = 0;
  Properties device{};
  return ask_current(current) && ask_properties(current, device) ? key_of(device, current) : 0;
}

ChosenDevice chosen_device() {
  int current = 0;
  Properties device{};
  std::size_t free = 0;
  if (!ask_current(current) || !ask_properties(current, device) || !ask_free_memory(free)) {
    throw RunError("cannot ask the " + std::string(vendor) + " device for its free memory");
  }
  return {device.name, static_cast<std::int64_t>(free)};
}

}  // namespace prismfield
