// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "operators/convolution/convolution_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include <prismfield/error.hpp>
#include <prismfield/request.hpp>

#include "base/human_text.hpp"

namespace prismfield {
namespace {

/// Beyond these a convolution costs more than it saves, for each layer, place and height takes transforms of its own.
constexpr std::size_t most_layers = 65536, most_places = 64, most_heights = 64;
constexpr double most_levels = 64;
constexpr std::int64_t most_entries = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t prisms_at_once = 65536;

constexpr std::array<const char*, 2> direction_names = {"easting", "northing"};

/// A direction of the mesh.
struct Steps {
  double low = 0, edge = 1;
  std::int64_t cells = 1;
  /// what counts as one place, in cells
  double slack = 0;

  [[nodiscard]] double at(double coordinate) const noexcept { return (coordinate - low) / edge; }
};

Steps steps_between(double low, double high, double edge, double farthest, double rounding, const char* direction) {
  constexpr double ulps = 8;
  const double cells = std::round((high - low) / edge);
  if (!(cells >= 1 && cells <= static_cast<double>(most_entries))) {
    refuse_fft(fmt::format("a cell of {} m does not divide the prisms' {} m along {}", edge, high - low, direction));
  }
  Steps steps{low, (high - low) / cells, static_cast<std::int64_t>(cells), 0};
  steps.slack = (ulps * std::numeric_limits<double>::epsilon() * farthest + rounding) / steps.edge;
  return steps;
}

/// The number of the cell between two faces.
std::int64_t cell_between(const Steps& steps, double low, double high, std::int64_t prism, const char* direction) {
  const double from = steps.at(low), cell = std::round(from);
  if (std::abs(from - cell) <= steps.slack && std::abs(steps.at(high) - (cell + 1)) <= steps.slack) {
    return static_cast<std::int64_t>(cell);
  }
  refuse_fft(fmt::format("prism {} is from {} to {} m {}, which is no cell of {} m from {} m on", prism, low, high,
                         direction, steps.edge, steps.low));
}

/// Sorts entries by place, unless they are.
void sort_by_place(LatticeEntries& entries) {
  if (std::is_sorted(entries.place.begin(), entries.place.end())) return;
  std::vector<std::int64_t> order(entries.place.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int64_t i) { return std::pair(entries.place[static_cast<std::size_t>(i)], i); };
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return key(a) < key(b); });
  LatticeEntries sorted;
  for (const std::int64_t i : order) {
    sorted.number.push_back(entries.number[static_cast<std::size_t>(i)]);
    sorted.place.push_back(entries.place[static_cast<std::size_t>(i)]);
  }
  entries = std::move(sorted);
}

using Magnetization = std::array<double, 3>;

