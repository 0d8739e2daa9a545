// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

namespace prismfield {

/// The one checker that every MPI call passes: throws RunError with MPI's own words when `code` is an error of `call`.
void check_mpi(int code, const char* call);

}  // namespace prismfield
