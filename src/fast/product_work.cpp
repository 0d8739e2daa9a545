// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "fast/product_work.hpp"

#include <fmt/format.h>

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

namespace prismfield::fast {
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

void ProductWork::with_memory(const std::function<void()>& step) const {
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

std::int64_t ProductWork::n_pairs() const { return product_or_most(m_plan.prisms().size(), m_plan.points().size()); }

void ProductWork::make_room(std::int64_t n_points) {
  const auto n = static_cast<std::size_t>(n_points);
  m_values.assign(static_cast<std::size_t>(fields_of(m_plan.set).size()) * n, 0.0);
  m_contact.assign(n_contact_columns * n, 0.0);
}

void ProductWork::on_all_ranks(const Communicator& communicator, const std::function<void()>& step) const {
  agree_unless_alone(communicator, [&] { with_memory(step); });
}

void ProductWork::prepare(const PrismSource& prisms, const PointColumns& points, const Communicator& communicator) {
  m_points = points;
  on_all_ranks(communicator, [&] {
    make_room(m_plan.points().size());
    if (n_pairs() > 0) m_product = m_make({m_plan, m_sizes, prisms, m_points, part_of(m_points, m_plan.points())});
  });
}

void ProductWork::compute(const Communicator& communicator, Observer* observer, RunGuard* guard) {
  const Pause pause = [&](double done) {
    if (guard != nullptr ? guard->wants_stop() : stop_announced(communicator)) throw Left();
    throw_between_launches();
    const double pairs = done * static_cast<double>(n_pairs());
    if (observer != nullptr) observer->progress(done, static_cast<std::int64_t>(pairs));
  };
  m_busy.begin = now();
  try {
    if (m_product) with_memory([&] { m_product->compute(pause, m_values.data(), m_contact.data()); });
    m_is_finished = true;
  } catch (const Left&) {
  }
  m_busy.end = now();
}

WorkDone ProductWork::take() {
  WorkDone done;
  done.pairs = done.pairs_now = n_pairs();
  if (m_product) {
    done.pairs_by_form = m_product->pairs_by_form();
    done.busy = {m_busy};
  }
  m_product.reset();
  done.mine = {m_plan.points(), std::move(m_values), std::move(m_contact)};
  return done;
}

}  // namespace prismfield::fast
