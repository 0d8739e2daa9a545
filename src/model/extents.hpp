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

/// "easting 0 to 22000, northing 0 to 22000, upward 100 m"
[[nodiscard]] std::string extent_text(const Bounds& bounds);
/// "-300 to 500 kg/m3"
[[nodiscard]] std::string density_text(const Range& densities);
/// "susceptibility 0 to 0.05 SI, remanent magnetization 0 to 2 A/m", what of it there is
[[nodiscard]] std::string magnetic_text(const PropertyRanges& ranges);

/// The warning where the gravitational constant, m3 kg-1 s-2, is off by more than 1 %, as in units of cgs.
[[nodiscard]] std::vector<std::string> constant_warnings(double constant);

/// What a user should be told of a model with densities from min to max, kg/m3, that can hardly be in this unit.
/// `are_of_file`: they are not written in the case itself.
[[nodiscard]] std::vector<std::string> density_warnings(const Range& densities, bool are_of_file);

/// What is wrong with an inducing field's intensity, nT; "" when nothing is.
[[nodiscard]] std::string intensity_error(double intensity);
/// What a user should be told of susceptibilities that can hardly be in SI, or that are so large that the masses' own
/// fields count, unless these are taken into account, and of an inducing field that is none of the Earth's.
[[nodiscard]] std::vector<std::string> magnetic_warnings(const PropertyRanges& ranges, const Magnetic& magnetic,
                                                         bool demagnetizes);

/// What a user should be told of a model and points that lie far from each other, or of coordinates that look like
/// degrees. Boxes in metres, around all prisms and all points.
[[nodiscard]] std::vector<std::string> place_warnings(const Bounds& model, const Bounds& points);

/// The warning where every point lies below the top of the model's box and none inside it, as where depths are given as
/// heights. Metres.
[[nodiscard]] std::vector<std::string> height_warnings(const Bounds& model, const Points& points);

}  // namespace prismfield
