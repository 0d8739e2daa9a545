// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prismfield {

/// "3,779,190,000"
[[nodiscard]] std::string grouped(std::int64_t count);

/// "889 B", "1.5 GiB": three digits and the largest binary unit that keeps the number at 1 or above.
[[nodiscard]] std::string size_text(std::int64_t bytes);

/// "0.12 s", "43 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"; "?" for what is no duration.
[[nodiscard]] std::string duration_text(double seconds);

/// "1.23e9": three digits and a short exponent, for rates.
[[nodiscard]] std::string short_number(double value);

/// A coordinate, metres, as a message shows it: to 0.01 m, four digits where it is below 1.
[[nodiscard]] std::string place_text(double metres);

/// "1 point", "2 points", "1,000 points"
[[nodiscard]] std::string counted(std::int64_t count, const std::string& noun);

/// The text with its ASCII letters in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// Columns that a text takes on a terminal: two for the wide characters of East Asia, one for others.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;

/// Bytes of the character at the start of a text, which is not empty; 0 where it is no UTF-8.
[[nodiscard]] std::size_t bytes_of_character(std::string_view text) noexcept;

/// Bytes of a name out of a file that a message shows.
inline constexpr std::size_t longest_name = 100;

/// Text out of files, names of files, arguments and libraries as a message, table or heading shows it: '?' in the place
/// of each control character (escape sequences and line ends too), of each character that hides text or turns its
/// direction, and of each byte that is no UTF-8; "..." behind `most` bytes.
[[nodiscard]] std::string shown(std::string_view text, std::size_t most = std::string_view::npos);

/// The same for a message of several lines, whose ends are kept.
[[nodiscard]] std::string shown_lines(std::string_view text);

/// Names out of a file with commas between them: the first twelve, and how many there are.
[[nodiscard]] std::string shown_list(const std::vector<std::string>& names);

/// What a user's file or command line holds, quoted for a message: as shown() gives it, at most 40 bytes.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace prismfield
