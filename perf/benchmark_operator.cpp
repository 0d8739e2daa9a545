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
#include <prismfield/operator.hpp>

namespace prismfield {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Direct = DirectOperator<Space>;

/// A mesh of 64 x 64 x 16 cells of 100 x 100 x 50 m.
struct Mesh {
  std::vector<double> west, east, south, north, bottom, top, density;
  Mesh() {
    for (int p = 0; p < 64 * 64 * 16; ++p) {
      west.push_back(100.0 * (p % 64));
      east.push_back(100.0 * (p % 64 + 1));
      south.push_back(100.0 * (p / 64 % 64));
      north.push_back(100.0 * (p / 64 % 64 + 1));
      bottom.push_back(-800.0 + 50 * (p / 4096));
      top.push_back(-800.0 + 50 * (p / 4096 + 1));
      density.push_back(p % 7 - 3);
    }
  }
};

/// 32 x 32 points, 20 m above the mesh.
Points grid() {
  Points points;
  for (int i = 0; i < 1024; ++i) {
    points.easting.push_back(200.0 * (i % 32));
    points.northing.push_back(200.0 * (i / 32));
    points.upward.push_back(20);
  }
  return points;
}

/// What every benchmark works on.
struct Problem {
  Mesh mesh;
  PrismList prisms{{mesh.west, mesh.east, mesh.south, mesh.north, mesh.bottom, mesh.top, mesh.density}};
  Points points = grid();
  [[nodiscard]] double pairs() const { return static_cast<double>(prisms.size() * points.size()); }
};

void count_pairs(benchmark::State& state, double pairs) {
  state.counters["pairs_per_second"] = benchmark::Counter(pairs, benchmark::Counter::kIsIterationInvariantRate);
}

/// Times f(space, operator, densities, fields).
template <class F>
void time_product(benchmark::State& state, FieldList fields, double part_of_points, const F& f) {
  const Problem problem;
  const Space space;
  Direct op(space, problem.prisms, problem.points, {.fields = fields});
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
  const Problem problem;
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
    time_product(state, fields, 1, [](const Space& space, Direct& op, const auto& densities, const auto& values) {
      op.apply(space, densities, values);
    });
  });
  add("apply_transpose", [=](benchmark::State& state) {
    time_product(state, fields, 1, [](const Space& space, Direct& op, const auto& densities, const auto& values) {
      op.apply_transpose(space, values, densities);
    });
  });
  add("diagonal", [=](benchmark::State& state) {
    time_product(state, fields, 1, [](const Space& space, Direct& op, const auto& densities, const auto& values) {
      op.diagonal(space, values, densities);
    });
  });
  add("entries", [=](benchmark::State& state) {
    constexpr std::int64_t n = 64;
    const Direct::Entries entries("entries", fields.size(), n, 64 * 64 * 16);
    time_product(state, fields, n / 1024.0, [&](const Space& space, Direct& op, const auto&, const auto&) {
      op.entries(space, {0, n}, entries);
    });
  });
}

}  // namespace
}  // namespace prismfield

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  prismfield::FieldList nine = prismfield::FieldList::vector();
  nine.add(prismfield::FieldList::tensor());
  prismfield::register_benchmarks("gz", {prismfield::Field::gz});
  prismfield::register_benchmarks("nine", nine);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
