// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#define PRISMFIELD_HOST_LANES
#include "kernel/multiply_adds.hpp"

namespace prismfield::kernel {

template <class T>
T multiply_adds_on_host(std::int64_t rounds, T start) {
  return multiply_adds<HostLane<T, native_lanes<T>>>(rounds, start);
}
template double multiply_adds_on_host(std::int64_t rounds, double start);
template float multiply_adds_on_host(std::int64_t rounds, float start);

template <class T>
int host_lanes_of() {
  return native_lanes<T>;
}
template int host_lanes_of<double>();
template int host_lanes_of<float>();

}  // namespace prismfield::kernel
