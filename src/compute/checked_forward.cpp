// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/checked_forward.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "base/random.hpp"
#include "compute/plan.hpp"
#include "model/points.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

using Clock = std::chrono::steady_clock;

/// Of the tolerance: the largest error of 40,000 points was three to five times that of 64.
constexpr double share_of_sample = 0.2;
/// Of the tolerance before, for a computation that repeats another.
constexpr double share_of_repeat = 0.25;

/// Numbers of n points of all, rising: drawn without repetition (Floyd's algorithm).
std::vector<std::int64_t> random_points(std::int64_t n, std::int64_t n_points) {
  constexpr std::uint64_t seed = 1;
  std::set<std::int64_t> drawn;
  for (std::int64_t last = n_points - n; last < n_points; ++last) {
    const std::uint64_t bits = random_bits(seed, RandomStream::check_point, static_cast<std::uint64_t>(last));
    const auto number = static_cast<std::int64_t>(bits % (static_cast<std::uint64_t>(last) + 1));
    if (!drawn.insert(number).second) drawn.insert(last);
  }
  return {drawn.begin(), drawn.end()};
}

/// Lets signals be looked at, and shows nothing.
class PatientObserver final : public Observer {
public:
  explicit PatientObserver(Observer* of) : m_of(of) {}
  void progress(double /*done_fraction*/, std::int64_t /*pairs_done*/) override {
    if (m_of != nullptr) m_of->progress(0, 0);
  }

private:
  Observer* m_of;
};

/// The plan of another request with the shares of `plan`. Throws InputError, the same on every rank, where its method
/// cannot serve. Collective.
Plan plan_alike(const Plan& plan, const Request& request, const PrismSource& prisms, const PointColumns& points,
                IndexRange my_points, const Communicator& communicator) {
  const Shares shares{{plan.prism_parts, plan.point_parts}, {plan.prisms(), my_points}};
  Plan alike;
  agree_on_input(communicator, [&] {
    ProblemSize problem = problem_size(prisms, points);
    problem.looked_at = plan.prisms();
    method_of(request).check(request, prisms, points, problem);
    alike = make_plan(request, problem, machine_here(request, communicator), &shares);
  });
  return alike;
}

/// Direct sums at some points, by ranks that share prisms as in `plan`: all fields of its set and what else is asked.
class DirectSums {
public:
  DirectSums(const PrismSource& prisms, const PointColumns& points, const Request& request, const Plan& plan,
             const Communicator& communicator, Observer* observer)
      : m_numbers(random_points(std::min(request.execution.check_points, points.size()), points.size())) {
    Request exact;
    exact.fields = plan.computed;
    exact.fields.add(request.fields);
    exact.gravitational_constant = request.gravitational_constant;
    exact.magnetic = request.magnetic;
    exact.execution.space = plan.space;
    exact.execution.method = Method::direct;
    exact.execution.memory_limit = request.execution.memory_limit;
    // also where the run has one grid of each thread's points: here there are few
    exact.execution.partition = Partition::rank_grid;
    exact.execution.rank_grid = {plan.prism_parts, plan.point_parts};
    const Points chosen = chosen_points(points, m_numbers);
    const IndexRange mine = {place_of(plan.point_begin), place_of(plan.point_end)};
    const Plan few = plan_alike(plan, exact, prisms, chosen, mine, communicator);
    PatientObserver patient(observer);
    m_fields = forward(prisms, chosen, exact, *make_work(few, communicator), communicator, &patient);
    for (int order = 0; order < n_orders; ++order) m_norms[static_cast<std::size_t>(order)] = largest_norm(order);
  }

  /// See FieldSizes: of the fields that are asked for. A field that vanishes is as large as the norm of its order. The
  /// same on every rank. Collective.
  [[nodiscard]] FieldSizes sizes(const Request& request, const Communicator& communicator) const {
    FieldSizes sizes = no_sizes;
    for (const FieldInfo& field : request.fields) {
      const auto order = static_cast<std::size_t>(order_of_size(field));
      double weights = 0;
      for (const double weight : field.weights) weights += std::abs(weight);
      const double size = or_norm(largest_value(field), order_of_size(field));
      const double of_unit = size / (weights * std::abs(request.constant(field.is_magnetic)));
      sizes[order] = std::min(sizes[order], of_unit > 0 ? of_unit : infinite_size);
    }
    broadcast(communicator, sizes);
    return sizes;
  }

  /// The largest difference of each asked field of a result from the sums, relative as ToleranceCheck says. `values`:
  /// (asked field, point). Rank 0 only.
  [[nodiscard]] std::vector<double> errors(const Fields& result, std::span<const double> values,
                                           std::int64_t n_points) const {
    std::vector<double> found;
    for (const FieldInfo& field : result.fields) {
      const std::size_t begin = found.size() * static_cast<std::size_t>(n_points);
      found.push_back(error(field, values.subspan(begin, static_cast<std::size_t>(n_points)), result.singular_points));
    }
    return found;
  }

  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(m_numbers.size()); }
  [[nodiscard]] double seconds() const noexcept { return m_fields.setup_seconds + m_fields.field_seconds; }

