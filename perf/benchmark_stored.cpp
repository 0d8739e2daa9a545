// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// Products with stored sensitivities in Kokkos' default execution space: bytes of G a second, for each precision, and
// their ratio to a plain streaming read of as many bytes and, where there is a BLAS, to it; then products with several
// vectors at once against as many passes, in memory and, where a file is named, from it. See README.md.
#include <fcntl.h>
#include <unistd.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <prismfield/cells.hpp>

#include "operators/stored/file_operator.hpp"
#include "writers/sensitivity_file.hpp"

#if defined(PRISMFIELD_BENCHMARK_BLAS)
extern "C" {
void sgemv_(const char*, const int*, const int*, const float*, const float*, const int*, const float*, const int*,
            const float*, float*, const int*);
void dgemv_(const char*, const int*, const int*, const double*, const double*, const int*, const double*, const int*,
            const double*, double*, const int*);
}
#endif

namespace prismfield {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, Space::memory_space>;
using Vectors = Operator<Space>::Vectors;

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

/// Least seconds of f.
template <class F>
void keep_least(double& least, const F& f) {
  const double seconds = 1 / rate(1, f);
  least = least == 0 ? seconds : std::min(least, seconds);
}

#if defined(PRISMFIELD_BENCHMARK_BLAS)
void gemv(const char* form, const int* m, const int* n, const float* one, const float* matrix, const float* x,
          const int* step, const float* zero, float* y) {
  sgemv_(form, m, n, one, matrix, m, x, step, zero, y, step);
}
void gemv(const char* form, const int* m, const int* n, const double* one, const double* matrix, const double* x,
          const int* step, const double* zero, double* y) {
  dgemv_(form, m, n, one, matrix, m, x, step, zero, y, step);
}

/// The same products by a BLAS, of a matrix of Real whose rows lie one behind another.
template <class Real>
class BlasProducts {
public:
  BlasProducts(std::int64_t rows, std::int64_t columns)
      : m_rows(static_cast<int>(rows)),
        m_columns(static_cast<int>(columns)),
        m_matrix(Kokkos::view_alloc(Kokkos::WithoutInitializing, "matrix"), static_cast<std::size_t>(rows * columns)),
        m_of_rows("rows", static_cast<std::size_t>(rows)),
        m_of_columns("columns", static_cast<std::size_t>(columns)) {
    ask_for_huge_pages(m_matrix.data(), m_matrix.size() * sizeof(Real));
    Kokkos::deep_copy(m_matrix, Real(1e-12));
    Kokkos::deep_copy(m_of_columns, Real(1));
  }

  void measure() {
    // threads of OpenMP that still wait for work have stopped after that
    multiply();
    keep_least(m_plain, [&] { multiply(); });
    keep_least(m_transposed, [&] { transpose(); });
  }
  [[nodiscard]] double plain() const noexcept { return m_plain; }
  [[nodiscard]] double transposed() const noexcept { return m_transposed; }

private:
  void multiply() {
    gemv("T", &m_columns, &m_rows, &m_one, m_matrix.data(), m_of_columns.data(), &m_step, &m_zero, m_of_rows.data());
  }
  void transpose() {
    gemv("N", &m_columns, &m_rows, &m_one, m_matrix.data(), m_of_rows.data(), &m_step, &m_zero, m_of_columns.data());
  }

