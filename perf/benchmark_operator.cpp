// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// Time of the operator's products in Kokkos' default execution space, with Google Benchmark: apply, apply_transpose,
// the diagonal and entries of G, beside a forward run of the same pairs. See README.md.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include <prismfield/forward.hpp>
#include <prismfield/make_operator.hpp>

namespace prismfield {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Direct = Operator<Space>;

/// Cells of 100 x 100 x 50 m, n_side x n_side x n_layers, and points over them, 20 m above.
struct Size {
  int n_side, n_layers, n_points;
};
constexpr Size small{64, 16, 1024};
/// Moorkamp 2010's: 1e6 cells, 30 sites.
constexpr Size sites{100, 100, 30};

struct Mesh {
  std::vector<double> west, east, south, north, bottom, top, density;
  explicit Mesh(const Size& size) {
    const int n = size.n_side;
    for (int p = 0; p < n * n * size.n_layers; ++p) {
      west.push_back(100.0 * (p % n));
      east.push_back(100.0 * (p % n + 1));
      south.push_back(100.0 * (p / n % n));
      north.push_back(100.0 * (p / n % n + 1));
      bottom.push_back(-50.0 * (size.n_layers - p / (n * n)));
      top.push_back(bottom.back() + 50);
      density.push_back(p % 7 - 3);
    }
  }
};

Points points_over(const Size& size) {
  Points points;
  const int row = size.n_points < 1024 ? 6 : 32;
  const double step = 100.0 * size.n_side / row;
  for (int i = 0; i < size.n_points; ++i) {
    points.easting.push_back(step * (i % row));
    points.northing.push_back(step * (i / row));
    points.upward.push_back(20);
  }
  return points;
}

/// What every benchmark works on.
struct Problem {
  explicit Problem(const Size& size) : mesh(size), points(points_over(size)) {}
  Mesh mesh;
  PrismList prisms{{mesh.west, mesh.east, mesh.south, mesh.north, mesh.bottom, mesh.top, mesh.density}};
  Points points;
  [[nodiscard]] double pairs() const { return static_cast<double>(prisms.size() * points.size()); }
};

void count_pairs(benchmark::State& state, double pairs) {
  state.counters["pairs_per_second"] = benchmark::Counter(pairs, benchmark::Counter::kIsIterationInvariantRate);
}

/// Times f(space, operator, densities, fields).
template <class F>
void time_product(benchmark::State& state, const Size& size, FieldList fields, double part_of_points, const F& f) {
  const Problem problem(size);
  const Space space;
  const auto made = make_direct_operator(space, problem.prisms, problem.points, {.fields = fields});
  Direct& op = *made;
  const Direct::Vector densities("densities", op.columns());
  const Direct::Vector values("values", op.rows());
  Kokkos::deep_copy(densities, 1.0);
  Kokkos::deep_copy(values, 1.0);
  for ([[maybe_unused]] const auto _ : state) {
    f(space, op, densities, values);
    space.fence();
  }
  count_pairs(state, problem.pairs() * part_of_points);
}

void time_forward(benchmark::State& state, FieldList fields) {
  const Problem problem(small);
  for ([[maybe_unused]] const auto _ : state) {
    benchmark::DoNotOptimize(forward(problem.prisms, problem.points, {.fields = fields}));
  }
  count_pairs(state, problem.pairs());
}

void register_benchmarks(const std::string& name, FieldList fields) {
  const auto add = [&](const std::string& what, const auto& body) {
    benchmark::RegisterBenchmark((what + "/" + name).c_str(), body)->Unit(benchmark::kMillisecond)->UseRealTime();
  };
  add("forward", [=](benchmark::State& state) { time_forward(state, fields); });
  add("apply", [=](benchmark::State& state) {
    time_product(state, small, fields, 1,
                 [](const Space& space, Direct& op, const auto& densities, const auto& values) {
                   op.apply(space, densities, values);
                 });
  });
  add("apply_transpose", [=](benchmark::State& state) {
    time_product(state, small, fields, 1,
                 [](const Space& space, Direct& op, const auto& densities, const auto& values) {
                   op.apply_transpose(space, values, densities);
                 });
  });
  add("diagonal", [=](benchmark::State& state) {
    time_product(state, small, fields, 1,
                 [](const Space& space, Direct& op, const auto& densities, const auto& values) {
                   op.diagonal(space, values, densities);
                 });
  });
  add("entries", [=](benchmark::State& state) {
    constexpr std::int64_t n = 64;
    const Direct::Entries entries("entries", fields.size(), n, 64 * 64 * 16);
    time_product(state, small, fields, n / 1024.0, [&](const Space& space, Direct& op, const auto&, const auto&) {
      op.entries(space, {0, n}, entries);
    });
  });
}

/// Sensitivities of all sites: what is stored of them when G is kept.
void register_sites(const std::string& name, FieldList fields) {
  const auto body = [=](benchmark::State& state) {
    constexpr std::int64_t cells = std::int64_t{sites.n_side} * sites.n_side * sites.n_layers;
    const Direct::Entries entries("entries", fields.size(), sites.n_points, cells);
    time_product(state, sites, fields, 1, [&](const Space& space, Direct& op, const auto&, const auto&) {
      op.entries(space, {0, sites.n_points}, entries);
    });
  };
  benchmark::RegisterBenchmark(("entries_of_sites/" + name).c_str(), body)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

}  // namespace
}  // namespace prismfield

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  prismfield::FieldList nine = prismfield::FieldList::vector();
  nine.add(prismfield::FieldList::tensor());
  prismfield::register_benchmarks("gz", {prismfield::Field::gz});
  prismfield::register_benchmarks("nine", nine);
  prismfield::register_sites("gz", {prismfield::Field::gz});
  prismfield::register_sites("tensor", prismfield::FieldList::tensor());
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
