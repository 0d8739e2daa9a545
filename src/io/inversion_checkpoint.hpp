// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <optional>

#include <prismfield/inversion_state.hpp>

#include "base/checksum.hpp"

namespace prismfield {

/// Changes with every change of what the files hold.
inline constexpr std::int64_t inversion_checkpoint_version = 3;

/// Writes where an inversion is: under a temporary name in the same folder, renamed when complete. `case_hash`: of all
/// that the model depends on. Throws RunError, leaving the checkpoint before it.
void write_inversion_checkpoint(const std::filesystem::path& file, const Digest& case_hash,
                                const InversionState& state);

/// Where the inversion of this case was; nothing when there is no such file. `n_values`: active
/// cells times epochs. Throws
/// InputError by the key output.checkpoint.file for a file of another case, a damaged one and what is no checkpoint of
/// an inversion.
[[nodiscard]] std::optional<InversionState> read_inversion_checkpoint(const std::filesystem::path& file,
                                                                      const Digest& case_hash, std::int64_t n_values);

/// Throws InputError by the same key when something is there that must not be replaced: what is no checkpoint of an
/// inversion or, where the case's hash is known already, one of another case.
void check_inversion_checkpoint_place(const std::filesystem::path& file, const Digest* case_hash = nullptr);

/// Removes the checkpoint of this case; nothing else that has its name.
void remove_inversion_checkpoint(const std::filesystem::path& file, const Digest& case_hash);

}  // namespace prismfield
