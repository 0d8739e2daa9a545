// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <memory>

#include <prismfield/ranges.hpp>

#include "operators/convolution/fft_shape.hpp"

namespace prismfield {

/// Real transforms in two dimensions, many at once, in place: pocketfft on hosts, cuFFT on NVIDIA's devices. Neither
/// way is scaled: back and forth multiplies by shape.rows * shape.columns. The same bits for any number of threads.
/// Defined in one source a kind of space.
template <class Space>
class Fft {
public:
  /// (transform, shape.reals()): rows of reals, or, transformed, of frequencies
  using Batch = Kokkos::View<double**, Kokkos::LayoutRight, typename Space::memory_space>;

  /// Throws AllocationFailure when a device has no room for tables.
  Fft(const Space& space, const FftShape& shape);
  ~Fft();
  Fft(Fft&&) = delete;

  /// False where a library was built without: then no object can be made.
  [[nodiscard]] static bool is_built() noexcept;
  [[nodiscard]] const FftShape& shape() const noexcept { return m_shape; }
  /// Frequencies of reals, which are zero outside `rows`.
  void forward(const Space& space, const Batch& batch, IndexRange rows) const;
  /// Reals of frequencies; outside `rows` they may be anything.
  void inverse(const Space& space, const Batch& batch, IndexRange rows) const;

private:
  struct Impl;
  FftShape m_shape;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace prismfield
