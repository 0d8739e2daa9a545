// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace prismfield {

class Communicator;

/// The ranks that give another value than rank 0, rising, on every rank. Collective.
[[nodiscard]] std::vector<int> ranks_unlike_root(std::uint64_t value, const Communicator& communicator);

/// "rank 3", "ranks 1 and 2", "ranks 1, 2, 3 and 17 more"; at least one.
[[nodiscard]] std::string ranks_text(const std::vector<int>& ranks);

}  // namespace prismfield
