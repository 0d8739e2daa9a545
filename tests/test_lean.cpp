// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// The lean functions against mpmath, for plain numbers and for this machine's vectors. A host's vectors need kernels
// that are functions of the host alone.
#define PRISMFIELD_HOST_LANES
#include "kernel/host_tile.hpp"
#include "kernel/lean.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace prismfield::kernel::test_lean {
namespace {

struct Sample {
  std::string function;
  double first, second, value;
};

std::vector<Sample> samples() {
  const std::string file = std::string(PRISMFIELD_SOURCE_DIR) + "/tests/reference/lean_functions.csv";
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  std::vector<Sample> out;
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#' || line.rfind("function", 0) == 0) continue;
    std::istringstream fields(line);
    std::string cell[4];
    for (auto& c : cell) std::getline(fields, c, ',');
    out.push_back({cell[0], std::strtod(cell[1].c_str(), nullptr), std::strtod(cell[2].c_str(), nullptr),
                   std::strtod(cell[3].c_str(), nullptr)});
  }
  return out;
}

/// Difference in units of the last place of the exact value.
template <class T>
double ulps(T got, T exact) {
  const T spacing = std::nextafter(std::abs(exact), std::numeric_limits<T>::infinity()) - std::abs(exact);
  return static_cast<double>(std::abs(got - exact) / spacing);
}

/// Worst error of a lane type over the samples of one function, the sample in every lane in turn.
template <class L>
double worst(const std::string& function) {
  using T = value_t<L>;
  constexpr int n = lanes_v<L>;
  double largest = 0;
  int lane = 0;
  int used = 0;
  for (const Sample& s : samples()) {
    if (s.function != function) continue;
    // a float's arguments are rounded, so its exact value is computed from the rounded ones in double
    const T first = static_cast<T>(s.first);
    const T second = static_cast<T>(s.second);
    const bool exact_arguments = sizeof(T) == 8;
    const double rounded = function == "atan2" ? std::atan2(static_cast<double>(first), static_cast<double>(second))
                                               : std::log1p(static_cast<double>(first) / static_cast<double>(second));
    const T value = exact_arguments ? static_cast<T>(s.value) : static_cast<T>(rounded);
    if (!exact_arguments && (std::abs(s.first) < 1e-30 || second < T(-1e30) || value == T(0))) continue;
    T a[n];
    T b[n];
    T out[n];
    for (int i = 0; i < n; ++i) {
      a[i] = T(1);
      b[i] = T(1);
    }
    a[lane] = first;
    b[lane] = second;
    const L result =
        function == "atan2" ? kernel::atan2(load<L>(a), load<L>(b)) : log1p_quotient(load<L>(a), load<L>(b));
    store(result, out);
    largest = std::max(largest, ulps(out[lane], value));
    lane = (lane + 1) % n;
    ++used;
  }
  EXPECT_GT(used, 1000);
  return largest;
}

// 2 ulp are what lean.hpp promises; the rounding of the reference itself to T may add half a unit.
constexpr double promised = 2.5;

template <class L>
class Lean : public ::testing::Test {};
using LaneTypes = ::testing::Types<double, float, HostLane<double, native_lanes<double>>,
                                   HostLane<float, native_lanes<float>>, HostLane<float, native_lanes<double>>>;
TYPED_TEST_SUITE(Lean, LaneTypes);

TYPED_TEST(Lean, LogarithmToTwoUlp) { EXPECT_LE(worst<TypeParam>("log1p_quotient"), promised); }

/// A quotient whose difference is known keeps the digits that numerator minus denominator has lost.
TYPED_TEST(Lean, LogarithmOfAQuotientToTwoUlp) {
  using T = value_t<TypeParam>;
  double largest = 0;
  for (int i = 0; i < 2000; ++i) {
    const T b = static_cast<T>(1 + 0.37 * (i % 7));
    const T d = static_cast<T>(std::pow(10.0, (i % 100) * (sizeof(T) == 8 ? -0.15 : -0.06)) * (i % 2 == 0 ? 3 : -0.9));
    if (!(b + d > T(0.01))) continue;
    T out[lanes_v<TypeParam>];
    store(log_quotient(TypeParam(b + d), TypeParam(b), TypeParam(d)), out);
    const long double exact = std::log1p(static_cast<long double>(d) / static_cast<long double>(b));
    // the rounding of the numerator counts where the quotient is not near 1
    largest = std::max(largest, static_cast<double>(std::abs(out[0] - exact) / (std::abs(exact) + 1e-2L)));
    if (std::abs(d) < T(0.1) * b) largest = std::max(largest, static_cast<double>(std::abs(out[0] / exact - 1)));
  }
  EXPECT_LE(largest, 4 * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

TYPED_TEST(Lean, ArctangentToTwoUlp) { EXPECT_LE(worst<TypeParam>("atan2"), promised); }

TYPED_TEST(Lean, ArctangentOnTheAxes) {
  using T = value_t<TypeParam>;
  const T pi = static_cast<T>(3.14159265358979323846);
  const T cases[5][3] = {{0, 1, 0}, {1, 0, pi / 2}, {-1, 0, -pi / 2}, {0, -1, pi}, {-0.0F, -1, -pi}};
  for (const auto& c : cases) {
    T out[lanes_v<TypeParam>];
    store(kernel::atan2(TypeParam(c[0]), TypeParam(c[1])), out);
    EXPECT_LE(std::abs(out[0] - c[2]), std::numeric_limits<T>::epsilon() * 2) << c[0] << ' ' << c[1];
    EXPECT_EQ(std::signbit(out[0]), std::signbit(c[2]));
  }
}

TYPED_TEST(Lean, LogarithmOfOneIsZero) {
  using T = value_t<TypeParam>;
  T out[lanes_v<TypeParam>];
  store(log1p_quotient(TypeParam(T(0)), TypeParam(T(3))), out);
  for (const T value : out) EXPECT_EQ(value, T(0));
}

TYPED_TEST(Lean, ComparisonsAndChoices) {
  using T = value_t<TypeParam>;
  constexpr int n = lanes_v<TypeParam>;
  T a[n];
  T b[n];
  T out[n];
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<T>(i);
    b[i] = static_cast<T>(n - i);
  }
  const auto la = load<TypeParam>(a);
  const auto lb = load<TypeParam>(b);
  store(select(la < lb, la, lb), out);
  for (int i = 0; i < n; ++i) EXPECT_EQ(out[i], std::min(a[i], b[i]));
  store(select(la <= lb, lb, la), out);
  for (int i = 0; i < n; ++i) EXPECT_EQ(out[i], std::max(a[i], b[i]));
  store(min(la, lb), out);
  for (int i = 0; i < n; ++i) EXPECT_EQ(out[i], std::min(a[i], b[i]));
  store(copysign(la, -lb), out);
  for (int i = 0; i < n; ++i) EXPECT_EQ(out[i], -a[i]);
  store(fma(la, lb, la), out);
  for (int i = 0; i < n; ++i) EXPECT_EQ(out[i], a[i] * b[i] + a[i]);
  EXPECT_TRUE(any(la < lb));
  EXPECT_EQ(all(la < lb), n == 1);
}

}  // namespace
}  // namespace prismfield::kernel::test_lean
