// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/properties.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <prismfield/prisms.hpp>

#include "model/prism_check.hpp"

namespace prismfield {

void PropertyRanges::include(const Properties& prism) noexcept {
  const auto widen = [](Range& range, double value) {
    range = {std::min(range.min, value), std::max(range.max, value)};
  };
  widen(density, prism[density_property]);
  widen(susceptibility, prism[susceptibility_property]);
  const double* const m = prism.data() + magnetization_property;
  const bool is_remanent = m[0] != 0 || m[1] != 0 || m[2] != 0;
  widen(remanence, is_remanent ? std::hypot(m[0], m[1], m[2]) : 0);
}

std::string PropertyRanges::names() const {
  std::vector<std::string> there;
  if (density.min < 0 || density.max > 0) there.emplace_back("density");
  if (has_susceptibility()) there.emplace_back("susceptibility");
  if (remanence.max > 0) there.emplace_back("magnetization");
  if (there.size() < 2) return there.empty() ? "density" : there.front();
  const std::string last = there.back();
  there.pop_back();
  return fmt::format("{} and {}", fmt::join(there, ", "), last);
}

std::string property_error(std::size_t property, double value) {
  if (!std::isfinite(value)) return "is NaN or infinite";
  if (property == susceptibility_property) {
    const auto [least, most] = susceptibility_limits;
    if (least <= value && value <= most) return "";
    return fmt::format("is {:g}; a susceptibility from {:g} to {:g} (SI) is expected", value, least, most);
  }
  if (std::abs(value) <= max_density) return "";
  return property == density_property ? beyond_densities() : beyond_magnetizations();
}

}  // namespace prismfield
