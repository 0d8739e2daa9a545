// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Transforms against their definition, there and back, with rows that are zero or not wanted.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <complex>
#include <numbers>
#include <vector>

#include "lattice_samples.hpp"
#include "operators/convolution/fft.hpp"

namespace prismfield::testing::test_fft {
namespace {

using Spaces = ::testing::Types<
#if defined(KOKKOS_ENABLE_CUDA)
    Kokkos::Cuda,
#endif
    Kokkos::DefaultHostExecutionSpace>;

template <class Space>
class FftOn : public ::testing::Test {
protected:
  using Batch = typename Fft<Space>::Batch;
  using Host = typename Batch::HostMirror;

  /// Random numbers in `rows` of every transform, zeros elsewhere.
  static Host numbers(const FftShape& shape, std::size_t transforms, IndexRange rows) {
    Host values("values", transforms, static_cast<std::size_t>(shape.reals()));
    for (std::size_t t = 0; t < transforms; ++t) {
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        for (std::int64_t column = 0; column < shape.columns; ++column) {
          const std::int64_t at = row * shape.pitch() + column;
          values(t, at) = uniform(t + 1, static_cast<std::size_t>(at), -1, 1);
        }
      }
    }
    return values;
  }
  static Batch on_space(const Host& values) {
    Batch batch("batch", values.extent(0), values.extent(1));
    Kokkos::deep_copy(batch, values);
    return batch;
  }
  static Host on_host(const Batch& batch) {
    Kokkos::fence();
    Host values("values", batch.extent(0), batch.extent(1));
    Kokkos::deep_copy(values, batch);
    return values;
  }
};
TYPED_TEST_SUITE(FftOn, Spaces);

/// Frequency (r, c) of transform t by its definition.
template <class Host>
std::complex<double> frequency(const FftShape& shape, const Host& values, std::size_t t, std::int64_t r,
                               std::int64_t c) {
  std::complex<double> sum = 0;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    for (std::int64_t column = 0; column < shape.columns; ++column) {
      const double turns = static_cast<double>(r * row % shape.rows) / static_cast<double>(shape.rows) +
                           static_cast<double>(c * column % shape.columns) / static_cast<double>(shape.columns);
      sum += values(t, row * shape.pitch() + column) * std::polar(1.0, -2 * std::numbers::pi * turns);
    }
  }
  return sum;
}

TYPED_TEST(FftOn, IsTheTransformOfItsDefinition) {
  // odd and even, more and less than the lines that a thread takes, one row, one column, one number
  for (const FftShape shape : {FftShape{15, 21}, FftShape{20, 36}, FftShape{1, 10}, FftShape{9, 1}, FftShape{1, 1}}) {
    const auto before = this->numbers(shape, 3, {0, shape.rows});
    const auto batch = this->on_space(before);
    Fft<TypeParam>(TypeParam(), shape).forward(TypeParam(), batch, {0, shape.rows});
    const auto after = this->on_host(batch);
    // rounding grows with the logarithm of the length
    const double tolerance = 1e-14 * static_cast<double>(shape.reals());
    for (std::size_t t = 0; t < 3; ++t) {
      for (std::int64_t r = 0; r < shape.rows; ++r) {
        for (std::int64_t c = 0; c < shape.half(); ++c) {
          const std::int64_t at = r * shape.pitch() + 2 * c;
          const std::complex<double> expected = frequency(shape, before, t, r, c);
          EXPECT_NEAR(after(t, at), expected.real(), tolerance) << shape.rows << " x " << shape.columns;
          EXPECT_NEAR(after(t, at + 1), expected.imag(), tolerance) << shape.rows << " x " << shape.columns;
        }
      }
    }
  }
}

TYPED_TEST(FftOn, GoesThereAndBack) {
  const FftShape shape{45, 56};
  const IndexRange filled{3, 30}, wanted{7, 44};
  const auto before = this->numbers(shape, 5, filled);
  const auto batch = this->on_space(before);
  const Fft<TypeParam> fft{TypeParam(), shape};
  fft.forward(TypeParam(), batch, filled);
  fft.inverse(TypeParam(), batch, wanted);
  const auto after = this->on_host(batch);
  const auto scale = static_cast<double>(shape.rows * shape.columns);
  for (std::size_t t = 0; t < 5; ++t) {
    for (std::int64_t row = wanted.begin; row < wanted.end; ++row) {
      for (std::int64_t column = 0; column < shape.columns; ++column) {
        const std::int64_t at = row * shape.pitch() + column;
        EXPECT_NEAR(after(t, at) / scale, before(t, at), 1e-15);
      }
    }
  }
}

TYPED_TEST(FftOn, AnyNumberOfThreadsAgrees) {
  const FftShape shape{45, 56};
  const auto batch = this->on_space(this->numbers(shape, 2, {0, 45}));
  const auto again = this->on_space(this->numbers(shape, 2, {0, 45}));
  const Fft<TypeParam> fft{TypeParam(), shape};
  fft.forward(TypeParam(), batch, {0, 45});
#if defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<TypeParam, Kokkos::OpenMP>) {
    fft.forward(Kokkos::OpenMP(1), again, {0, 45});
  } else {
    fft.forward(TypeParam(), again, {0, 45});
  }
#else
  fft.forward(TypeParam(), again, {0, 45});
#endif
  const auto a = this->on_host(batch), b = this->on_host(again);
  EXPECT_TRUE(std::equal(a.data(), a.data() + a.size(), b.data()));
}

TEST(FftLength, IsTheNextProductOfSmallPrimes) {
  for (const auto& [n, expected] : {std::pair{1, 1}, {7, 7}, {11, 12}, {13, 14}, {121, 125}, {1999, 2000}}) {
    EXPECT_EQ(fft_length(n), expected);
  }
}

}  // namespace
}  // namespace prismfield::testing::test_fft
