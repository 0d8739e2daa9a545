// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace prismfield {

/// What an attribute holds: a text, a number, or several. What is read has no integers.
using AttributeValue = std::variant<std::string, double, std::int64_t, std::vector<double>, std::vector<std::int64_t>>;

/// How a file stores the numbers of a variable.
struct StoredType {
  bool is_float = false, is_unsigned = false;
  std::size_t bytes = 0;
};

/// An attribute of such a variable.
struct StoredAttribute {
  AttributeValue value;
  bool is_float = false;
};

/// Makes stored numbers those that the variable's attributes say, in both kinds of netCDF: `_Unsigned` first; NaN for
/// _FillValue, missing_value, what lies outside valid_min, valid_max or valid_range, and what netCDF fills floats with
/// that nobody wrote; then scale_factor and add_offset. Limits are of the stored numbers, but those in floats beside
/// stored integers of the unpacked ones. find(name) gives an attribute, nothing where there is none. Returns what is
/// wrong with an attribute, "" when nothing is. Source: NetCDF User's Guide, Attribute Conventions; CF 1.8, 2.5.1, 8.1.
[[nodiscard]] std::string unpack(std::vector<double>& values, const StoredType& type,
                                 const std::function<std::optional<StoredAttribute>(const char* name)>& find);

}  // namespace prismfield
