// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/gather.hpp"

#include <functional>

#include "base/counts.hpp"
#include "kernel/contact.hpp"
#include "kernel/field_rows.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// The asked fields of a state, G included: (field, point of the state).
std::vector<double> asked_values(const RankState& state, const kernel::FieldRows& rows, std::int64_t n_asked,
                                 double gravitational_constant) {
  const std::int64_t n = state.layout.points.size();
  const double* const computed = state.payload.values.data();
  std::vector<double> values(static_cast<std::size_t>(n_asked * n));
  for (int row = 0; row < rows.n_native + rows.n_sums; ++row) {
    if (rows.asked[row] < 0) continue;
    double* const to = values.data() + rows.asked[row] * n;
    for (std::int64_t i = 0; i < n; ++i) {
      to[i] = gravitational_constant * rows.value(row, [&](int f) { return computed[f * n + i]; });
    }
  }
  return values;
}

/// The columns of points' contacts in a row of all.
IndexRange contact_range(IndexRange points) {
  return {n_contact_columns * points.begin, n_contact_columns * points.end};
}

/// Points where the tensor has no value, and points in or on prisms.
void count_contacts(const std::vector<double>& contact, std::int64_t n_points, Fields& result) {
  for (std::int64_t p = 0; p < n_points; ++p) {
    const double* const row = &contact[static_cast<std::size_t>(n_contact_columns * p)];
    if (touches_prism(row)) ++result.points_inside;
    if (tensor_diverges(row)) result.singular_points.push_back(p);
  }
}

}  // namespace

void gather_fields(RankState& state, const RankState* before, bool as_planned, double gravitational_constant,
                   const Plan& plan, const Communicator& communicator, std::span<double> values, Fields& result) {
  const bool is_root = communicator.rank() == 0;
  const kernel::FieldRows rows = kernel::field_rows(plan.set, result.fields);
  const std::int64_t n_asked = result.fields.size();
  std::vector<double> part, contact;
  agree_unless_alone(communicator, [&] {
    part = asked_values(state, rows, n_asked, gravitational_constant);
    state.payload.values = std::vector<double>();
    if (!is_root) return;
    if (values.empty()) {
      result.values.resize(static_cast<std::size_t>(n_asked * plan.n_points));
      values = result.values;
    }
    std::fill(values.begin(), values.end(), 0.0);
    contact.assign(static_cast<std::size_t>(n_contact_columns * plan.n_points), 0.0);
  });
  if (before != nullptr && is_root && !before->payload.empty()) {
    add_part(asked_values(*before, rows, n_asked, gravitational_constant), n_asked, plan.n_points,
             before->layout.points, values);
    add_part(before->payload.contact, 1, n_contact_columns * plan.n_points, contact_range(before->layout.points),
             contact);
  }
  const auto add_pairs = [&](const RankState& done) {
    for (std::size_t f = 0; f < n_forms; ++f) {
      result.pairs_by_form[f] = sum_or_most(result.pairs_by_form[f], done.progress.pairs_by_form[f]);
    }
  };
  if (before != nullptr && is_root) add_pairs(*before);
  add_pairs(state);
  const IndexRange mine = state.layout.points;
  // parts of a run that goes on on other ranks may overlap in any way
  const int group_size = any(communicator, !as_planned) ? 1 : plan.prism_parts;
  add_parts_to_root(communicator, std::move(part), n_asked, plan.n_points, mine, group_size, values);
  add_parts_to_root(communicator, std::move(state.payload.contact), 1, n_contact_columns * plan.n_points,
                    contact_range(mine), group_size, contact);
  state = RankState();
  if (is_root) count_contacts(contact, plan.n_points, result);
  sum_to_root(communicator, result.pairs_by_form.data(), n_forms);
}

/// A rank's busy times on rank 0, in seconds since `start`.
std::vector<RankBusy> gather_busy(const std::vector<BusyInterval>& mine, std::int64_t start,
                                  const Communicator& communicator) {
  std::vector<double> numbers;
  for (const BusyInterval& interval : mine) {
    numbers.push_back(static_cast<double>(interval.slot));
    numbers.push_back(1e-9 * static_cast<double>(interval.begin - start));
    numbers.push_back(1e-9 * static_cast<double>(interval.end - start));
  }
  std::vector<RankBusy> all;
  int rank = 0;
  for (const std::vector<double>& of_rank : gather(communicator, numbers)) {
    for (std::size_t i = 0; i + 2 < of_rank.size(); i += 3) {
      all.push_back({rank, static_cast<std::int64_t>(of_rank[i]), of_rank[i + 1], of_rank[i + 2]});
    }
    ++rank;
  }
  return all;
}

}  // namespace prismfield
