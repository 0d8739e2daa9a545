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

/// Converts stored numbers by a variable's attributes, for both kinds of netCDF: `_Unsigned`; then NaN for _FillValue,
/// missing_value, numbers outside valid_min, valid_max or valid_range, and netCDF's fill of floats never written; then
/// scale_factor and add_offset. Limits refer to stored numbers, but to unpacked ones where the limits are floats and
/// the numbers integers. find(name) gives an attribute, or nothing. Returns the error of an attribute; "" for valid
/// ones. Source: NetCDF User's Guide, Attribute Conventions; CF 1.8, 2.5.1, 8.1.
[[nodiscard]] std::string unpack(std::vector<double>& values, const StoredType& type,
                                 const std::function<std::optional<StoredAttribute>(const char* name)>& find);

}  // namespace prismfield
