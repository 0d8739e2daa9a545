// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <vector>

namespace prismfield {

class Communicator;

/// Every rank's list for this one, by ranks; `lists`: this rank's for each, its own included. Collective. Throws
/// AgreedFailure on every rank when one has no memory for what it gets.
[[nodiscard]] std::vector<std::vector<double>> exchange_lists(std::vector<std::vector<double>> lists,
                                                              const Communicator& communicator);

}  // namespace prismfield
