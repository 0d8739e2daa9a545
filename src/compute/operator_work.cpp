// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/operator_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <new>

#include <prismfield/error.hpp>

#include "base/counts.hpp"
#include "base/interrupt.hpp"
#include "kernel/contact.hpp"
#include "model/choices.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// Thrown by a pause where the run stops.
struct Left {};

std::int64_t now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

PointColumns part_of(const PointColumns& points, IndexRange range) {
  const auto begin = static_cast<std::size_t>(range.begin), n = static_cast<std::size_t>(range.size());
  return {points.easting.subspan(begin, n), points.northing.subspan(begin, n), points.upward.subspan(begin, n),
          points.rounding};
}

}  // namespace

void OperatorWork::with_memory(const std::function<void()>& step) const {
  const auto fail = [&](const std::exception& failure) {
    throw RunError(fmt::format("no memory for {} prisms at {} points by execution.method: {}: {}",
                               m_plan.prisms().size(), m_plan.points().size(), name(m_plan.method), failure.what()));
  };
  try {
    step();
  } catch (const AllocationFailure& failure) {
    fail(failure);
  } catch (const std::bad_alloc& failure) {
    fail(failure);
  }
}

std::int64_t OperatorWork::n_pairs() const { return product_or_most(m_plan.prisms().size(), m_plan.points().size()); }

void OperatorWork::prepare(const PrismSource& prisms, const PointColumns& points, const Communicator& communicator) {
  const auto make = [&] {
    const auto n = static_cast<std::size_t>(m_plan.points().size());
    m_values.assign(static_cast<std::size_t>(m_plan.computed.size()) * n, 0.0);
    if (n_pairs() == 0) return;
    Plan plan = m_plan;
    for (const FieldSet set : sets_of(m_plan.computed)) {
      plan.computed = fields_of(set);
      m_operators.push_back(m_make({plan, m_sizes, prisms, part_of(points, plan.points())}));
    }
  };
  agree_unless_alone(communicator, [&] { with_memory(make); });
}

void OperatorWork::compute(const Communicator& communicator, Observer* observer, RunGuard* guard) {
  const auto n = static_cast<double>(m_operators.size());
  std::size_t number = 0;
  const ApplyContext context{[&](double done_of_operator) {
    const double done = (static_cast<double>(number) + done_of_operator) / n;
    if (guard != nullptr ? guard->wants_stop() : stop_announced(communicator)) throw Left();
    throw_between_launches();
    const double pairs = done * static_cast<double>(n_pairs());
    if (observer != nullptr) observer->progress(done, static_cast<std::int64_t>(pairs));
  }};
  m_busy.begin = now();
  try {
    with_memory([&] {
      for (double* to = m_values.data(); number < m_operators.size(); ++number) to = evaluate(number, context, to);
    });
    m_is_finished = true;
  } catch (const Left&) {
  }
  m_busy.end = now();
}

double* OperatorWork::evaluate(std::size_t number, const ApplyContext& context, double* values) {
  RankFields fields{values};
  m_operators[number](fields, context);
  if (!m_contact.empty() && !fields.contact.empty()) add_product_contacts(m_contact, fields.contact);
  if (!fields.contact.empty()) m_contact = std::move(fields.contact);
  for (std::size_t f = 0; f < n_forms; ++f) m_pairs_by_form[f] += fields.pairs_by_form[f];
  if (number + 1 < m_operators.size()) m_operators[number] = nullptr;
  return values + fields_of(sets_of(m_plan.computed)[number]).size() * m_plan.points().size();
}

WorkDone OperatorWork::take() {
  WorkDone done;
  done.pairs = done.pairs_now = n_pairs();
  done.pairs_by_form = m_pairs_by_form;
  if (!m_operators.empty()) done.busy = {m_busy};
  m_operators.clear();
  done.mine = {m_plan.points(), std::move(m_values), std::move(m_contact)};
  return done;
}

}  // namespace prismfield
