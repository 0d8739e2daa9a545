// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// Processor time of a tree's making and products, by kernels, and the error at random points: voxels of 50 m of random
// density of either sign, points 80 to 300 m above.
//
//   OMP_NUM_THREADS=1 benchmark_tree CELLS POINTS TOLERANCE [SHARE [LEAF [DEGREE]]]

#include <Kokkos_Core.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include <prismfield/forward.hpp>
#include <prismfield/runtime.hpp>

#include "base/random.hpp"
#include "operators/tree/tree_products.hpp"

namespace prismfield {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

std::map<std::string, double> seconds_of;
std::string running;
std::clock_t began;

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void begin(const char* name, std::uint32_t, std::uint64_t*) {
  running = name;
  began = std::clock();
}
void end(std::uint64_t) { seconds_of[running] += static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC; }

void print_kernels(double total) {
  double sum = 0;
  std::vector<std::pair<double, std::string>> all;
  for (const auto& [name, time] : seconds_of) {
    all.emplace_back(time, name);
    sum += time;
  }
  std::sort(all.rbegin(), all.rend());
  for (const auto& [time, name] : all) {
    if (time > 0.01 * total) fmt::print("    {:8.3f} s  {}\n", time, name);
  }
  fmt::print("    {:8.3f} s  outside of kernels\n", total - sum);
  seconds_of.clear();
}

struct Scene {
  PrismBlock prisms;
  std::vector<double> easting, northing, upward;

  Scene(std::int64_t n_cells, std::int64_t n_points) {
    const auto side = static_cast<std::int64_t>(std::cbrt(static_cast<double>(n_cells)) * 1.5);
    prisms.resize(n_cells);
    const auto draw = [](std::uint64_t stream, std::size_t i, double low, double high) {
      return random_uniform(low, high, stream, RandomStream::cell_density, i);
    };
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_cells); ++i) {
      const auto n = static_cast<std::int64_t>(i);
      const auto x = static_cast<double>(n % side), y = static_cast<double>(n / side % side);
      const auto z = static_cast<double>(n / (side * side));
      prisms.west[i] = 50 * x, prisms.east[i] = 50 * (x + 1);
      prisms.south[i] = 50 * y, prisms.north[i] = 50 * (y + 1);
      prisms.bottom[i] = -50 * (z + 1), prisms.top[i] = -50 * z;
      prisms.density[i] = draw(1, i, -1000, 1000);
    }
    const double length = 50.0 * static_cast<double>(side);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_points); ++i) {
      easting.push_back(draw(2, i, 0, length));
      northing.push_back(draw(3, i, 0, length));
      upward.push_back(draw(4, i, 80, 300));
    }
  }
  [[nodiscard]] PointColumns points() const { return {easting, northing, upward}; }
};

std::array<double, n_native_fields> largest(const std::vector<double>& values, std::size_t n) {
  std::array<double, n_native_fields> size{};
  for (std::size_t i = 0; i < values.size(); ++i) size[i / n] = std::max(size[i / n], std::abs(values[i]));
  return size;
}

double near_pairs(const fast::TreeProducts<Space>& products) {
  const auto& rows = products.lists().leaves;
  const auto& points = products.targets().cells;
  const auto& prisms = products.sources().cells;
  double pairs = 0;
  for (std::size_t cell = 0; cell < points.begin.extent(0); ++cell) {
    for (std::int64_t i = rows.begin(cell); i < rows.begin(cell + 1); ++i) {
      const auto partner = static_cast<std::size_t>(rows.partner(i));
      pairs +=
          static_cast<double>((points.end(cell) - points.begin(cell)) * (prisms.end(partner) - prisms.begin(partner)));
    }
  }
  return pairs;
}

