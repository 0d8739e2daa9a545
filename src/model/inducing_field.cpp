// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/inducing_field.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include <prismfield/request.hpp>

namespace prismfield {

InducingField inducing_field_of(const std::array<double, 3>& field) {
  constexpr double degrees = 180 / std::numbers::pi, nanoteslas = 1e9, digits = 1e9;
  const auto& [easting, northing, upward] = field;
  // without what components in T were rounded by
  const auto rounded = [](double value) { return std::nearbyint(value * digits) / digits + 0.0; };
  return {rounded(std::atan2(-upward, std::hypot(easting, northing)) * degrees),
          rounded(std::atan2(easting, northing) * degrees),
          rounded(std::hypot(easting, northing, upward) * nanoteslas)};
}

std::string inducing_field_text(const InducingField& field) {
  return fmt::format("inclination {:.10g}, declination {:.10g}, intensity {:.10g} nT", field.inclination,
                     field.declination, field.intensity);
}

bool is_same_field(const InducingField& field, const std::array<double, 3>& other) {
  constexpr double nanotesla = 1e-9;
  const std::array<double, 3> own = vector_of(field.inclination, field.declination, field.intensity * nanotesla);
  const double apart = std::hypot(own[0] - other[0], own[1] - other[1], own[2] - other[2]);
  return apart <= inducing_field_rounding * field.intensity * nanotesla;
}

double magnetization_of(const InducingField& field) {
  constexpr double nanotesla = 1e-9;
  return field.intensity * nanotesla / Magnetic{}.vacuum_permeability;
}

}  // namespace prismfield
