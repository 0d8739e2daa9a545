// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace prismfield {

/// "3,779,190,000"
[[nodiscard]] std::string grouped(std::int64_t count);

/// "889 B", "1.5 GiB": three digits and the largest binary unit that keeps the number at 1 or above.
[[nodiscard]] std::string size_text(std::int64_t bytes);

/// "0.12 s", "43 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"; "?" for what is no duration.
[[nodiscard]] std::string duration_text(double seconds);

/// "1.23e9": three digits and a short exponent, for rates.
[[nodiscard]] std::string short_number(double value);

/// "1 point", "2 points", "1,000 points"
[[nodiscard]] std::string counted(std::int64_t count, const std::string& noun);

/// What a user's file or command line holds, quoted for a message: at most 40 bytes, no character cut in two, '?' for
/// control characters and for bytes that are no UTF-8.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace prismfield
