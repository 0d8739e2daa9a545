// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <string>

namespace prismfield {

/// An inducing field as files state it: degrees, down positive, and east of grid north; nT.
struct InducingField {
  double inclination = 0, declination = 0, intensity = 0;
};

/// Of a field in T along easting, northing, upward.
[[nodiscard]] InducingField inducing_field_of(const std::array<double, 3>& field);

/// "inclination -62.5, declination 11.25, intensity 48250 nT"
[[nodiscard]] std::string inducing_field_text(const InducingField& field);

/// What two statements of one field may differ by, relative to its intensity: 0.01 degrees, as files round to.
inline constexpr double inducing_field_rounding = 2e-4;

/// Whether it is this field (T, along easting, northing, upward).
[[nodiscard]] bool is_same_field(const InducingField& field, const std::array<double, 3>& other);

/// A/m of an effective susceptibility of 1: |F0|/mu0.
[[nodiscard]] double magnetization_of(const InducingField& field);

}  // namespace prismfield
