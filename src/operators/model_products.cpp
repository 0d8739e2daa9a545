// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "operators/model_products.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <prismfield/communicator.hpp>
#include <prismfield/forward.hpp>

#include "compute/method.hpp"
#include "model/points.hpp"
#include "operators/stored/storage_choice.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// How many points `pairs` pairs of a point and a prism are.
std::int64_t points_for(double pairs, std::int64_t n_prisms) {
  return static_cast<std::int64_t>(pairs / static_cast<double>(std::max<std::int64_t>(n_prisms, 1)));
}

/// Finds the points in and on prisms. Only points near the prisms are computed; all others are outside. Collective.
void find_points_inside(const ModelProblem& problem, const Communicator& communicator, Fields& result) {
  const Bounds b = problem.columns.bounds();
  const Points& points = problem.points;
  std::vector<std::int64_t> within;
  for (std::int64_t number = 0; number < points.size(); ++number) {
    const auto i = static_cast<std::size_t>(number);
    const double x = points.easting[i], y = points.northing[i], z = points.upward[i];
    if (x >= b.west && x <= b.east && y >= b.south && y <= b.north && z >= b.bottom && z <= b.top) {
      within.push_back(number);
    }
  }
  if (within.empty() || problem.prisms.size() == 0) return;
  const Fields there = forward(problem.prisms, chosen_points(points, within), problem.request, communicator);
  result.points_inside = there.points_inside;
  for (const std::int64_t i : there.singular_points) {
    result.singular_points.push_back(within[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

std::vector<double> amounts_of(const Cells& prisms, const ActiveCells& cells, Unknown unknown) {
  const std::size_t n_blocks = unknown == Unknown::magnetization ? 3 : 1;
  std::vector<double> amounts(n_blocks * static_cast<std::size_t>(cells.size()), 0.0);
  const CellCounts counts = cells.counts();
  const auto place = [&](std::size_t direction, double edge) {
    const std::vector<double>& edges = cells.edges()[direction];
    return std::lower_bound(edges.begin(), edges.end(), edge) - edges.begin();
  };
  constexpr std::int64_t at_once = 100'000;
  PrismBlock block;
  std::vector<double> susceptibilities;
  for (std::int64_t first = 0; first < prisms.size(); first += at_once) {
    const IndexRange range{first, std::min(first + at_once, prisms.size())};
    prisms.read(range, block);
    if (unknown == Unknown::susceptibility) prisms.read_susceptibilities(range, susceptibilities);
    for (std::size_t i = 0; i < block.west.size(); ++i) {
      const std::int64_t cell =
          (place(2, block.bottom[i]) * counts[1] + place(1, block.south[i])) * counts[0] + place(0, block.west[i]);
      for (std::size_t k = 0; k < n_blocks; ++k) {
        const std::vector<double>& of_prisms = unknown == Unknown::density          ? block.density
                                               : unknown == Unknown::susceptibility ? susceptibilities
                                                                                    : block.magnetization[k];
        amounts.at(k * static_cast<std::size_t>(cells.size()) + static_cast<std::size_t>(cell)) = of_prisms[i];
      }
    }
  }
  return amounts;
}

std::optional<std::int64_t> products_that_pay(const StorageChoice& choice, const ProductTimes& times) {
  if (choice.store == Store::none || choice.was_there || times.anew.apply <= 0) return std::nullopt;
  const double saved = (times.anew.apply + times.anew.transpose - times.kept.apply - times.kept.transpose) / 2;
  if (!(saved > 0)) return std::nullopt;
  return static_cast<std::int64_t>(std::min(std::ceil(times.build_seconds / saved), 1e15));
}

ProductSeconds seconds_anew(const ModelProblem& problem, const Communicator& communicator) {
  constexpr double most_pairs = 2e8;
  constexpr std::int64_t least_points = 64;
  const std::int64_t n = problem.points.size();
  const std::int64_t wanted =
      std::max(points_for(most_pairs, problem.columns.size()), least_points * communicator.size());
  const Points sample = sample_of(problem.points, wanted);
  StorageSettings settings;
  settings.store = Store::none;
  HostOperator direct(problem.columns, sample, problem.request, settings, communicator);
  ProductSeconds seconds = direct.implementation().product_seconds();
  const double scale = static_cast<double>(n) / static_cast<double>(std::max<std::int64_t>(sample.size(), 1));
  seconds.apply *= scale;
  seconds.transpose *= scale;
  return seconds;
}

Fields fields_of_model(const ModelProblem& problem, const std::vector<double>& amounts, HostOperator& matrix,
                       const ProductTimes& times, const Communicator& communicator) {
  const Plan& plan = matrix.plan();
  Fields result;
  result.fields = problem.request.fields;
  const std::int64_t n_fields = result.fields.size(), n_points = problem.points.size();
  std::vector<double> mine(static_cast<std::size_t>(n_fields * plan.points().size()));
  matrix.apply(amounts, mine);
  if (communicator.rank() == 0) result.values.assign(static_cast<std::size_t>(n_fields * n_points), 0.0);
  add_parts_to_root(communicator, std::move(mine), n_fields, n_points, plan.points(), 1, result.values);
  result.plan = plan;
  // other methods have no grids; results of all have these
  result.method_numbers = {{"slots", 0}, {"batch", 0}, {"scratch_bytes", 0}};
  if (plan.method == Method::direct) result.method_numbers = method_of(plan).text(plan).numbers;
  result.pairs = result.pairs_now = n_points * problem.columns.size();
  result.rank_pairs = gather(communicator, plan.points().size() * problem.columns.size());
  result.field_seconds = times.kept.apply;
  result.setup_seconds = times.build_seconds;
  find_points_inside(problem, communicator, result);
  return result;
}

DirectComparison compare_directly(const ModelProblem& problem, const Fields& result, const Communicator& communicator) {
  constexpr double most_pairs = 5e8;
  constexpr std::int64_t most_points = 50;
  const std::int64_t n = problem.points.size(), n_prisms = problem.prisms.size();
  const std::vector<std::int64_t> numbers = spread_numbers(n, std::min(most_points, points_for(most_pairs, n_prisms)));
  if (numbers.empty() || n_prisms == 0) return {};
  Request request = problem.request;
  request.execution.method = Method::direct;
  request.execution.tolerance = default_tolerance;
  const Fields direct = forward(problem.prisms, chosen_points(problem.points, numbers), request, communicator);
  if (communicator.rank() != 0) return {};
  DirectComparison comparison{static_cast<std::int64_t>(numbers.size()), {}};
  for (std::int64_t f = 0; f < result.fields.size(); ++f) {
    double largest = 0, difference = 0;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const double expected = direct.values[static_cast<std::size_t>(f) * numbers.size() + k];
      largest = std::max(largest, std::abs(expected));
      difference =
          std::max(difference, std::abs(expected - result.values[static_cast<std::size_t>(f * n + numbers[k])]));
    }
    comparison.differences.push_back(largest > 0 ? difference / largest : difference);
  }
  return comparison;
}

}  // namespace prismfield
