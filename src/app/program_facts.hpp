// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <prismfield/request.hpp>

#include "base/program_facts.hpp"

namespace prismfield {

/// What this program knows of itself and its machine; needs a Runtime for devices and threads.
[[nodiscard]] ProgramFacts program_facts(const std::vector<std::string>& kokkos_options = {});

/// The space that a case asks for, with the first device where it computes on one.
[[nodiscard]] MachineUse machine_use(const ProgramFacts& facts, Space space, std::int64_t ranks);

}  // namespace prismfield
