// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "readers/file_content.hpp"
#include "writers/result_file.hpp"

namespace prismfield {

/// True for names of one file, whether it is there yet or not.
[[nodiscard]] bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Why a file of this name cannot be made, with the remedy, or "".
[[nodiscard]] std::string why_not_writable(const std::filesystem::path& file);

/// A file of output.also, and the key that names it.
struct AlsoFile {
  std::filesystem::path file;
  std::string key;
};

/// What an inversion writes beside its model; nothing for other commands.
[[nodiscard]] std::vector<AlsoFile> also_files(const Case& run);

/// The format of a model that a file's suffix names: VTK or UBC; nothing for others.
[[nodiscard]] std::optional<FileFormat> model_format(const std::filesystem::path& file);

/// Why a figure cannot have this name, or "": its suffix names a kind, .png, .pdf or .svg.
[[nodiscard]] std::string why_no_figure(const std::filesystem::path& file);

/// Checks, before anything is computed, that the result, what is written beside it, the figure, the checkpoint and
/// the sensitivities can be written: the folder exists and is writable, and no input would be replaced. Also that the
/// result is of a kind that holds what is computed. Throws InputError with every error found, each naming its key.
void check_output(const Case& run);

/// Where the result goes: output.file, or the case's name with .h5 in the working folder.
[[nodiscard]] std::filesystem::path output_file(const Case& run);

/// What the result of a case says of it.
[[nodiscard]] ResultHeader result_header(const Case& run);

}  // namespace prismfield
