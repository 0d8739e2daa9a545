// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "io/prism_file.hpp"

namespace prismfield {

/// The prisms of a table in text as it holds them, numbered by lines. Rows with an error are added to `problems`.
/// Throws InputError when nothing can be read.
[[nodiscard]] RawPrisms read_prism_table(const InputFile& file, const PrismsSpec& spec, ProblemList& problems);

}  // namespace prismfield
