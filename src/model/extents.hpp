// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "model/axis.hpp"
#include "model/properties.hpp"

namespace prismfield {

/// The smallest box around points, metres; all 0 without any.
[[nodiscard]] Bounds bounds_of(const Points& points);

/// Points whose easting and northing lie within those of a box: above, in or below it.
[[nodiscard]] std::int64_t points_within_outline(const Points& points, const Bounds& box);

/// The density of the prisms at each point, kg/m3: 0 outside of all, the sum where prisms overlap, NaN on their faces
/// to rounding.
[[nodiscard]] std::vector<double> densities_at(const Points& points, const PrismSource& prisms);

/// Distance between two boxes, metres, 0 where they touch.
[[nodiscard]] double distance(const Bounds& a, const Bounds& b);

/// Whether eastings and northings may be longitudes and latitudes.
[[nodiscard]] bool could_be_degrees(const Bounds& box) noexcept;

/// Places whose eastings and northings look like longitudes and latitudes.
struct DegreesDoubt {
  /// what is wrong and the remedy; "" where nothing looks so
  std::string text;
  /// nothing in metres lies like this: an error, otherwise a warning
  bool is_certain = false;
};
/// The one rule for degrees, of boxes in metres around all cells or prisms and all points. Maps in degrees are a
/// hundred thousand times narrower than they would be in metres, so that heights and depths, in metres or kilometres,
/// stand over them like needles, and they lie far from the origin. Certain are model and points further from the origin
/// than they are wide whose points are 20 widths above the model, or that are 500 times as high as wide; and points
/// that far from it, 5,000 times smaller than the model and ten of its sizes away. Points of one line, as in a
/// borehole, and what lies around the origin, as small models do, are never certain.
[[nodiscard]] DegreesDoubt degrees_doubt(const Bounds& model, const Bounds& points);

/// Whether a box in kilometres fits another in metres: near it, and of its size.
[[nodiscard]] bool fits_in_km(const Bounds& box, const Bounds& other);

/// "easting 0 to 22000, northing 0 to 22000, upward 100 m"
[[nodiscard]] std::string extent_text(const Bounds& bounds);
/// "-300 to 500 kg/m3"
[[nodiscard]] std::string density_text(const Range& densities);
/// "susceptibility 0 to 0.05 SI, remanent magnetization 0 to 2 A/m", what of it there is
[[nodiscard]] std::string magnetic_text(const PropertyRanges& ranges);

/// What a user should be told of a model and points that lie far from each other, in kilometres or, not for certain, in
/// degrees. Boxes in metres, around all prisms and all points.
[[nodiscard]] std::vector<std::string> place_warnings(const Bounds& model, const Bounds& points);

/// The warning where every point lies below the top of the model's box and none inside it, as where depths are given as
/// heights. Metres.
[[nodiscard]] std::vector<std::string> height_warnings(const Bounds& model, const Points& points);

}  // namespace prismfield
