// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

#include "engine/staged_prisms.hpp"

/// Device loops of a convolution. Every sum has one fixed order, whatever the number of threads.
namespace prismfield {

using Complex = Kokkos::complex<double>;

/// Entries of a layout in a space's memory: see LatticeEntries.
template <class Memory>
struct DeviceEntries {
  Kokkos::View<const std::int32_t*, Memory> number;
  Kokkos::View<const std::int64_t*, Memory> place;
};

/// What counts of entries: of prisms their amounts, of points a plane's field, by Lagrange's polynomial of its level;
/// else 1.
template <class Memory>
struct EntryWeight {
  /// nodes, and every point of the layout, on [-2, 2]
  Kokkos::View<const double*, Memory> levels, on_levels;
  /// -1: all points are at the plane's height
  int level = -1;
  /// of the polynomial: the inverse of its product of distances at its own node
  double scale = 1;
  /// of every entry, or their squares; empty: 1
  Kokkos::View<const double*, Memory> amounts{};
  bool are_squared = false;

  KOKKOS_FUNCTION double operator()(std::int64_t entry) const {
    if (amounts.extent(0) > 0) return are_squared ? amounts(entry) * amounts(entry) : amounts(entry);
    if (level < 0) return 1;
    double weight = scale;
    const int n = static_cast<int>(levels.extent(0));
    for (int k = 0; k < n; ++k) weight *= k == level ? 1 : on_levels(entry) - levels(k);
    return weight;
  }
};

/// Rows of numbers between vectors and lattices: row r begins r * stride behind the first one.
struct Rows {
  std::int64_t n = 1;
  /// of the vector, and of the lattice
  std::int64_t vector_stride = 0, lattice_stride = 0;
  /// place of the lattice's first number
  std::int64_t origin = 0;
};

/// lattice(row, place) += weight * vector(row, number), for the entries at a place, which follow each other, in turns.
template <class Memory>
struct ScatterEntries {
  DeviceEntries<Memory> entries;
  std::int64_t begin, end;
  EntryWeight<Memory> weight;
  Rows rows;
  const double* vector;
  double* lattice;

  KOKKOS_FUNCTION void operator()(std::int64_t first) const {
    const std::int64_t place = entries.place(first);
    if (first > begin && entries.place(first - 1) == place) return;
    for (std::int64_t i = first; i < end && entries.place(i) == place; ++i) {
      const double w = weight(i);
      const double* from = vector + entries.number(i);
      double* to = lattice + (place - rows.origin);
      for (std::int64_t r = 0; r < rows.n; ++r, from += rows.vector_stride, to += rows.lattice_stride) *to += w * *from;
    }
  }
};

/// vector(row, number) += weight * lattice(row, place). No two entries have one number.
template <class Memory>
struct GatherEntries {
  DeviceEntries<Memory> entries;
  EntryWeight<Memory> weight;
  Rows rows;
  const double* lattice;
  double* vector;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double w = weight(i);
    const double* from = lattice + (entries.place(i) - rows.origin);
    double* to = vector + entries.number(i);
    for (std::int64_t r = 0; r < rows.n; ++r, from += rows.lattice_stride, to += rows.vector_stride) *to += w * *from;
  }
};

/// Frequencies that one work item takes: on a host a stretch that stays in the first cache.
template <class Space>
inline constexpr std::int64_t frequencies_at_once = is_device_space<Space> ? 1 : 256;

/// A work item's stretch of frequencies of one of several transforms. A host takes all transforms of a stretch one
/// after the other, which share what they are multiplied with.
struct Stretch {
  std::int64_t transform, begin, end;

  template <class Space>
  KOKKOS_FUNCTION static Stretch of(std::int64_t item, std::int64_t transforms, std::int64_t frequencies) {
    constexpr std::int64_t at_once = frequencies_at_once<Space>;
    const std::int64_t stretches = (frequencies + at_once - 1) / at_once;
    const std::int64_t stretch = is_device_space<Space> ? item % stretches : item / transforms;
    return {is_device_space<Space> ? item / stretches : item % transforms, stretch * at_once,
            Kokkos::min((stretch + 1) * at_once, frequencies)};
  }
};

/// fields(f, s) = the sum over layers of kernels(layer, f, s) densities(layer, s), or that more.
template <class Space>
struct MultiplyFrequencies {
  std::int64_t n_layers, n_fields, n;
  bool adds;
  const Complex* kernels;
  const Complex* densities;
  Complex* fields;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const Stretch at = Stretch::of<Space>(item, n_fields, n);
    Complex* const sums = fields + at.transform * n;
    for (std::int64_t s = at.begin; s < at.end && !adds; ++s) sums[s] = 0;
    for (std::int64_t layer = 0; layer < n_layers; ++layer) {
      const Complex* const of_kernel = kernels + (layer * n_fields + at.transform) * n;
      const Complex* const of_density = densities + layer * n;
      for (std::int64_t s = at.begin; s < at.end; ++s) {
        const Complex a = of_kernel[s], b = of_density[s];
        sums[s] += Complex(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
      }
    }
  }
};

/// The transpose: densities(layer, s) = the sum over fields of conj(kernels(layer, f, s)) fields(f, s), or that more.
template <class Space>
struct MultiplyConjugates {
  std::int64_t n_layers, n_fields, n;
  bool adds;
  const Complex* kernels;
  const Complex* fields;
  Complex* densities;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const Stretch at = Stretch::of<Space>(item, n_layers, n);
    Complex* const sums = densities + at.transform * n;
    for (std::int64_t s = at.begin; s < at.end && !adds; ++s) sums[s] = 0;
    for (std::int64_t f = 0; f < n_fields; ++f) {
      const Complex* const of_kernel = kernels + (at.transform * n_fields + f) * n;
      const Complex* const of_field = fields + f * n;
      for (std::int64_t s = at.begin; s < at.end; ++s) {
        const Complex a = of_kernel[s], b = of_field[s];
        sums[s] += Complex(a.real() * b.real() + a.imag() * b.imag(), a.real() * b.imag() - a.imag() * b.real());
      }
    }
  }
};

}  // namespace prismfield
