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
#include <prismfield/forms.hpp>

#include "base/random.hpp"
#include "base/statistics.hpp"
#include "compute/absolute_sums.hpp"
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

/// Of the points looked at, those that are not drawn.
constexpr std::int64_t one_in_chosen = 5;
/// Of the error that may be found, what the sums that find it may be wrong by.
constexpr double share_of_sums = 0.1;
/// Values of up to one point in so many count apart where they are so many times larger than all others.
constexpr std::size_t one_in_apart = 1000;
constexpr double times_apart = 1000;
/// The tolerance of sums that truncate by less than they round.
constexpr double finest_tolerance = 1e-14;
/// The truncation error of each order of fields relative to the tensor's; docs/numerics.md, Ranges of the multipoles.
constexpr FieldSizes share_of_truncation = {1.0 / 6, 1.0 / 2, 1, 1, 1};

/// Numbers of n points of all but some, all rising: drawn without repetition (Floyd's algorithm).
std::vector<std::int64_t> drawn_points(std::int64_t n, std::int64_t n_points, std::span<const std::int64_t> but) {
  constexpr std::uint64_t seed = 1;
  const std::int64_t left = n_points - std::ssize(but);
  std::set<std::int64_t> drawn;
  for (std::int64_t last = left - n; last < left; ++last) {
    const std::uint64_t bits = random_bits(seed, RandomStream::check_point, static_cast<std::uint64_t>(last));
    const auto number = static_cast<std::int64_t>(bits % (static_cast<std::uint64_t>(last) + 1));
    if (!drawn.insert(number).second) drawn.insert(last);
  }
  std::vector<std::int64_t> numbers(drawn.begin(), drawn.end());
  for (std::int64_t& number : numbers) {
    for (const std::int64_t other : but) {
      if (other <= number) ++number;
    }
  }
  return numbers;
}

/// The points at which fields are looked at.
struct CheckPoints {
  /// rising
  std::vector<std::int64_t> numbers;
  /// how many were drawn of so many
  std::int64_t drawn = 0, drawn_of = 0;
};

/// n of the points: where parts are largest, the lowest, between which and the prisms fields change fastest, and random
/// ones. The same on every rank. Collective.
CheckPoints check_points_of(std::int64_t n, const PointColumns& points, const AbsoluteSums& parts,
                            const Communicator& communicator) {
  CheckPoints of;
  if (communicator.rank() == 0 && points.size() > 0) {
    n = std::min(n, points.size());
    of.numbers = parts.largest_points(points, std::max<std::int64_t>(n / one_in_chosen - 1, 0));
    of.numbers.push_back(std::ranges::min_element(points.upward) - points.upward.begin());
    std::ranges::sort(of.numbers);
    of.numbers.erase(std::unique(of.numbers.begin(), of.numbers.end()), of.numbers.end());
    of.drawn = n - std::ssize(of.numbers);
    of.drawn_of = points.size() - std::ssize(of.numbers);
    const std::vector<std::int64_t> drawn = drawn_points(of.drawn, points.size(), of.numbers);
    of.numbers.insert(of.numbers.end(), drawn.begin(), drawn.end());
    std::ranges::sort(of.numbers);
  }
  broadcast(communicator, of.numbers);
  return of;
}

/// Numbers that are side by side in memory; several such runs are the values of a field that count.
using Runs = std::vector<std::span<const double>>;

/// The largest of all magnitudes up to `limit`; 0 for none.
double largest_in(const Runs& runs, double limit) {
  double largest = 0;
  for (const std::span<const double> run : runs) largest = std::max(largest, largest_magnitude(run, limit));
  return largest;
}

/// Whether more than n magnitudes are above a limit.
bool has_more_above(const Runs& runs, double limit, std::size_t n) {
  for (const std::span<const double> run : runs) {
    for (const double value : run) {
      if (std::abs(value) > limit && n-- == 0) return true;
    }
  }
  return false;
}

