// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <cufft.h>

#include <array>
#include <cstdint>
#include <string>

#include <prismfield/error.hpp>

#include "engine/engine.hpp"
#include "operators/convolution/fft.hpp"
#include "operators/convolution/fft_shape.hpp"

namespace prismfield {
namespace {

using Instance = Kokkos::Cuda;
using Batch = Fft<Instance>::Batch;

void check(cufftResult result, const char* what) {
  if (result == CUFFT_SUCCESS) return;
  const std::string text = std::string("cuFFT: ") + what + " fails with code " + std::to_string(result);
  if (result == CUFFT_ALLOC_FAILED) throw AllocationFailure(text);
  throw RunError(text);
}

/// A plan for so many transforms, both ways.
class Plans {
public:
  Plans(const FftShape& shape, std::int64_t transforms) {
    std::array<long long, 2> n = {shape.rows, shape.columns};
    const long long reals = shape.reals(), frequencies = shape.frequencies();
    std::array<long long, 2> rows_of_reals = {shape.rows, shape.pitch()};
    std::array<long long, 2> rows_of_frequencies = {shape.rows, shape.half()};
    for (cufftHandle* plan : {&m_forward, &m_inverse}) check(cufftCreate(plan), "a plan");
    std::size_t bytes = 0;
    check(cufftMakePlanMany64(m_forward, 2, n.data(), rows_of_reals.data(), 1, reals, rows_of_frequencies.data(), 1,
                              frequencies, CUFFT_D2Z, transforms, &bytes),
          "a plan forward");
    check(cufftMakePlanMany64(m_inverse, 2, n.data(), rows_of_frequencies.data(), 1, frequencies, rows_of_reals.data(),
                              1, reals, CUFFT_Z2D, transforms, &bytes),
          "a plan back");
  }
  ~Plans() {
    cufftDestroy(m_forward);
    cufftDestroy(m_inverse);
  }
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  void forward(const Instance& space, double* reals) const {
    check(cufftSetStream(m_forward, space.cuda_stream()), "a stream");
    check(cufftExecD2Z(m_forward, reals, reinterpret_cast<cufftDoubleComplex*>(reals)), "a transform");
  }
  void inverse(const Instance& space, double* reals) const {
    check(cufftSetStream(m_inverse, space.cuda_stream()), "a stream");
    check(cufftExecZ2D(m_inverse, reinterpret_cast<cufftDoubleComplex*>(reals), reals), "a transform");
  }

private:
  cufftHandle m_forward = 0, m_inverse = 0;
};

}  // namespace

template <>
struct Fft<Instance>::Impl {
  explicit Impl(const FftShape& shape) : at_once(transforms_at_once(shape)), many(shape, at_once), one(shape, 1) {}

  /// Calls f(plans, first transform) for all transforms of a batch.
  template <class F>
  void for_each(const Batch& batch, const F& f) const {
    const auto n = static_cast<std::int64_t>(batch.extent(0));
    const auto reals = static_cast<std::int64_t>(batch.extent(1));
    std::int64_t first = 0;
    for (; first + at_once <= n; first += at_once) f(many, batch.data() + first * reals);
    for (; first < n; ++first) f(one, batch.data() + first * reals);
  }

  std::int64_t at_once;
  Plans many, one;
};

template <>
bool Fft<Instance>::is_built() noexcept {
  return true;
}
template <>
Fft<Instance>::Fft(const Instance& /*space*/, const FftShape& shape)
    : m_shape(shape), m_impl(std::make_unique<Impl>(shape)) {}
template <>
Fft<Instance>::~Fft() = default;

template <>
void Fft<Instance>::forward(const Instance& space, const Batch& batch, IndexRange /*rows*/) const {
  m_impl->for_each(batch, [&](const Plans& plans, double* reals) { plans.forward(space, reals); });
}

template <>
void Fft<Instance>::inverse(const Instance& space, const Batch& batch, IndexRange /*rows*/) const {
  m_impl->for_each(batch, [&](const Plans& plans, double* reals) { plans.inverse(space, reals); });
}

}  // namespace prismfield
