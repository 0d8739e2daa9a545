// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/forward.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <string>
#include <utility>

#include <prismfield/error.hpp>

#include "base/counts.hpp"
#include "compute/checked_forward.hpp"
#include "compute/forward_of_few.hpp"
#include "compute/method.hpp"
#include "compute/plan.hpp"
#include "engine/few_pairs.hpp"
#include "kernel/contact.hpp"
#include "kernel/field_rows.hpp"
#include "model/points.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The fields that ranks add up: linear ones, and the native fields of the others.
FieldList summed_fields(FieldList asked) {
  FieldList summed;
  for (const FieldInfo& field : asked)
    summed.add(field.is_linear() ? FieldList{field.field} : FieldList{field.field}.natives());
  return summed;
}

/// Sums of native fields, (field, point), without constants. Takes the part's values.
std::vector<double> sums_of_natives(PartialFields& part, FieldList natives, FieldList summed, const Request& request) {
  std::vector<double> of_natives = std::exchange(part.values, {});
  if (summed == natives) return of_natives;
  const auto n = static_cast<std::size_t>(part.points.size());
  std::vector<double> sums(static_cast<std::size_t>(summed.size()) * n);
  const std::array<double, 3> along = direction_of(request.magnetic.inducing_field);
  for (const FieldInfo& field : summed) {
    double* const to = sums.data() + static_cast<std::size_t>(summed.index_of(field.field)) * n;
    for (const FieldInfo& native : natives) {
      const double weight = kernel::weight_in(field, native.field, along);
      if (weight == 0) continue;
      const double* const from = of_natives.data() + static_cast<std::size_t>(natives.index_of(native.field)) * n;
      for (std::size_t i = 0; i < n; ++i) to[i] += weight * from[i];
    }
  }
  return sums;
}

/// Summed fields, their constants included: (field, point). Takes the part's values.
std::vector<double> summed_values(PartialFields& part, FieldList natives, FieldList summed, const Request& request) {
  std::vector<double> sums = sums_of_natives(part, natives, summed, request);
  const auto n = static_cast<std::size_t>(part.points.size());
  auto to = sums.begin();
  for (const FieldInfo& field : summed) {
    const double constant = request.constant(field.is_magnetic);
    for (std::size_t point = 0; point < n; ++point, ++to) *to *= constant;
  }
  return sums;
}

/// |F0 + B| - |F0| without cancellation.
double exact_anomaly(const std::array<double, 3>& inducing, const std::array<double, 3>& b) {
  const std::array<double, 3> both = {inducing[0] + b[0], inducing[1] + b[1], inducing[2] + b[2]};
  double product = 0;
  for (std::size_t d = 0; d < 3; ++d) product += b[d] * (2 * inducing[d] + b[d]);
  return product / (std::hypot(both[0], both[1], both[2]) + std::hypot(inducing[0], inducing[1], inducing[2]));
}

/// Writes the asked fields, of those that were summed, (field, point), to `values`.
void write_asked(const std::vector<double>& sums, FieldList summed, FieldList asked, const Request& request,
                 std::span<double> values) {
  const auto n = values.size() / static_cast<std::size_t>(asked.size());
  const auto row_of = [&](Field field) { return sums.data() + static_cast<std::size_t>(summed.index_of(field)) * n; };
  auto to = values.begin();
  for (const FieldInfo& field : asked) {
    for (std::size_t i = 0; i < n; ++i, ++to) {
      if (field.is_linear()) {
        *to = row_of(field.field)[i];
        continue;
      }
      const std::array<double, 3> b = {row_of(Field::bx)[i], row_of(Field::by)[i], row_of(Field::bz)[i]};
      *to = field.rule == FieldRule::amplitude ? std::hypot(b[0], b[1], b[2])
                                               : exact_anomaly(request.magnetic.inducing_field, b);
    }
  }
}

/// A point that touches prisms, with its row of contacts.
struct TouchingPoint {
  std::int64_t point = 0;
  std::array<double, n_contact_columns> row{};
};

/// Appends those among the points of a part, whose contacts are freed.
void take_touching(PartialFields& part, std::vector<TouchingPoint>& touching) {
  const auto n_points = static_cast<std::int64_t>(part.contact.size()) / n_contact_columns;
  const auto for_each = [&](const auto& f) {
    for (std::int64_t p = 0; p < n_points; ++p) {
      const double* const row = &part.contact[static_cast<std::size_t>(n_contact_columns * p)];
      if (std::any_of(row, row + n_contact_columns, [](double number) { return number != 0; })) f(p, row);
    }
  };
  std::size_t n = touching.size();
  for_each([&](std::int64_t, const double*) { ++n; });
  touching.reserve(n);
  for_each([&](std::int64_t p, const double* row) {
    std::copy_n(row, n_contact_columns, touching.emplace_back(TouchingPoint{part.points.begin + p, {}}).row.begin());
  });
  part.contact = std::vector<double>();
}