/// The largest magnitude, those left out that stand apart.
double largest_of(const Runs& runs) {
  std::size_t n = 0;
  for (const std::span<const double> run : runs) n += run.size();
  double largest = largest_in(runs, HUGE_VAL);
  while (!has_more_above(runs, largest / times_apart, n / one_in_apart + 1)) {
    const double below = largest_in(runs, largest / times_apart);
    if (below == 0) break;
    largest = below;
  }
  return largest;
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
  /// `tolerance`: finest_tolerance or the default.
  DirectSums(const PrismSource& prisms, const PointColumns& points, const Request& request, const Plan& plan,
             const CheckPoints& at, const AbsoluteSums& parts, double tolerance, const Communicator& communicator,
             Observer* observer)
      : m_at(at), m_truncation(tolerance < default_tolerance ? least_truncation : default_truncation) {
    Request exact;
    exact.fields = plan.computed;
    exact.fields.add(request.fields);
    exact.gravitational_constant = request.gravitational_constant;
    exact.magnetic = request.magnetic;
    exact.execution.space = plan.space;
    exact.execution.method = Method::direct;
    exact.execution.tolerance = tolerance;
    exact.execution.memory_limit = request.execution.memory_limit;
    // also where the run has one grid of each thread's points: here there are few
    exact.execution.partition = Partition::rank_grid;
    exact.execution.rank_grid = {plan.prism_parts, plan.point_parts};
    const Points chosen = chosen_points(points, at.numbers);
    const IndexRange mine = {place_of(plan.point_begin), place_of(plan.point_end)};
    const Plan few = plan_alike(plan, exact, prisms, chosen, mine, communicator);
    PatientObserver patient(observer);
    m_fields = forward(prisms, chosen, exact, *make_work(few, communicator), communicator, &patient);
    if (m_fields.values.empty()) return;
    for (int order = 0; order < n_orders; ++order) m_norms[static_cast<std::size_t>(order)] = largest_norm(order);
    for (std::size_t i = 0; i < n_points(); ++i) {
      const AbsoluteSums::Parts here = parts.at(chosen.easting[i], chosen.northing[i], chosen.upward[i]);
      for (std::size_t order = 0; order < n_orders; ++order) {
        const double error = share_of_truncation[order] * m_truncation * here.sums[order] + here.rounding[order];
        m_own_errors[order] = std::max(m_own_errors[order], error);
      }
    }
  }

  /// See FieldSizes: of the fields that are asked for. A field that vanishes is as large as the norm of its order. The
  /// same on every rank. Collective.
  [[nodiscard]] FieldSizes sizes(const Request& request, const Communicator& communicator) const {
    FieldSizes sizes = no_sizes;
    for (const FieldInfo& field : request.fields) {
      const auto order = static_cast<std::size_t>(order_of_size(field));
      const double of_unit = or_norm(largest_value(field), order_of_size(field)) / unit(field, request);
      sizes[order] = std::min(sizes[order], of_unit > 0 ? of_unit : infinite_size);
    }
    broadcast(communicator, sizes);
    return sizes;
  }

  /// What these sums may be wrong by themselves, about, relative to the size of the field that has lost most. The same
  /// on every rank. Collective.
  [[nodiscard]] double largest_own_error(const Request& request, const Communicator& communicator) const {
    double largest = 0;
    for (const FieldInfo& field : request.fields) {
      largest = std::max(largest, own_error(field, request, or_norm(largest_value(field), order_of_size(field))));
    }
    broadcast(communicator, largest);
    return largest;
  }

  /// Notes the largest difference of each asked field of a result from the sums, as ToleranceCheck says. `values`:
  /// (asked field, point). Rank 0 only.
  void compare(const Fields& result, std::span<const double> values, std::int64_t n_points, const Request& request,
               ToleranceCheck& check) const {
    check.errors.clear();
    check.over_median.clear();
    for (const FieldInfo& field : result.fields) {
      const std::size_t begin = check.errors.size() * static_cast<std::size_t>(n_points);
      const std::span<const double> of_field = values.subspan(begin, static_cast<std::size_t>(n_points));
      const Runs with_value = runs_with_value(order_of_size(field), result.singular_points, of_field);
      const double largest = largest_in(with_value, HUGE_VAL);
      const double size = or_norm(largest_of(with_value), order_of_size(field));
      check.errors.push_back(
          std::max(error(field, of_field, result.singular_points, size), own_error(field, request, size)));
      const double middle = median_value(field);
      check.over_median.push_back(middle > 0 ? largest / middle : 0);
    }
    check.points = std::ssize(m_at.numbers);
    check.exceeding = m_at.drawn < m_at.drawn_of ? 3.0 / static_cast<double>(m_at.drawn) : 0;
  }

  [[nodiscard]] double seconds() const noexcept { return m_fields.setup_seconds + m_fields.field_seconds; }

private:
  static constexpr int n_orders = std::tuple_size_v<FieldSizes>;

  [[nodiscard]] std::size_t n_points() const noexcept { return m_at.numbers.size(); }

  /// How many of the points come before point `number`.
  [[nodiscard]] std::int64_t place_of(std::int64_t number) const {
    return std::ranges::lower_bound(m_at.numbers, number) - m_at.numbers.begin();
  }

  /// The size of a field for a unit in FieldSizes.
  static double unit(const FieldInfo& field, const Request& request) {
    double weights = 0;
    for (const double weight : field.weights) weights += std::abs(weight);
    return weights * std::abs(request.constant(field.is_magnetic));
  }

  [[nodiscard]] double value(const FieldInfo& field, std::size_t i) const {
    const auto row = static_cast<std::size_t>(m_fields.fields.index_of(field.field));
    return m_fields.values[row * n_points() + i];
  }

  /// Whether a field of this order has a value at a point. At `singular` points the tensor, B and its gradient have
  /// none.
  [[nodiscard]] static bool has_value(int order, const std::vector<std::int64_t>& singular, std::int64_t point) {
    return order < 2 || !std::binary_search(singular.begin(), singular.end(), point);
  }
  /// The values of a field of this order at the points where it has one.
  [[nodiscard]] static Runs runs_with_value(int order, const std::vector<std::int64_t>& singular,
                                            std::span<const double> values) {
    if (order < 2) return {values};
    Runs runs;
    std::size_t begin = 0;
    for (const std::int64_t point : singular) {
      const auto end = static_cast<std::size_t>(point);
      runs.push_back(values.subspan(begin, end - begin));
      begin = end + 1;
    }
    runs.push_back(values.subspan(begin));
    return runs;
  }
  /// The magnitude at the chosen point i, 0 where there is none.
  [[nodiscard]] double magnitude(const FieldInfo& field, std::size_t i) const {
    const auto point = static_cast<std::int64_t>(i);
    return has_value(order_of_size(field), m_fields.singular_points, point) ? std::abs(value(field, i)) : 0;
  }
  [[nodiscard]] std::vector<double> magnitudes(const FieldInfo& field) const {
    std::vector<double> all;
    for (std::size_t i = 0; i < n_points(); ++i) all.push_back(magnitude(field, i));
    return all;
  }

  /// At the chosen points.
  [[nodiscard]] double largest_value(const FieldInfo& field) const {
    if (m_fields.values.empty()) return 0;
    const std::vector<double> all = magnitudes(field);
    return largest_of({all});
  }
  [[nodiscard]] double median_value(const FieldInfo& field) const {
    return m_fields.values.empty() ? 0 : median(magnitudes(field));
  }

  /// The size of a field of this largest value: what is left of one that vanishes is rounding.
  [[nodiscard]] double or_norm(double largest, int order) const {
    const double norm = m_norms[static_cast<std::size_t>(order)];
    return largest <= default_tolerance * norm ? norm : largest;
  }

  /// The largest root of the sum of squares of the native fields of an order.
  [[nodiscard]] double largest_norm(int order) const {
    std::vector<double> squares(n_points());
    for (const FieldInfo& field : m_fields.fields) {
      if (!is_native(field.field) || order_of_size(field) != order) continue;
      for (std::size_t i = 0; i < squares.size(); ++i) squares[i] += std::pow(magnitude(field, i), 2);
    }
    return std::sqrt(largest_of({squares}));
  }

  /// What the sums of a field of this size may be wrong by, relative to it.
  [[nodiscard]] double own_error(const FieldInfo& field, const Request& request, double size) const {
    const double error = m_own_errors[static_cast<std::size_t>(order_of_size(field))];
    return size > 0 ? error * unit(field, request) / size : 0;
  }

  /// `values`: of all points. Where the tensor has no value, none is looked at.
  [[nodiscard]] double error(const FieldInfo& field, std::span<const double> values,
                             const std::vector<std::int64_t>& singular, double size) const {
    double largest = 0;
    for (std::size_t i = 0; i < n_points(); ++i) {
      if (!has_value(order_of_size(field), singular, m_at.numbers[i])) continue;
      const double difference = std::abs(values[static_cast<std::size_t>(m_at.numbers[i])] - value(field, i));
      if (difference > 0) largest = std::max(largest, difference / std::max(size, std::abs(value(field, i))));
    }
    return largest;
  }

  const CheckPoints& m_at;
  double m_truncation;
  Fields m_fields;
  /// by the order of derivatives, at the chosen points: the largest norm, and what these sums may be wrong by
  std::array<double, n_orders> m_norms{};
  FieldSizes m_own_errors{};
};

