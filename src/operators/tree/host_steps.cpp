// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#define PRISMFIELD_HOST_LANES
#include "operators/tree/host_steps.hpp"

#include "operators/tree/far_steps.hpp"

namespace prismfield::fast {

using Numbers = kernel::HostLane<double, kernel::native_lanes<double>>;

int lanes_of_host() { return kernel::lanes_v<Numbers>; }
int children_of_host() { return ShiftLevel<Shift::moments>::children<Numbers>; }

namespace {
template <class Step>
void run_step(const FarData<Kokkos::HostSpace>& data, std::int64_t item) {
  constexpr int n = room_numbers<Step, Numbers>(max_degree, true);
  alignas(64) double room[n];
  Step::template run<Numbers>(Alone(), data, item, Room<Numbers>{room});
}
}  // namespace

void step_on_host(FarStep step, const FarData<Kokkos::HostSpace>& data, std::int64_t item) {
  with_step(step, [&](auto of) { run_step<decltype(of)>(data, item); });
}

}  // namespace prismfield::fast
