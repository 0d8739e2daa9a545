// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/choices.hpp"

#include <cmath>
#include <numbers>

#include <prismfield/error.hpp>

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

}  // namespace

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
const char* name(Balance balance) noexcept { return word_of(balance_choices, balance); }
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
