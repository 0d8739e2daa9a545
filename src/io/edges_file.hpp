// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "io/input_file.hpp"

namespace prismfield {

/// Cell edges of one direction, metres, from text: numbers separated by blanks, commas or line ends. Errors in single
/// numbers are added to `problems`, by line; `name` is what they are called. Throws InputError for a file that cannot
/// be read.
[[nodiscard]] std::vector<double> read_edges(const InputFile& file, const std::string& name, ProblemList& problems);

}  // namespace prismfield
