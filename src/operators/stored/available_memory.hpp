// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/memory_limits.hpp"
#include "engine/devices.hpp"
#include "engine/staged_prisms.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {

/// Bytes of the space's memory that this rank may take. Collective.
template <class Space>
std::int64_t available_memory(const Communicator& communicator) {
  if constexpr (is_device_space<Space>) {
    const auto keys = gather_everywhere(communicator, chosen_device_key());
    const auto sharing = std::count(keys.begin(), keys.end(), chosen_device_key());
    return chosen_device().free_memory / std::max<std::int64_t>(sharing, 1);
  } else {
    return share_of(memory_limits(), communicator.local_size());
  }
}

}  // namespace prismfield