private:
  static constexpr int n_orders = std::tuple_size_v<FieldSizes>;

  /// How many of the points come before point `number`.
  [[nodiscard]] std::int64_t place_of(std::int64_t number) const {
    return std::lower_bound(m_numbers.begin(), m_numbers.end(), number) - m_numbers.begin();
  }

  [[nodiscard]] double value(const FieldInfo& field, std::size_t i) const {
    const auto row = static_cast<std::size_t>(m_fields.fields.index_of(field.field));
    return m_fields.values[row * m_numbers.size() + i];
  }

  /// Whether a field of this order has a value at a point, of which those are singular: not the tensor, B and
  /// its gradient.
  [[nodiscard]] static bool has_value(int order, const std::vector<std::int64_t>& singular, std::int64_t point) {
    return order < 2 || !std::binary_search(singular.begin(), singular.end(), point);
  }
  /// At the chosen point i.
  [[nodiscard]] bool has_value(int order, std::size_t i) const {
    return has_value(order, m_fields.singular_points, static_cast<std::int64_t>(i));
  }

  /// At the chosen points.
  [[nodiscard]] double largest_value(const FieldInfo& field) const {
    double largest = 0;
    for (std::size_t i = 0; i < m_numbers.size() && !m_fields.values.empty(); ++i) {
      if (has_value(order_of_size(field), i)) largest = std::max(largest, std::abs(value(field, i)));
    }
    return largest;
  }

  /// The size of a field of this largest value: what is left of one that vanishes is rounding.
  [[nodiscard]] double or_norm(double largest, int order) const {
    const double norm = m_norms[static_cast<std::size_t>(order)];
    return largest <= default_tolerance * norm ? norm : largest;
  }

  /// The largest root of the sum of squares of the native fields of an order.
  [[nodiscard]] double largest_norm(int order) const {
    double largest = 0;
    for (std::size_t i = 0; i < m_numbers.size() && !m_fields.values.empty(); ++i) {
      double squares = 0;
      if (!has_value(order, i)) continue;
      for (const FieldInfo& field : m_fields.fields) {
        if (is_native(field.field) && order_of_size(field) == order) squares += value(field, i) * value(field, i);
      }
      largest = std::max(largest, squares);
    }
    return std::sqrt(largest);
  }

  /// `values`: of all points. Where the tensor has no value, none is looked at.
  [[nodiscard]] double error(const FieldInfo& field, std::span<const double> values,
                             const std::vector<std::int64_t>& singular) const {
    const int order = order_of_size(field);
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::abs(values[i]) > largest && has_value(order, singular, static_cast<std::int64_t>(i)))
        largest = std::abs(values[i]);
    }
    for (std::size_t i = 0; i < m_numbers.size(); ++i) {
      if (!has_value(order, singular, m_numbers[i])) continue;
      const double computed = values[static_cast<std::size_t>(m_numbers[i])];
      difference = std::max(difference, std::abs(computed - value(field, i)));
    }
    return difference == 0 ? 0 : difference / or_norm(largest, order);
  }

  std::vector<std::int64_t> m_numbers;
  Fields m_fields;
  std::array<double, n_orders> m_norms{};
};

/// The request that saves nothing.
Request exact(const Request& request) {
  Request next = request;
  next.execution.tolerance = default_tolerance;
  next.execution.method = Method::direct;
  next.execution.precision = Precision::double_;
  return next;
}

/// The request of the next computation, when one by `last` has this error: as often tighter as would make it small
/// enough if it fell with the tolerance. Direct and in double where that is not to be expected, `can_fall`, or nothing
/// would be saved.
Request tighter(const Request& last, double error, double aim, bool can_fall) {
  Request next = last;
  double& tolerance = next.execution.tolerance;
  do {
    tolerance *= share_of_repeat;
    error *= share_of_repeat;
  } while (error > aim && tolerance > default_tolerance);
  // of which the direct method takes a tenth
  return can_fall && tolerance > 10 * default_tolerance ? next : exact(next);
}

}  // namespace

Fields checked_forward(const PrismSource& prisms, const PointColumns& points, const Request& request, RankWork& work,
                       const Communicator& communicator, Observer* observer, RunGuard* guard,
                       std::span<double> values) {
  const Plan plan = work.plan();
  if (plan.tolerance <= default_tolerance) {
    return forward(prisms, points, request, work, communicator, observer, guard, values);
  }
  const auto start = Clock::now();
  const DirectSums sums(prisms, points, request, plan, communicator, observer);
  const FieldSizes sizes = sums.sizes(request, communicator);
  const double aim = share_of_sample * request.execution.tolerance;
  Request now = request;
  now.execution.method = plan.method;
  ToleranceCheck check;
  work.expect(sizes);
  Fields result = forward(prisms, points, now, work, communicator, observer, guard, values);
  double last = HUGE_VAL;
  while (true) {
    double worst = 0;
    if (communicator.rank() == 0) {
      check.errors =
          sums.errors(result, values.empty() ? std::span<const double>(result.values) : values, plan.n_points);
      worst = *std::max_element(check.errors.begin(), check.errors.end());
    }
    broadcast(communicator, worst);
    const bool is_exact = now.execution.tolerance <= default_tolerance;
    if (worst <= aim || is_exact) break;
    now = tighter(now, worst, aim, worst < last / 2);
    last = worst;
    ++check.repeats;
    Plan next;
    try {
      next = plan_alike(plan, now, prisms, points, plan.points(), communicator);
    } catch (const InputError&) {
      // the method does not serve a tolerance this tight
      now = exact(now);
      next = plan_alike(plan, now, prisms, points, plan.points(), communicator);
    }
    check.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    result = {};
    const std::unique_ptr<RankWork> again = make_work(next, communicator);
    again->expect(sizes);
    result = forward(prisms, points, now, *again, communicator, observer, guard, values);
  }
  if (check.repeats == 0) check.seconds = sums.seconds();
  check.points = sums.size();
  check.tolerance = request.execution.tolerance;
  if (communicator.rank() == 0) result.check = std::move(check);
  return result;
}

}  // namespace prismfield
