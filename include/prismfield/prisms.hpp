// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <prismfield/ranges.hpp>

namespace prismfield {

/// Limits within which every precision computes finite numbers, SI units: the magnitude of a coordinate of prisms and
/// points, a prism's longest edge, and the magnitude of a density or of a component of the magnetisation.
inline constexpr double max_coordinate = 1e12;
inline constexpr double min_longest_edge = 1e-6;
inline constexpr double max_density = 1e12;

/// Columns of prisms that the caller owns, all of one length: metres, kg/m3 and A/m, z up.
struct PrismColumns {
  std::span<const double> west, east, south, north, bottom, top, density;
  /// along easting, northing, upward; all three are empty where prisms are not magnetised
  std::array<std::span<const double>, 3> magnetization{};
};

/// A block of prisms that PrismSource::read() fills, as columns of one length: metres, kg/m3 and A/m, z up.
struct PrismBlock {
  std::vector<double> west, east, south, north, bottom, top, density;
  /// along easting, northing, upward; empty where the source is not magnetised
  std::array<std::vector<double>, 3> magnetization{};

  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(west.size()); }
  /// Resizes all columns but the magnetisation; magnetize() resizes the magnetisation.
  void resize(std::int64_t n);
  void magnetize(std::int64_t n);
  /// Views of all columns, valid until the block changes.
  [[nodiscard]] PrismColumns columns() const noexcept {
    const auto& [e, n, u] = magnetization;
    return {west, east, south, north, bottom, top, density, {e, n, u}};
  }
};

/// The smallest box around an ensemble, metres, z up.
struct Bounds {
  double west = 0, east = 0, south = 0, north = 0, bottom = 0, top = 0;
};

/// An ensemble of prisms, the source of every forward run, operator and inversion. It makes prisms on demand, range by
/// range, so that a regular ensemble of 1e9 cells never occupies memory. A mesh numbers its prisms easting fastest,
/// then northing, then upward. Many threads may read at once.
class PrismSource {
public:
  virtual ~PrismSource() = default;

  [[nodiscard]] virtual std::int64_t size() const noexcept = 0;
  [[nodiscard]] virtual Bounds bounds() const noexcept = 0;
  /// Resizes `out` to `range` and writes its prisms there. Throws RunError for a range outside [0, size()). Readers do
  /// not check again: values must be finite and within the limits above, east > west, north > south, top > bottom.
  virtual void read(IndexRange range, PrismBlock& out) const = 0;
  /// How far a face may lie from its true place, along easting, northing, upward, metres. It is above 0 where faces
  /// were computed and lost more than 2 ulp. A point within this distance of a face counts as on the face; with 0, a
  /// point within 4 ulp.
  [[nodiscard]] virtual std::array<double, 3> rounding() const noexcept { return {}; }
  /// Whether all prisms have equal edge lengths to rounding. Plans of memory and time use it; kernels find runs of
  /// equal shapes themselves.
  [[nodiscard]] virtual bool uniform_shape() const noexcept { return false; }
  /// Whether read() writes a magnetisation, which magnetic fields need.
  [[nodiscard]] virtual bool is_magnetized() const noexcept { return false; }

protected:
  PrismSource() = default;
  PrismSource(const PrismSource&) = default;
  PrismSource& operator=(const PrismSource&) = default;

  /// Throws RunError for a range outside [0, size()).
  void require_within(IndexRange range) const;
};

/// An ensemble over the caller's columns; it does not copy them, so they must outlive it.
class PrismList final : public PrismSource {
public:
  /// Throws InputError, with columns and prisms named, for columns of different lengths, for values that are not finite
  /// or beyond the limits above, and for prisms without east > west, north > south and top > bottom.
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

/// The prisms of another source, which must outlive it, with a new magnetisation, A/m, along easting, northing, upward.
/// One vector serves all prisms: a column of G is then a direction or a susceptibility in an inducing field. Several
/// vectors make as many blocks of all prisms, one per component. Three columns (prism) give each prism its own. Callers
/// get the vectors from unit_magnetizations() and demagnetize().
class MagnetizedPrisms final : public PrismSource {
public:
  /// An empty list leaves the prisms as they are. Throws InputError for a magnetisation that is not finite or beyond
  /// max_density, and for columns of another length than the prisms.
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
  /// How many blocks there are; each holds all prisms of the source, in their order.
  [[nodiscard]] std::int64_t blocks() const noexcept {
    return m_magnetizations.empty() ? 1 : static_cast<std::int64_t>(m_magnetizations.size());
  }

private:
  const PrismSource& m_prisms;
  std::vector<std::array<double, 3>> m_magnetizations;
  std::array<std::vector<double>, 3> m_of_each;
};

}  // namespace prismfield
