// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "engine/staged_prisms.hpp"
#include "kernel/host_tile.hpp"

namespace prismfield {

/// Points that one device thread works on: two side by side took longer.
inline constexpr int device_width = 1;

template <class T, int width>
requires(width == device_width) using DeviceNumber = T;

/// Nanoseconds of the steady clock.
inline std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// (slot, 2): when a launch's work on a slot began and ended
template <class Memory>
using SlotTimes = Kokkos::View<std::int64_t* [2], Kokkos::LayoutRight, Memory>;

/// Counts of pairs by form of a launch.
template <class A, class Memory>
KOKKOS_FUNCTION void add_counts(const kernel::LaunchData<A, Memory>& data, const kernel::FormCounts& counts) {
  for (int f = 0; f < n_forms; ++f) {
    if (counts.count[f] != 0) Kokkos::atomic_add(&data.pairs(f), counts.count[f]);
  }
}

/// Launches the kernels that add a block of prisms to the slots of a tile of points, and the reduction of the slots.
/// Instances are in launch.cpp.
template <class Space, class A>
class TileLauncher {
public:
  using Memory = typename Space::memory_space;
  /// Receives a slot that worked, with the begin and end of its work.
  using NoteBusy = std::function<void(std::int64_t slot, std::int64_t begin, std::int64_t end)>;

  explicit TileLauncher(const EngineSettings& settings);

  /// `one_shape`: of all prisms of the launch, null where they differ. On a host `note_busy` is called for every slot
  /// that worked, after which the launch is done; on a device it goes on when this returns.
  void launch(const Space& space, const kernel::LaunchData<A, Memory>& data,
              const kernel::PrismShapeIn<A, Memory>* one_shape, const NoteBusy& note_busy) const;

  /// Adds the slots in their order to the result, (field, padded point), and empties them.
  void reduce(const Space& space, const kernel::LaunchData<A, Memory>& data,
              const Kokkos::View<double**, Kokkos::LayoutRight, Memory>& result) const;

private:
  void launch_on_host(const Space& space, const kernel::LaunchData<A, Memory>& data) const
      requires(!is_device_space<Space>);
  template <FieldSet set>
  void launch_set(const Space& space, const kernel::LaunchData<A, Memory>& data,
                  const kernel::PrismShapeIn<A, Memory>* one_shape) const;
  template <FieldSet set, class Kernel, class Shapes>
  void launch_on_device(const Space& space, const char* name, const kernel::LaunchData<A, Memory>& data,
                        const Shapes& shapes) const;

  EngineSettings m_settings;
  /// on a host only
  SlotTimes<Memory> m_slot_times;
};

}  // namespace prismfield
