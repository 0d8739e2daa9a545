// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// Products with stored sensitivities in Kokkos' default execution space: bytes of G a second, for each precision, and
// their ratio to a plain streaming read of as many bytes in the same run. See README.md.
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "sensitivity/stored_operator_on_space.hpp"

namespace prismfield {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, Space::memory_space>;

struct AddValue {
  Kokkos::View<const double*, Space::memory_space> values;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& sum) const { sum += values(i); }
};

/// Eight sums side by side, which a host's vector instructions need.
struct AddBlock {
  Kokkos::View<const double*, Space::memory_space> values;
  static constexpr std::int64_t block = 4096;
  void operator()(std::int64_t b, double& sum) const {
    double partial[32] = {};
    const double* const from = values.data() + b * block;
    for (std::int64_t i = 0; i < block; i += 32) {
      for (int k = 0; k < 32; ++k) partial[k] += from[i + k];
    }
    for (const double p : partial) sum += p;
  }
};

/// Bytes a second of f, the best of several.
template <class F>
double rate(double bytes, const F& f) {
  double best = 0;
  for (int repeat = 0; repeat < 12; ++repeat) {
    Kokkos::fence();
    const Kokkos::Timer timer;
    f();
    Kokkos::fence();
    best = std::max(best, bytes / timer.seconds());
  }
  return best;
}

double streaming_read(std::int64_t bytes) {
  const std::int64_t n = bytes / 8 / AddBlock::block * AddBlock::block;
  const Vector values("values", static_cast<std::size_t>(n));
  const Space space;
  return rate(static_cast<double>(8 * n), [&] {
    double sum = 0;
    if constexpr (is_device_space<Space>) {
      Kokkos::parallel_reduce("read", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, n),
                              AddValue{values}, sum);
    } else {
      Kokkos::parallel_reduce(
          "read", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, n / AddBlock::block),
          AddBlock{values}, sum);
    }
    if (sum != 0) std::abort();
  });
}

void compare(StoredPrecision precision, const char* word, std::int64_t rows, std::int64_t columns) {
  const Space space;
  const auto matrix = make_stored_matrix<Space>(precision, rows, columns);
  constexpr std::int64_t block = 16;
  const Operator<Space>::Entries entries("entries", 1, block, static_cast<std::size_t>(columns));
  Kokkos::deep_copy(entries, 1e-12);
  for (std::int64_t row = 0; row + block <= rows; row += block) matrix->keep(space, {entries, row, rows});
  const Vector density("density", static_cast<std::size_t>(columns)), fields("fields", static_cast<std::size_t>(rows));
  Kokkos::deep_copy(density, 1.0);
  const auto bytes = static_cast<double>(matrix->bytes());
  const double read_before = streaming_read(matrix->bytes());
  const double apply = rate(bytes, [&] { matrix->multiply(space, density, fields); });
  const double transpose = rate(bytes, [&] { matrix->multiply_transposed(space, fields, density); });
  const double diagonal = rate(bytes, [&] { matrix->diagonal(space, fields, density); });
  const double read = std::max(read_before, streaming_read(matrix->bytes()));
  std::printf("%-8s %6.0f MiB  read %6.1f GB/s  G m %6.1f (%.2f)  G'u %6.1f (%.2f)  diagonal %6.1f (%.2f)\n", word,
              bytes / 1048576, read * 1e-9, apply * 1e-9, apply / read, transpose * 1e-9, transpose / read,
              diagonal * 1e-9, diagonal / read);
}

}  // namespace
}  // namespace prismfield

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const std::int64_t rows = argc > 1 ? std::atoll(argv[1]) : 1600, columns = argc > 2 ? std::atoll(argv[2]) : 64'000;
  using prismfield::StoredPrecision;
  prismfield::compare(StoredPrecision::double_, "double", rows, columns);
  prismfield::compare(StoredPrecision::float_, "float", rows, columns);
  prismfield::compare(StoredPrecision::float16, "float16", rows, columns);
}
