// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>
#include <prismfield/forward.hpp>

#include "case/case.hpp"
#include "compute/method.hpp"
#include "list_ensemble.hpp"
#include "model/points.hpp"

/// What the tests of the fields share: running forward() on a few prisms and points, and measuring errors.
namespace prismfield::testing {

using Point = std::array<double, 3>;

/// The ten fields at one point, in the order of Field; NaN where a reference has no value.
using TenValues = std::array<double, n_gravity_fields>;

inline constexpr double pi = std::numbers::pi;

[[nodiscard]] inline double value(const TenValues& v, Field f) { return v[static_cast<std::size_t>(f)]; }

[[nodiscard]] inline Points make_station_points(const std::vector<Point>& points) {
  Points p;
  for (const Point& q : points) {
    p.easting.push_back(q[0]);
    p.northing.push_back(q[1]);
    p.upward.push_back(q[2]);
  }
  return p;
}

/// Each point so often that every group of lanes of a host, of up to 16 floats, has one place: its form is the pair's.
inline constexpr int lanes_at_most = 16;
[[nodiscard]] inline std::vector<Point> in_whole_groups(const std::vector<Point>& points) {
  std::vector<Point> all;
  for (const Point& q : points) all.insert(all.end(), lanes_at_most, q);
  return all;
}

/// A request with G = 1, so that results are in units of the density times powers of a metre.
[[nodiscard]] inline Request make_request(const Execution& execution, FieldList fields = FieldList::all()) {
  return {fields, 1, execution};
}

[[nodiscard]] inline Fields run_forward(const Request& run, const PrismSource& ensemble,
                                        const std::vector<Point>& points) {
  const Points stations = make_station_points(points);
  return forward(ensemble, stations, run);
}

[[nodiscard]] inline Fields run_forward(const Request& run, const std::vector<Prism>& prisms,
                                        const std::vector<Point>& points) {
  return run_forward(run, ListEnsemble(prisms), points);
}

[[nodiscard]] inline Fields run_forward(const Execution& execution, const std::vector<Prism>& prisms,
                                        const std::vector<Point>& points, FieldList fields = FieldList::all()) {
  return run_forward(make_request(execution, fields), prisms, points);
}

/// The ten values of a run of all fields at one of its points.
[[nodiscard]] inline TenValues values_at(const Fields& result, std::size_t point) {
  const std::size_t n_points = result.values.size() / n_gravity_fields;
  TenValues v;
  for (std::size_t f = 0; f < n_gravity_fields; ++f) v[f] = result.values.at(f * n_points + point);
  return v;
}

/// The ten values at every point, G = 1.
[[nodiscard]] inline std::vector<TenValues> compute(const Execution& execution, const std::vector<Prism>& prisms,
                                                    const std::vector<Point>& points) {
  const Fields result = run_forward(execution, prisms, points);
  std::vector<TenValues> out;
  for (std::size_t i = 0; i < points.size(); ++i) out.push_back(values_at(result, i));
  return out;
}

/// Why forward() cannot run in this space; nothing when it can.
[[nodiscard]] inline std::optional<std::string> unavailable(Space space) {
  static std::map<Space, std::optional<std::string>> known;
  const auto found = known.find(space);
  if (found != known.end()) return found->second;
  Execution execution;
  execution.space = space;
  std::optional<std::string> reason;
  try {
    const ListEnsemble ensemble({{0, 1, 0, 1, 0, 1, 1}});
    static_cast<void>(forward(ensemble, make_station_points({{2, 2, 2}}), make_request(execution)));
  } catch (const InputError& error) {
    reason = error.what();
  }
  known[space] = reason;
  return reason;
}

inline double square(double x) { return x * x; }

[[nodiscard]] inline double norm_of_vector(const TenValues& v) { return std::hypot(v[1], v[2], v[3]); }

/// Root of the sum of squares over the six components that have a value.
[[nodiscard]] inline double norm_of_tensor(const TenValues& v) {
  double sum = 0;
  for (std::size_t f = 4; f < n_gravity_fields; ++f) sum += std::isnan(v[f]) ? 0 : square(v[f]);
  return std::sqrt(sum);
}

/// Largest error of the potential, the vector and the tensor, each relative to its scale.
struct Errors {
  double potential = 0;
  double vector = 0;
  double tensor = 0;

