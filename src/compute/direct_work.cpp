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

/// What the order of additions depends on, from a plan to a layout or back.
template <class From, class To>
void copy_settings(const From& from, To& to) {
  to.slots = from.slots;
  to.batch = from.batch;
  to.tile_points = from.tile_points;
  to.chunk_prisms = from.chunk_prisms;
}

WorkLayout layout_of(const DirectPlan& plan, std::vector<WorkItem> work) {
  WorkLayout layout;
  layout.points = points_of(work);
  layout.work = std::move(work);
  copy_settings(plan, layout);
  return layout;
}

PartialFields fields_in(RankState& state) {
  return {state.layout.points, std::move(state.payload.values), std::move(state.payload.contact)};
}

}  // namespace

DirectWork::DirectWork(const Plan& plan, int rank) : RankWork(plan, rank) {
  m_state.layout = layout_of(m_plan.direct, work_of(m_plan));
}

void DirectWork::prepare(const PrismSource& prisms, const PointColumns& points, const Communicator& communicator) {
  m_prisms = &prisms;
  m_points = points;
  agree_unless_alone(communicator, [&] {
    if (m_state.payload.empty()) m_state.payload = empty_payload(m_plan.computed.size(), m_state.layout.points.size());
    make_fitting(m_plan, engine_traits(m_plan.space, m_plan.precision, m_plan.computed, m_plan.kernel),
                 m_state.progress.prisms > 0, [&](const Plan& fitting) {
                   m_engine = make_engine(fitting.space, fitting.precision, fitting.computed,
                                          engine_settings(fitting, prisms, points));
                 });
    copy_settings(m_plan.direct, m_state.layout);
  });
}

void DirectWork::compute(const Communicator& communicator, Observer* observer, RunGuard* guard) {
  m_communicator = &communicator;
  m_observer = observer;
  m_guard = guard;
  m_pairs_before = m_state.progress.pairs_by_form;
  m_pairs_to_do = pairs_in(m_state.layout.work);
  for (const std::int64_t pairs : m_pairs_before) m_pairs_to_do -= static_cast<double>(pairs);
  while (!m_state.finished() && !m_stopped)
    do_item(m_state.layout.work[static_cast<std::size_t>(m_state.progress.item)]);
  count_pairs();
}

WorkDone DirectWork::take() {
  WorkDone done;
  done.busy = m_engine->busy();
  m_engine.reset();
  m_block = PrismBlock();
  m_values = m_contact = std::vector<double>();
  done.as_planned = m_before.payload.empty() && m_state.layout.work == work_of(m_plan);
  done.pairs_now = m_done;
  done.cost = cost();
  for (const WorkItem& item : m_state.layout.work) {
    done.pairs = sum_or_most(done.pairs, product_or_most(item.prisms.size(), item.ordered.size()));
  }
  done.pairs_by_form = m_state.progress.pairs_by_form;
  if (m_rank == 0) {
    for (std::size_t f = 0; f < n_forms; ++f) {
      done.pairs_by_form[f] = sum_or_most(done.pairs_by_form[f], m_before.progress.pairs_by_form[f]);
    }
    done.before = fields_in(m_before);
  }
  done.mine = fields_in(m_state);
  return done;
}

/// Cost of the prisms and of the pairs as counted by form, by the cost model, ns.
double DirectWork::cost() const {
  const bool on_device = is_device(m_plan.space);
  double prisms_staged = 0;
  const std::int64_t tile = std::max<std::int64_t>(m_plan.direct.tile_points, 1);
  for (const WorkItem& item : m_state.layout.work) {
    const std::int64_t tiles = (item.ordered.size() + tile - 1) / tile;
    prisms_staged += static_cast<double>(item.prisms.size()) * static_cast<double>(tiles);
  }
  return cost_of_pairs(form_weights(on_device), m_state.progress.pairs_by_form) +
         prism_weight(on_device, m_prisms->uniform_shape()) * prisms_staged;
}

std::vector<std::int64_t> DirectWork::layout(const Communicator& communicator) const {
  // as many numbers on every rank, the number of ranks in front left out
  std::vector<std::int64_t> numbers = numbers_of({m_state.layout});
  const std::vector<std::int64_t> lengths = gather_everywhere(communicator, static_cast<std::int64_t>(numbers.size()));
  numbers.resize(static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end())));
  const std::vector<std::int64_t> all = gather_everywhere(communicator, numbers);
  std::vector<std::int64_t> layout = {communicator.size()};
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * numbers.size());
    layout.insert(layout.end(), begin + 1, begin + lengths[rank]);
  }
  return layout;
}