/// The request that saves nothing, as exact as the sums that it is compared with.
Request exact(const Request& request, double tolerance) {
  Request next = request;
  next.execution.tolerance = tolerance;
  next.execution.method = Method::direct;
  next.execution.precision = Precision::double_;
  return next;
}

/// The request of the next computation, when one by `last` has this error: as often tighter as would make it small
/// enough if it fell with the tolerance. Direct and in double, to `least`, where that is not to be expected,
/// `can_fall`, or nothing would be saved.
Request tighter(const Request& last, double error, double aim, bool can_fall, double least) {
  Request next = last;
  double& tolerance = next.execution.tolerance;
  do {
    tolerance *= share_of_repeat;
    error *= share_of_repeat;
  } while (error > aim && tolerance > default_tolerance);
  // the direct method keeps to a tenth of the tolerance
  return can_fall && tolerance > 10 * default_tolerance ? next : exact(next, least);
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
  const AbsoluteSums parts(prisms, plan.prisms(), plan.point_parts, communicator);
  const CheckPoints at = check_points_of(request.execution.check_points, points, parts, communicator);
  const auto sums_to = [&](double tolerance) {
    return std::make_unique<DirectSums>(prisms, points, request, plan, at, parts, tolerance, communicator, observer);
  };
  const double aim = share_of_sample * request.execution.tolerance;
  double least = share_of_sums * aim < default_truncation ? finest_tolerance : default_tolerance;
  std::unique_ptr<DirectSums> sums = sums_to(least);
  if (least == default_tolerance && sums->largest_own_error(request, communicator) > share_of_sums * aim) {
    least = finest_tolerance;
    sums = sums_to(least);
  }
  const double seconds_of_sums = std::chrono::duration<double>(Clock::now() - start).count();
  const FieldSizes sizes = sums->sizes(request, communicator);
  Request now = request;
  now.execution.method = plan.method;
  ToleranceCheck check;
  work.expect(sizes);
  Fields result = forward(prisms, points, now, work, communicator, observer, guard, values);
  double last = HUGE_VAL;
  while (true) {
    double worst = 0;
    if (communicator.rank() == 0) {
      sums->compare(result, values.empty() ? std::span<const double>(result.values) : values, plan.n_points, request,
                    check);
      worst = check.largest();
    }
    broadcast(communicator, worst);
    const bool is_exact = now.execution.tolerance <= default_tolerance;
    if (worst <= aim || is_exact) break;
    now = tighter(now, worst, aim, worst < last / 2, least);
    last = worst;
    ++check.repeats;
    Plan next;
    try {
      next = plan_alike(plan, now, prisms, points, plan.points(), communicator);
    } catch (const InputError&) {
      // the method does not serve a tolerance this tight
      now = exact(now, least);
      next = plan_alike(plan, now, prisms, points, plan.points(), communicator);
    }
    check.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    result = {};
    const std::unique_ptr<RankWork> again = make_work(next, communicator);
    again->expect(sizes);
    result = forward(prisms, points, now, *again, communicator, observer, guard, values);
  }
  if (check.repeats == 0) check.seconds = seconds_of_sums;
  check.tolerance = request.execution.tolerance;
  if (communicator.rank() == 0) result.check = std::move(check);
  return result;
}

}  // namespace prismfield
