// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

#include <prismfield/communicator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "compute/operator_plan.hpp"
#include "compute/rank_operator.hpp"
#include "engine/instances/with_space.hpp"
#include "engine/operator_engine.hpp"

namespace prismfield {

/// G computed anew in every product: see make_direct_operator(). Of several vectors one after the other, for kernels
/// hold the sums of one, tile by tile of the points.
template <class ExecutionSpace>
class DirectOperator final : public RankOperator<ExecutionSpace> {
public:
  using Base = RankOperator<ExecutionSpace>;
  using typename Base::ConstVectors;
  using typename Base::Entries;
  using typename Base::Memory;
  using typename Base::Vector;
  using typename Base::Vectors;

  DirectOperator(const ExecutionSpace& space, const PrismSource& prisms, const Points& points, const Request& request,
                 const Communicator& communicator = {})
      : DirectOperator(space, prisms, points,
                       plan_operator(key_of(space, request.execution.space), prisms, points, request, communicator),
                       communicator) {}

private:
  using Engine = OperatorEngine<ExecutionSpace>;

  DirectOperator(const ExecutionSpace& space, const PrismSource& prisms, const Points& points, OperatorPlan plan,
                 const Communicator& communicator);

  void multiply_rows(const ExecutionSpace& space, const ConstVectors& density, const Vectors& fields) override;
  void multiply_columns(const ExecutionSpace& space, const ConstVectors& fields, const Vectors& density) override;
  void sum_squares(const ExecutionSpace& space, const ConstVectors& weights, const Vectors& diagonal) override;
  void read_entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) override;

  /// Allocates, and stages the prisms.
  void prepare(const ExecutionSpace& space, const Points& points);
  /// Stages every block; where memory is too short for that, none is kept.
  void keep_blocks(const ExecutionSpace& space);
  void stage(const ExecutionSpace& space, std::size_t b, std::size_t at);
  /// The place of block b in the engine, where it is now.
  std::size_t at(const ExecutionSpace& space, std::size_t b);
  /// Calls f(first ordered point, points) for every tile that the rank has, with the engine at it.
  template <class F>
  void for_each_tile(const ExecutionSpace& space, const F& f);
  /// add(place, part of out) for every tile, vector and block, with the vector's factors set.
  template <class Add>
  void sum_over_points(const ExecutionSpace& space, const ConstVectors& fields, const Vectors& out, const Add& add);

  OperatorPlan m_work;
  const PrismSource& m_source;
  kernel::FieldRows m_rows;
  std::unique_ptr<Engine> m_engine;
  /// of the rank's points, which are numbered from 0, in the order of work
  Kokkos::View<std::int64_t*, Memory> m_order;
  typename Engine::TileFields m_factors;
  /// first point of the tile that the engine has; -1: none
  std::int64_t m_tile = -1;
  PrismBlock m_block;
};

}  // namespace prismfield
