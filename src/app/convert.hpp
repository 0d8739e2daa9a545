// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "app/cli.hpp"

namespace prismfield {

class Communicator;

/// `prismfield convert`: reads a file and writes it in another format, by rank 0; what was read and written, with
/// units and axes, goes to standard output. Throws AgreedFailure. Collective.
void convert_command(const ConvertOptions& options, const Communicator& communicator);

}  // namespace prismfield
