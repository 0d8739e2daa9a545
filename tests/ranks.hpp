// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/communicator.hpp>

namespace prismfield::testing {

/// The ranks of the test program, one without mpirun.
[[nodiscard]] const Communicator& ranks();

}  // namespace prismfield::testing
