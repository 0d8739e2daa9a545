// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/cost_model.hpp"

#include <algorithm>
#include <cmath>

#include "engine/with_arithmetic.hpp"
#include "kernel/choose_form.hpp"

namespace prismfield {
namespace {

/// Squared distances in metres at which forms change.
struct FormRanges {
  /// of order 2 q, up to `most`
  std::array<double, kernel::max_half_order + 1> multipole{};
  int most = 0;
  [[nodiscard]] double first() const { return multipole[static_cast<std::size_t>(most)]; }
  double compact = 0;
};

template <class A, int most>
FormRanges ranges_of(const kernel::MultipoleTables& tables, const std::array<double, 3>& edge, double truncation,
                     bool of_gradient) {
  const double edges[3] = {edge[0], edge[1], edge[2]};
  kernel::PrismShape<A, most> shape;
  kernel::prepare_shape<A>(tables, edges, shape, truncation, of_gradient);
  const double unit2 = static_cast<double>(shape.unit) * static_cast<double>(shape.unit);
  FormRanges ranges;
  ranges.most = most;
  for (int q = 0; q <= most; ++q) {
    ranges.multipole[static_cast<std::size_t>(q)] = static_cast<double>(shape.ranges.of(q)) * unit2;
  }
  ranges.compact = static_cast<double>(shape.compact_squared) * unit2;
  return ranges;
}

FormRanges ranges_of(const CostSettings& settings, const kernel::MultipoleTables& tables,
                     const std::array<double, 3>& edge) {
  return with_arithmetic(settings.precision, [&](auto arithmetic) {
    using A = decltype(arithmetic);
    const auto ranges = [&](auto most) {
      return ranges_of<A, most()>(tables, edge, settings.truncation, settings.of_gradient);
    };
    if (settings.on_device) return ranges(std::integral_constant<int, kernel::device_half_order>());
    return ranges(std::integral_constant<int, kernel::max_half_order>());
  });
}

double weight_of(const FormWeights& weights, Form form) { return weights[static_cast<std::size_t>(form)]; }

/// Cost of one lane of a group whose nearest point is at this squared distance from the centre, all of them far.
double far_weight(const FormWeights& weights, const FormRanges& ranges, double nearest) {
  const int order = kernel::lowest_order<kernel::max_half_order>(
      [&](int q) { return q <= ranges.most && ranges.multipole[static_cast<std::size_t>(q)] <= nearest; });
  return weight_of(weights, kernel::form_of_order(order));
}

bool alike(double a, double b) { return std::abs(a - b) <= kernel::shape_tolerance * b; }

}  // namespace

FormWeights form_weights(bool is_device) {
  FormWeights weights{};
  const auto set = [&](Form form, double nanoseconds) { weights[static_cast<std::size_t>(form)] = nanoseconds; };
  set(Form::compact, is_device ? 0.9 : 35);
  set(Form::difference_free, is_device ? 0.9 : 28);
  set(Form::multipole_12, is_device ? 0.02 : 9.4);
  set(Form::multipole_10, is_device ? 0.015 : 6.5);
  set(Form::multipole_8, is_device ? 0.01 : 4.7);
  set(Form::multipole_6, is_device ? 0.01 : 3.3);
  set(Form::multipole_4, is_device ? 0.01 : 2.5);
  set(Form::multipole_2, is_device ? 0.01 : 1.9);
  set(Form::multipole_0, is_device ? 0.01 : 1.7);
  set(Form::corners, is_device ? 0.2 : 450);
  return weights;
}

double prism_weight(bool is_device, bool uniform_shape) {
  if (is_device) return 0;
  return uniform_shape ? 500 : 3800;
}

double cost_of_pairs(const FormWeights& weights, const std::array<std::int64_t, n_forms>& pairs_by_form) {
  double cost = 0;
  for (std::size_t form = 0; form < weights.size(); ++form) {
    cost += weights[form] * static_cast<double>(pairs_by_form[form]);
  }
  return cost;
}

double cost_of_block(const CostSettings& settings, const PrismBlock& block, std::int64_t first_number,
                     const CostPoints& points, std::int64_t stride) {
  if (points.groups == 0) return 0;
  stride = std::clamp<std::int64_t>(stride, 1, points.groups);
  const auto lanes = static_cast<std::size_t>(settings.lanes);
  const FormWeights& weights = settings.weights;
  const kernel::MultipoleTables tables = kernel::multipole_tables();
  FormRanges ranges;
  std::array<double, 3> last{-1, -1, -1};
  double cost = 0;
  for (std::int64_t i = 0; i < block.size(); ++i) {
    const auto p = static_cast<std::size_t>(i);
    const std::array<double, 3> low = {block.west[p], block.south[p], block.bottom[p]};
    const std::array<double, 3> high = {block.east[p], block.north[p], block.top[p]};
    const std::array<double, 3> edge = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
    const bool by_corners = settings.kernel == KernelKind::corners;
    if (!by_corners && !(alike(edge[0], last[0]) && alike(edge[1], last[1]) && alike(edge[2], last[2]))) {
      ranges = ranges_of(settings, tables, edge);
      last = edge;
    }
    // multiples of the golden ratio modulo 1 leave no group out for long
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;
    const std::uint64_t turn = (static_cast<std::uint64_t>(first_number + i) * golden) >> 32U;
    const auto first = static_cast<std::int64_t>((turn * static_cast<std::uint64_t>(stride)) >> 32U);
    const std::int64_t taken = (points.groups - first + stride - 1) / stride;
    const double stands_for = static_cast<double>(points.groups) / static_cast<double>(taken);
    double sum = 0;
    for (std::int64_t group = first; group < points.groups; group += stride) {
      double lane_cost = 0;
      if (by_corners) {
        lane_cost = weight_of(weights, Form::corners);
      } else {
        const std::size_t at = static_cast<std::size_t>(group) * lanes;
        double nearest = HUGE_VAL;
        double furthest = 0;
        double gap_nearest = HUGE_VAL;
        bool any_between = false;
        const auto squared_distance = [&](std::size_t point) {
          const double x = points.easting[point] - 0.5 * (low[0] + high[0]);
          const double y = points.northing[point] - 0.5 * (low[1] + high[1]);
          const double z = points.upward[point] - 0.5 * (low[2] + high[2]);
          return x * x + y * y + z * z;
        };
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const double s = squared_distance(at + lane);
          nearest = std::min(nearest, s);
          furthest = std::max(furthest, s);
        }
        if (kernel::takes_multipole(ranges.first(), nearest)) {
          lane_cost = far_weight(weights, ranges, nearest);
        } else {
          for (std::size_t lane = 0; lane < lanes; ++lane) {
            const std::array<double, 3> q = {points.easting[at + lane], points.northing[at + lane],
                                             points.upward[at + lane]};
            double gap = 0;
            for (std::size_t d = 0; d < 3; ++d) {
              const double outside = std::max({low[d] - q[d], q[d] - high[d], 0.0});
              gap += outside * outside;
            }
            gap_nearest = std::min(gap_nearest, gap);
            any_between = any_between || !(kernel::takes_compact(ranges.compact, gap) ||
                                           kernel::takes_multipole(ranges.first(), squared_distance(at + lane)));
          }
          if (kernel::takes_multipole(ranges.first(), furthest))
            lane_cost += weight_of(weights, kernel::form_of_order(ranges.most));
          if (kernel::takes_compact(ranges.compact, gap_nearest)) lane_cost += weight_of(weights, Form::compact);
          if (any_between) lane_cost += weight_of(weights, Form::difference_free);
        }
      }
      sum += lane_cost * static_cast<double>(lanes) * stands_for;
    }
    cost += sum;
  }
  return cost;
}

}  // namespace prismfield
