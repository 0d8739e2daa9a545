// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// Time of the kernel's parts on one host thread, with Google Benchmark: the lean functions beside the library's, one
// edge, one face, and every form of the prism's field as a run executes it. See README.md.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <prismfield/forward.hpp>

#define PRISMFIELD_HOST_LANES
#include "force_form.hpp"
#include "kernel/host_tile.hpp"

namespace prismfield {
namespace {

using kernel::HostLane;
using kernel::lanes_v;
using kernel::load;
using kernel::store;
using kernel::value_t;

constexpr int n_values = 1024;

/// Adds what one execution of the loop did: items per second, and the time of one item under this name.
void count_items(benchmark::State& state, std::int64_t items, const char* counter) {
  state.SetItemsProcessed(state.iterations() * items);
  state.counters[counter] = benchmark::Counter(
      static_cast<double>(items), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// Arguments of a function of several numbers, `count` columns of n_values, log-uniform between 1e-3 and 1e3.
template <class T, std::size_t count>
std::array<std::vector<T>, count> random_arguments(bool both_signs) {
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> exponent(-3.0, 3.0);
  std::array<std::vector<T>, count> columns;
  for (auto& column : columns) {
    column.resize(n_values);
    for (T& value : column) {
      const double size = std::pow(10.0, exponent(generator));
      value = static_cast<T>(both_signs && generator() % 2 == 0 ? -size : size);
    }
  }
  return columns;
}

/// Times f(L...) over n_values sets of arguments that lie in the fastest cache.
template <class L, std::size_t count, class F>
void time_function(benchmark::State& state, const std::array<std::vector<value_t<L>>, count>& arguments, const F& f) {
  std::vector<value_t<L>> results(n_values);
  for ([[maybe_unused]] const auto _ : state) {
    for (std::size_t i = 0; i < n_values; i += lanes_v<L>) {
      const auto call = [&]<std::size_t... column>(std::index_sequence<column...>) {
        return f(load<L>(&arguments[column][i])...);
      };
      store(call(std::make_index_sequence<count>()), &results[i]);
      // also keeps the compiler from making vectors of scalar lanes, which it cannot do in the kernels
      benchmark::ClobberMemory();
    }
    benchmark::DoNotOptimize(results.data());
  }
  count_items(state, n_values, "per_value");
}

/// Prisms of about the seven spheres' shape, in longest edges, as points above them see them.
template <class T>
struct SeenPrisms {
  T dx = T(0.2), dy = T(0.2), dz = T(1);
  /// west, south and bottom face minus point, n_values each; the other faces follow from the edges
  std::array<std::vector<T>, 3> corner;
};
template <class T>
SeenPrisms<T> seen_prisms() {
  std::mt19937_64 generator(2);
  std::uniform_real_distribution<double> sideways(-10.0, 10.0);
  std::uniform_real_distribution<double> below(-20.0, -2.0);
  SeenPrisms<T> seen;
  for (std::size_t d = 0; d < 3; ++d) {
    for (int i = 0; i < n_values; ++i) {
      seen.corner[d].push_back(static_cast<T>(d == 2 ? below(generator) : sideways(generator)));
    }
  }
  return seen;
}

/// A prism and the distances of its bottom face's corners, [i][j].
template <class L>
struct BottomFace {
  kernel::PrismFaces<L> prism;
  L r[2][2];
};
template <class L>
PRISMFIELD_INLINE_FUNCTION BottomFace<L> bottom_face(const SeenPrisms<value_t<L>>& seen, const L& x, const L& y,
                                                     const L& z) {
  BottomFace<L> face;
  kernel::PrismFaces<L>& p = face.prism;
  p.dx = seen.dx;
  p.dy = seen.dy;
  p.dz = seen.dz;
  p.x[0] = x;
  p.x[1] = x + L(p.dx);
  p.y[0] = y;
  p.y[1] = y + L(p.dy);
  p.z[0] = z;
  p.z[1] = z + L(p.dz);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      face.r[i][j] = kernel::sqrt(kernel::fma(p.x[i], p.x[i], kernel::fma(p.y[j], p.y[j], z * z)));
    }
  }
  return face;
}

template <class L>
void register_functions(const std::string& kind) {
  using T = value_t<L>;
  const auto add = [&](const std::string& function, auto body) {
    benchmark::RegisterBenchmark((function + "/" + kind).c_str(), body);
  };
  add("log1p_quotient/lean", [](benchmark::State& state) {
    time_function<L>(state, random_arguments<T, 2>(false),
                     [](const L& d, const L& b) { return kernel::log1p_quotient(d, b); });
  });
  add("atan2/lean", [](benchmark::State& state) {
    time_function<L>(state, random_arguments<T, 2>(true), [](const L& y, const L& x) { return kernel::atan2(y, x); });
  });
  add("edge_log", [](benchmark::State& state) {
    const auto seen = seen_prisms<T>();
    time_function<L>(state, seen.corner, [&seen](const L& x, const L& y, const L& z) {
      const L w2 = kernel::fma(x, x, y * y);
      const L other = z + L(seen.dz);
      const L r0 = kernel::sqrt(kernel::fma(z, z, w2));
      const L r1 = kernel::sqrt(kernel::fma(other, other, w2));
      return kernel::make_edge(z, other, seen.dz, w2, r0, r1, T(1)).log.value();
    });
  });
  add("face_angle/edge_wise", [](benchmark::State& state) {
    const auto seen = seen_prisms<T>();
    time_function<L>(state, seen.corner, [&seen](const L& x, const L& y, const L& z) {
      const BottomFace<L> face = bottom_face(seen, x, y, z);
      const kernel::PrismFaces<L>& p = face.prism;
      const L h = kernel::abs(z);
      const auto factor = [&h](const L& sum, T e, const L& d) {
        return kernel::edge_factor(kernel::Edge<L>{sum, sum - L(e), sum}, e, h, d);
      };
      return kernel::face_angle(
          z, factor(face.r[1][0] + face.r[1][1], p.dy, p.x[1]), factor(face.r[0][0] + face.r[0][1], p.dy, -p.x[0]),
          factor(face.r[0][1] + face.r[1][1], p.dx, p.y[1]), factor(face.r[0][0] + face.r[1][0], p.dx, -p.y[0]));
    });
  });
  add("face_angles/two_heights", [](benchmark::State& state) {
    const auto seen = seen_prisms<T>();
    time_function<L>(state, seen.corner, [&seen](const L& x, const L& y, const L& z) {
      const kernel::PrismFaces<L> p = bottom_face(seen, x, y, z).prism;
      L r[2][2][2], q[2][2], sum_x[2][2], sum_y[2][2], part_x[2][2], part_y[2][2];
      for (int k = 0; k < 2; ++k) {
        const L zz = p.z[k] * p.z[k];
        for (int i = 0; i < 2; ++i) {
          for (int j = 0; j < 2; ++j) r[k][i][j] = kernel::sqrt(kernel::fma(p.x[i], p.x[i], p.y[j] * p.y[j] + zz));
        }
        for (int i = 0; i < 2; ++i) {
          const L to_x = kernel::fma(p.y[i], p.y[i], zz);
          const L to_y = kernel::fma(p.x[i], p.x[i], zz);
          sum_x[k][i] = r[k][0][i] + r[k][1][i];
          sum_y[k][i] = r[k][i][0] + r[k][i][1];
          part_x[k][i] = kernel::edge_part(r[k][0][i], r[k][1][i], kernel::fma(p.x[0], p.x[1], to_x), to_x);
          part_y[k][i] = kernel::edge_part(r[k][i][0], r[k][i][1], kernel::fma(p.y[0], p.y[1], to_y), to_y);
        }
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) q[i][j] = L(T(1)) / (r[0][i][j] + r[1][i][j]);
      }
      return kernel::far_face_angles(p.z, p.dz, p.x, p.y, p.dx, p.dy, r, q, sum_x, sum_y, part_x, part_y).difference;
    });
  });
}

template <class T>
void register_library_functions(const std::string& kind) {
  benchmark::RegisterBenchmark(("log1p_quotient/library/" + kind).c_str(), [](benchmark::State& state) {
    time_function<T>(state, random_arguments<T, 2>(false), [](T d, T b) { return std::log1p(d / b); });
  });
  benchmark::RegisterBenchmark(("log1p_quotient/library_log/" + kind).c_str(), [](benchmark::State& state) {
    time_function<T>(state, random_arguments<T, 2>(false), [](T d, T b) { return std::log((b + d) / b); });
  });
  benchmark::RegisterBenchmark(("atan2/library/" + kind).c_str(), [](benchmark::State& state) {
    time_function<T>(state, random_arguments<T, 2>(true), [](T y, T x) { return std::atan2(y, x); });
  });
}

/// One batch of the seven spheres' prisms below a patch of points, with one slot, as the host's kernel reads it.
template <class A>
kernel::LaunchData<A, Kokkos::HostSpace> one_batch(Form form, FieldSet set) {
  constexpr int n_prisms = 64;
  constexpr int n_points = n_values;
  constexpr double edge[3] = {22000.0 / 700, 22000.0 / 700, 160.0};
  constexpr double no_origin[3] = {0, 0, 0};
  kernel::LaunchData<A, Kokkos::HostSpace> data;
  data.easting = decltype(data.easting)("easting", n_points);
  data.northing = decltype(data.northing)("northing", n_points);
  data.upward = decltype(data.upward)("upward", n_points);
  for (int i = 0; i < n_points; ++i) {
    data.easting(i) = static_cast<typename A::Real>(147.65 * (i % 32));
    data.northing(i) = static_cast<typename A::Real>(222.2 * (i / 32));
    data.upward(i) = static_cast<typename A::Real>(100.0);
  }
  data.n_points = n_points;
  data.shapes = decltype(data.shapes)("shapes", 1);
  kernel::prepare_shape<A>(kernel::multipole_tables(), edge, data.shapes(0));
  force(form, data.shapes(0));
  data.far = decltype(data.far)("far", n_prisms);
  data.near = decltype(data.near)("near", n_prisms);
  data.weights = decltype(data.weights)("weights", n_prisms);
  for (int i = 0; i < n_prisms; ++i) {
    const int cell[3] = {i % 8, i / 8, 0};
    const double lowest[3] = {2000.0, 3000.0, -2720.0};
    double face[3][2];
    for (int d = 0; d < 3; ++d) {
      face[d][0] = lowest[d] + cell[d] * edge[d];
      face[d][1] = lowest[d] + (cell[d] + 1) * edge[d];
    }
    kernel::prepare_prism<A>(data.shapes(0), 0, face, no_origin, data.far(i), data.near(i));
    kernel::prepare_weight<A>(data.shapes(0), face, 300.0, data.weights(i));
  }
  data.prism_end = n_prisms;
  data.batch = n_prisms;
  for (int f = 0; f < n_gravity_fields; ++f) data.row_of_corners[f] = static_cast<std::int8_t>(f);
  data.scratch = decltype(data.scratch)("scratch", 1, fields_of(set).size(), n_points);
  data.contact = decltype(data.contact)("contact", n_points);
  data.pairs = decltype(data.pairs)("pairs", n_forms);
  return data;
}

template <class A, FieldSet set, class Kernel, int W>
void time_form(benchmark::State& state, Form form) {
  const auto data = one_batch<A>(form, set);
  const std::int64_t pairs = data.n_points * data.prism_end;
  std::int64_t taken = 0;
  for ([[maybe_unused]] const auto _ : state) {
    kernel::FormCounts counts;
    kernel::accumulate_tile_on_host<A, set, Kernel, W>(data, 0, 0, data.n_points / W, counts);
    taken += counts.count[static_cast<int>(form)];
  }
  if (taken != state.iterations() * pairs) state.SkipWithError("the kernel took another form than the one asked for");
  count_items(state, pairs, "per_pair");
}

template <class A, FieldSet set>
void register_forms(const std::string& set_name, const std::string& precision) {
  for (int i = 0; i < n_forms; ++i) {
    const auto form = static_cast<Form>(i);
    const std::string name = std::string(prismfield::name(form)) + "/" + set_name + "/" + precision;
    if (form == Form::corners) {
      // which compute one set of a kind
      if constexpr (set == kernel::corners_set(set)) {
        benchmark::RegisterBenchmark(name.c_str(), &time_form<A, set, kernel::CornersForm, 1>, form);
      }
    } else {
      benchmark::RegisterBenchmark(
          name.c_str(), &time_form<A, set, kernel::ChooseForm<kernel::Pass::all>, kernel::host_width<A>>, form);
    }
  }
}

template <class A>
void register_sets(const std::string& precision) {
  register_forms<A, FieldSet::gz>("gz", precision);
  register_forms<A, FieldSet::vector>("vector", precision);
  register_forms<A, FieldSet::tensor>("tensor", precision);
  register_forms<A, FieldSet::vector_tensor>("vector_tensor", precision);
  register_forms<A, FieldSet::all>("all", precision);
}

}  // namespace
}  // namespace prismfield

int main(int argc, char** argv) {
  using namespace prismfield;
  const Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_num_threads(1).set_disable_warnings(true));
  register_functions<HostLane<double, kernel::host_width<kernel::DoubleArithmetic>>>("double/vector");
  register_functions<double>("double/scalar");
  register_library_functions<double>("double/scalar");
  register_functions<HostLane<float, kernel::host_width<kernel::SingleArithmetic>>>("single/vector");
  register_functions<float>("single/scalar");
  register_library_functions<float>("single/scalar");
  register_sets<kernel::DoubleArithmetic>("double");
  register_sets<kernel::SingleArithmetic>("single");
  benchmark::AddCustomContext("lanes of a double vector", std::to_string(kernel::host_width<kernel::DoubleArithmetic>));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