void run(std::int64_t n_cells, std::int64_t n_points, double tolerance, double share, std::int64_t leaf, int degree) {
  const Scene scene(n_cells, n_points);
  const Space space;
  constexpr std::size_t n_sample = 64;
  const PointColumns sample{std::span(scene.easting).first(n_sample), std::span(scene.northing).first(n_sample),
                            std::span(scene.upward).first(n_sample)};
  const PrismBlock& b = scene.prisms;
  const PrismList list({b.west, b.east, b.south, b.north, b.bottom, b.top, b.density});
  const std::vector<double> exact = forward(list, sample, {FieldList::all(), 1, {}}).values;
  const auto size = largest(exact, n_sample);

  fast::TreeSettings settings;
  settings.rows = kernel::field_rows(settings.set, FieldList::all());
  settings.degree = degree > 0 ? degree : fast::degree_for(tolerance);
  settings.truncation = std::max(tolerance / 10, default_truncation);
  settings.leaf_prisms = settings.leaf_points = leaf;
  settings.allowed = {{tolerance * share * size[0], tolerance * share * *std::min_element(&size[1], &size[4]),
                       tolerance * share * *std::min_element(&size[4], &size[10])}};
  seconds_of.clear();
  double start = seconds();
  fast::TreeProducts<Space> products(space, PrismList(scene.prisms.columns()), {0, scene.prisms.size()}, scene.points(),
                                     settings);
  const double made = seconds() - start;
  const fast::TreeCounts counts = products.counts();
  fmt::print("{} cells, {} points, tolerance {}: trees {:.3f} s\n", n_cells, n_points, tolerance, made);
  print_kernels(made);
  double sum_of_degrees = 0;
  const auto degrees = products.lists().exchanges.degree;
  for (std::size_t i = 0; i < degrees.extent(0); ++i) sum_of_degrees += degrees(i);
  fmt::print(
      "    cells {} and {}, exchanges {} of mean degree {:.1f}, highest {}, pairs of leaves {}, {:.0f} pairs a point\n",
      counts.cells_of_points, counts.cells_of_prisms, counts.exchanges,
      sum_of_degrees / static_cast<double>(counts.exchanges), counts.degree, counts.pairs_of_leaves,
      near_pairs(products) / static_cast<double>(n_points));

  std::vector<double> fields(static_cast<std::size_t>(n_points) * n_native_fields);
  const Kokkos::View<const double*, Kokkos::HostSpace> density(b.density.data(), b.density.size());
  start = seconds();
  products.multiply(space, density, 1, fields.data());
  space.fence();
  const double product = seconds() - start;
  fmt::print("  product {:.3f} s\n", product);
  print_kernels(product);

  std::vector<double> difference(exact);
  for (std::size_t f = 0; f < n_native_fields; ++f) {
    for (std::size_t i = 0; i < n_sample; ++i) {
      difference[f * n_sample + i] -= fields[f * static_cast<std::size_t>(n_points) + i];
    }
  }
  const auto error = largest(difference, n_sample);
  fmt::print("  errors at {} points, of largest value:", n_sample);
  for (std::size_t f = 0; f < n_native_fields; ++f) fmt::print(" {:.1e}", error[f] / size[f]);

  std::vector<double> sums(b.density.size());
  start = seconds();
  products.multiply_transposed(space, fields.data(), 1, sums.data());
  space.fence();
  const double transposed = seconds() - start;
  fmt::print("\n  transposed product {:.3f} s\n", transposed);
  print_kernels(transposed);
}

}  // namespace
}  // namespace prismfield

int main(int argc, char** argv) {
  if (argc < 4) return 1;
  const prismfield::Runtime runtime(argc, argv, {});
  using namespace Kokkos::Tools::Experimental;
  set_begin_parallel_for_callback(prismfield::begin);
  set_end_parallel_for_callback(prismfield::end);
  set_begin_parallel_scan_callback(prismfield::begin);
  set_end_parallel_scan_callback(prismfield::end);
  prismfield::run(std::atoll(argv[1]), std::atoll(argv[2]), std::atof(argv[3]), argc > 4 ? std::atof(argv[4]) : 0.5,
                  argc > 5 ? std::atoll(argv[5]) : 32, argc > 6 ? std::atoi(argv[6]) : 0);
}
