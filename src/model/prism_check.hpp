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

/// The numbers of a prism, in the order of lists.
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

/// Prisms of a list. `magnetization` is the remanent one; it and the susceptibility (SI) are empty where the list has
/// none.
struct ListedPrisms : PrismBlock {
  std::vector<double> susceptibility;
};

/// The columns of a list: west, east, south, north, bottom, top, then property_names.
inline constexpr std::size_t n_face_columns = 6, n_list_columns = n_face_columns + property_names.size();
[[nodiscard]] constexpr const char* list_column(std::size_t c) noexcept {
  return c < n_face_columns ? prism_columns[c] : property_names[c - n_face_columns];
}
/// The columns in that order.
[[nodiscard]] inline std::array<std::vector<double>*, n_list_columns> list_columns_of(ListedPrisms& p) {
  auto& [e, n, u] = p.magnetization;
  return {&p.west, &p.east, &p.south, &p.north, &p.bottom, &p.top, &p.density, &p.susceptibility, &e, &n, &u};
}
[[nodiscard]] inline std::array<const std::vector<double>*, n_list_columns> list_columns_of(const ListedPrisms& p) {
  const auto& [e, n, u] = p.magnetization;
  return {&p.west, &p.east, &p.south, &p.north, &p.bottom, &p.top, &p.density, &p.susceptibility, &e, &n, &u};
}

/// The units and the z axis of a list.
struct PrismUnits {
  /// whether bottom and top are depths
  bool z_down = false;
  /// factors to m and kg/m3
  double length_to_si = 1;
  double density_to_si = 1;
};

/// Prisms with their numbers in the source: lines or indices.
struct NumberedPrisms {
  ListedPrisms prisms;
  std::vector<std::int64_t> numbers;
};

/// Names the prisms of a list in messages of PrismCheck; the reader of prism files implements it.
class PrismNames {
public:
  virtual ~PrismNames() = default;
  /// the place of errors of the list as a whole
  [[nodiscard]] virtual std::string list() const = 0;
  /// the place of a prism's errors, and the key of the prism or of one of its columns
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

/// Counts prisms of zero size in a list.
struct ZeroSize {
  std::int64_t count = 0;
  /// number of the first
  std::int64_t first = 0;
};

/// The result of find_overlaps().
struct Overlaps {
  /// (first, second) indices, first < second, ordered by second, then first
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  /// false: the search stopped at max_pairs
  bool complete = true;
  /// host memory of the search, bytes
  std::int64_t memory_bytes = 0;
};

/// Finds at most max_pairs pairs of prisms that overlap in all three directions by more than `tolerance` times the
/// smaller edge. Edges must be above 0. Time is O(n log n) where few prisms touch, whatever their sizes.
[[nodiscard]] Overlaps find_overlaps(const PrismBlock& prisms, double tolerance, std::size_t max_pairs);

/// Overlaps deeper than this fraction of the smaller edge in all three directions are errors.
inline constexpr double overlap_tolerance = 1e-6;

/// The errors for a coordinate, density or longest edge beyond the limits of prisms.hpp.
[[nodiscard]] std::string beyond_coordinates();
[[nodiscard]] std::string beyond_densities();
[[nodiscard]] std::string below_longest_edge();
/// The error of a number, SI units, that is not finite or beyond the limits, by its place in Properties or its column
/// in a list; "" for a valid number.
[[nodiscard]] std::string property_error(std::size_t property, double value);
[[nodiscard]] std::string column_error(std::size_t column, double value);
[[nodiscard]] bool is_too_small(std::span<const double> prism) noexcept;

/// Checks the prisms of a list and converts them to metres, kg/m3 and z up; the reader of prism files uses it. It adds
/// errors to `problems`, at most 20 of a kind. All arguments must outlive it.
class PrismCheck {
public:
  PrismCheck(NumberedPrisms& list, const PrismUnits& units, const PrismNames& names, ProblemList& problems)
      : m_list(list), m_units(units), m_names(names), m_problems(problems), m_limited(problems, names.list()) {}

  /// Removes prisms with an error and prisms of zero size. Returns the number of prisms of zero size.
  ZeroSize check_each();
  /// Adds a problem for each of the first overlapping pairs. Returns the bytes of the search.
  std::int64_t check_overlaps();

private:
  using Prism = std::array<double, n_list_columns>;

  /// Whether all prisms are inverted along z and the other axis_z would cure that; adds one problem then.
  bool add_other_axis();
  /// the meaning of bottom and top, and the remedy
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

/// The smallest box around prisms; for no prisms, a box that all boxes contain.
[[nodiscard]] Bounds bounds_of(const PrismColumns& prisms);

/// Shortest and longest edges of prisms along easting, northing, upward, metres.
struct EdgeRanges {
  std::array<Range, 3> along;
  /// Whether all prisms have the same shape to rounding.
  [[nodiscard]] bool is_one_shape() const noexcept;
};
[[nodiscard]] EdgeRanges edge_ranges_of(const PrismColumns& prisms);
/// The ranges over a list's prisms; for no prisms, ranges that any other widens.
[[nodiscard]] PropertyRanges ranges_of(const ListedPrisms& prisms);

}  // namespace prismfield
