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

/// The number of points with easting and northing inside a box, at any height.
[[nodiscard]] std::int64_t points_within_outline(const Points& points, const Bounds& box);

/// The density of the prisms at each point, kg/m3: 0 outside of all, the sum where prisms overlap, NaN on faces to
/// rounding.
[[nodiscard]] std::vector<double> densities_at(const Points& points, const PrismSource& prisms);

/// Distance between two boxes, metres, 0 where they touch.
[[nodiscard]] double distance(const Bounds& a, const Bounds& b);

/// Whether eastings and northings may be longitudes and latitudes.
[[nodiscard]] bool could_be_degrees(const Bounds& box) noexcept;

/// Whether eastings and northings look like longitudes and latitudes.
struct DegreesDoubt {
  /// the error and the remedy; "" where they do not
  std::string text;
  /// whether no data in metres lie like this, which makes it an error instead of a warning
  bool is_certain = false;
};
/// The rule for degrees, of boxes in metres around all cells or prisms and all points. A map in degrees is a hundred
/// thousand times narrower than in metres, so that heights and depths, in metres or kilometres, stand over it like
/// needles, far from the origin. Certain are two cases further from the origin than wide: points 20 widths above the
/// model or a shape 500 times as high as wide; and points 5,000 times smaller than the model and ten of its sizes away.
/// The same box twice is that of a file alone, in which nothing is certain, whatever is_certain says. Never certain are
/// points of one line, as in a borehole, and data around the origin, as of small models.
[[nodiscard]] DegreesDoubt degrees_doubt(const Bounds& model, const Bounds& points);

/// Whether a box in kilometres fits another in metres: near it, and of its size.
[[nodiscard]] bool fits_in_km(const Bounds& box, const Bounds& other);

/// "easting 0 to 22000, northing 0 to 22000, upward 100 m"
[[nodiscard]] std::string extent_text(const Bounds& bounds);
/// "-300 to 500 kg/m3"
[[nodiscard]] std::string density_text(const Range& densities);
/// "susceptibility 0 to 0.05 SI, remanent magnetization 0 to 2 A/m", what of it there is
[[nodiscard]] std::string magnetic_text(const PropertyRanges& ranges);

/// Warnings for a model and points that lie far from each other, or that look like kilometres or, without certainty,
/// degrees. Boxes in metres, around all prisms and all points.
[[nodiscard]] std::vector<std::string> place_warnings(const Bounds& model, const Bounds& points);

/// The warning where all points lie below the top of the model's box and none inside it, as for depths given as
/// heights. Metres.
[[nodiscard]] std::vector<std::string> height_warnings(const Bounds& model, const Points& points);

}  // namespace prismfield