/// Those of all ranks, each once, in the order of the points. Empties the lists.
std::vector<TouchingPoint> join_touching(std::vector<std::vector<TouchingPoint>>& lists) {
  std::vector<TouchingPoint> all;
  for (std::vector<TouchingPoint>& of_rank : lists) {
    if (all.empty()) {
      all = std::move(of_rank);
    } else {
      all.insert(all.end(), of_rank.begin(), of_rank.end());
    }
  }
  lists.clear();
  std::sort(all.begin(), all.end(), [](const TouchingPoint& a, const TouchingPoint& b) { return a.point < b.point; });
  // the prisms that a point touches may be several ranks'
  std::size_t n = 0;
  for (const TouchingPoint& touching : all) {
    if (n == 0 || all[n - 1].point != touching.point) {
      all[n++] = touching;
    } else {
      for (std::size_t c = 0; c < touching.row.size(); ++c) all[n - 1].row[c] += touching.row[c];
    }
  }
  all.resize(n);
  return all;
}

/// Points where the tensor, B or its gradient has no value, and points in or on prisms, where magnetic fields may be
/// asked to be NaN. `values`: (asked field, point).
void count_contacts(const std::vector<TouchingPoint>& all, std::int64_t n_points, const Request& request,
                    std::span<double> values, Fields& result) {
  for (const TouchingPoint& touching : all) {
    if (tensor_diverges(touching.row.data())) result.singular_points.push_back(touching.point);
    if (!touches_prism(touching.row.data())) continue;
    ++result.points_inside;
    if (request.magnetic.inside != Inside::nan) continue;
    for (const FieldInfo& field : result.fields.of_magnetisation()) {
      const std::int64_t f = result.fields.index_of(field.field);
      values[static_cast<std::size_t>(f * n_points + touching.point)] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

/// Adds up what the ranks computed, in SI units, on rank 0, which alone takes memory for all points: fields, contacts
/// and pairs by form. `values`: where rank 0 puts the fields, (asked field, point); empty: result.values. Empties
/// `done`. Collective.
void gather_fields(WorkDone& done, const Plan& plan, const Request& request, const Communicator& communicator,
                   std::span<double> values, Fields& result) {
  const bool is_root = communicator.rank() == 0;
  const FieldList summed = summed_fields(result.fields);
  const bool all_are_summed = summed == result.fields;
  const std::int64_t n_summed = summed.size();
  const IndexRange mine = done.mine.points;
  // of one rank, what it computed is the result
  const bool takes_part = communicator.size() == 1 && all_are_summed && values.empty();
  std::vector<double> part, others;
  std::span<double> sums;
  std::vector<TouchingPoint> touching;
  agree_unless_alone(communicator, [&] { take_touching(done.mine, touching); });
  std::vector<std::vector<TouchingPoint>> lists = gather(communicator, std::move(touching));
  agree_unless_alone(communicator, [&] {
    touching = join_touching(lists);
    part = summed_values(done.mine, plan.computed, summed, request);
    if (!is_root || takes_part) return;
    if (values.empty()) {
      result.values.resize(static_cast<std::size_t>(result.fields.size() * plan.n_points));
      values = result.values;
    } else if (all_are_summed) {
      std::fill(values.begin(), values.end(), 0.0);
    }
    if (!all_are_summed) others.resize(static_cast<std::size_t>(n_summed * plan.n_points));
    sums = all_are_summed ? values : std::span<double>(others);
  });
  if (takes_part) {
    result.values = std::move(part);
    values = result.values;
  } else {
    add_parts_to_root(communicator, std::move(part), n_summed, plan.n_points, mine, plan.prism_parts, sums);
  }
  agree_unless_alone(communicator, [&] {
    if (!is_root) return;
    if (!all_are_summed) write_asked(others, summed, result.fields, request, values);
    count_contacts(touching, plan.n_points, request, values, result);
  });
  result.pairs_by_form = done.pairs_by_form;
  sum_to_root(communicator, result.pairs_by_form.data(), n_forms);
}

/// A rank's busy times on rank 0, in seconds since `start`.
std::vector<RankBusy> gather_busy(const std::vector<BusyInterval>& mine, std::int64_t start,
                                  const Communicator& communicator) {
  const auto since_start = [&](std::int64_t time) { return 1e-9 * static_cast<double>(time - start); };
  std::vector<RankBusy> own, all;
  for (const BusyInterval& interval : mine) {
    own.push_back({communicator.rank(), interval.slot, since_start(interval.begin), since_start(interval.end)});
  }
  for (const std::vector<RankBusy>& of_rank : gather(communicator, own)) {
    all.insert(all.end(), of_rank.begin(), of_rank.end());
  }
  return all;
}

/// The plan of a run that has the memory it needs.
Plan checked_plan(const PrismSource& prisms, const PointColumns& points, const Request& request,
                  const Communicator& communicator) {
  check_points(points);
  Plan plan = plan_on_ranks(request, prisms, points, problem_size(prisms, points), communicator);
  // less is not worth the question
  constexpr std::int64_t much = std::int64_t{1} << 28;
  if (any(communicator, plan.host_bytes_to_come > much)) {
    const std::string refusal = memory_refusal(tightest_need(plan, communicator), request, prisms, points,
                                               problem_size(prisms, points), communicator);
    agree_on_input(communicator, [&] {
      if (!refusal.empty()) throw InputError("", "", refusal);
    });
  }
  return plan;
}

}  // namespace

Fields forward_of_few(std::span<double> values, const PrismColumns& prisms, const PointColumns& points,
                      const Request& request) {
  check_points(points);
  const FieldList natives = computed_fields(request.fields);
  const std::int64_t n = points.size();
  PartialFields computed{{0, n}, std::vector<double>(static_cast<std::size_t>(natives.size() * n)), {}};
  computed.contact.resize(static_cast<std::size_t>(n_contact_columns * n));
  sum_few_pairs(natives, prisms, points, share_inside(request.magnetic.inside), computed.values, computed.contact);
  Fields result;
  result.fields = request.fields;
  result.pairs = static_cast<std::int64_t>(prisms.west.size()) * n;
  const FieldList summed = summed_fields(request.fields);
  write_asked(summed_values(computed, natives, summed, request), summed, request.fields, request, values);
  std::vector<TouchingPoint> touching;
  take_touching(computed, touching);
  count_contacts(touching, n, request, values, result);
  return result;
}

Fields forward(const PrismSource& prisms, const PointColumns& points, const Request& request, RankWork& work,
               const Communicator& communicator, Observer* observer, RunGuard* guard, std::span<double> values) {
  const auto start = Clock::now();
  agree_unless_alone(communicator, [&] {
    if (guard != nullptr) guard->begin(work);
  });
  work.prepare(prisms, points, communicator);
  const Plan& plan = work.plan();
  Fields result;
  result.fields = request.fields;
  result.setup_seconds = seconds_since(start);

  // so that the ranks' times have one beginning
  barrier(communicator);
  const auto field_start = Clock::now();
  std::exception_ptr failure;
  try {
    work.compute(communicator, observer, guard);
  } catch (...) {
    failure = std::current_exception();
    // the others need not compute to their end
    announce_stop(communicator);
  }
  const double busy = seconds_since(field_start);
  end_announcements(communicator);
  agree_unless_alone(communicator, [&] {
    if (failure) std::rethrow_exception(failure);
  });
  if (any(communicator, !work.is_finished())) {
    if (work.is_finished()) guard->keep(work);
    throw Stopped();
  }
  WorkDone done = work.take();
  const std::int64_t field_start_time =
      std::chrono::duration_cast<std::chrono::nanoseconds>(field_start.time_since_epoch()).count();
  result.busy = gather_busy(done.busy, field_start_time, communicator);
  result.rank_cost = gather(communicator, done.cost);
  gather_fields(done, plan, request, communicator, values, result);
  result.pairs = product_or_most(plan.n_prisms, plan.n_points);
  result.rank_pairs = gather(communicator, done.pairs);
  result.pairs_now = done.pairs_now;
  sum_to_root(communicator, &result.pairs_now, 1);
  result.rank_busy_seconds = gather(communicator, busy);
  const double offset = std::chrono::duration<double>(field_start - start).count();
  result.rank_begin = gather(communicator, offset);
  result.rank_end = gather(communicator, offset + busy);
  result.field_seconds = seconds_since(field_start);
  result.plan = plan;
  result.method_numbers = method_of(plan).text(plan).numbers;
  return result;
}

Fields forward(const PrismSource& prisms, const PointColumns& points, const Request& request,
               const Communicator& communicator, Observer* observer) {
  const Plan plan = checked_plan(prisms, points, request, communicator);
  return checked_forward(prisms, points, request, *make_work(plan, communicator), communicator, observer);
}

Fields forward_into(std::span<double> values, const PrismSource& prisms, const PointColumns& points,
                    const Request& request, const Communicator& communicator, Observer* observer) {
  const Plan plan = checked_plan(prisms, points, request, communicator);
  const bool is_root = communicator.rank() == 0;
  agree_on_input(communicator, [&] {
    const std::int64_t n = request.fields.size() * plan.n_points;
    if (is_root && values.size() != static_cast<std::size_t>(n)) {
      throw InputError("", "values",
                       "has " + std::to_string(values.size()) + " numbers, the fields are " + std::to_string(n));
    }
  });
  return checked_forward(prisms, points, request, *make_work(plan, communicator), communicator, observer, nullptr,
                         is_root ? values : std::span<double>());
}

}  // namespace prismfield
