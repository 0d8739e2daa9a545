// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Instead of cuda_fft.cpp in a library that is to need no libcufft.so, of 290 MB.

#include <prismfield/error.hpp>

#include "operators/convolution/fft.hpp"

namespace prismfield {

using Instance = Kokkos::Cuda;

template <>
struct Fft<Instance>::Impl {};

template <>
bool Fft<Instance>::is_built() noexcept {
  return false;
}
template <>
Fft<Instance>::Fft(const Instance& /*space*/, const FftShape& shape) : m_shape(shape) {
  throw RunError("built without cuFFT");
}
template <>
Fft<Instance>::~Fft() = default;

template <>
void Fft<Instance>::forward(const Instance& /*space*/, const Batch& /*batch*/, IndexRange /*rows*/) const {}
template <>
void Fft<Instance>::inverse(const Instance& /*space*/, const Batch& /*batch*/, IndexRange /*rows*/) const {}

}  // namespace prismfield
