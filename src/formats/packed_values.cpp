// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/packed_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/human_text.hpp"
#include "base/number_text.hpp"

namespace prismfield {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The numbers of an attribute, of a text the one that it is; none for other texts.
std::vector<double> numbers_in(const AttributeValue& value) {
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) return *numbers;
  if (const auto* number = std::get_if<double>(&value)) return {*number};
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return {static_cast<double>(*integer)};
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value))
    return {integers->begin(), integers->end()};
  double number = 0;
  if (parse_number(std::get<std::string>(value), number) != NumberStatus::ok) return {};
  return {number};
}

bool says_true(const std::optional<StoredAttribute>& attribute) {
  const auto* const text = attribute ? std::get_if<std::string>(&attribute->value) : nullptr;
  return text != nullptr && lower_case(*text) == "true";
}

/// An attribute's number in the precision of stored ones.
double in_precision(double number, const StoredType& type) {
  constexpr double most = std::numeric_limits<float>::max();
  // written with a few digits, the largest float is beyond itself
  if (!type.is_float || type.bytes != sizeof(float) || !(std::abs(number) <= most * (1 + 1e-7))) return number;
  return static_cast<double>(static_cast<float>(std::clamp(number, -most, most)));
}

}  // namespace

std::string unpack(std::vector<double>& values, const StoredType& type,
                   const std::function<std::optional<StoredAttribute>(const char* name)>& find) {
  std::string wrong;
  // `count`: how many there have to be, 0: any
  const auto numbers = [&](const std::optional<StoredAttribute>& attribute, const char* name, std::size_t count) {
    std::vector<double> found;
    if (attribute) found = numbers_in(attribute->value);
    if (attribute && (count > 0 ? found.size() != count : found.empty())) {
      wrong = fmt::format("has the attribute {}, which is not {}", name,
                          count == 0   ? "a number or a list of them"
                          : count == 1 ? "one number"
                                       : "two numbers");
      found.clear();
    }
    return found;
  };
  const bool turns = !type.is_float && !type.is_unsigned && says_true(find("_Unsigned"));
  const double turn = turns ? std::ldexp(1.0, 8 * static_cast<int>(type.bytes)) : 0;
  const auto as_stored = [&](double number) { return number < 0 ? number + turn : in_precision(number, type); };
  std::vector<double> missing;
  for (const char* name : {"_FillValue", "missing_value"}) {
    for (const double number : numbers(find(name), name, 0)) missing.push_back(as_stored(number));
  }
  // with what netCDF itself fills floats, NC_FILL_FLOAT
  if (type.is_float) missing.push_back(0x1.ep+122);
  std::array<double, 2> stored{-infinity, infinity}, unpacked = stored;
  for (const auto& [name, first, count] :
       {std::tuple{"valid_min", 0U, 1U}, {"valid_max", 1U, 1U}, {"valid_range", 0U, 2U}}) {
    const std::optional<StoredAttribute> attribute = find(name);
    const std::vector<double> limits = numbers(attribute, name, count);
    for (std::size_t i = 0; i < limits.size(); ++i) {
      const bool is_unpacked = attribute->is_float && !type.is_float;
      (is_unpacked ? unpacked : stored)[first + i] = is_unpacked ? limits[i] : as_stored(limits[i]);
    }
  }
  const std::vector<double> scale = numbers(find("scale_factor"), "scale_factor", 1),
                            offset = numbers(find("add_offset"), "add_offset", 1);
  if (!scale.empty() && !std::isnormal(scale[0])) wrong = "has a scale_factor of 0 or NaN, by which nothing is packed";
  const double factor = scale.empty() ? 1 : scale[0], summand = offset.empty() ? 0 : offset[0];
  const bool is_packed = factor != 1 || summand != 0;
  // one pass per step; most files need none
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto limit = [&](const std::array<double, 2>& limits) {
    if (limits == std::array{-infinity, infinity}) return;
    for (double& value : values) {
      if (value < limits[0] || value > limits[1]) value = nan;
    }
  };
  if (turns) {
    for (double& value : values) value += value < 0 ? turn : 0;
  }
  for (const double number : missing) std::replace(values.begin(), values.end(), number, nan);
  limit(stored);
  if (is_packed) {
    for (double& value : values) value = value * factor + summand;
  }
  limit(unpacked);
  return wrong;
}

}  // namespace prismfield
