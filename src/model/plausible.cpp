// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/plausible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/number_text.hpp"

namespace prismfield {
namespace {

// The heaviest metals have 22,600 kg/m3 and contrasts below 20 are not worth a model, but those found in a time lapse
// are less. Magnetite has at most 20 SI, saturated iron 1.7e6 A/m. Anomalies of gravity reach 700 mGal, gradients over
// the densest metals 17,000 Eotvos, anomalies of iron ore 200,000 nT. Gravimeters resolve 1e-4 mGal, gradiometers 1e-2
// Eotvos and 1e-5 nT/m, magnetometers 1e-3 nT. The Earth's field has 22,000 to 67,000 nT, its ground heights from the
// Challenger Deep to Mount Everest. Boreholes reach 12,262 m, aircraft 21 km and balloons 30 km, satellites of gravity
// and magnetics fly below 1,000 km.
constexpr const char *metal = "more than any metal", *anomalies = "more than anomalies have";
constexpr std::array plausible_ranges = {
    PlausibleRange{Quantity::density, 20, 30'000, metal, "g/cm3", "", 5'000},
    PlausibleRange{Quantity::contrast, 1, 30'000, metal, "g/cm3", "", 1'000},
    PlausibleRange{Quantity::susceptibility, 1e-6, 20, "more than magnetite", "", "1e-3 or 1e-6 SI", 1},
    PlausibleRange{Quantity::magnetization, 1e-5, 2e6, metal, "", "", 30},
    PlausibleRange{Quantity::acceleration, 1e-4, 1'000, anomalies, "m/s2", "um/s2, or the whole field of the Earth"},
    PlausibleRange{Quantity::gradient, 1e-3, 20'000, anomalies, "1/s2", "1e-12 s-2"},
    PlausibleRange{Quantity::flux_density, 1e-3, 200'000, anomalies, "T", "pT"},
    PlausibleRange{Quantity::flux_gradient, 1e-6, 1e6, anomalies, "T/m", "pT/m"},
    PlausibleRange{Quantity::inducing_field, 20'000, 70'000},
    PlausibleRange{Quantity::height, -11'500, 9'000},
    PlausibleRange{Quantity::station, -12'500, 30'000},
};

/// The row of a field's numbers; none of the potential's.
const PlausibleRange* range_of(const FieldInfo& field) noexcept {
  if (field.unit == "mGal") return &plausible(Quantity::acceleration);
  if (field.unit == "Eotvos") return &plausible(Quantity::gradient);
  if (field.unit == "nT") return &plausible(Quantity::flux_density);
  return field.unit == "nT/m" ? &plausible(Quantity::flux_gradient) : nullptr;
}

}  // namespace

const PlausibleRange& plausible(Quantity quantity) noexcept {
  return plausible_ranges[static_cast<std::size_t>(quantity)];
}

const PlausibleRange& plausible(Unknown unknown) noexcept {
  return plausible(unknown == Unknown::density          ? Quantity::contrast
                   : unknown == Unknown::susceptibility ? Quantity::susceptibility
                                                        : Quantity::magnetization);
}

double largest_of(const Range& values) noexcept { return std::max(std::abs(values.min), std::abs(values.max)); }

bool are_tiny(const Range& values, const PlausibleRange& range) noexcept {
  return largest_of(values) > 0 && largest_of(values) < range.least;
}

std::string field_warning(Field field, double largest) {
  const FieldInfo& of = info(field);
  const PlausibleRange* const range = range_of(of);
  if (range == nullptr || largest == 0 || (largest >= range->least && largest <= range->most)) return "";
  const bool is_tiny = largest < range->least;
  return fmt::format("{} is at most {:.2g} {}, {}: is it in {}? {} is expected", of.name, largest, of.unit,
                     is_tiny ? "less than instruments resolve" : range->beyond,
                     is_tiny ? range->less_in : range->more_in, of.unit);
}

std::string height_warning(const Range& heights) {
  const PlausibleRange& ground = plausible(Quantity::height);
  if (heights.min >= ground.least && heights.max <= ground.most) return "";
  return fmt::format(
      "{:.6g} to {:.6g} m: the ground of the Earth has {:.6g} to {:.6g} m; are they in metres, and do some stand for "
      "none?",
      heights.min, heights.max, ground.least, ground.most);
}

std::string point_height_warning(const Bounds& points, std::optional<double> above_ground) {
  const PlausibleRange& range = plausible(above_ground ? Quantity::height : Quantity::station);
  constexpr double satellites = 1e6;
  const double most = range.most + above_ground.value_or(0);
  const bool is_one_kind = points.top <= most || points.bottom > most;
  if (points.bottom >= range.least && points.top <= satellites && is_one_kind) return "";
  return fmt::format(
      "the points have heights of {:.6g} to {:.6g} m; {} they are from {:.6g} to {:.6g} m, of satellites all higher, "
      "up to 1,000 km: are they in metres, and do some stand for none?",
      points.bottom, points.top, above_ground ? "over ground" : "of stations and aircraft", range.least, most);
}

std::string intensity_error(double intensity) {
  if (!(intensity > 0)) return fmt::format("is {} nT; an intensity above 0 is expected", intensity);
  // the Earth's field has more than 20,000 nT, Mercury's some hundred
  if (intensity >= 1) return "";
  const auto taken_for = [&](const char* unit, double nanoteslas) {
    return fmt::format(", and this looks like one in {}: write {:.6g}", unit, intensity * nanoteslas);
  };
  const std::string guess = 1e-6 <= intensity && intensity <= 1e-3 ? taken_for("T", 1e9)
                            : intensity >= 0.1                     ? taken_for("gauss", 1e5)
                                                                   : "";
  return fmt::format("is {} nT; an intensity in nT is expected{}", intensity, guess);
}

std::vector<std::string> magnetic_warnings(const PropertyRanges& ranges, const Magnetic& magnetic, bool demagnetizes) {
  std::vector<std::string> warnings;
  constexpr double little = 0.1, nanotesla = 1e-9;
  const double largest = ranges.susceptibility.max;
  if (const PlausibleRange& range = plausible(Quantity::susceptibility); largest > range.most) {
    warnings.push_back(fmt::format("the model has susceptibilities of up to {:.6g} SI, {}; are they in {}?", largest,
                                   range.beyond, range.more_in));
  } else if (largest > little && !demagnetizes) {
    warnings.push_back(fmt::format(
        "the model has susceptibilities of up to {:.6g} SI; from about {} on the fields of the masses change what is "
        "induced in them, which magnetic.demagnetization: true takes into account",
        largest, little));
  }
  const auto& f = magnetic.inducing_field;
  const double intensity = std::hypot(f[0], f[1], f[2]) / nanotesla;
  const PlausibleRange& range = plausible(Quantity::inducing_field);
  if (intensity > 0 && (intensity < range.least || intensity > range.most)) {
    warnings.push_back(fmt::format(
        "magnetic.inducing_field.intensity is {:.6g} nT; the Earth's field has 22,000 to 67,000 nT", intensity));
  }
  return warnings;
}

std::vector<std::string> constant_warnings(double constant) {
  constexpr double most = 0.01, of_cgs = 1000;
  const double codata = Request().gravitational_constant;
  const double ratio = constant / codata;
  if (std::abs(ratio - 1) <= most) return {};
  const bool is_cgs = std::abs(ratio / of_cgs - 1) <= most;
  return {
      fmt::format("gravitational_constant is {:g}, {:.4g} times the {:g} m3 kg-1 s-2 of CODATA, and so are all "
                  "fields: {}",
                  constant, ratio, codata,
                  is_cgs ? "it is in cgs units (cm3 g-1 s-2); m3 kg-1 s-2 is needed, which is the default: leave the "
                           "key out"
                         : "leave the key out if its unit is not m3 kg-1 s-2")};
}

std::vector<std::string> density_warnings(const Range& densities, bool are_of_file) {
  const PlausibleRange& range = plausible(Quantity::density);
  // no contrast is so far below 0
  constexpr double of_grams = 1000, lowest = -9000;
  for (const double density : {densities.min, densities.max}) {
    if (density >= lowest && density <= range.most) continue;
    const bool in_grams = looks_like_dummy(density / of_grams);
    if (!in_grams && !looks_like_dummy(density)) continue;
    return {
        fmt::format("the model has a density of {:.6g} {}, which looks like a dummy, a number that stands for none; "
                    "leave such prisms or cells out, or give them density 0",
                    in_grams ? density / of_grams : density, in_grams ? "g/cm3" : "kg/m3")};
  }
  if (largest_of(densities) > range.most) {
    return {fmt::format("the model has densities of up to {:.6g} kg/m3, {}; is their unit right?",
                        largest_of(densities), range.beyond)};
  }
  if (!are_tiny(densities, range)) return {};
  return {fmt::format("no density of the model is above {:.6g} kg/m3; are they {}? {}", largest_of(densities),
                      range.less_in,
                      are_of_file ? "density_unit: g/cm3 beside their file says so"
                                  : "Densities in the case are kg/m3: 1 g/cm3 is 1000")};
}

}  // namespace prismfield
