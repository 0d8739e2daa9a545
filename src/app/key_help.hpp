// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <string>

namespace prismfield {

/// The text of `prismfield help KEY` for a key of a case or, after "study.", of a study. `key`: a full path such as
/// model.voxels.easting, or its last part; several matches give a list. Text and tables are `columns` wide, examples
/// are never broken. Throws InputError, with the nearest spellings, for an unknown key.
[[nodiscard]] std::string key_help(const std::string& key, std::size_t columns = 100);

/// Whether key_help() knows it.
[[nodiscard]] bool is_documented_key(const std::string& key);

/// A line for each path that --set takes of a case, for completion; with `of_study` those of a study.
[[nodiscard]] std::string key_paths(bool of_study);

}  // namespace prismfield
