// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

namespace prismfield {

class Communicator;
struct InputFile;

/// Throws InputError, the same on every rank, when `file` holds other bytes for one of them than for rank 0, or is not
/// there. Its bytes are read only where ranks have copies of their own. Collective.
void check_same_file(const InputFile& file, const Communicator& communicator);

}  // namespace prismfield
