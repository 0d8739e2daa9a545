// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The heading of a column: name, unit, reference.

namespace prismfield {

/// The words of a text in small letters, without dots: `m a.s.l.` is `m`, `asl`.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

/// The international foot, m.
inline constexpr double foot = 0.3048;

/// Text without blanks around it.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// Text without blanks around it, and without a pair of quotes and blanks in these.
[[nodiscard]] std::string_view unquoted(std::string_view text) noexcept;

/// The factor to metres of a unit of length, with what it refers to before or behind it: `m`, `km`, `ft`, `US survey
/// feet`, `kilometros`, `m a.s.l.`, `msnm`, `m, UTM 33N`, `NAVD88 ft`. Nothing for another text or where it leaves a
/// doubt: `1000 m`, `m/s2`, `m or ft`.
[[nodiscard]] std::optional<double> metres_in(std::string_view unit);
/// Whether a unit measures angles.
[[nodiscard]] bool is_angle(std::string_view unit);
/// Whether a text in brackets is a unit, known or not, and no remark such as `UTM`, `zone 19S` or `local grid`.
[[nodiscard]] bool looks_like_unit(std::string_view text);
/// The word of a unit of length other than metres that a comment states for coordinates, `units: km`, `coordinates in
/// feet`, `km km m`; "" for none.
[[nodiscard]] std::string unit_in_comment(std::string_view comment);

/// The word of a unit of length other than metres at the end of a heading of any kind, `ElevFt`, `Z/ft`; "" for none.
[[nodiscard]] std::string unit_within(std::string_view heading);

/// A column's name and its unit in brackets, "" for none: "gz [mGal]", "potential[m2_s-2]".
[[nodiscard]] std::pair<std::string, std::string> name_and_unit(std::string_view text);

/// A column's name for comparisons: lower case, without unit, blanks, `_`, `-` and `.`.
[[nodiscard]] std::string plain_name(std::string_view text);

/// The heading of a column of places, as plain names with ever fewer of its words.
struct PlaceHeading {
  /// unchanged; without a unit among its words, as in `Z_ft`; without a reference, as in `Elev_AHD`, `POINT_X`
  std::string plain, without_unit, bare;
  /// in brackets or among its words; "" for none
  std::string unit;
  /// the words in brackets, as a plain name: `X (Este)`
  std::string remark;
};
[[nodiscard]] PlaceHeading place_heading(std::string_view text);

}  // namespace prismfield
