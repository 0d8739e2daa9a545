// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <numbers>
#include <span>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "model/properties.hpp"

namespace prismfield {
namespace {

template <class Choices, class T>
const char* word_of(const Choices& choices, T value) noexcept {
  for (const auto& choice : choices) {
    if (choice.meaning == value) return choice.word;
  }
  return "";
}

/// In lower case, without what does not count in a name.
std::string plain_word(std::string_view name) {
  std::string plain = lower_case(name);
  std::erase_if(plain, [](char c) { return c == ' ' || c == '\t' || c == '_' || c == '-' || c == '.'; });
  return plain;
}

/// A unit as plain_unit() has it, and the factor to the unit of the output.
struct UnitWord {
  std::string_view word;
  double factor;
};
constexpr UnitWord potentials[] = {{"m2s-2", 1}, {"jkg-1", 1}};
constexpr UnitWord accelerations[] = {{"mgal", 1},        {"milligal", 1}, {"gal", 1e3},   {"ugal", 1e-3},
                                      {"microgal", 1e-3}, {"gu", 0.1},     {"ms-2", 1e5},  {"cms-2", 1e3},
                                      {"mms-2", 100},     {"ums-2", 0.1},  {"nms-2", 1e-4}};
constexpr UnitWord gradients[] = {{"eotvos", 1},    {"e", 1},         {"eu", 1},      {"s-2", 1e9},
                                  {"mgalm-1", 1e4}, {"mgalkm-1", 10}, {"ugalm-1", 10}};
constexpr UnitWord flux_densities[] = {{"nt", 1},      {"nanotesla", 1}, {"gamma", 1}, {"gammas", 1}, {"t", 1e9},
                                       {"tesla", 1e9}, {"mt", 1e6},      {"ut", 1e3},  {"pt", 1e-3}};
constexpr UnitWord flux_gradients[] = {{"ntm-1", 1}, {"tm-1", 1e9}, {"ptm-1", 1e-3}, {"ntkm-1", 1e-3}};

/// The units of all fields with one unit of the output, and the list of units in errors.
struct FieldUnits {
  std::string_view output;
  std::span<const UnitWord> words;
  const char* told;
};
constexpr FieldUnits field_units[] = {{"m2 s-2", potentials, "m2 s-2 or J/kg"},
                                      {"mGal", accelerations, "mGal, uGal, Gal, m/s2, um/s2 (gu) or nm/s2"},
                                      {"Eotvos", gradients, "Eotvos (E), 1/s2, mGal/m or uGal/m"},
                                      {"nT", flux_densities, "nT, pT, uT, mT or T"},
                                      {"nT/m", flux_gradients, "nT/m, nT/km, pT/m or T/m"}};

const FieldUnits& units_of(Field field) {
  return *std::find_if(std::begin(field_units), std::end(field_units),
                       [&](const FieldUnits& units) { return units.output == info(field).unit; });
}

/// A unit without blanks, signs and capitals: "m/s^2", "m s**-2" and those with raised digits are "ms-2".
std::string plain_unit(std::string_view unit) {
  std::string text = lower_case(unit);
  for (const auto& [sign, plain] : {std::pair{"\xC2\xB5", "u"},
                                    {"\xCE\xBC", "u"},
                                    {"\xC2\xB2", "2"},
                                    {"\xC2\xB9", "1"},
                                    {"\xE2\x81\xBB", "-"},
                                    {"\xC3\xB6", "o"},
                                    {"\xC2\xB7", ""},
                                    {"\xB5", "u"},
                                    {"**", ""},
                                    {"oe", "o"}}) {
    for (std::size_t at = text.find(sign); at != std::string::npos; at = text.find(sign, at)) {
      text.replace(at, std::string_view(sign).size(), plain);
    }
  }
  std::string plain;
  bool is_below = false;
  for (const char c : text) {
    if (c == '/') {
      is_below = true;
    } else if (is_below && c >= '0' && c <= '9') {
      plain += '-';
      plain += c;
      is_below = false;
    } else if (c != ' ' && c != '^' && c != '_' && c != '*') {
      plain += c;
    }
  }
  return is_below ? plain + "-1" : plain;
}

}  // namespace

std::optional<FieldWord> field_meant(std::string_view name) {
  constexpr std::string_view sigma = "sigma";
  std::string plain = plain_word(name);
  FieldWord word;
  word.is_sigma = plain.size() > sigma.size() && (plain.starts_with(sigma) || plain.ends_with(sigma));
  if (word.is_sigma) plain.erase(plain.starts_with(sigma) ? 0 : plain.size() - sigma.size(), sigma.size());
  for (const FieldInfo& field : field_infos) {
    word.field = field.field;
    if (plain == plain_word(field.name)) return word;
  }
  return std::nullopt;
}

std::optional<double> unit_factor(Field field, std::string_view unit) {
  if (unit.empty() || unit == info(field).unit) return 1;
  const std::string plain = plain_unit(unit);
  if (plain.empty()) return std::nullopt;
  std::string_view word = plain;
  // 1e-9 s-2; not 1e-9 1/s2, whose digits run together
  constexpr double least = 1e-15, most = 1e15;
  double number = 1;
  if (plain.front() >= '0' && plain.front() <= '9') {
    const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), number);
    if (error != std::errc{}) return std::nullopt;
    word.remove_prefix(static_cast<std::size_t>(end - plain.data()));
  }
  if (!(number >= least && number <= most)) return std::nullopt;
  for (const UnitWord& known : units_of(field).words) {
    if (word == known.word) return decimal_product(number, known.factor);
  }
  return std::nullopt;
}

