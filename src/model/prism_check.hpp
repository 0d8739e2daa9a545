// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/prisms.hpp>

#include "base/limited_problems.hpp"
#include "model/axis.hpp"
#include "model/properties.hpp"

namespace prismfield {

/// The numbers of a prism, in the order of a list.
inline constexpr std::array<const char*, 7> prism_columns = {"west",   "east", "south",  "north",
                                                             "bottom", "top",  "density"};
inline constexpr std::array<const char*, 3> magnetization_columns = {"magnetization_easting", "magnetization_northing",
                                                                     "magnetization_upward"};

[[nodiscard]] inline std::array<std::vector<double>*, 7> columns_of(PrismBlock& block) {
  return {&block.west, &block.east, &block.south, &block.north, &block.bottom, &block.top, &block.density};
}
[[nodiscard]] inline std::array<const std::vector<double>*, 7> columns_of(const PrismBlock& block) {
  return {&block.west, &block.east, &block.south, &block.north, &block.bottom, &block.top, &block.density};
}

/// Prisms of a list. Their magnetisation is the remanent one; it and the susceptibility (SI) are empty where the list
/// has none.
struct ListedPrisms : PrismBlock {
  std::vector<double> susceptibility;
};

/// The columns of a list: west, east, south, north, bottom and top, then property_names.
inline constexpr std::size_t n_face_columns = 6, n_list_columns = n_face_columns + property_names.size();
[[nodiscard]] constexpr const char* list_column(std::size_t c) noexcept {
  return c < n_face_columns ? prism_columns[c] : property_names[c - n_face_columns];
}
/// In this order.
[[nodiscard]] inline std::array<std::vector<double>*, n_list_columns> list_columns_of(ListedPrisms& p) {
  auto& [e, n, u] = p.magnetization;
  return {&p.west, &p.east, &p.south, &p.north, &p.bottom, &p.top, &p.density, &p.susceptibility, &e, &n, &u};
}
[[nodiscard]] inline std::array<const std::vector<double>*, n_list_columns> list_columns_of(const ListedPrisms& p) {
  const auto& [e, n, u] = p.magnetization;
  return {&p.west, &p.east, &p.south, &p.north, &p.bottom, &p.top, &p.density, &p.susceptibility, &e, &n, &u};
}

/// What the numbers of a list mean.
struct PrismUnits {
  /// bottom and top are depths
  bool z_down = false;
  /// factors to m and kg/m3
  double length_to_si = 1;
  double density_to_si = 1;
};

/// Prisms, and the number that each has where it came from: a line, an index.
struct NumberedPrisms {
  ListedPrisms prisms;
  std::vector<std::int64_t> numbers;
};

/// How messages tell the prisms of a list from each other.
class PrismNames {
public:
  virtual ~PrismNames() = default;
  /// where errors of the list as a whole stand
  [[nodiscard]] virtual std::string list() const = 0;
  /// where those of a prism stand, and its key or the key of one of its columns
  [[nodiscard]] virtual std::string where(std::int64_t number) const = 0;
  [[nodiscard]] virtual std::string key(std::int64_t number) const = 0;
  [[nodiscard]] virtual std::string key(std::int64_t number, const char* column) const = 0;
  /// "line 17"
  [[nodiscard]] virtual std::string reference(std::int64_t number) const = 0;

protected:
  PrismNames() = default;
  PrismNames(const PrismNames&) = default;
  PrismNames& operator=(const PrismNames&) = default;
};

/// Prisms of zero size in a list or a part of it.
struct ZeroSize {
  std::int64_t count = 0;
  /// number of the first
  std::int64_t first = 0;
};

/// Pairs of prisms that overlap.
struct Overlaps {
  /// (first, second) indices, first < second, ordered by second, then first
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  /// false when the search stopped at max_pairs: there are more
  bool complete = true;
  /// host memory that the search took, bytes
  std::int64_t memory_bytes = 0;
};

/// Pairs of prisms whose overlap is deeper than `tolerance` times the smaller of both edges in all three directions; at
/// most max_pairs of them. Every edge must be above 0. Time grows as n log n where few prisms touch, whatever their
/// sizes.
[[nodiscard]] Overlaps find_overlaps(const PrismBlock& prisms, double tolerance, std::size_t max_pairs);

/// Overlaps deeper than this fraction of the smaller edge in all three directions are errors.
inline constexpr double overlap_tolerance = 1e-6;

/// What is wrong with a coordinate, a density or a longest edge, in SI units, that lies beyond the
/// limits of prisms.hpp.
[[nodiscard]] std::string beyond_coordinates();
[[nodiscard]] std::string beyond_densities();
[[nodiscard]] std::string below_longest_edge();
/// What is wrong with a property, by its place in Properties, or with a number of a list's column, in SI units, that is
/// not finite or beyond the limits; "" when nothing is.
[[nodiscard]] std::string property_error(std::size_t property, double value);
[[nodiscard]] std::string column_error(std::size_t column, double value);
[[nodiscard]] bool is_too_small(std::span<const double> prism) noexcept;

/// Checks prisms of a list and turns them into metres, kg/m3 and z up; errors go to `problems`, at most 20 of one kind
/// named. All arguments must outlive it.
class PrismCheck {
public:
  PrismCheck(NumberedPrisms& list, const PrismUnits& units, const PrismNames& names, ProblemList& problems)
      : m_list(list), m_units(units), m_names(names), m_problems(problems), m_limited(problems, names.list()) {}

  /// Leaves out prisms with an error and those of zero size, which it counts.
  ZeroSize check_each();
  /// Adds a problem for each of the first pairs that overlap; returns the bytes that the search took.
  std::int64_t check_overlaps();

private:
  using Prism = std::array<double, n_list_columns>;

  /// Adds one problem where all prisms are inverted along z, which the other axis_z mends; true then.
  bool add_other_axis();
  /// what bottom and top are, and the remedy
  [[nodiscard]] const char* axis_remark() const noexcept;
  bool is_finite(const Prism& prism, std::int64_t number);
  bool is_inverted(const Prism& prism, std::int64_t number);
  bool convert(Prism& prism, std::int64_t number);
  [[nodiscard]] std::string common_edges(std::size_t a, std::size_t b) const;

  NumberedPrisms& m_list;
  const PrismUnits& m_units;
  const PrismNames& m_names;
  ProblemList& m_problems;
  LimitedProblems m_limited;
};

/// The smallest box around prisms; without any, one that every other box contains.
[[nodiscard]] Bounds bounds_of(const PrismColumns& prisms);

/// The shortest and the longest edges of prisms along easting, northing, upward, metres.
struct EdgeRanges {
  std::array<Range, 3> along;
  /// Whether all prisms have one shape, to rounding.
  [[nodiscard]] bool is_one_shape() const noexcept;
};
[[nodiscard]] EdgeRanges edge_ranges_of(const PrismColumns& prisms);
/// Of the prisms of a list; without any, ranges that any other widens.
[[nodiscard]] PropertyRanges ranges_of(const ListedPrisms& prisms);

}  // namespace prismfield
