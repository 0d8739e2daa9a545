// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "inversion/inverter.hpp"

namespace prismfield {

/// invert() in one execution space; defined in inverter_on_space.hpp and instantiated in one source file a space.
template <class ExecutionSpace>
[[nodiscard]] InversionOutcome invert_on(const InversionInput& input, const Communicator& communicator,
                                         InversionObserver& observer, const InversionState* resume);

}  // namespace prismfield
