// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

namespace prismfield {

struct Case;

/// Hash of all that a case's fields depend on: its identity and the bytes of every file that it reads.
/// Throws InputError when one cannot be read.
[[nodiscard]] std::uint64_t case_hash(const Case& run);

}  // namespace prismfield
