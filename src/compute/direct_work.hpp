// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/observer.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "compute/direct_state.hpp"
#include "compute/method.hpp"
#include "engine/engine.hpp"

namespace prismfield {

/// A rank's work by the direct method, tile by tile, chunk by chunk.
class DirectWork : public RankWork {
public:
  DirectWork(const Plan& plan, int rank);

  void prepare(const PrismSource& prisms, const PointColumns& points, const Communicator& communicator) override;
  void compute(const Communicator& communicator, Observer* observer, RunGuard* guard) override;
  [[nodiscard]] bool is_finished() const override { return m_state.progress.tile == m_plan.points().size(); }
  [[nodiscard]] WorkDone take() override;

  [[nodiscard]] std::vector<std::int64_t> layout(const Communicator& communicator) const override;
  [[nodiscard]] WorkState state() const override;
  void restore(KeptRun& kept) override;
  [[nodiscard]] double pairs_done() const override { return prismfield::pairs_done(m_state, m_plan); }

protected:
  RankState m_state;

private:
  /// `numbers`: of the tile's n points.
  void do_tile(const std::int64_t* numbers, std::int64_t n);
  void do_chunk(std::int64_t n);
  template <class Copy>
  void exchange(const std::int64_t* numbers, std::int64_t n, const Copy& copy);
  void count_pairs();
  [[nodiscard]] double cost() const;

  [[nodiscard]] std::size_t n_fields() const { return static_cast<std::size_t>(m_plan.computed.size()); }

  const PrismSource* m_prisms = nullptr;
  PointColumns m_points;
  const Communicator* m_communicator = nullptr;
  std::unique_ptr<FieldEngine> m_engine;
  Observer* m_observer = nullptr;
  RunGuard* m_guard = nullptr;
  std::array<std::int64_t, n_forms> m_pairs_before{};
  double m_pairs_to_do = 0;
  std::int64_t m_done = 0;
  bool m_stopped = false;
  PrismBlock m_block;
  std::vector<double> m_values, m_contact;
};

}  // namespace prismfield
