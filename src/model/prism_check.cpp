// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/prism_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "model/overlaps.hpp"

namespace prismfield {
namespace {

constexpr std::size_t overlaps_named = 10;
constexpr std::size_t overlaps_counted = 100'000;

constexpr double far = std::numeric_limits<double>::infinity();

double least(std::span<const double> v) {
  return std::accumulate(v.begin(), v.end(), far, [](double a, double b) { return std::min(a, b); });
}

double greatest(std::span<const double> v) {
  return std::accumulate(v.begin(), v.end(), -far, [](double a, double b) { return std::max(a, b); });
}

}  // namespace

std::string beyond_coordinates() {
  return fmt::format("lies more than {:g} m from 0, the limit up to which results are finite", max_coordinate);
}

std::string beyond_densities() {
  return fmt::format("is more than {:g} kg/m3, the limit up to which results are finite", max_density);
}

std::string below_longest_edge() {
  return fmt::format("all edges are shorter than {:g} m, the limit down to which results are finite", min_longest_edge);
}

bool is_too_small(const std::array<double, 7>& prism) noexcept {
  return std::max({prism[1] - prism[0], prism[3] - prism[2], prism[5] - prism[4]}) < min_longest_edge;
}

ZeroSize PrismCheck::check_each() {
  const auto columns = columns_of(m_list.prisms);
  std::size_t kept = 0;
  ZeroSize zero;
  if (add_other_axis()) return zero;
  for (std::size_t i = 0; i < m_list.numbers.size(); ++i) {
    std::array<double, 7> prism{};
    for (std::size_t c = 0; c < 7; ++c) prism[c] = (*columns[c])[i];
    const std::int64_t number = m_list.numbers[i];
    if (!is_finite(prism, number) || is_inverted(prism, number) || !convert(prism, number)) continue;
    if (prism[0] == prism[1] || prism[2] == prism[3] || prism[4] == prism[5]) {
      if (zero.count++ == 0) zero.first = number;
      continue;
    }
    if (is_too_small(prism)) {
      m_limited.add("prisms that are too small", [&] {
        return Problem{m_names.where(number), m_names.key(number), below_longest_edge()};
      });
      continue;
    }
    for (std::size_t c = 0; c < 7; ++c) (*columns[c])[kept] = prism[c];
    m_list.numbers[kept++] = number;
  }
  m_limited.finish();
  for (auto* column : columns) column->resize(kept);
  m_list.numbers.resize(kept);
  return zero;
}

std::int64_t PrismCheck::check_overlaps() {
  const Overlaps overlaps = find_overlaps(m_list.prisms, overlap_tolerance, overlaps_counted);
  const std::size_t named = std::min(overlaps.pairs.size(), overlaps_named);
  for (std::size_t o = 0; o < named; ++o) {
    const auto a = static_cast<std::size_t>(overlaps.pairs[o].first);
    const auto b = static_cast<std::size_t>(overlaps.pairs[o].second);
    const std::string other = "the prism of " + m_names.reference(m_list.numbers[a]);
    m_problems.add(m_names.where(m_list.numbers[b]), m_names.key(m_list.numbers[b]),
                   fmt::format("overlaps {} by {} m; allow_overlap: true accepts this", other, common_edges(a, b)));
  }
  if (overlaps.pairs.size() > named) {
    m_problems.add(m_names.list(), "",
                   fmt::format("{}{} more overlapping pairs", overlaps.complete ? "" : "more than ",
                               overlaps.pairs.size() - named));
  }
  return overlaps.memory_bytes;
}

const char* PrismCheck::axis_remark() const noexcept {
  return m_units.z_down ? "; with axis_z: down these are depths; for heights, write axis_z: up"
                        : "; with axis_z: up these are heights; for depths, write axis_z: down";
}

bool PrismCheck::add_other_axis() {
  const PrismBlock& p = m_list.prisms;
  std::int64_t inverted = 0;
  for (std::size_t i = 0; i < m_list.numbers.size(); ++i) {
    const double height = m_units.z_down ? p.bottom[i] - p.top[i] : p.top[i] - p.bottom[i];
    if (height > 0) return false;
    inverted += height < 0 ? 1 : 0;
  }
  if (inverted < 2) return false;
  m_problems.add(m_names.list(), "", fmt::format("bottom is above top in all prisms{}", axis_remark()));
  return true;
}

bool PrismCheck::is_finite(const std::array<double, 7>& prism, std::int64_t number) {
  bool finite = true;
  for (std::size_t c = 0; c < 7; ++c) {
    if (std::isfinite(prism[c])) continue;
    finite = false;
    m_limited.add("NaN or infinite values", [&] {
      return Problem{m_names.where(number), m_names.key(number, prism_columns[c]), "is NaN or infinite"};
    });
  }
  return finite;
}

bool PrismCheck::is_inverted(const std::array<double, 7>& prism, std::int64_t number) {
  bool inverted = false;
  for (std::size_t c = 0; c < 6; c += 2) {
    const bool depths = c == 4 && m_units.z_down;
    if (depths ? prism[c] >= prism[c + 1] : prism[c] <= prism[c + 1]) continue;
    inverted = true;
    m_limited.add("inverted prisms", [&] {
      static constexpr std::array<const char*, 3> relations = {"is east of", "is north of", "is above"};
      const char* const remark = c < 4 ? "" : axis_remark();
      return Problem{m_names.where(number), m_names.key(number),
                     fmt::format("{} {} {} {} {}{}", prism_columns[c], prism[c], relations[c / 2], prism_columns[c + 1],
                                 prism[c + 1], remark)};
    });
  }
  return inverted;
}

bool PrismCheck::convert(std::array<double, 7>& prism, std::int64_t number) {
  for (std::size_t c = 0; c < 6; ++c) prism[c] *= m_units.length_to_si;
  prism[6] *= m_units.density_to_si;
  if (m_units.z_down) {
    prism[4] = -prism[4];
    prism[5] = -prism[5];
  }
  bool within = true;
  for (std::size_t c = 0; c < 7; ++c) {
    const bool is_density = c == 6;
    if (std::abs(prism[c]) <= (is_density ? max_density : max_coordinate)) continue;
    within = false;
    m_limited.add(is_density ? "densities beyond the limit" : "coordinates beyond the limit", [&] {
      return Problem{m_names.where(number), m_names.key(number, prism_columns[c]),
                     is_density ? beyond_densities() : beyond_coordinates()};
    });
  }
  return within;
}

std::string PrismCheck::common_edges(std::size_t a, std::size_t b) const {
  const PrismBlock& p = m_list.prisms;
  return fmt::format("{:.6g} x {:.6g} x {:.6g}", std::min(p.east[a], p.east[b]) - std::max(p.west[a], p.west[b]),
                     std::min(p.north[a], p.north[b]) - std::max(p.south[a], p.south[b]),
                     std::min(p.top[a], p.top[b]) - std::max(p.bottom[a], p.bottom[b]));
}

Bounds bounds_of(const PrismColumns& prisms) {
  return {least(prisms.west),     greatest(prisms.east), least(prisms.south),
          greatest(prisms.north), least(prisms.bottom),  greatest(prisms.top)};
}

Bounds bounds_of(const PrismBlock& prisms) {
  return bounds_of(
      PrismColumns{prisms.west, prisms.east, prisms.south, prisms.north, prisms.bottom, prisms.top, prisms.density});
}

Range densities_of(const PrismBlock& prisms) { return {least(prisms.density), greatest(prisms.density)}; }

}  // namespace prismfield
