// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "io/result_file.hpp"

namespace prismfield {

/// Suffixes that name a kind of figure: ".png", ".pdf", ".svg".
[[nodiscard]] const std::vector<std::string>& figure_suffixes();

/// Checks, before anything is computed, that the result, the figure and the checkpoint can be written: the folder
/// exists and is writable, and no input would be replaced. Also that noise is asked for computed fields only. Throws
/// InputError with every mistake found, each naming its key.
void check_output(const Case& run);

/// Where the result goes: output.file, or the case's name with .h5 in the working folder.
[[nodiscard]] std::filesystem::path output_file(const Case& run);

/// What the result of a case says of it.
[[nodiscard]] ResultHeader result_header(const Case& run);

}  // namespace prismfield
