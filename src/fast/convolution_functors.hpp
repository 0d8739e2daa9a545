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

/// What a plane's field counts for at its points: 1, or Lagrange's polynomial of its level.
template <class Memory>
struct LevelWeight {
  /// nodes, and every point of the layout, on [-2, 2]
  Kokkos::View<const double*, Memory> levels, on_levels;
  /// -1: all points are at the plane's height
  int level = -1;
  /// of the polynomial: the inverse of its product of distances at its own node
  double scale = 1;

  KOKKOS_FUNCTION double operator()(std::int64_t entry) const {
    if (level < 0) return 1;
    double weight = scale;
    const int n = static_cast<int>(levels.extent(0));
    for (int k = 0; k < n; ++k) weight *= k == level ? 1 : on_levels(entry) - levels(k);
    return weight;
  }
};

/// to(place) = the sum of weight * from(number) over the entries at a place, which follow each other.
template <class Memory>
struct ScatterEntries {
  DeviceEntries<Memory> entries;
  std::int64_t begin, end;
  LevelWeight<Memory> weight;
  const double* from;
  double* to;
  /// place of to[0]
  std::int64_t origin;

  KOKKOS_FUNCTION void operator()(std::int64_t first) const {
    const std::int64_t place = entries.place(first);
    if (first > begin && entries.place(first - 1) == place) return;
    double sum = 0;
    for (std::int64_t i = first; i < end && entries.place(i) == place; ++i) {
      sum += weight(i) * from[entries.number(i)];
    }
    to[place - origin] = sum;
  }
};

/// to(number) += weight * from(place). No two entries have one number.
template <class Memory>
struct GatherEntries {
  DeviceEntries<Memory> entries;
  LevelWeight<Memory> weight;
  const double* from;
  double* to;
  std::int64_t origin;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    to[entries.number(i)] += weight(i) * from[entries.place(i) - origin];
  }
};

/// Frequencies that one work item takes: on a host a stretch that stays in the first cache.
template <class Space>
inline constexpr std::int64_t frequencies_at_once = is_device_space<Space> ? 1 : 256;

/// fields(f, s) += the sum over layers of kernels(layer, f, s) densities(layer, s).
template <class Space>
struct MultiplyFrequencies {
  std::int64_t n_layers, n_fields, n;
  const Complex* kernels;
  const Complex* densities;
  Complex* fields;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t items = (n + frequencies_at_once<Space> - 1) / frequencies_at_once<Space>;
    const std::int64_t f = item / items, begin = item % items * frequencies_at_once<Space>;
    const std::int64_t end = Kokkos::min(begin + frequencies_at_once<Space>, n);
    for (std::int64_t layer = 0; layer < n_layers; ++layer) {
      const Complex* const of_kernel = kernels + (layer * n_fields + f) * n;
      const Complex* const of_density = densities + layer * n;
      for (std::int64_t s = begin; s < end; ++s) {
        const Complex a = of_kernel[s], b = of_density[s];
        fields[f * n + s] +=
            Complex(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
      }
    }
  }
};

/// The transpose: densities(layer, s) += the sum over fields of conj(kernels(layer, f, s)) fields(f, s).
template <class Space>
struct MultiplyConjugates {
  std::int64_t n_fields, n;
  const Complex* kernels;
  const Complex* fields;
  Complex* densities;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t items = (n + frequencies_at_once<Space> - 1) / frequencies_at_once<Space>;
    const std::int64_t layer = item / items, begin = item % items * frequencies_at_once<Space>;
    const std::int64_t end = Kokkos::min(begin + frequencies_at_once<Space>, n);
    for (std::int64_t f = 0; f < n_fields; ++f) {
      const Complex* const of_kernel = kernels + (layer * n_fields + f) * n;
      const Complex* const of_field = fields + f * n;
      for (std::int64_t s = begin; s < end; ++s) {
        const Complex a = of_kernel[s], b = of_field[s];
        densities[layer * n + s] +=
            Complex(a.real() * b.real() + a.imag() * b.imag(), a.real() * b.imag() - a.imag() * b.real());
      }
    }
  }
};

}  // namespace prismfield
