// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <mpi.h>

#include <prismfield/communicator.hpp>

namespace prismfield {

/// The ranks of one's own MPI communicator, of which a duplicate is made. MPI must run, and must go on until the result
/// is gone; whoever started it ends it. Throws RunError otherwise. Collective over `ranks`.
[[nodiscard]] Communicator make_communicator(MPI_Comm ranks);

}  // namespace prismfield
