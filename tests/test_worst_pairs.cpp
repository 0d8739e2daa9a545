// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// A search for the pairs of a prism and a point that are computed worst: random shapes, and points that climb to larger
// errors, at each switch of form, near surfaces and edges' lines, inside, on axes and anywhere else. The values that
// they are compared with have more digits than doubles (exact_prism.hpp).
//
// PRISMFIELD_SEARCH_PAIRS=100000 test_worst_pairs searches longer than the test does: that many pairs in each class.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "exact_prism.hpp"
#include "forward_helpers.hpp"
#include "multipole_switches.hpp"

namespace prismfield::testing::test_worst_pairs {
namespace {

constexpr std::size_t default_pairs = 3000;

/// The largest error in single precision, with a margin of two.
constexpr double single_bound = 1.8e-5;

std::size_t pairs_wanted() {
  const char* const text = std::getenv("PRISMFIELD_SEARCH_PAIRS");
  return text == nullptr ? default_pairs : static_cast<std::size_t>(std::strtoull(text, nullptr, 10));
}

std::array<double, 6> faces_of(const Prism& p) { return {p.west, p.east, p.south, p.north, p.bottom, p.top}; }

std::array<double, 3> edges_of(const Prism& p) { return {p.east - p.west, p.north - p.south, p.top - p.bottom}; }

class Draw {
public:
  explicit Draw(std::uint64_t seed) : m_generator(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(m_generator() >> 11) * 0x1p-53;
  }
  /// log-uniform between 10^low and 10^high
  double power(double low, double high) { return std::pow(10.0, uniform(low, high)); }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(m_generator() % n); }
  bool chance(double p) { return uniform(0, 1) < p; }
  double sign() { return chance(0.5) ? 1 : -1; }

private:
  std::mt19937_64 m_generator;
};

/// What is searched: prisms of an aspect between 10^low and 10^high.
struct SearchClass {
  double low, high;
};

Prism draw_prism(Draw& draw, const SearchClass& wanted) {
  const double small = std::pow(10.0, -draw.uniform(wanted.low, wanted.high));
  std::array<double, 3> edge{1, 1, 1};
  switch (draw.below(4)) {
    case 0: edge = {1, draw.uniform(0.5, 1), small}; break;                                  // slab
    case 1: edge = {1, std::min(1.0, small * draw.uniform(1, 1.4)), small}; break;           // needle
    case 2: edge = {1, std::pow(small, draw.uniform(0, 1)), small}; break;                   // blade
    default: edge = {1, draw.chance(0.3) ? 1 : small, draw.chance(0.3) ? 1 : small}; break;  // equal edges
  }
  for (std::size_t d = 2; d > 0; --d) std::swap(edge[d], edge[draw.below(d + 1)]);
  const bool at_utm = draw.chance(0.4);
  const double longest = at_utm ? draw.power(1, 4) : draw.power(-1, 5);
  std::array<double, 3> low{};
  if (at_utm) {
    low = {draw.uniform(160e3, 840e3), draw.uniform(0, 10e6), draw.uniform(-20e3, 2e3)};
  } else {
    for (std::size_t d = 0; d < 3; ++d) low[d] = -0.5 * edge[d] * longest;
  }
  return {low[0], low[0] + edge[0] * longest, low[1], low[1] + edge[1] * longest,
          low[2], low[2] + edge[2] * longest, 1};
}

/// A place that can climb: a direction at a switch, or offsets from faces and centre.
struct Place {
  enum Kind { at_switch, anywhere } kind = anywhere;
  /// at a switch: its number, 5 for just within order 8; the direction
  std::size_t order = 0;
  std::array<double, 3> direction{};
  /// anywhere: 0 west, 1 east, 2 centre, and so on, and the offset from it, in longest edges
  std::array<int, 3> from{};
  std::array<double, 3> offset{};
  Point point{};
  double error = 0;
};

class Seeker {
public:
  Seeker(Draw& draw, const Prism& prism, const Switches& switches, double nearest)
      : m_draw(draw), m_prism(prism), m_switches(switches), m_nearest(nearest), m_longest(prism.longest_edge()) {}

  Place at_switch(std::size_t order) {
    Place p;
    p.kind = Place::at_switch;
    p.order = order;
    const std::size_t along = m_draw.below(8);
    for (std::size_t d = 0; d < 3; ++d) {
      p.direction[d] = along < 3 ? (d == along ? 1.0 : 0.0) : along == 3 ? 1.0 : m_draw.uniform(-1, 1);
      if (along == 4 && d == m_draw.below(3)) p.direction[d] = 0;
    }
    return placed(p);
  }

  Place anywhere() {
    Place p;
    for (std::size_t d = 0; d < 3; ++d) new_offset(p, d);
    return placed(p);
  }