WorkState DirectWork::state() const { return kept_state(m_state, m_rank == 0 ? &m_before : nullptr); }

bool DirectWork::restore(KeptRun& kept, int n_ranks) {
  KeptStates states = read_states(kept, m_plan, m_rank, n_ranks);
  const std::vector<WorkItem> left = remaining_work(states.states);
  const double all = static_cast<double>(m_plan.n_prisms) * static_cast<double>(m_plan.n_points);
  m_done_fraction = all > 0 ? 1 - pairs_in(left) / all : 0;
  m_before = std::move(states.before);
  const bool same_ranks = states.states.size() == static_cast<std::size_t>(n_ranks);
  DirectPlan& plan = m_plan.direct;
  if (same_ranks) {
    m_state = std::move(states.states[static_cast<std::size_t>(m_rank)]);
  } else {
    m_state.layout = layout_of(plan, share_of_work(left, m_rank, n_ranks));
    m_state.layout.tile_points = std::max<std::int64_t>(plan.tile_points, 1);
  }
  copy_settings(m_state.layout, plan);
  // whole batches, as in the run that it goes on from
  plan.launch_prisms = std::max<std::int64_t>(plan.launch_prisms / plan.batch, 1) * plan.batch;
  plan.launch_prisms = std::min(plan.launch_prisms, plan.chunk_prisms);
  return same_ranks;
}

/// Calls copy(value of the tile, value of the rank) for every field and contact of the tile's points.
template <class Copy>
void DirectWork::exchange(const std::int64_t* numbers, std::int64_t n, const Copy& copy) {
  const auto all = static_cast<std::size_t>(m_state.layout.points.size());
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < size; ++i) {
    const auto at = static_cast<std::size_t>(numbers[i] - m_state.layout.points.begin);
    for (std::size_t f = 0; f < n_fields(); ++f) copy(m_values[f * size + i], m_state.payload.values[f * all + at]);
    for (std::size_t c = 0; c < n_contact_columns; ++c) {
      copy(m_contact[n_contact_columns * i + c], m_state.payload.contact[n_contact_columns * at + c]);
    }
  }
}

void DirectWork::do_item(const WorkItem& item) {
  const std::vector<std::int64_t> order = spatial_order(m_points, item.points);
  while (m_state.progress.tile < item.ordered.size()) {
    const std::int64_t begin = item.ordered.begin + m_state.progress.tile;
    const std::int64_t n = std::min(m_state.layout.tile_points, item.ordered.end - begin);
    do_tile(item, order.data() + begin, n);
    if (m_stopped) return;
    m_state.progress.tile += n;
    m_state.progress.prisms = 0;
  }
  ++m_state.progress.item;
  m_state.progress.tile = 0;
}

void DirectWork::do_tile(const WorkItem& item, const std::int64_t* numbers, std::int64_t n) {
  if (item.prisms.size() == 0) return;
  const auto size = static_cast<std::size_t>(n);
  const Points points = chosen_points(m_points, {numbers, size});
  m_values.resize(n_fields() * size);
  m_contact.resize(n_contact_columns * size);
  exchange(numbers, n, [](double& tile, double& all) { tile = all; });
  m_engine->start_tile(points.easting.data(), points.northing.data(), points.upward.data(), n, m_values.data(),
                       m_contact.data());
  while (m_state.progress.prisms < item.prisms.size() && !m_stopped) {
    do_chunk(item, n);
    // what was done is lost without a guard
    if (m_stopped) return;
    const bool at_the_end = m_state.progress.prisms == item.prisms.size();
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

void DirectWork::do_chunk(const WorkItem& item, std::int64_t n) {
  const std::int64_t end = std::min(m_state.progress.prisms + m_state.layout.chunk_prisms, item.prisms.size());
  while (m_state.progress.prisms < end) {
    const std::int64_t next = std::min(m_state.progress.prisms + m_plan.direct.launch_prisms, end);
    m_prisms->read({item.prisms.begin + m_state.progress.prisms, item.prisms.begin + next}, m_block);
    m_engine->add(m_block, m_state.progress.prisms / m_state.layout.batch);
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
