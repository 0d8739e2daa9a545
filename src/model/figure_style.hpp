// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace prismfield {

/// How a figure is drawn, where a user says it.
struct FigureStyle {
  /// about how many lines of equal value a map has, 0: none; or their levels in the fields' units; unset: as the
  /// drawing program finds best
  std::optional<std::variant<std::int64_t, std::vector<double>>> contours;
  /// a colour map by the name that matplotlib knows it by; "": the usual ones
  std::string colour_map;
  std::optional<std::int64_t> dpi;
  bool model_outline = true;
  /// title, what is said below it, statistics of the panels, and the version at the foot
  bool annotations = true;
  /// names of the fields to draw; empty: all
  std::vector<std::string> fields;
  /// easting, northing and upward, in metres, of the sections of a model; unset: through the cell that differs most
  std::array<std::optional<double>, 3> cut;

  [[nodiscard]] bool operator==(const FigureStyle&) const = default;
};

/// What of a style is allowed: lines of equal value, dots per inch.
inline constexpr std::int64_t most_contours = 100, least_dpi = 30, most_dpi = 1200;

}  // namespace prismfield
