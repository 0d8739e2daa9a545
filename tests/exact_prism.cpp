// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "exact_prism.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <vector>

#if defined(PRISMFIELD_HAS_QUADMATH)
#include <quadmath.h>
#endif

namespace prismfield::testing {

#if defined(PRISMFIELD_HAS_QUADMATH)

namespace {

__extension__ typedef __float128 Quad;
using Ten = std::array<double, 10>;

/// Distance from the centre, in longest edges, from which the prism is a sum of point masses: 12 of each edge are
/// exact to 1e-18 there.
constexpr long double point_mass_reach = 4;

/// ln(along + r) in the gauge that changes sign with `along`: the signs' sum removes the difference.
Quad edge_log(Quad along, Quad others_squared, Quad r) {
  if (along == 0) return 0;
  const Quad value = logq((fabsq(along) + r) / (others_squared == 0 ? Quad(1) : sqrtq(others_squared)));
  return along > 0 ? value : -value;
}

/// atan(y z/(x r)), its mean value 0 in the plane of the face.
Quad face_angle(Quad x, Quad y, Quad z, Quad r) { return x == 0 ? Quad(0) : atanq(y * z / (x * r)); }

Ten by_corners(const Quad (&side)[3][2]) {
  Quad sum[10] = {};
  for (int corner = 0; corner < 8; ++corner) {
    const int i = corner >> 2 & 1;
    const int j = corner >> 1 & 1;
    const int k = corner & 1;
    const Quad x = side[0][i];
    const Quad y = side[1][j];
    const Quad z = side[2][k];
    const Quad xx = x * x;
    const Quad yy = y * y;
    const Quad zz = z * z;
    const Quad r = sqrtq(xx + yy + zz);
    const Quad lx = edge_log(x, yy + zz, r);
    const Quad ly = edge_log(y, zz + xx, r);
    const Quad lz = edge_log(z, xx + yy, r);
    const Quad ax = face_angle(x, y, z, r);
    const Quad ay = face_angle(y, z, x, r);
    const Quad az = face_angle(z, x, y, r);
    const Quad term[10] = {x * y * lz + y * z * lx + z * x * ly - (xx * ax + yy * ay + zz * az) / 2,
                           -(y * lz + z * ly - x * ax),
                           -(z * lx + x * lz - y * ay),
                           -(x * ly + y * lx - z * az),
                           -ax,
                           -ay,
                           -az,
                           lz,
                           ly,
                           lx};
    for (int f = 0; f < 10; ++f) sum[f] += (i + j + k) % 2 == 1 ? term[f] : -term[f];
  }
  Ten out{};
  for (std::size_t f = 0; f < 10; ++f) out[f] = static_cast<double>(sum[f]);
  return out;
}

struct Rule {
  std::vector<long double> node, weight;
};

/// The Gauss-Legendre rule of n nodes on [-1, 1], weights that add up to 1.
Rule make_rule(int n) {
  Rule rule;
  for (int i = 0; i < n; ++i) {
    long double x = std::cos(std::numbers::pi_v<long double> * (i + 0.75L) / (n + 0.5L));
    long double slope = 1;
    for (int step = 0; step < 100; ++step) {
      long double p0 = 1;
      long double p1 = x;
      for (int k = 2; k <= n; ++k) {
        const long double next = ((2 * k - 1) * x * p1 - (k - 1) * p0) / k;
        p0 = p1;
        p1 = next;
      }
      if (n == 1) p0 = 1;
      slope = n * (x * p1 - p0) / (x * x - 1);
      const long double by = p1 / slope;
      x -= by;
      if (std::abs(by) < 1e-19L) break;
    }
    rule.node.push_back(x);
    rule.weight.push_back(1 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

constexpr int most_nodes = 16;

const Rule& rule_of(int n) {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all(1);
    for (int i = 1; i <= most_nodes; ++i) all.push_back(make_rule(i));
    return all;
  }();
  return rules[static_cast<std::size_t>(n)];
}

/// Nodes that leave 1e-20 for a half edge h at a distance r.
int nodes_for(long double h, long double r) {
  const long double q = r / h;
  const long double rho = q + std::sqrt(q * q - 1);
  return std::clamp(static_cast<int>(std::ceil(46.0L / (2 * std::log(rho)))) + 2, 2, most_nodes);
}

Ten by_point_masses(const long double (&centre)[3], const long double (&half)[3]) {
  const long double r = std::sqrt(centre[0] * centre[0] + centre[1] * centre[1] + centre[2] * centre[2]);
  const Rule* rule[3];
  for (int d = 0; d < 3; ++d) rule[d] = &rule_of(nodes_for(half[d], r));
  long double sum[10] = {};
  for (std::size_t i = 0; i < rule[0]->node.size(); ++i) {
    const long double x = centre[0] + half[0] * rule[0]->node[i];
    for (std::size_t j = 0; j < rule[1]->node.size(); ++j) {
      const long double y = centre[1] + half[1] * rule[1]->node[j];
      for (std::size_t k = 0; k < rule[2]->node.size(); ++k) {
        const long double z = centre[2] + half[2] * rule[2]->node[k];
        const long double w = rule[0]->weight[i] * rule[1]->weight[j] * rule[2]->weight[k];
        const long double t = 1 / (x * x + y * y + z * z);
        const long double v = w * std::sqrt(t);
        const long double g = v * t;
        const long double h = 3 * g * t;
        const long double term[10] = {
            v, g * x, g * y, g * z, h * x * x - g, h * y * y - g, h * z * z - g, h * x * y, h * x * z, h * y * z};
        for (int f = 0; f < 10; ++f) sum[f] += term[f];
      }
    }
  }
  const long double volume = 8 * half[0] * half[1] * half[2];
  Ten out{};
  for (std::size_t f = 0; f < 10; ++f) out[f] = static_cast<double>(volume * sum[f]);
  return out;
}

}  // namespace

bool has_exact_fields() { return std::numeric_limits<long double>::digits >= 64; }

std::array<double, 10> exact_fields(const std::array<double, 6>& faces, const std::array<double, 3>& point) {
  Quad side[3][2];
  long double centre[3];
  long double half[3];
  for (std::size_t d = 0; d < 3; ++d) {
    for (std::size_t i = 0; i < 2; ++i) side[d][i] = Quad(faces[2 * d + i]) - Quad(point[d]);
    centre[d] = static_cast<long double>((side[d][0] + side[d][1]) / 2);
    half[d] = static_cast<long double>((side[d][1] - side[d][0]) / 2);
  }
  const long double r2 = centre[0] * centre[0] + centre[1] * centre[1] + centre[2] * centre[2];
  const long double reach = point_mass_reach * 2 * std::max({half[0], half[1], half[2]});
  return r2 < reach * reach ? by_corners(side) : by_point_masses(centre, half);
}

#else

bool has_exact_fields() { return false; }

std::array<double, 10> exact_fields(const std::array<double, 6>& /*faces*/, const std::array<double, 3>& /*point*/) {
  throw std::logic_error("exact_fields() needs libquadmath");
}

#endif

std::array<double, 3> on_faces(const std::array<double, 6>& faces, const std::array<double, 3>& point) {
  std::array<double, 3> moved = point;
  for (std::size_t d = 0; d < 3; ++d) {
    const double low = faces[2 * d], high = faces[2 * d + 1];
    const double nearer = std::abs(low - point[d]) <= std::abs(high - point[d]) ? low : high;
    const double largest = std::max(std::abs(nearer), std::abs(point[d]));
    const double ulp = std::nextafter(largest, std::numeric_limits<double>::infinity()) - largest;
    if (std::abs(nearer - point[d]) <= 4 * ulp) moved[d] = nearer;
    if (moved[d] < low || moved[d] > high) return point;
  }
  return moved;
}

}  // namespace prismfield::testing
