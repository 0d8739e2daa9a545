// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

#include "engine/staged_prisms.hpp"
#include "operators/tree/far_steps.hpp"
#include "operators/tree/host_steps.hpp"

namespace prismfield::fast {

/// A step on a host, in lanes.
struct HostStep {
  FarStep step;
  FarData<Kokkos::HostSpace> data;
  void operator()(std::int64_t item) const { step_on_host(step, data, item); }
};

/// Threads of a device's team: they share the terms of one expansion.
inline constexpr int team_threads = 64;
/// Bytes of a device's memory of a team that stay beside the cache; larger rooms are in its own memory.
inline constexpr std::size_t most_fast_bytes = 40 * 1024;

/// A step on a device, an item a team.
template <class Step, class Space>
struct DeviceStep {
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<team_threads, 1>>;
  using Member = typename Policy::member_type;
  FarData<typename Space::memory_space> data;
  int level;

  KOKKOS_FUNCTION static std::size_t bytes(const FarData<typename Space::memory_space>& data) {
    return room_numbers<Step, double>(data.degree, data.prisms.are_magnetised()) * sizeof(double);
  }
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    auto* const room =
        static_cast<double*>(team.team_scratch(level).get_shmem(static_cast<std::ptrdiff_t>(bytes(data))));
    Step::template run<double>(InTeam<Member>{team}, data, team.league_rank(), Room<double>{room});
  }
};

/// Runs the items 0 ... n - 1 of a step.
template <class Space>
void launch_step(const Space& space, FarStep step, const FarData<typename Space::memory_space>& data, std::int64_t n) {
  if (n == 0) return;
  if constexpr (is_device_space<Space>) {
    with_step(step, [&](auto of) {
      using Functor = DeviceStep<decltype(of), Space>;
      const std::size_t bytes = Functor::bytes(data);
      const int level = bytes <= most_fast_bytes ? 0 : 1;
      typename Functor::Policy policy(space, static_cast<int>(n), team_threads);
      policy.set_scratch_size(level, Kokkos::PerTeam(static_cast<int>(bytes) + 64));
      Kokkos::parallel_for(label_of(step), policy, Functor{data, level});
    });
  } else {
    Kokkos::parallel_for(label_of(step),
                         Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>(
                             space, 0, n, Kokkos::ChunkSize(4)),
                         HostStep{step, data});
  }
}

/// Children of one item of a shift.
template <class Space>
[[nodiscard]] int children_of_item() {
  if constexpr (is_device_space<Space>) {
    return ShiftLevel<Shift::moments>::children<double>;
  } else {
    return children_of_host();
  }
}

/// Leaves of one item of a step of leaves.
template <class Space>
[[nodiscard]] int leaves_of_item(FarStep step) {
  return step != FarStep::moments_of_prisms || is_device_space<Space> ? 1 : lanes_of_host();
}

/// Number of points computed side by side; leaves are padded to a multiple of it.
template <class Space>
[[nodiscard]] int lanes_of_space() {
  if constexpr (is_device_space<Space>) {
    return 1;
  } else {
    return lanes_of_host();
  }
}

}  // namespace prismfield::fast
