// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/direct_work.hpp"

#include <algorithm>
#include <utility>

#include "base/counts.hpp"
#include "base/interrupt.hpp"
#include "compute/cost_model.hpp"
#include "compute/direct_plan.hpp"
#include "kernel/contact.hpp"
#include "model/points.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {

namespace {

/// What the order of additions depends on, from a plan to a state or back.
template <class From, class To>
void copy_settings(const From& from, To& to) {
  to.slots = from.slots;
  to.batch = from.batch;
  to.tile_points = from.tile_points;
  to.chunk_prisms = from.chunk_prisms;
}

}  // namespace

DirectWork::DirectWork(const Plan& plan, int rank) : RankWork(plan, rank) {
  copy_settings(m_plan.direct, m_state.settings);
}

void DirectWork::prepare(const PrismSource& prisms, const PointColumns& points, const Communicator& communicator) {
  m_prisms = &prisms;
  m_points = points;
  agree_unless_alone(communicator, [&] {
    if (m_state.payload.empty()) m_state.payload = empty_payload(m_plan.computed.size(), m_plan.points().size());
    make_fitting(m_plan, engine_traits(m_plan.space, m_plan.precision, m_plan.computed, m_plan.kernel),
                 m_state.progress.prisms > 0, [&](const Plan& fitting) {
                   m_engine = make_engine(fitting.space, fitting.precision, fitting.computed,
                                          engine_settings(fitting, prisms, points));
                 });
    copy_settings(m_plan.direct, m_state.settings);
  });
}

void DirectWork::compute(const Communicator& communicator, Observer* observer, RunGuard* guard) {
  m_communicator = &communicator;
  m_observer = observer;
  m_guard = guard;
  m_pairs_before = m_state.progress.pairs_by_form;
  const IndexRange points_here = m_plan.points();
  m_pairs_to_do = static_cast<double>(m_plan.prisms().size()) * static_cast<double>(points_here.size());
  for (const std::int64_t pairs : m_pairs_before) m_pairs_to_do -= static_cast<double>(pairs);
  const std::vector<std::int64_t> order = spatial_order(m_points, points_here);
  while (!is_finished() && !m_stopped) {
    const std::int64_t n = std::min(m_state.settings.tile_points, points_here.size() - m_state.progress.tile);
    do_tile(order.data() + m_state.progress.tile, n);
    if (m_stopped) break;
    m_state.progress.tile += n;
    m_state.progress.prisms = 0;
  }
  count_pairs();
}

WorkDone DirectWork::take() {
  WorkDone done;
  done.busy = m_engine->busy();
  m_engine.reset();
  m_block = PrismBlock();
  m_values = m_contact = std::vector<double>();
  done.pairs_now = m_done;
  done.cost = cost();
  done.pairs = product_or_most(m_plan.prisms().size(), m_plan.points().size());
  done.pairs_by_form = m_state.progress.pairs_by_form;
  done.mine = {m_plan.points(), std::move(m_state.payload.values), std::move(m_state.payload.contact)};
  return done;
}

/// Cost of the prisms and of the pairs as counted by form, by the cost model, ns.
double DirectWork::cost() const {
  const bool on_device = is_device(m_plan.space);
  const std::int64_t tile = std::max<std::int64_t>(m_plan.direct.tile_points, 1);
  const std::int64_t tiles = (m_plan.points().size() + tile - 1) / tile;
  const double prisms_staged = static_cast<double>(m_plan.prisms().size()) * static_cast<double>(tiles);
  return cost_of_pairs(form_weights(on_device), m_state.progress.pairs_by_form) +
         prism_weight(on_device, m_prisms->uniform_shape()) * prisms_staged;
}

std::vector<std::int64_t> DirectWork::layout(const Communicator& communicator) const {
  return layout_of(m_plan, m_state.settings, communicator);
}

WorkState DirectWork::state() const { return kept_state(m_state); }

void DirectWork::restore(KeptRun& kept) {
  m_state = read_state(kept, m_plan, m_rank);
  DirectPlan& plan = m_plan.direct;
  copy_settings(m_state.settings, plan);
  // whole batches, as in the run that it goes on from
  plan.launch_prisms = std::max<std::int64_t>(plan.launch_prisms / plan.batch, 1) * plan.batch;
  plan.launch_prisms = std::min(plan.launch_prisms, plan.chunk_prisms);
}

/// Calls copy(value of the tile, value of the rank) for every field and contact of the tile's points.
template <class Copy>
void DirectWork::exchange(const std::int64_t* numbers, std::int64_t n, const Copy& copy) {
  const auto all = static_cast<std::size_t>(m_plan.points().size());
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < size; ++i) {
    const auto at = static_cast<std::size_t>(numbers[i] - m_plan.point_begin);
    for (std::size_t f = 0; f < n_fields(); ++f) copy(m_values[f * size + i], m_state.payload.values[f * all + at]);
    for (std::size_t c = 0; c < n_contact_columns; ++c) {
      copy(m_contact[n_contact_columns * i + c], m_state.payload.contact[n_contact_columns * at + c]);
    }
  }
}

void DirectWork::do_tile(const std::int64_t* numbers, std::int64_t n) {
  const std::int64_t n_prisms = m_plan.prisms().size();
  if (n_prisms == 0) return;
  const auto size = static_cast<std::size_t>(n);
  const Points points = chosen_points(m_points, {numbers, size});
  m_values.resize(n_fields() * size);
  m_contact.resize(n_contact_columns * size);
  exchange(numbers, n, [](double& tile, double& all) { tile = all; });
  m_engine->start_tile(points.easting.data(), points.northing.data(), points.upward.data(), n, m_values.data(),
                       m_contact.data());
  while (m_state.progress.prisms < n_prisms && !m_stopped) {
    do_chunk(n);
    // what was done is lost without a guard
    if (m_stopped) return;
    const bool at_the_end = m_state.progress.prisms == n_prisms;
    const bool keep = m_guard != nullptr && m_guard->wants_state();
    m_stopped = m_guard != nullptr && m_guard->wants_stop();
    if (!at_the_end && !keep && !m_stopped) continue;
    m_engine->read_tile(m_values.data(), m_contact.data());
    exchange(numbers, n, [](double& tile, double& all) { all = tile; });
    if (!keep && !m_stopped) continue;
    count_pairs();
    m_guard->keep(*this);
  }
}

void DirectWork::do_chunk(std::int64_t n) {
  const std::int64_t end = std::min(m_state.progress.prisms + m_state.settings.chunk_prisms, m_plan.prisms().size());
  while (m_state.progress.prisms < end) {
    const std::int64_t next = std::min(m_state.progress.prisms + m_plan.direct.launch_prisms, end);
    m_prisms->read({m_plan.prism_begin + m_state.progress.prisms, m_plan.prism_begin + next}, m_block);
    m_engine->add(m_block, m_state.progress.prisms / m_state.settings.batch);
    m_done = sum_or_most(m_done, (next - m_state.progress.prisms) * n);
    m_state.progress.prisms = next;
    m_stopped = m_guard == nullptr && stop_announced(*m_communicator);
    if (m_stopped) return;
    throw_between_launches();
    if (m_observer != nullptr) {
      m_observer->progress(static_cast<double>(m_done) / std::max(m_pairs_to_do, 1.0), m_done);
    }
  }
  m_engine->end_chunk();
}

void DirectWork::count_pairs() {
  const auto now = m_engine->pairs();
  for (std::size_t f = 0; f < n_forms; ++f) {
    m_state.progress.pairs_by_form[f] = sum_or_most(m_pairs_before[f], now[f]);
  }
}

}  // namespace prismfield
