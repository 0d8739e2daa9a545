// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <vector>

namespace prismfield {

class Communicator;
struct InputFile;

/// The ranks for which `file` holds other bytes than for rank 0, or is not there, rising, on every rank. Its bytes are
/// read only where ranks have copies of their own. Collective.
[[nodiscard]] std::vector<int> ranks_with_other_file(const std::filesystem::path& file,
                                                     const Communicator& communicator);

/// Throws InputError, the same on every rank, when `file` is not the same for all of them. Collective.
void check_same_file(const InputFile& file, const Communicator& communicator);

}  // namespace prismfield
