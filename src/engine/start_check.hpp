// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

namespace prismfield {

/// Runs a small kernel whose result is known in every execution space that was built, through the same Views, team
/// policy and prism code as a run, and throws RunError when a result is wrong: some combinations of compiler and Kokkos
/// build without a word kernels that do nothing (nvcc 12.9 and later with C++20, Kokkos pull request 8615).
void check_start();

}  // namespace prismfield
