// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

#include "io/distributed_prisms.hpp"
#include "io/prism_file.hpp"

namespace prismfield {

/// An HDF5 list read by all ranks together, each a part of it. nullptr on every rank when the file is no HDF5 file or
/// holds an error: rank 0, reading it whole, then tells what it is. Collective.
[[nodiscard]] std::unique_ptr<DistributedPrisms> read_prisms_together(const InputFile& file, const PrismsSpec& spec,
                                                                      const Communicator& communicator);

}  // namespace prismfield
