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
  KOKKOS_FUNCTION void operator()(std::int64_t b, double& sum) const {
    double partial[32] = {};
    const double* const from = values.data() + b * block;
    for (std::int64_t i = 0; i < block; i += 32) {
      for (int k = 0; k < 32; ++k) partial[k] += from[i + k];
    }
    for (const double p : partial) sum += p;
  }
};

/// Bytes a second of f.
template <class F>
double rate(double bytes, const F& f) {
  Kokkos::fence();
  const Kokkos::Timer timer;
  f();
  Kokkos::fence();
  return bytes / timer.seconds();
}

/// What is read as plainly as can be.
class StreamingRead {
public:
  explicit StreamingRead(std::int64_t bytes)
      : m_values(Kokkos::view_alloc(Kokkos::WithoutInitializing, "values"),
                 static_cast<std::size_t>(bytes / 8 / AddBlock::block * AddBlock::block)) {
    if constexpr (!is_device_space<Space>) ask_for_huge_pages(m_values.data(), m_values.size() * sizeof(double));
    Kokkos::deep_copy(m_values, 0.0);
  }

  double rate() const {
    const auto n = static_cast<std::int64_t>(m_values.size());
    return prismfield::rate(static_cast<double>(8 * n), [&] {
      using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
      double sum = 0;
      if constexpr (is_device_space<Space>) {
        Kokkos::parallel_reduce("read", Policy(0, n), AddValue{m_values}, sum);
      } else {
        Kokkos::parallel_reduce("read", Policy(0, n / AddBlock::block), AddBlock{m_values}, sum);
      }
      if (sum != 0) std::abort();
    });
  }

private:
  Vector m_values;
};

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
  const StreamingRead plain(matrix->bytes());
  double read = 0, apply = 0, transpose = 0, diagonal = 0;
  // in turn, and the best of each: other work on the machine is no part of it
  for (int repeat = 0; repeat < 40; ++repeat) {
    read = std::max(read, plain.rate());
    apply = std::max(apply, rate(bytes, [&] { matrix->multiply(space, density, fields); }));
    transpose = std::max(transpose, rate(bytes, [&] { matrix->multiply_transposed(space, fields, density); }));
    diagonal = std::max(diagonal, rate(bytes, [&] { matrix->diagonal(space, fields, density); }));
  }
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
