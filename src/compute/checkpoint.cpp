// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/checkpoint.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <prismfield/error.hpp>

#include "base/interrupt.hpp"
#include "engine/engine.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

WorkLayout layout_of(const Plan& plan, std::vector<WorkItem> work) {
  WorkLayout layout;
  layout.points = points_of(work);
  layout.work = std::move(work);
  layout.slots = plan.slots;
  layout.batch = plan.batch;
  layout.tile_points = plan.tile_points;
  layout.chunk_prisms = plan.chunk_prisms;
  return layout;
}

}  // namespace

CheckpointGuard::CheckpointGuard(CheckpointSettings settings, const Plan& plan, const Digest& case_hash,
                                 const Communicator& communicator)
    : m_settings(std::move(settings)),
      m_communicator(communicator),
      m_prisms{plan.prism_begin, plan.prism_end},
      m_last(std::chrono::steady_clock::now()) {
  m_layout.case_hash = case_hash;
  RankState mine{layout_of(plan, work_of(plan)), {}, {}};
  mine.payload = empty_payload(fields_of(plan.set).size(), mine.layout.points.size());
  set_layout(mine.layout);
  m_begin = std::move(mine);
}

void CheckpointGuard::set_layout(const WorkLayout& mine) {
  std::vector<std::int64_t> numbers;
  append(mine, numbers);
  const std::vector<std::int64_t> lengths =
      gather_everywhere(m_communicator, static_cast<std::int64_t>(numbers.size()));
  numbers.resize(static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end())));
  const std::vector<std::int64_t> all = gather_everywhere(m_communicator, numbers);
  m_layout.ranks.clear();
  for (std::size_t at = 0; at < all.size(); at += numbers.size()) {
    m_layout.ranks.push_back(NumberReader(std::span(all).subspan(at)).layout());
  }
  m_layout_id = m_layout.id();
}

void CheckpointGuard::resume(Checkpoint checkpoint, const Plan& plan) {
  m_resumed = true;
  m_begin.reset();
  const std::vector<WorkItem> left = remaining_work(checkpoint.states);
  const double all = static_cast<double>(plan.n_prisms) * static_cast<double>(plan.n_points);
  m_done_fraction = all > 0 ? 1 - pairs_in(left) / all : 0;
  m_before = std::move(checkpoint.before);
  RankState mine;
  const bool same_ranks = checkpoint.states.size() == static_cast<std::size_t>(m_communicator.size());
  if (same_ranks) {
    mine = std::move(checkpoint.states[static_cast<std::size_t>(m_communicator.rank())]);
    m_layout = std::move(checkpoint.layout);
    m_layout_id = m_layout.id();
  } else {
    mine.layout = layout_of(plan, share_of_work(left, m_communicator.rank(), m_communicator.size()));
    mine.layout.tile_points = std::max<std::int64_t>(plan.tile_points, 1);
    set_layout(mine.layout);
  }
  if (mine.payload.empty()) {
    mine.payload = empty_payload(fields_of(plan.set).size(), mine.layout.points.size());
  }
  if (!same_ranks) {
    // before any rank keeps a state of the new layout, whose file may have been one of the old
    if (m_communicator.rank() == 0) write_checkpoint(m_settings.file, m_layout, m_before, mine);
    barrier(m_communicator);
  }
  m_prisms = prisms_of(mine.layout.work);
  m_begin = std::move(mine);
}

IndexRange CheckpointGuard::prisms() const { return m_prisms; }

std::optional<RankState> CheckpointGuard::begin() {
  m_last = std::chrono::steady_clock::now();
  if (m_begin && !m_resumed && m_communicator.rank() == 0) {
    // the other ranks' states are worth nothing without the layout, and this rank may be the last to keep one
    keep({m_layout.ranks.front(), {}, {}});
  }
  return std::exchange(m_begin, std::nullopt);
}

bool CheckpointGuard::wants_state() {
  if (wants_stop()) return true;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_last).count() >= m_settings.every_seconds;
}

bool CheckpointGuard::wants_stop() {
  if (m_stopping) return true;
  if (interrupted()) {
    announce_stop(m_communicator);
    m_stopping = true;
  } else if (stop_announced(m_communicator)) {
    m_stopping = true;
  }
  return m_stopping;
}

void CheckpointGuard::keep(const RankState& state) {
  try {
    if (m_communicator.rank() == 0) {
      write_checkpoint(m_settings.file, m_layout, m_before, state);
    } else {
      write_rank_state(m_settings.file, m_communicator.rank(), m_layout, m_layout_id, state);
    }
    m_failure.clear();
  } catch (const RunError& error) {
    // the run itself may still come to its end
    m_failure = error.what();
  }
  m_last = std::chrono::steady_clock::now();
}

const RankState* CheckpointGuard::done_before() const { return m_before.payload.empty() ? nullptr : &m_before; }

}  // namespace prismfield
