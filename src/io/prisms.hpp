// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

#include "io/distributed_prisms.hpp"
#include "io/prism_file.hpp"

namespace prismfield {

class Communicator;

/// The ensemble of a prism file, CSV or HDF5, in the file's order; `file` is spec.file. NaN, infinity, inverted prisms
/// and, unless allowed, overlapping prisms are errors; prisms of zero size are left out with one warning.
/// Throws InputError with every error found, at most 20 of one kind named.
[[nodiscard]] std::unique_ptr<DistributedPrisms> read_prisms(const InputFile& file, const PrismsSpec& spec);

/// The same for ranks that compute together: the file is read once, by rank 0, or a list in HDF5 by all ranks, each a
/// part, where the library is parallel. The prisms are those of the file in its order whatever the number of ranks, and
/// so are the errors and warnings. Overlaps are looked for by rank 0, which for that holds the boxes of all prisms:
/// with allow_overlap no rank holds more than its part of an HDF5 list. Throws AgreedFailure for failures. Collective.
[[nodiscard]] std::unique_ptr<DistributedPrisms> read_prisms(const InputFile& file, const PrismsSpec& spec,
                                                             const Communicator& communicator);

}  // namespace prismfield