  /// A place beside another one, the further away the larger `step`.
  Place beside(Place p, double step) {
    if (p.kind == Place::at_switch) {
      for (double& d : p.direction) d += step * m_draw.uniform(-1, 1);
      return placed(p);
    }
    const std::size_t d = m_draw.below(3);
    if (m_draw.chance(0.2)) {
      new_offset(p, d);
    } else {
      for (std::size_t i = 0; i < 3; ++i) {
        if (i == d || m_draw.chance(0.3)) p.offset[i] *= std::pow(10.0, 2 * step * m_draw.uniform(-1, 1));
      }
      if (m_draw.chance(0.1)) p.offset[d] = -p.offset[d];
    }
    return placed(p);
  }

  [[nodiscard]] bool usable(const Place& p) const {
    int on_faces = 0;
    const auto faces = faces_of(m_prism);
    for (std::size_t d = 0; d < 3; ++d)
      on_faces += faces[2 * d] == p.point[d] || faces[2 * d + 1] == p.point[d] ? 1 : 0;
    return on_faces < 2 && distance_to_surface(m_prism, p.point) >= m_nearest * m_longest;
  }

private:
  void new_offset(Place& p, std::size_t d) {
    const double edge = edges_of(m_prism)[d];
    p.from[d] = static_cast<int>(m_draw.below(3));
    switch (m_draw.below(5)) {
      case 0: p.offset[d] = m_draw.power(-9, 0); break;
      case 1: p.offset[d] = m_draw.power(-4, 0) * edge / m_longest; break;
      case 2: p.offset[d] = m_draw.uniform(0, 1) * edge / m_longest; break;
      case 3: p.offset[d] = p.from[d] == 2 ? 0 : m_draw.power(-2, 1); break;
      default: p.offset[d] = m_draw.power(-1, 1); break;
    }
    p.offset[d] *= m_draw.sign();
  }

  Place placed(Place p) {
    const auto faces = faces_of(m_prism);
    p.error = 0;
    if (p.kind == Place::anywhere) {
      for (std::size_t d = 0; d < 3; ++d) {
        const double low = faces[2 * d];
        const double high = faces[2 * d + 1];
        const double base = p.from[d] == 0 ? low : p.from[d] == 1 ? high : low + (high - low) / 2;
        p.point[d] = base + p.offset[d] * m_longest;
      }
      return p;
    }
    const double norm = std::hypot(p.direction[0], p.direction[1], p.direction[2]);
    // just beyond the switch, or just within the first: by more than coordinates are rounded
    const double distance =
        p.order < 5 ? m_switches.multipole[p.order] * (1 + 1e-6) : m_switches.multipole[0] * (1 - 1e-6);
    for (std::size_t d = 0; d < 3; ++d) {
      if (norm > 0) p.direction[d] /= norm;
      const double middle = faces[2 * d] + (faces[2 * d + 1] - faces[2 * d]) / 2;
      p.point[d] = middle + distance * p.direction[d];
    }
    return p;
  }

