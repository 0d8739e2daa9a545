// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <mpi.h>

#include <prismfield/communicator.hpp>

namespace prismfield {

/// The ranks of a duplicate of the caller's MPI communicator. The caller starts MPI before and ends it after the result
/// is destroyed. Throws RunError where MPI does not run. Collective over `ranks`.
[[nodiscard]] Communicator make_communicator(MPI_Comm ranks);

}  // namespace prismfield