std::string unit_error(Field field, std::string_view unit) {
  return fmt::format("is in {}; {} is expected: change the numbers and the unit", excerpt(unit), units_of(field).told);
}

std::vector<std::string> names_of(FieldList fields) {
  std::vector<std::string> names;
  for (const FieldInfo& field : fields) names.emplace_back(field.name);
  return names;
}

std::string method_problem(Method method) {
  std::string allowed = name(Method::automatic);
  for (const Method built : built_methods) {
    if (method == built || method == Method::automatic) return "";
    allowed += std::string(", ") + name(built);
  }
  return "which this version does not have. Allowed: " + allowed;
}

std::optional<Axes> axes_named(std::string_view word) noexcept {
  for (const Choice<Axes>& choice : axes_choices) {
    if (word == choice.word) return choice.meaning;
  }
  return std::nullopt;
}

const char* name(Axes axes) noexcept { return word_of(axes_choices, axes); }
const char* name(Space space) noexcept { return word_of(space_choices, space); }
const char* name(Partition partition) noexcept {
  // a grid of ranks is written as numbers
  return partition == Partition::rank_grid ? "ranks" : word_of(partition_choices, partition);
}
const char* name(KernelKind kernel) noexcept { return word_of(kernel_choices, kernel); }
const char* name(Precision precision) noexcept { return word_of(precision_choices, precision); }
const char* name(Method method) noexcept { return word_of(method_choices, method); }
std::array<double, 3> vector_of(double inclination, double declination, double intensity) noexcept {
  constexpr double degree = std::numbers::pi / 180;
  // exact where a sine or a cosine vanishes
  const double across = std::abs(inclination) == 90 ? 0 : intensity * std::cos(inclination * degree);
  return {across * std::sin(declination * degree), across * std::cos(declination * degree),
          -intensity * std::sin(inclination * degree)};
}
std::array<double, 3> direction_of(const std::array<double, 3>& field) noexcept {
  const double length = std::hypot(field[0], field[1], field[2]);
  return length > 0 ? std::array{field[0] / length, field[1] / length, field[2] / length} : std::array<double, 3>{};
}
const char* name(Inside inside) noexcept { return word_of(inside_choices, inside); }
const char* name(Unknown unknown) noexcept { return word_of(unknown_choices, unknown); }
std::vector<std::array<double, 3>> unit_magnetizations(Unknown unknown, const Magnetic& magnetic) {
  if (unknown == Unknown::density) return {};
  if (unknown == Unknown::magnetization) return {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  if (magnetic.inducing_field == std::array<double, 3>{}) {
    throw InputError("", "magnetic.inducing_field",
                     "is missing; a susceptibility is magnetised by it: write inclination, declination and intensity");
  }
  std::array<double, 3> induced = induced_magnetization(magnetic);
  if (magnetic.magnetization_direction != std::array<double, 3>{}) {
    const double size = std::hypot(induced[0], induced[1], induced[2]);
    for (std::size_t d = 0; d < 3; ++d) induced[d] = size * magnetic.magnetization_direction[d];
  }
  return {induced};
}
const char* name(Store store) noexcept { return word_of(store_choices, store); }
const char* name(StoredPrecision precision) noexcept { return word_of(stored_precision_choices, precision); }

}  // namespace prismfield
