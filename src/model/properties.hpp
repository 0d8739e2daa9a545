// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>

#include <prismfield/request.hpp>
#include <prismfield/value_range.hpp>

namespace prismfield {

/// What a prism is made of: density (kg/m3), susceptibility (SI) and remanent magnetisation along easting, northing and
/// upward (A/m).
using Properties = std::array<double, 5>;
inline constexpr std::array<const char*, 5> property_names = {"density", "susceptibility", "magnetization_easting",
                                                              "magnetization_northing", "magnetization_upward"};
/// Places in Properties; those of the other components follow that of magnetization_easting.
inline constexpr std::size_t density_property = 0, susceptibility_property = 1, magnetization_property = 2;

/// The susceptibilities that are accepted: nothing repels a field entirely, and no material comes near to the second.
inline constexpr Range susceptibility_limits{-1, 1e6};

/// The magnetisation that a susceptibility of 1 SI gets in the inducing field, F0/mu0, A/m.
[[nodiscard]] inline std::array<double, 3> induced_magnetization(const Magnetic& magnetic) noexcept {
  std::array<double, 3> induced{};
  for (std::size_t d = 0; d < 3; ++d) induced[d] = magnetic.inducing_field[d] / magnetic.vacuum_permeability;
  return induced;
}

/// Least and greatest density (kg/m3), susceptibility (SI) and intensity of the remanent magnetisation (A/m) of prisms;
/// of none, ranges that any other widens.
struct PropertyRanges {
  static constexpr double far = std::numeric_limits<double>::infinity();

  Range density{far, -far}, susceptibility{far, -far}, remanence{far, -far};

  void include(const Properties& prism) noexcept;
  /// The one of a place in Properties.
  [[nodiscard]] Range& of(std::size_t property) noexcept {
    return property == density_property ? density : property == susceptibility_property ? susceptibility : remanence;
  }
  /// Whether any prism can have a susceptibility, and a magnetisation of either kind.
  [[nodiscard]] bool has_susceptibility() const noexcept { return susceptibility.min < 0 || susceptibility.max > 0; }
  [[nodiscard]] bool is_magnetic() const noexcept { return has_susceptibility() || remanence.max > 0; }
  /// What is not 0 everywhere: "density and susceptibility".
  [[nodiscard]] std::string names() const;
};

/// What is wrong with a property, by its place in Properties, that is not finite or beyond the limits; "" when nothing
/// is.
[[nodiscard]] std::string property_error(std::size_t property, double value);

}  // namespace prismfield