  Draw& m_draw;
  Prism m_prism;
  Switches m_switches;
  double m_nearest;
  double m_longest;
};

struct Worst {
  Errors errors;
  double found = 0;
  std::string description;
};

/// The worst errors by kind of place.
class Findings {
public:
  explicit Findings(std::string title) : m_title(std::move(title)) {}
  void add(const std::string& where, const Prism& prism, const Point& point, const Errors& e) {
    ++m_pairs;
    Worst& w = m_rows[where];
    w.errors.include(e);
    if (!(e.worst() <= w.found)) {
      w.found = e.worst();
      std::ostringstream out;
      out << std::setprecision(17);
      for (const double x : faces_of(prism)) out << ' ' << x;
      out << " from";
      for (const double x : point) out << ' ' << x;
      w.description = out.str();
    }
  }
  [[nodiscard]] std::size_t pairs() const noexcept { return m_pairs; }
  [[nodiscard]] Errors worst() const {
    Errors all;
    for (const auto& row : m_rows) all.include(row.second.errors);
    return all;
  }
  void print() const {
    std::cout << m_title << ": " << m_pairs
              << " pairs\n  worst                        V        g        T   prism and point\n";
    for (const auto& [where, w] : m_rows) {
      std::cout << "  " << std::left << std::setw(22) << where << std::right << std::scientific << std::setprecision(1)
                << "  " << w.errors.potential << "  " << w.errors.vector << "  " << w.errors.tensor << "  "
                << w.description << '\n';
    }
    std::cout << std::defaultfloat;
  }

private:
  std::string m_title;
  std::size_t m_pairs = 0;
  std::map<std::string, Worst> m_rows;
};

std::string where_is(const Prism& prism, const Place& p) {
  if (p.kind == Place::at_switch) {
    return p.order < 5 ? "switch to order " + std::to_string(8 - 2 * p.order) : "last closed form";
  }
  const auto f = faces_of(prism);
  bool inside = true;
  for (std::size_t d = 0; d < 3; ++d) inside = inside && f[2 * d] <= p.point[d] && p.point[d] <= f[2 * d + 1];
  if (inside) return "inside";
  const double gap = distance_to_surface(prism, p.point) / prism.longest_edge();
  return gap < 1e-3 ? "up to 0.001 edges" : gap < 0.1 ? "up to 0.1 edges" : gap < 1 ? "up to 1 edge" : "beyond 1 edge";
}

/// Errors relative to |V|, |g| and |T|; of g to what a slab of `vanishing` shortest edges gives where it is
/// less than that, in the middle of a prism.
Errors errors_at(const TenValues& actual, const Prism& prism, const Point& point, double vanishing) {
  const TenValues exact = exact_fields(faces_of(prism), on_faces(faces_of(prism), point));
  Scales scale{std::abs(exact[0]), norm_of_vector(exact), norm_of_tensor(exact)};
  if (is_near(prism, point)) {
    scale.vector = std::max(scale.vector, vanishing * 2 * pi * prism.shortest_edge());
  }
  return errors_by_norm(actual, exact, scale);
}

struct Search {
  SearchClass wanted;
  double vanishing = 1e-6;
  /// no point nearer to the surface, in longest edges
  double nearest = 0;
};

Findings search(const Execution& execution, const Search& what, std::uint64_t seed, const std::string& title) {
  Findings findings(title);
  Draw draw(seed);
  const std::size_t wanted = pairs_wanted();
  while (findings.pairs() < wanted) {
    const Prism prism = draw_prism(draw, what.wanted);
    Seeker seeker(draw, prism, switches_of(edges_of(prism), execution.precision), what.nearest);
    std::vector<Place> places;
    for (std::size_t order = 0; order <= 5; ++order) {
      for (int i = 0; i < 8; ++i) places.push_back(seeker.at_switch(order));
    }
    for (int i = 0; i < 48; ++i) places.push_back(seeker.anywhere());
    std::map<std::string, std::vector<Place>> best;
    double step = 0.5;
    for (int round = 0; round < 5; ++round) {
      std::erase_if(places, [&](const Place& p) { return !seeker.usable(p); });
      // a host's vector takes the order that serves all of its points: let them be alike
      std::stable_sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
        return distance_to_centre(prism, a.point) < distance_to_centre(prism, b.point);
      });
      std::vector<Point> points;
      for (const Place& p : places) points.push_back(p.point);
      const std::vector<TenValues> actual = compute(execution, {prism}, points);
      for (std::size_t i = 0; i < places.size(); ++i) {
        const Errors e = errors_at(actual[i], prism, places[i].point, what.vanishing);
        places[i].error = e.worst();
        const std::string where = where_is(prism, places[i]);
        findings.add(where, prism, places[i].point, e);
        best[where].push_back(places[i]);
      }
      places.clear();
      for (auto& [where, found] : best) {
        std::stable_sort(found.begin(), found.end(), [](const Place& a, const Place& b) { return a.error > b.error; });
        if (found.size() > 2) found.resize(2);
        for (const Place& p : found) {
          for (int i = 0; i < 4; ++i) places.push_back(seeker.beside(p, step));
        }
      }
      step *= 0.4;
    }
  }
  findings.print();
  return findings;
}

class WorstPairs : public ::testing::TestWithParam<Space> {
protected:
  void SetUp() override {
    if (!has_exact_fields()) GTEST_SKIP() << "this compiler has no numbers of more digits than double's";
    if (const auto reason = unavailable(GetParam())) GTEST_SKIP() << *reason;
    m_execution.space = GetParam();
  }
  void expect_below(const Search& what, std::uint64_t seed, const std::string& title, double bound) {
    const Errors worst = search(m_execution, what, seed, title + ", " + name(GetParam())).worst();
    EXPECT_LE(worst.potential, bound);
    EXPECT_LE(worst.vector, bound);
    EXPECT_LE(worst.tensor, bound);
  }

  Execution m_execution;
};

INSTANTIATE_TEST_SUITE_P(Spaces, WorstPairs, ::testing::Values(Space::serial, Space::cuda, Space::hip),
                         [](const auto& param) { return std::string(name(param.param)); });

TEST_P(WorstPairs, DoubleTo100) { expect_below({{0, 2}}, 1, "double, aspect to 100:1", 1e-12); }
TEST_P(WorstPairs, DoubleTo1000) { expect_below({{2, 3}}, 2, "double, aspect 100:1 to 1000:1", 5e-12); }
TEST_P(WorstPairs, DoubleTo10000) { expect_below({{3, 4}}, 3, "double, aspect 1000:1 to 10,000:1", 1e-10); }

/// Floats lose what the closed forms lose in roundings of 6e-8; prisms of more than 100:1 take doubles near by, so that
/// their errors are those of the multipoles and of what is kept as floats. Coordinates are floats, too: a point is
/// where it is to 6e-8 of its distance from the ensemble's centre, so that only at a distance from the surface that is
/// large beside this errors are small.
TEST_P(WorstPairs, Single) {
  m_execution.precision = Precision::single;
  expect_below({{0, 2}, 1e-2, 0.1}, 7, "single, aspect to 100:1", single_bound);
  expect_below({{2, 4}, 1e-2, 0.1}, 8, "single, aspect 100:1 to 10,000:1", single_bound);
  expect_below({{4, 6}, 1e-2, 0.1}, 9, "single, aspect 10,000:1 to 1,000,000:1", single_bound);
}

}  // namespace
}  // namespace prismfield::testing::test_worst_pairs
