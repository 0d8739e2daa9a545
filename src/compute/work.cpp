// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/work.hpp"

#include <algorithm>

#include "base/counts.hpp"
#include "kernel/contact.hpp"
#include "model/points.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {

Worker::Worker(const PrismSource& prisms, const Points& points, const Plan& plan, const Communicator& communicator,
               FieldEngine& engine, RankState& state, Observer* observer, RunGuard* guard)
    : m_prisms(prisms),
      m_points(points),
      m_plan(plan),
      m_communicator(communicator),
      m_engine(engine),
      m_state(state),
      m_observer(observer),
      m_guard(guard),
      m_pairs_before(state.progress.pairs_by_form) {
  for (const WorkItem& item : state.layout.work) {
    m_pairs = sum_or_most(m_pairs, product_or_most(item.prisms.size(), item.ordered.size()));
  }
  m_pairs_to_do = pairs_in(state.layout.work);
  for (const std::int64_t pairs : m_pairs_before) m_pairs_to_do -= static_cast<double>(pairs);
}

void Worker::work() {
  while (!m_state.finished() && !m_stopped)
    do_item(m_state.layout.work[static_cast<std::size_t>(m_state.progress.item)]);
  count_pairs();
}

/// Calls copy(value of the tile, value of the rank) for every field and contact of the tile's points.
template <class Copy>
void Worker::exchange(const std::int64_t* numbers, std::int64_t n, const Copy& copy) {
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

void Worker::do_item(const WorkItem& item) {
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

void Worker::do_tile(const WorkItem& item, const std::int64_t* numbers, std::int64_t n) {
  if (item.prisms.size() == 0) return;
  const auto size = static_cast<std::size_t>(n);
  std::array<std::vector<double>, 3> coordinates;
  const std::array<const std::vector<double>*, 3> columns = {&m_points.easting, &m_points.northing, &m_points.upward};
  for (std::size_t d = 0; d < 3; ++d) {
    coordinates[d].resize(size);
    std::transform(numbers, numbers + n, coordinates[d].begin(),
                   [&](std::int64_t point) { return (*columns[d])[static_cast<std::size_t>(point)]; });
  }
  m_values.resize(n_fields() * size);
  m_contact.resize(n_contact_columns * size);
  exchange(numbers, n, [](double& tile, double& all) { tile = all; });
  m_engine.start_tile(coordinates[0].data(), coordinates[1].data(), coordinates[2].data(), n, m_values.data(),
                      m_contact.data());
  while (m_state.progress.prisms < item.prisms.size() && !m_stopped) {
    do_chunk(item, n);
    // what was done is lost without a guard
    if (m_stopped) return;
    const bool at_the_end = m_state.progress.prisms == item.prisms.size();
    const bool keep = m_guard != nullptr && m_guard->wants_state();
    m_stopped = m_guard != nullptr && m_guard->wants_stop();
    if (!at_the_end && !keep && !m_stopped) continue;
    m_engine.read_tile(m_values.data(), m_contact.data());
    exchange(numbers, n, [](double& tile, double& all) { all = tile; });
    if (!keep && !m_stopped) continue;
    count_pairs();
    m_guard->keep(m_state);
  }
}

void Worker::do_chunk(const WorkItem& item, std::int64_t n) {
  const std::int64_t end = std::min(m_state.progress.prisms + m_state.layout.chunk_prisms, item.prisms.size());
  while (m_state.progress.prisms < end) {
    const std::int64_t next = std::min(m_state.progress.prisms + m_plan.launch_prisms, end);
    m_prisms.read({item.prisms.begin + m_state.progress.prisms, item.prisms.begin + next}, m_block);
    m_engine.add(m_block, m_state.progress.prisms / m_state.layout.batch);
    m_done = sum_or_most(m_done, (next - m_state.progress.prisms) * n);
    m_state.progress.prisms = next;
    m_stopped = m_guard == nullptr && stop_announced(m_communicator);
    if (m_stopped) return;
    if (m_observer != nullptr) {
      m_observer->progress(static_cast<double>(m_done) / std::max(m_pairs_to_do, 1.0), m_done);
    }
  }
  m_engine.end_chunk();
}

void Worker::count_pairs() {
  const auto now = m_engine.pairs();
  for (std::size_t f = 0; f < n_forms; ++f) {
    m_state.progress.pairs_by_form[f] = sum_or_most(m_pairs_before[f], now[f]);
  }
}

}  // namespace prismfield