  [[nodiscard]] double worst() const { return std::max({potential, vector, tensor}); }
  void include(const Errors& other) {
    potential = std::max(potential, other.potential);
    vector = std::max(vector, other.vector);
    tensor = std::max(tensor, other.tensor);
  }
};

/// What errors are relative to.
struct Scales {
  double potential = 1;
  double vector = 1;
  double tensor = 1;
};

/// 2 pi G rho times the longest edge: what a prism's attraction is made of near and in it.
[[nodiscard]] inline double slab_attraction(const Prism& p) { return 2 * pi * std::abs(p.density) * p.longest_edge(); }

/// True inside and about a prism, where g can vanish though none of its terms does.
[[nodiscard]] inline bool is_near(const Prism& p, const Point& q);

/// |V|, |g| and the norm of T of the expected values. In the middle of a prism g vanishes and so does the meaning of an
/// error relative to it: where |g| is below `vanishing` times the slab's attraction, that attraction is the scale.
[[nodiscard]] inline Scales scales_of(const TenValues& expected, const Prism& p, const Point& q,
                                      double vanishing = 1e-6) {
  Scales s{std::abs(expected[0]), norm_of_vector(expected), norm_of_tensor(expected)};
  if (is_near(p, q) && s.vector < vanishing * slab_attraction(p)) s.vector = slab_attraction(p);
  return s;
}

/// Errors of `actual`; a component that is NaN in `expected` is not compared, one that is not finite in `actual` is an
/// infinite error.
[[nodiscard]] inline Errors errors_of(const TenValues& actual, const TenValues& expected, const Scales& scale) {
  Errors e;
  for (std::size_t f = 0; f < n_gravity_fields; ++f) {
    double& worst = f == 0 ? e.potential : f < 4 ? e.vector : e.tensor;
    const double by = f == 0 ? scale.potential : f < 4 ? scale.vector : scale.tensor;
    if (!std::isfinite(actual[f])) {
      worst = std::numeric_limits<double>::infinity();
    } else if (!std::isnan(expected[f]) && actual[f] != expected[f]) {
      worst = std::max(worst, std::abs(actual[f] - expected[f]) / by);
    }
  }
  return e;
}

/// Errors of all components together: of the vector relative to its scale, of the tensor by the root of the sum of
/// squares of nine components or of six, whichever is larger, relative to the same of `expected`. All values exist.
[[nodiscard]] inline Errors errors_by_norm(const TenValues& actual, const TenValues& expected, const Scales& scale) {
  TenValues difference{};
  for (std::size_t f = 0; f < n_gravity_fields; ++f) {
    difference[f] = actual[f] - expected[f];
    if (!std::isfinite(actual[f])) difference[f] = std::numeric_limits<double>::infinity();
  }
  const auto norm_of_nine = [](const TenValues& v) {
    double sum = 0;
    for (std::size_t f = 4; f < n_gravity_fields; ++f) sum += (f < 7 ? 1 : 2) * square(v[f]);
    return std::sqrt(sum);
  };
  return {std::abs(difference[0]) / scale.potential, norm_of_vector(difference) / scale.vector,
          std::max(norm_of_tensor(difference) / norm_of_tensor(expected),
                   norm_of_nine(difference) / norm_of_nine(expected))};
}

/// Distance from a point to a prism's surface, from inside as well.
[[nodiscard]] inline double distance_to_surface(const Prism& p, const Point& q) {
  const std::array<double, 3> low{p.west - q[0], p.south - q[1], p.bottom - q[2]};
  const std::array<double, 3> high{p.east - q[0], p.north - q[1], p.top - q[2]};
  double outside = 0;
  double inside = std::numeric_limits<double>::infinity();
  for (std::size_t d = 0; d < 3; ++d) {
    const double beyond = std::max({low[d], -high[d], 0.0});
    outside = std::hypot(outside, beyond);
    inside = std::min({inside, std::abs(low[d]), std::abs(high[d])});
  }
  return outside > 0 ? outside : inside;
}

[[nodiscard]] inline double distance_to_centre(const Prism& p, const Point& q) {
  return std::hypot(((p.west - q[0]) + (p.east - q[0])) / 2, ((p.south - q[1]) + (p.north - q[1])) / 2,
                    ((p.bottom - q[2]) + (p.top - q[2])) / 2);
}

inline bool is_near(const Prism& p, const Point& q) { return distance_to_centre(p, q) < p.longest_edge(); }

/// The ten values with every digit.
[[nodiscard]] inline std::string digits(const TenValues& v) {
  std::ostringstream out;
  out << std::setprecision(17);
  for (const double x : v) out << ' ' << x;
  return out.str();
}

}  // namespace prismfield::testing
