// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What people write above a column: a name, a unit, what the numbers refer to.

namespace prismfield {

/// The international foot, m.
inline constexpr double foot = 0.3048;

/// Text without blanks around it.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// Text without blanks around it, and without a pair of quotes and blanks in these.
[[nodiscard]] std::string_view unquoted(std::string_view text) noexcept;

/// Factor to metres of a unit of length as people write it, with what it is measured from behind it: `m`, `km`, `ft`,
/// `US survey feet`, `metres`, `mm`, `m a.s.l.`, `msnm`, `m, UTM 33N`. Nothing for any other.
[[nodiscard]] std::optional<double> metres_in(std::string_view unit);
/// Whether a unit is one of angles.
[[nodiscard]] bool is_angle(std::string_view unit);
/// Whether a text in brackets is a unit, known or not, and not a remark such as `UTM`, `zone 19S` or `local grid`.
[[nodiscard]] bool looks_like_unit(std::string_view text);

/// A column's name and the unit in brackets behind it, "" where there is none: "gz [mGal]", "potential[m2_s-2]".
[[nodiscard]] std::pair<std::string, std::string> name_and_unit(std::string_view text);

/// A column's name as spellings are compared: small letters, without unit, blanks, `_`, `-` and `.`.
[[nodiscard]] std::string plain_name(std::string_view text);

/// A column of places by its heading: plain names of it, each with less of its words than the one before.
struct PlaceHeading {
  /// as it is; without a unit among its words, as in `Z_ft`; without what it refers to, as in `Elev_AHD`, `POINT_X`
  std::string plain, without_unit, bare;
  /// in brackets or among its words, "" where there is none
  std::string unit;
  /// the words in brackets, as a plain name: `X (Este)`
  std::string remark;
};
[[nodiscard]] PlaceHeading place_heading(std::string_view text);

}  // namespace prismfield
