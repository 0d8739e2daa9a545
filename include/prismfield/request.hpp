// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <prismfield/fields.hpp>

namespace prismfield {

enum class Space { automatic, serial, openmp, cuda, hip };
enum class Partition { automatic, prisms, points, points_per_prism, rank_grid };
enum class KernelKind { automatic, corners };
enum class Precision { double_, single };
/// See docs/methods.md. This version has no mesh.
enum class Method { automatic, direct, mesh, fft, tree };

/// The tolerance that the direct method keeps in double precision at any setting.
inline constexpr double default_tolerance = 1e-12;
inline constexpr std::int64_t least_check_points = 10, most_check_points = 1'000'000;

/// Whether a space computes on a device.
[[nodiscard]] constexpr bool is_device(Space space) noexcept { return space == Space::cuda || space == Space::hip; }

/// What the output holds for B at points inside prisms of magnetisation M. On a face M/2 stands for M, which gives the
/// mean of both sides.
enum class Inside {
  /// mu0 (H + M)
  flux_density,
  /// mu0 H
  field_strength,
  /// NaN
  nan,
  /// mu0 (H + M/3), the field in a hole that is a small sphere or cube
  cavity,
  /// in a narrow vertical hole: mu0 H along the hole, mu0 (H + M/2) across it
  borehole
};

/// The share of M, along easting, northing, upward, that the output adds to H inside prisms.
[[nodiscard]] constexpr std::array<double, 3> share_inside(Inside inside) noexcept {
  switch (inside) {
    case Inside::field_strength: return {0, 0, 0};
    case Inside::cavity: return {1.0 / 3, 1.0 / 3, 1.0 / 3};
    case Inside::borehole: return {0.5, 0.5, 0};
    case Inside::flux_density:
    case Inside::nan: break;
  }
  return {1, 1, 1};
}

/// The vector, along easting, northing, upward, in the unit of `intensity`, of a magnetic field or magnetisation with
/// this inclination (degrees, positive down) and declination (degrees, east of grid north).
[[nodiscard]] std::array<double, 3> vector_of(double inclination, double declination, double intensity) noexcept;
/// The unit vector along `field`; 0 for a field of 0.
[[nodiscard]] std::array<double, 3> direction_of(const std::array<double, 3>& field) noexcept;

/// What an operator multiplies and an inversion finds: kg/m3, SI, or A/m along easting, northing and upward.
enum class Unknown { density, susceptibility, magnetization };

/// The words that users write for these choices.
[[nodiscard]] const char* name(Axes axes) noexcept;
[[nodiscard]] const char* name(Space space) noexcept;
[[nodiscard]] const char* name(Partition partition) noexcept;
[[nodiscard]] const char* name(KernelKind kernel) noexcept;
[[nodiscard]] const char* name(Precision precision) noexcept;
[[nodiscard]] const char* name(Method method) noexcept;
[[nodiscard]] const char* name(Inside inside) noexcept;
[[nodiscard]] const char* name(Unknown unknown) noexcept;

/// How a run is computed.
struct Execution {
  Space space = Space::automatic;
  Partition partition = Partition::automatic;
  /// with Partition::rank_grid: parts of prisms x parts of points
  std::array<int, 2> rank_grid{1, 1};
  KernelKind kernel = KernelKind::automatic;
  /// in single precision a density is a float: 0 or, in magnitude, from about 1e-30 kg/m3 on
  Precision precision = Precision::double_;
  Method method = Method::automatic;
  /// allowed error of a field at any point relative to its largest value at all points, between 0 and 1. Above
  /// default_tolerance forward() compares some points with direct sums and computes again where the difference is too
  /// large; below it multipoles truncate less, down to least_truncation
  double tolerance = default_tolerance;
  /// number of points to compare, at least least_check_points; a run with no more points than this saves nothing
  std::int64_t check_points = 100;
  /// prisms per batch, at least 1; unset here and below: automatic
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> slots;
  /// threads of a device's block, at most 512
  std::optional<std::int64_t> block;
  /// prisms between two reductions of the slots, rounded up to one batch per slot
  std::optional<std::int64_t> chunk;
  /// bytes of scratch per rank
  std::optional<std::int64_t> memory_limit;
};

/// What magnetic fields depend on besides prisms and points.
struct Magnetic {
  /// F0, T, along easting, northing, upward; total-field anomalies need it. The prisms' magnetisation includes what F0
  /// induces
  std::array<double, 3> inducing_field{};
  /// unit vector along which F0 magnetises an unknown susceptibility, where remanence turns it; 0: along F0
  std::array<double, 3> magnetization_direction{};
  Inside inside = Inside::flux_density;
  /// mu0, N A-2, CODATA 2018
  double vacuum_permeability = 1.25663706212e-6;
};

/// The magnetisation, A/m, along easting, northing, upward, that 1 of the unknown stands for, one vector per block of
/// columns: three for a magnetisation (east, north, up), one for a susceptibility, none for density. MagnetizedPrisms
/// takes them. Throws InputError for a susceptibility without an inducing field.
[[nodiscard]] std::vector<std::array<double, 3>> unit_magnetizations(Unknown unknown, const Magnetic& magnetic);

/// What a forward run or an operator is to compute, and how.
struct Request {
  /// at least one
  FieldList fields = FieldList::all();
  /// m3 kg-1 s-2, CODATA 2018
  double gravitational_constant = 6.6743e-11;
  Execution execution = {};
  Magnetic magnetic = {};

  /// The factor from a kernel's field to SI: G for gravity, mu0/(4 pi) for magnetic fields.
  [[nodiscard]] constexpr double constant(bool is_magnetic) const noexcept {
    constexpr double full_angle = 4 * 3.14159265358979323846;
    return is_magnetic ? magnetic.vacuum_permeability / full_angle : gravitational_constant;
  }
};

}  // namespace prismfield
