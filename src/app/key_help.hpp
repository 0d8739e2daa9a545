// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <string>

namespace prismfield {

/// What `prismfield help KEY` prints of a key of a case or, behind "study.", of a study: a full path such as
/// model.voxels.easting or its last part, of which several are listed. Throws InputError, with the nearest spellings,
/// where there is none. Text and tables fit into so many columns; examples are never broken.
[[nodiscard]] std::string key_help(const std::string& key, std::size_t columns = 100);

/// Whether key_help() knows it.
[[nodiscard]] bool is_documented_key(const std::string& key);

/// A line for each path that --set takes of a case, for completion; with `of_study` those of a study.
[[nodiscard]] std::string key_paths(bool of_study);

}  // namespace prismfield
