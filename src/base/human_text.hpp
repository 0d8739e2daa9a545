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

/// "0.12 s", "43 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"; "?" for a number that is no duration.
[[nodiscard]] std::string duration_text(double seconds);

/// "1.23e9": three digits and a short exponent, for rates.
[[nodiscard]] std::string short_number(double value);

/// A coordinate, metres, for messages: to 0.01 m, or four digits below 1 m.
[[nodiscard]] std::string place_text(double metres);

/// "1 point", "2 points", "1,000 points"
[[nodiscard]] std::string counted(std::int64_t count, const std::string& noun);

/// The text with its ASCII letters in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// The width of a text on a terminal, in columns: two for wide characters of East Asia, one for others.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;

/// Bytes of the first character of a text that is not empty; 0 where it is no UTF-8.
[[nodiscard]] std::size_t bytes_of_character(std::string_view text) noexcept;

/// The most bytes of a name from a file that a message shows.
inline constexpr std::size_t longest_name = 100;

/// Foreign text (from files, file names, arguments, libraries) made safe for messages, tables and headings. '?'
/// replaces each control character, each character that hides text or changes its direction, and each byte that is no
/// UTF-8. "..." follows the first `most` bytes of a longer text.
[[nodiscard]] std::string shown(std::string_view text, std::size_t most = std::string_view::npos);

/// The same for a message of several lines; line ends stay.
[[nodiscard]] std::string shown_lines(std::string_view text);

/// The first twelve names, separated by commas, and the number of all.
[[nodiscard]] std::string shown_list(const std::vector<std::string>& names);

/// Text of a user's file or command line, in quotes for a message: as shown() gives it, at most 40 bytes.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace prismfield
