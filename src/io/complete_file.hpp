// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "base/temporary_file.hpp"

namespace prismfield {

/// Has a file written as a whole: `write` gets a temporary file beside it and the name that it will have, links
/// followed; the file takes its name when `write` returns. `what`: what messages call it, "the result". Throws
/// RunError, by the file's name, also where the disk has less than `about_bytes` free, leaving neither a half-written
/// file nor a changed old one.
void write_complete_file(
    const std::filesystem::path& file, const char* what,
    const std::function<void(TemporaryFile& temporary, const std::filesystem::path& target)>& write,
    std::int64_t about_bytes = 0);

}  // namespace prismfield