double product(const Magnetization& a, const Magnetization& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// The magnetisation of the first prism that has one, if all others are multiples of it to rounding; otherwise one
/// along each axis.
std::vector<Magnetization> magnetizations_of(const std::vector<Magnetization>& prisms) {
  const auto first = std::find_if(prisms.begin(), prisms.end(), [](const auto& m) { return product(m, m) > 0; });
  if (first == prisms.end()) return {{0, 0, 1}};
  const auto is_along = [&](const Magnetization& m) {
    constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();
    const double amount = product(m, *first) / product(*first, *first);
    Magnetization across{};
    for (std::size_t d = 0; d < 3; ++d) across[d] = m[d] - amount * (*first)[d];
    return product(across, across) <= rounding * rounding * product(m, m);
  };
  if (std::all_of(first, prisms.end(), is_along)) return {*first};
  return {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
}

/// Finds the layer that a bottom and a top make, or makes it.
class Layers {
public:
  explicit Layers(std::vector<std::array<double, 2>>& found) : m_found(found) {}

  std::int64_t of(const std::array<double, 2>& faces) {
    if (m_last < m_found.size() && m_found[m_last] == faces) return static_cast<std::int64_t>(m_last);
    const auto [place, is_new] = m_numbers.try_emplace(faces, m_found.size());
    if (is_new) m_found.push_back(faces);
    if (m_found.size() > most_layers) {
      refuse_fft(fmt::format("prisms have more than {} different bottoms and tops", grouped(most_layers)));
    }
    m_last = place->second;
    return static_cast<std::int64_t>(m_last);
  }

private:
  std::vector<std::array<double, 2>>& m_found;
  std::map<std::array<double, 2>, std::size_t> m_numbers;
  std::size_t m_last = 0;
};

/// The different places of points within cells along a direction, in the order in which they are found.
class Places {
public:
  Places(const Steps& steps, const char* direction) : m_steps(steps), m_direction(direction) {}

  struct Found {
    std::int64_t step;
    std::int32_t place;
  };
  Found find(double coordinate) {
    const double at = m_steps.at(coordinate);
    double step = std::floor(at), within = at - step;
    if (within > 1 - m_steps.slack) step += 1, within = 0;
    if (within < m_steps.slack) within = 0;
    // a point that is on a face is on it for the kernel, too: see ConvolutionPlane
    if (!(std::abs(step) < static_cast<double>(most_entries))) refuse_fft("points are too far from the prisms");
    return {static_cast<std::int64_t>(step), number_of(within)};
  }
  [[nodiscard]] double operator[](std::int32_t place) const { return m_found[static_cast<std::size_t>(place)]; }

private:
  std::int32_t number_of(double within) {
    // points of a grid take the places in turns
    for (std::size_t tried = 0; tried < m_found.size(); ++tried) {
      const std::size_t place = (m_next + tried) % m_found.size();
      if (std::abs(m_found[place] - within) > m_steps.slack) continue;
      m_next = place + 1;
      return static_cast<std::int32_t>(place);
    }
    m_found.push_back(within);
    if (m_found.size() > most_places) {
      refuse_fft(fmt::format("points lie at more than {} places within cells along {}", most_places, m_direction));
    }
    m_next = m_found.size();
    return static_cast<std::int32_t>(m_found.size() - 1);
  }

  Steps m_steps;
  const char* m_direction;
  std::vector<double> m_found;
  std::size_t m_next = 0;
};

/// The points' different heights in ascending order; empty where there are too many.
std::vector<double> few_heights(std::span<const double> upward) {
  std::vector<double> heights;
  for (const double height : upward) {
    const auto at = std::lower_bound(heights.begin(), heights.end(), height);
    if (at != heights.end() && *at == height) continue;
    heights.insert(at, height);
    if (heights.size() > most_heights) return {};
  }
  return heights;
}

/// Levels for heights from `low` to `high` above the mass. A field of height z is analytic down to the mass: in the
/// ellipse around [low, high] whose half axes add up to rho halves of it. Of 1/(z - z0) n nodes leave 2 rho(z0)^-n of
/// the largest value. Each derivative by the place z0 of the pole, the k-th over k, is (z - z0)^-(k+1) and leaves
/// 1 + n/k sqrt(low/high) times as much, for n rho'/rho = n/sqrt(low high), and what is left counts beside low^-(k+1):
/// k = 1, 2 for the tensor and B over a cell that is a point, nearly, 3 for the gradient of B. A fifth of the tolerance
/// is what a check at random points asks for.
double levels_needed(double low, double high, double tolerance, bool of_gradient) {
  const double rho = (low + high + 2 * std::sqrt(low * high)) / (high - low);
  double n = 0, more = 2;
  while (more > n) {
    n = more;
    const double growth = n * std::sqrt(low / high);
    const double left = 2 * (1 + growth) * (1 + growth / 2) * (of_gradient ? 1 + growth / 3 : 1);
    more = std::ceil(std::log(5 * left / tolerance) / std::log(rho));
  }
  return n;
}

/// How heights become planes: their own, or levels between them.
struct Heights {
  std::vector<double> planes;
  bool interpolate = false;
  double middle = 0, scale = 1;

  /// [low, high] is [-2, 2], whose capacity is 1: products of distances to nodes neither grow nor vanish.
  [[nodiscard]] double on_levels(double upward) const noexcept { return (upward - middle) * scale; }
};

Heights choose_heights(std::span<const double> upward, double top, double tolerance, bool of_gradient) {
  const auto [low, high] = std::minmax_element(upward.begin(), upward.end());
  Heights heights{few_heights(upward), false, 0, 1};
  const bool above = *low > top, may_interpolate = tolerance > default_tolerance;
  const double levels =
      may_interpolate && above && *low < *high ? levels_needed(*low - top, *high - top, tolerance, of_gradient) : 0;
  if (!heights.planes.empty() && (levels == 0 || static_cast<double>(heights.planes.size()) <= levels)) return heights;
  if (!above) {
    refuse_fft(fmt::format("points lie at more than {} heights, the lowest at {} m, not above all prisms, at {} m",
                           most_heights, place_text(*low), place_text(top)));
  }
  if (!may_interpolate) {
    refuse_fft(
        fmt::format("points lie at more than {} heights, between which it interpolates; give execution.tolerance, "
                    "such as 1e-6",
                    most_heights));
  }
  if (levels > most_levels) {
    refuse_fft(
        fmt::format("heights from {} to {} m above prisms take {} levels for execution.tolerance {:g}, more than {}; "
                    "allow more or take points further away",
                    place_text(*low - top), place_text(*high - top), grouped(static_cast<std::int64_t>(levels)),
                    tolerance, most_levels));
  }
  heights.interpolate = true;
  heights.middle = 0.5 * (*low + *high);
  heights.scale = 4 / (*high - *low);
  heights.planes.clear();
  for (double k = 0; k < levels; ++k) {
    heights.planes.push_back(heights.middle + 0.5 * (*high - *low) * std::cos(std::numbers::pi * (k + 0.5) / levels));
  }
  return heights;
}

/// A point's place within cells, its height's number, and its step.
struct PlacedPoint {
  std::array<std::int32_t, 3> plane;
  std::array<std::int64_t, 2> step;
  std::int32_t number;
};

class Finder {
public:
  Finder(const PrismSource& prisms, IndexRange range, const PointColumns& points, double tolerance, FieldList fields)
      : m_prisms(prisms), m_range(range), m_points(points), m_tolerance(tolerance), m_fields(fields) {}

  ConvolutionLayout find() {
    if (m_range.size() > most_entries || m_points.size() > most_entries) {
      refuse_fft(fmt::format("a rank takes at most {} prisms and points", grouped(most_entries)));
    }
    m_layout.range = m_range;
    m_layout.tolerance = m_tolerance;
    if (m_range.size() == 0 || m_points.size() == 0) return std::move(m_layout);
    find_mesh();
    place_points();
    choose_shape();
    place_prisms();
    return std::move(m_layout);
  }

private:
  void find_mesh() {
    const Bounds bounds = m_prisms.bounds();
    PrismBlock first;
    m_prisms.read({m_range.begin, m_range.begin + 1}, first);
    const std::array<std::array<double, 2>, 2> ends = {{{bounds.west, bounds.east}, {bounds.south, bounds.north}}};
    const std::array<double, 2> edges = {first.east[0] - first.west[0], first.north[0] - first.south[0]};
    const std::array<std::span<const double>, 2> columns = {m_points.easting, m_points.northing};
    for (std::size_t d = 0; d < 2; ++d) {
      const auto [low, high] = std::minmax_element(columns[d].begin(), columns[d].end());
      const double farthest = std::max({std::abs(ends[d][0]), std::abs(ends[d][1]), std::abs(*low), std::abs(*high)});
      m_steps[d] = steps_between(ends[d][0], ends[d][1], edges[d], farthest,
                                 m_prisms.rounding()[d] + m_points.rounding[d], direction_names[d]);
      m_layout.corner[d] = m_steps[d].low;
      m_layout.edge[d] = m_steps[d].edge;
      m_layout.slack[d] = m_steps[d].slack;
      m_layout.cells[d] = m_steps[d].cells;
    }
  }

  void place_points() {
    const Heights heights =
        choose_heights(m_points.upward, m_prisms.bounds().top, m_tolerance, has_magnetic_gradient(m_fields));
    Places easting(m_steps[0], direction_names[0]), northing(m_steps[1], direction_names[1]);
    std::vector<PlacedPoint> placed(static_cast<std::size_t>(m_points.size()));
    for (std::size_t i = 0; i < placed.size(); ++i) {
      const auto [x, x_place] = easting.find(m_points.easting[i]);
      const auto [y, y_place] = northing.find(m_points.northing[i]);
      const auto height = std::lower_bound(heights.planes.begin(), heights.planes.end(), m_points.upward[i]);
      const auto at = heights.interpolate ? 0 : static_cast<std::int32_t>(height - heights.planes.begin());
      placed[i] = {{y_place, x_place, at}, {x, y}, static_cast<std::int32_t>(i)};
    }
    const auto key = [](const PlacedPoint& p) { return std::tuple(p.plane, p.step[1], p.step[0], p.number); };
    std::sort(placed.begin(), placed.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    take_window(placed);
    make_planes(placed, heights, easting, northing);
    m_points_at.resize(placed.size());
    std::transform(placed.begin(), placed.end(), m_points_at.begin(), [](const PlacedPoint& p) { return p.step; });
  }
  void take_window(const std::vector<PlacedPoint>& placed) {
    for (std::size_t d = 0; d < 2; ++d) {
      const auto [low, high] =
          std::minmax_element(placed.begin(), placed.end(),
                              [d](const PlacedPoint& a, const PlacedPoint& b) { return a.step[d] < b.step[d]; });
      m_layout.first[d] = low->step[d];
      m_layout.window[d] = high->step[d] - low->step[d] + 1;
    }
  }
  void make_planes(const std::vector<PlacedPoint>& placed, const Heights& heights, const Places& easting,
                   const Places& northing) {
    for (const PlacedPoint& point : placed) {
      m_layout.points.number.push_back(point.number);
      if (!heights.interpolate) continue;
      m_layout.on_levels.push_back(heights.on_levels(m_points.upward[static_cast<std::size_t>(point.number)]));
    }
    for (auto begin = placed.begin(); begin != placed.end();) {
      const auto end = std::find_if(begin, placed.end(), [&](const auto& p) { return p.plane != begin->plane; });
      ConvolutionPlane plane{
          easting[begin->plane[1]], northing[begin->plane[0]], 0, {begin - placed.begin(), end - placed.begin()}, -1};
      const auto add_at = [&](std::size_t height) {
        plane.upward = heights.planes[height];
        plane.level = heights.interpolate ? static_cast<int>(height) : -1;
        m_layout.planes.push_back(plane);
      };
      if (heights.interpolate) {
        for (std::size_t level = 0; level < heights.planes.size(); ++level) add_at(level);
      } else {
        add_at(static_cast<std::size_t>(begin->plane[2]));
      }
      begin = end;
    }
    if (!heights.interpolate) return;
    for (const double level : heights.planes) m_layout.levels.push_back(heights.on_levels(level));
  }

  void choose_shape() {
    const auto length = [&](std::size_t d) { return fft_length(m_layout.cells[d] + m_layout.window[d] - 1); };
    constexpr double most = 1e10;
    if (static_cast<double>(m_layout.cells[0] + m_layout.window[0]) *
            static_cast<double>(m_layout.cells[1] + m_layout.window[1]) >
        most) {
      refuse_fft(fmt::format("prisms and points are {} x {} and {} x {} cells wide, too many for transforms",
                             m_layout.cells[0], m_layout.cells[1], m_layout.window[0], m_layout.window[1]));
    }
    m_layout.shape = {length(1), length(0)};
    for (const auto& [x, y] : m_points_at) {
      m_layout.points.place.push_back((y - m_layout.first[1] + m_layout.cells[1] - 1) * m_layout.shape.pitch() + x -
                                      m_layout.first[0] + m_layout.cells[0] - 1);
    }
  }

  void place_prisms() {
    Layers layers(m_layout.layers);
    m_layout.prisms.number.reserve(static_cast<std::size_t>(m_range.size()));
    m_layout.prisms.place.reserve(static_cast<std::size_t>(m_range.size()));
    PrismBlock block;
    for (std::int64_t begin = m_range.begin; begin < m_range.end; begin += prisms_at_once) {
      m_prisms.read({begin, std::min(begin + prisms_at_once, m_range.end)}, block);
      for (std::int64_t i = 0; i < block.size(); ++i) {
        const auto p = static_cast<std::size_t>(i);
        const std::int64_t layer = layers.of({block.bottom[p], block.top[p]});
        const std::int64_t column = cell_between(m_steps[0], block.west[p], block.east[p], begin + i, "east");
        const std::int64_t row = cell_between(m_steps[1], block.south[p], block.north[p], begin + i, "north");
        m_layout.prisms.number.push_back(static_cast<std::int32_t>(begin + i - m_range.begin));
        m_layout.prisms.place.push_back(layer * m_layout.shape.reals() + row * m_layout.shape.pitch() + column);
        if (!has_magnetic(m_fields)) continue;
        m_magnetization.push_back({block.magnetization[0][p], block.magnetization[1][p], block.magnetization[2][p]});
      }
    }
    sort_by_place(m_layout.prisms);
    if (has_magnetic(m_fields)) magnetise();
    const auto& places = m_layout.prisms.place;
    for (std::int64_t layer = 0; layer < m_layout.n_layers(); ++layer) {
      const auto end = std::lower_bound(places.begin(), places.end(), (layer + 1) * m_layout.shape.reals());
      m_layout.layer_ends.push_back(end - places.begin());
    }
  }

  /// Layers and entries once for each magnetisation.
  void magnetise() {
    m_layout.magnetizations = magnetizations_of(m_magnetization);
    const LatticeEntries once = std::exchange(m_layout.prisms, {});
    const std::vector<std::array<double, 2>> layers = std::exchange(m_layout.layers, {});
    for (const Magnetization& of : m_layout.magnetizations) {
      const std::int64_t first = m_layout.n_layers() * m_layout.shape.reals();
      m_layout.layers.insert(m_layout.layers.end(), layers.begin(), layers.end());
      for (std::size_t i = 0; i < once.number.size(); ++i) {
        const Magnetization& m = m_magnetization[static_cast<std::size_t>(once.number[i])];
        m_layout.prisms.number.push_back(once.number[i]);
        m_layout.prisms.place.push_back(first + once.place[i]);
        m_layout.amounts.push_back(product(m, of) / product(of, of));
      }
    }
    m_magnetization = {};
  }

  const PrismSource& m_prisms;
  IndexRange m_range;
  const PointColumns& m_points;
  double m_tolerance;
  FieldList m_fields;
  /// of the prisms of the range
  std::vector<Magnetization> m_magnetization;
  std::array<Steps, 2> m_steps;
  std::vector<std::array<std::int64_t, 2>> m_points_at;
  ConvolutionLayout m_layout;
};

}  // namespace

void refuse_fft(const std::string& why) { throw InputError("", "execution.method", "fft cannot serve: " + why); }

ConvolutionLayout find_convolution(const PrismSource& prisms, IndexRange range, const PointColumns& points,
                                   double tolerance, FieldList fields) {
  return Finder(prisms, range, points, tolerance, fields).find();
}

}  // namespace prismfield