  using Numbers = Kokkos::View<Real*, Kokkos::HostSpace>;
  int m_rows, m_columns, m_step = 1;
  Real m_one = 1, m_zero = 0;
  Numbers m_matrix, m_of_rows, m_of_columns;
  double m_plain = 0, m_transposed = 0;
};
#endif

/// Real: a BLAS's numbers that are compared with.
template <class Real>
void compare(StoredPrecision precision, const char* word, std::int64_t rows, std::int64_t columns) {
  const Space space;
  const auto matrix = make_stored_matrix<Space>(precision, rows, columns);
  constexpr std::int64_t block = 16;
  const Operator<Space>::Entries entries("entries", 1, block, static_cast<std::size_t>(columns));
  Kokkos::deep_copy(entries, 1e-12);
  for (std::int64_t row = 0; row + block <= rows; row += block) matrix->keep(space, {entries, row, rows});
  const Vectors density("density", static_cast<std::size_t>(columns), 1),
      fields("fields", static_cast<std::size_t>(rows), 1);
  Kokkos::deep_copy(density, 1.0);
  const auto bytes = static_cast<double>(matrix->bytes());
  const StreamingRead plain(matrix->bytes());
#if defined(PRISMFIELD_BENCHMARK_BLAS)
  BlasProducts<Real> blas(rows, columns);
#endif
  double read = 0, apply = 0, transpose = 0, diagonal = 0;
  // in turn, and the best of each: other work on the machine is no part of it
  for (int repeat = 0; repeat < 40; ++repeat) {
    read = std::max(read, plain.rate());
    apply = std::max(apply, rate(bytes, [&] { matrix->multiply(space, density, fields); }));
    transpose = std::max(transpose, rate(bytes, [&] { matrix->multiply_transposed(space, fields, density); }));
    diagonal = std::max(diagonal, rate(bytes, [&] { matrix->diagonal(space, fields, density); }));
#if defined(PRISMFIELD_BENCHMARK_BLAS)
    blas.measure();
#endif
  }
  std::printf("%-8s %6.0f MiB  read %6.1f GB/s  G m %6.1f (%.2f)  G'u %6.1f (%.2f)  diagonal %6.1f (%.2f)\n", word,
              bytes / 1048576, read * 1e-9, apply * 1e-9, apply / read, transpose * 1e-9, transpose / read,
              diagonal * 1e-9, diagonal / read);
#if defined(PRISMFIELD_BENCHMARK_BLAS)
  std::printf("         G m %6.2f ms, %cgemv %6.2f (%.2f times)  G'u %6.2f ms, %cgemv %6.2f (%.2f times)\n",
              1e3 * bytes / apply, sizeof(Real) == 4 ? 's' : 'd', 1e3 * blas.plain(), blas.plain() * apply / bytes,
              1e3 * bytes / transpose, sizeof(Real) == 4 ? 's' : 'd', 1e3 * blas.transposed(),
              blas.transposed() * transpose / bytes);
#endif
}

/// G m and G' u of several vectors at once, and one after another.
void compare_several(StoredPrecision precision, const char* word, std::int64_t rows, std::int64_t columns) {
  const Space space;
  const auto matrix = make_stored_matrix<Space>(precision, rows, columns);
  const Operator<Space>::Entries entries("entries", 1, 1, static_cast<std::size_t>(columns));
  Kokkos::deep_copy(entries, 1e-12);
  for (std::int64_t row = 0; row < rows; ++row) matrix->keep(space, {entries, row, rows});
  for (const std::int64_t n : {1, 2, 4, 8}) {
    const Vectors density("density", static_cast<std::size_t>(columns), static_cast<std::size_t>(n));
    const Vectors fields("fields", static_cast<std::size_t>(rows), static_cast<std::size_t>(n));
    const auto one_of = [](const Vectors& all, std::int64_t v) {
      return Vectors(all.data() + v * all.extent_int(0), all.extent(0), 1);
    };
    Kokkos::deep_copy(density, 1.0);
    double together = 0, apart = 0, together_back = 0, apart_back = 0;
    for (int repeat = 0; repeat < 20; ++repeat) {
      keep_least(together, [&] { matrix->multiply(space, density, fields); });
      keep_least(together_back, [&] { matrix->multiply_transposed(space, fields, density); });
      keep_least(apart, [&] {
        for (std::int64_t v = 0; v < n; ++v) matrix->multiply(space, one_of(density, v), one_of(fields, v));
      });
      keep_least(apart_back, [&] {
        for (std::int64_t v = 0; v < n; ++v) matrix->multiply_transposed(space, one_of(fields, v), one_of(density, v));
      });
    }
    std::printf(
        "%-8s %lld vectors  G m %7.2f ms, one by one %7.2f (%.2f times)  G'u %7.2f ms, one by one %7.2f (%.2f)\n", word,
        static_cast<long long>(n), 1e3 * together, 1e3 * apart, apart / together, 1e3 * together_back, 1e3 * apart_back,
        apart_back / together_back);
  }
}

/// The machine's memory forgets what it has of a file.
void forget(const std::string& file) {
  const int descriptor = open(file.c_str(), O_RDONLY);
  if (descriptor < 0) return;
  fdatasync(descriptor);
  posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  close(descriptor);
}

/// G'WG m out of a file, several vectors at once and one after another, with the file in the machine's memory and not.
void compare_file(const std::string& file, std::int64_t rows, std::int64_t columns) {
  const auto side = static_cast<int>(std::cbrt(static_cast<double>(columns)));
  CellEdges edges;
  for (int i = 0; i <= side; ++i) {
    for (std::vector<double>& along : edges) along.push_back(10.0 * i);
  }
  const ActiveCells cells(edges);
  Points points;
  for (std::int64_t i = 0; i < rows; ++i) {
    points.easting.push_back(static_cast<double>(i % 40));
    points.northing.push_back(static_cast<double>(i / 40));
    points.upward.push_back(10.0 * side + 5);
  }
  Request request;
  request.fields = {Field::gz};
  request.execution.space = space_key<Space>;
  SensitivityHeader header;
  header.cells = &cells;
  const Communicator alone;
  SensitivityFiles files(std::move(header), alone);
  RowFileReport report;
  const Space space;
  FileOperator<Space> op(space, cells, {file, points, request, StoredPrecision::float_}, files, alone, report);
  for (const bool is_cold : {false, true}) {
    for (const std::int64_t n : {1, 2, 4}) {
      const auto of_rows = static_cast<std::size_t>(op.rows()), of_columns = static_cast<std::size_t>(op.columns());
      const auto vectors = static_cast<std::size_t>(n);
      const Vectors weights("weights", of_rows, vectors), density("density", of_columns, vectors),
          product("product", of_columns, vectors);
      double together = 0, apart = 0;
      for (int repeat = 0; repeat < 5; ++repeat) {
        if (is_cold) forget(file);
        keep_least(together, [&] { op.apply_normal(space, weights, density, product); });
        keep_least(apart, [&] {
          for (std::size_t v = 0; v < vectors; ++v) {
            if (is_cold) forget(file);
            op.apply_normal(space, Vector(weights.data() + v * of_rows, of_rows),
                            Vector(density.data() + v * of_columns, of_columns),
                            Vector(product.data() + v * of_columns, of_columns));
          }
        });
      }
      std::printf("file, %s memory, %.0f MiB  %lld vectors  G'WG m %8.1f ms, one by one %8.1f (%.2f times)\n",
                  is_cold ? "out of" : "in", static_cast<double>(op.bytes()) / 1048576, static_cast<long long>(n),
                  1e3 * together, 1e3 * apart, apart / together);
    }
  }
}

}  // namespace
}  // namespace prismfield

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const std::int64_t rows = argc > 1 ? std::atoll(argv[1]) : 1600, columns = argc > 2 ? std::atoll(argv[2]) : 64'000;
  using prismfield::StoredPrecision;
  prismfield::compare<double>(StoredPrecision::double_, "double", rows, columns);
  prismfield::compare<float>(StoredPrecision::float_, "float", rows, columns);
  prismfield::compare<float>(StoredPrecision::float16, "float16", rows, columns);
  prismfield::compare_several(StoredPrecision::double_, "double", rows, columns);
  prismfield::compare_several(StoredPrecision::float_, "float", rows, columns);
  prismfield::compare_several(StoredPrecision::float16, "float16", rows, columns);
  if (argc > 3) prismfield::compare_file(argv[3], rows, columns);
}
