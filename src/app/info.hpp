// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

namespace prismfield {

class Communicator;

/// `prismfield info`: versions, execution spaces, devices, SIMD width, compiler and where the ranks run, to standard
/// output, by rank 0. Throws AgreedFailure. Collective.
void info_command(const std::vector<std::string>& kokkos_options, const Communicator& communicator);

}  // namespace prismfield
