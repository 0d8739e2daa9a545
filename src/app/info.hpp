// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "app/cli.hpp"

namespace prismfield {

class Communicator;

/// `prismfield info`: versions, execution spaces, devices, SIMD width, compiler and where the ranks run, to standard
/// output, by rank 0; with --json the same as one JSON document; with --calibrate, in their place, what rank 0 measured
/// of every space, as JSON; with --cases what case_facts_json() says of cases. Throws AgreedFailure. Collective.
void info_command(const InfoOptions& options, const std::vector<std::string>& kokkos_options,
                  const Communicator& communicator);

}  // namespace prismfield
