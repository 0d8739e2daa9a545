// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/observer.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "compute/run_guard.hpp"
#include "engine/engine.hpp"

namespace prismfield {

/// Does a rank's work, item by item, tile by tile, chunk by chunk.
class Worker {
public:
  Worker(const PrismSource& prisms, const Points& points, const Plan& plan, const Communicator& communicator,
         FieldEngine& engine, RankState& state, Observer* observer, RunGuard* guard);

  /// Returns before the end when the guard wants to stop or, without one, another rank has announced that it stops.
  void work();

  /// of all its work; the largest count where there are more
  [[nodiscard]] std::int64_t pairs() const noexcept { return m_pairs; }
  /// in this run, without those of a run that it goes on from
  [[nodiscard]] std::int64_t pairs_done() const noexcept { return m_done; }

private:
  void do_item(const WorkItem& item);
  /// `numbers`: of the tile's n points.
  void do_tile(const WorkItem& item, const std::int64_t* numbers, std::int64_t n);
  void do_chunk(const WorkItem& item, std::int64_t n);
  template <class Copy>
  void exchange(const std::int64_t* numbers, std::int64_t n, const Copy& copy);
  void count_pairs();

  [[nodiscard]] std::size_t n_fields() const { return static_cast<std::size_t>(fields_of(m_plan.set).size()); }

  const PrismSource& m_prisms;
  const Points& m_points;
  const Plan& m_plan;
  const Communicator& m_communicator;
  FieldEngine& m_engine;
  RankState& m_state;
  Observer* m_observer;
  RunGuard* m_guard;
  std::array<std::int64_t, n_forms> m_pairs_before;
  std::int64_t m_pairs = 0;
  double m_pairs_to_do = 0;
  std::int64_t m_done = 0;
  bool m_stopped = false;
  PrismBlock m_block;
  std::vector<double> m_values, m_contact;
};

}  // namespace prismfield
