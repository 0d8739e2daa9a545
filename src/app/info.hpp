// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>

namespace prismfield {

/// What `prismfield info` prints: versions, execution spaces, devices, SIMD width, compiler. Needs a Runtime.
[[nodiscard]] std::string info_text();

}  // namespace prismfield
