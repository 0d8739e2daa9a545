// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <prismfield/ranges.hpp>

namespace prismfield {

/// What every precision computes finite numbers for, units SI: how far from 0 coordinates of prisms and points may be,
/// the least that a prism's longest edge may be, the largest density, or component of the magnetisation, in magnitude.
inline constexpr double max_coordinate = 1e12;
inline constexpr double min_longest_edge = 1e-6;
inline constexpr double max_density = 1e12;

/// Columns that describe prisms and belong to somebody else: metres, kg/m3 and A/m, z up, all of one length.
struct PrismColumns {
  std::span<const double> west, east, south, north, bottom, top, density;
  /// along easting, northing, upward; all three empty: not magnetised
  std::array<std::span<const double>, 3> magnetization{};
};

/// A block of prisms as columns, each of one length: metres, kg/m3 and A/m, z up.
struct PrismBlock {
  std::vector<double> west, east, south, north, bottom, top, density;
  /// along easting, northing, upward; empty where the source is not magnetised
  std::array<std::vector<double>, 3> magnetization{};

  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(west.size()); }
  /// Of all columns but the magnetisation, and of the magnetisation.
  void resize(std::int64_t n);
  void magnetize(std::int64_t n);
  /// All of them, until the block changes.
  [[nodiscard]] PrismColumns columns() const noexcept {
    const auto& [e, n, u] = magnetization;
    return {west, east, south, north, bottom, top, density, {e, n, u}};
  }
};

/// Smallest box around an ensemble, metres, z up.
struct Bounds {
  double west = 0, east = 0, south = 0, north = 0, bottom = 0, top = 0;
};

/// An ensemble of prisms, listed or implicit: prisms are made on demand, range by range, so that a regular ensemble of
/// 1e9 cells is never held whole. Prisms of a mesh are numbered easting fastest, then northing, then upward. Safe to
/// read from many threads.
class PrismSource {
public:
  virtual ~PrismSource() = default;

  [[nodiscard]] virtual std::int64_t size() const noexcept = 0;
  [[nodiscard]] virtual Bounds bounds() const noexcept = 0;
  /// Writes the prisms of `range` to out, resized to them. Throws RunError when they are not within [0, size()). What
  /// is read is not checked any more: all values have to be finite and within the limits above, east above west, north
  /// above south, top above bottom.
  virtual void read(IndexRange range, PrismBlock& out) const = 0;
  /// How far faces may be from the places that were meant, along easting, northing, upward, metres, where they were
  /// computed from other numbers and lost more than 2 ulp: a point within it of a face lies on the face. 0: faces are
  /// where they are meant to be, and a point within 4 ulp of one lies on it.
  [[nodiscard]] virtual std::array<double, 3> rounding() const noexcept { return {}; }
  /// True when all prisms have equal edge lengths to rounding: memory and time are then planned for one shape. Kernels
  /// do not ask: they find equal shapes that follow each other.
  [[nodiscard]] virtual bool uniform_shape() const noexcept { return false; }
  /// Whether prisms have a magnetisation, which read() then writes. Magnetic fields need it.
  [[nodiscard]] virtual bool is_magnetized() const noexcept { return false; }

protected:
  PrismSource() = default;
  PrismSource(const PrismSource&) = default;
  PrismSource& operator=(const PrismSource&) = default;

  /// Throws RunError for a range that is not within [0, size()).
  void require_within(IndexRange range) const;
};

/// An ensemble over the caller's own columns, which are not copied and must outlive it.
class PrismList final : public PrismSource {
public:
  /// Throws InputError, naming the columns and prisms, for columns of different lengths, values that are not finite or
  /// beyond the limits above, and prisms whose east, north or top is not above their west, south or bottom.
  explicit PrismList(const PrismColumns& columns);

  [[nodiscard]] std::int64_t size() const noexcept override { return static_cast<std::int64_t>(m_columns.west.size()); }
  [[nodiscard]] Bounds bounds() const noexcept override { return m_bounds; }
  void read(IndexRange range, PrismBlock& out) const override;
  [[nodiscard]] bool uniform_shape() const noexcept override { return m_is_one_shape; }
  [[nodiscard]] bool is_magnetized() const noexcept override { return !m_columns.magnetization[0].empty(); }

private:
  PrismColumns m_columns;
  Bounds m_bounds;
  bool m_is_one_shape = false;
};

/// Prisms of another source, which must outlive it, with other magnetisations, A/m, in the place of theirs: one that
/// all share, so that an operator's columns are of magnetisation along one direction or of susceptibility in an
/// inducing field; several, in as many blocks of all prisms, for a vector's components; or one a prism, (prism) along
/// easting, northing, upward. See unit_magnetizations() and demagnetize().
class MagnetizedPrisms final : public PrismSource {
public:
  /// Without any magnetisation the prisms are as they are. All throw InputError for a magnetisation that is not finite
  /// or beyond max_density; the last one for another number of them than that of the prisms.
  MagnetizedPrisms(const PrismSource& prisms, std::vector<std::array<double, 3>> magnetizations);
  MagnetizedPrisms(const PrismSource& prisms, const std::array<double, 3>& magnetization)
      : MagnetizedPrisms(prisms, std::vector{magnetization}) {}
  MagnetizedPrisms(const PrismSource& prisms, std::array<std::vector<double>, 3> of_each);

  [[nodiscard]] std::int64_t size() const noexcept override { return blocks() * m_prisms.size(); }
  [[nodiscard]] Bounds bounds() const noexcept override { return m_prisms.bounds(); }
  void read(IndexRange range, PrismBlock& out) const override;
  [[nodiscard]] std::array<double, 3> rounding() const noexcept override { return m_prisms.rounding(); }
  [[nodiscard]] bool uniform_shape() const noexcept override { return m_prisms.uniform_shape(); }
  [[nodiscard]] bool is_magnetized() const noexcept override {
    return !m_magnetizations.empty() || !m_of_each[0].empty() || m_prisms.is_magnetized();
  }
  /// Each has the prisms of the source, in their order.
  [[nodiscard]] std::int64_t blocks() const noexcept {
    return m_magnetizations.empty() ? 1 : static_cast<std::int64_t>(m_magnetizations.size());
  }

private:
  const PrismSource& m_prisms;
  std::vector<std::array<double, 3>> m_magnetizations;
  std::array<std::vector<double>, 3> m_of_each;
};

}  // namespace prismfield
