// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/invert.hpp>

namespace prismfield {

/// invert() in one execution space, of an input without errors; instantiated in one source file a space.
template <class ExecutionSpace>
[[nodiscard]] InversionOutcome invert_on(const ExecutionSpace& space, const InversionInput& input,
                                         const Communicator& communicator, InversionObserver& observer,
                                         const InversionState* resume);

/// Throws InputError, by key, with every error of what an inversion is made from. A case's inputs have none: their
/// reader names files and lines.
void check_input(const InversionInput& input);

}  // namespace prismfield
