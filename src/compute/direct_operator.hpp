// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/operator.hpp>

#include "compute/direct_plan.hpp"
#include "compute/operator_plan.hpp"
#include "compute/rank_sums.hpp"
#include "compute/vector_functors.hpp"
#include "engine/instances/with_space.hpp"
#include "engine/operator_engine.hpp"
#include "engine/with_arithmetic.hpp"
#include "parallel/collectives.hpp"

/// The bodies of DirectOperator; instantiated in one source file a space.
namespace prismfield {

/// fields(asked field * n_points + order(i)) = G times the row that result(field of the set, i) makes, at a tile's
/// points.
template <class Memory>
struct ScatterFields {
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> result;
  Kokkos::View<const std::int64_t*, Memory> order;
  std::int64_t first, n_tile, n_points;
  kernel::FieldRows rows;
  double gravitational_constant;
  Kokkos::View<double*, Memory> fields;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    const int row = static_cast<int>(k / n_tile);
    const std::int64_t i = k % n_tile;
    if (rows.asked[row] < 0) return;
    const double value = rows.value(row, [&](int f) { return result(f, i); });
    fields(rows.asked[row] * n_points + order(first + i)) = gravitational_constant * value;
  }
};

/// The inverse, without G: zero in fields that are not asked for and in padding.
template <class Memory>
struct GatherFactors {
  Kokkos::View<const double*, Memory> fields;
  Kokkos::View<const std::int64_t*, Memory> order;
  std::int64_t first, n_tile, n_points;
  kernel::FieldRows rows;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> factors;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    const auto padded = static_cast<std::int64_t>(factors.extent(1));
    const std::int64_t f = k / padded;
    const std::int64_t i = k % padded;
    const int asked = rows.asked[f];
    factors(f, i) = asked >= 0 && i < n_tile ? fields(asked * n_points + order(first + i)) : 0.0;
  }
};

template <class ExecutionSpace>
struct DirectOperator<ExecutionSpace>::Parts {
  using Memory = typename ExecutionSpace::memory_space;
  using Engine = OperatorEngine<ExecutionSpace>;
  using IndexPolicy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

  OperatorPlan plan;
  const PrismSource& source;
  /// all ranks; those of the same points, whose fields add up; those of the same prisms, whose densities do
  Communicator all_ranks, same_points, same_prisms;
  std::unique_ptr<Engine> engine;
  /// of the rank's points, which are numbered from 0, in the order of work
  Kokkos::View<std::int64_t*, Memory> order;
  kernel::FieldRows rows;
  typename Engine::TileFields factors;
  /// first point of the tile that the engine has; -1: none
  std::int64_t tile = -1;
  PrismBlock block;

  Parts(const ExecutionSpace& space, const PrismSource& prisms, const Points& points, const Request& request,
        const Communicator& communicator)
      : plan(plan_operator(key_of(space, request.execution.space), prisms, points, request, communicator)),
        source(prisms),
        all_ranks(split(communicator, 0)),
        same_points(split(communicator, communicator.rank() / plan.plan.prism_parts)),
        same_prisms(split(communicator, communicator.rank() % plan.plan.prism_parts)),
        rows(kernel::field_rows(plan.plan.set, plan.fields)) {
    on_all_ranks(all_ranks, [&] { prepare(space, points); });
  }

  /// Allocates, and stages the prisms.
  void prepare(const ExecutionSpace& space, const Points& points) {
    if (plan.n_points() == 0 || plan.n_prisms() == 0) return;
    make_fitting(plan.plan, plan.traits, false,
                 [&](const Plan& fitting) { engine = make_engine(engine_settings(fitting, source, points)); });
    plan.choose_blocks();
    order = decltype(order)(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string("prismfield::order")),
                            plan.order.size());
    Kokkos::deep_copy(space, order, OnHost<const std::int64_t>(plan.order.data(), plan.order.size()));
    factors = typename Engine::TileFields("prismfield::factors", n_rows(), engine->result().extent(1));
    if (plan.keeps_blocks) keep_blocks(space);
    space.fence("prismfield: operator made");
  }

  /// Stages every block; where memory is too short for that, none is kept.
  void keep_blocks(const ExecutionSpace& space) {
    try {
      for (std::size_t b = 0; b < plan.blocks.size(); ++b) stage(space, b, b);
    } catch (const AllocationFailure&) {
      engine->drop_blocks();
      plan.keeps_blocks = false;
    }
    block = PrismBlock();
  }

  [[nodiscard]] int n_rows() const { return rows.n_native + rows.n_sums; }

  std::unique_ptr<Engine> make_engine(EngineSettings settings) const {
    settings.rows = rows;
    return with_arithmetic(plan.plan.precision, [&](auto arithmetic) {
      return make_operator_engine<ExecutionSpace, decltype(arithmetic)>(settings);
    });
  }

  void stage(const ExecutionSpace& space, std::size_t b, std::size_t at) {
    const IndexRange range = plan.blocks[b].prisms;
    source.read({plan.plan.prism_begin + range.begin, plan.plan.prism_begin + range.end}, block);
    engine->stage(space, at, block, plan.keeps_blocks);
  }

  /// The place of block b in the engine, where it is now.
  std::size_t at(const ExecutionSpace& space, std::size_t b) {
    if (plan.keeps_blocks) return b;
    stage(space, b, 0);
    return 0;
  }

  /// Calls f(first ordered point, points) for every tile that the rank has, with the engine at it.
  template <class F>
  void for_each_tile(const ExecutionSpace& space, const F& f) {
    if (!engine) return;
    for (std::int64_t first = 0; first < plan.n_points(); first += plan.plan.direct.tile_points) {
      const std::int64_t n = std::min(plan.plan.direct.tile_points, plan.n_points() - first);
      if (tile != first) {
        const auto at = static_cast<std::size_t>(first);
        engine->start_tile(space, &plan.coordinates[0][at], &plan.coordinates[1][at], &plan.coordinates[2][at], n);
        tile = first;
      }
      f(first, n);
    }
  }

  void apply(const ExecutionSpace& space, const ConstVector& density, const Vector& fields) {
    check_product("density", density, plan.n_prisms(), "fields", fields, plan.fields.size() * plan.n_points());
    if (!engine) Kokkos::deep_copy(space, fields, 0.0);
    for_each_tile(space, [&](std::int64_t first, std::int64_t n) {
      engine->empty_tile(space);
      for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
        const OperatorBlock& of = plan.blocks[b];
        const auto part = Kokkos::subview(density, std::make_pair(of.prisms.begin, of.prisms.end));
        engine->add(space, at(space, b), part, of.prisms.begin / plan.plan.direct.batch);
        if (of.ends_chunk) engine->end_chunk(space);
      }
      Kokkos::parallel_for("prismfield::scatter_fields", IndexPolicy(space, 0, n_rows() * n),
                           ScatterFields<Memory>{engine->result(), order, first, n, plan.n_points(), rows,
                                                 plan.gravitational_constant, fields});
    });
  }

  /// Adds products or squares of every tile and block to `out`, which is named `key`.
  template <class Add>
  void sum_over_points(const ExecutionSpace& space, const char* input_key, const ConstVector& fields, const char* key,
                       const Vector& out, const Add& add) {
    check_product(input_key, fields, plan.fields.size() * plan.n_points(), key, out, plan.n_prisms());
    Kokkos::deep_copy(space, out, 0.0);
    for_each_tile(space, [&](std::int64_t first, std::int64_t n) {
      Kokkos::parallel_for("prismfield::gather_factors",
                           IndexPolicy(space, 0, static_cast<std::int64_t>(factors.size())),
                           GatherFactors<Memory>{fields, order, first, n, plan.n_points(), rows, factors});
      engine->set_factors(space, factors);
      for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
        const IndexRange range = plan.blocks[b].prisms;
        add(at(space, b), Vector(Kokkos::subview(out, std::make_pair(range.begin, range.end))));
      }
    });
  }

  void entries(const ExecutionSpace& space, IndexRange points, const Entries& all) {
    if (!engine) return;
    for (std::int64_t first = points.begin; first < points.end; first += plan.plan.direct.tile_points) {
      const std::int64_t n = std::min(plan.plan.direct.tile_points, points.end - first);
      const auto from = static_cast<std::size_t>(first);
      engine->start_tile(space, &plan.unordered[0][from], &plan.unordered[1][from], &plan.unordered[2][from], n);
      tile = -1;
      for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
        const IndexRange range = plan.blocks[b].prisms;
        const auto begin = first - points.begin;
        engine->store_entries(space, at(space, b), plan.gravitational_constant,
                              Kokkos::subview(all, Kokkos::ALL, std::make_pair(begin, begin + n),
                                              std::make_pair(range.begin, range.end)));
      }
    }
  }
};

template <class ExecutionSpace>
DirectOperator<ExecutionSpace>::DirectOperator(const ExecutionSpace& space, const PrismSource& prisms,
                                               const Points& points, const Request& request,
                                               const Communicator& communicator)
    : m_parts(std::make_unique<Parts>(space, prisms, points, request, communicator)) {}

template <class ExecutionSpace>
DirectOperator<ExecutionSpace>::~DirectOperator() = default;

template <class ExecutionSpace>
FieldList DirectOperator<ExecutionSpace>::fields() const noexcept {
  return m_parts->plan.fields;
}
template <class ExecutionSpace>
IndexRange DirectOperator<ExecutionSpace>::points() const noexcept {
  return m_parts->plan.plan.points();
}
template <class ExecutionSpace>
IndexRange DirectOperator<ExecutionSpace>::prisms() const noexcept {
  return m_parts->plan.plan.prisms();
}

template <class ExecutionSpace>
void DirectOperator<ExecutionSpace>::apply(const ExecutionSpace& space, const ConstVector& density,
                                           const Vector& fields) {
  on_all_ranks(m_parts->all_ranks, [&] { m_parts->apply(space, density, fields); });
  sum_over_ranks(space, m_parts->same_points, fields);
}

template <class ExecutionSpace>
void DirectOperator<ExecutionSpace>::apply_transpose(const ExecutionSpace& space, const ConstVector& fields,
                                                     const Vector& density) {
  on_all_ranks(m_parts->all_ranks, [&] {
    m_parts->sum_over_points(space, "fields", fields, "density", density, [&](std::size_t at, const Vector& out) {
      m_parts->engine->add_products(space, at, m_parts->plan.gravitational_constant, out);
    });
  });
  sum_over_ranks(space, m_parts->same_prisms, density);
}

template <class ExecutionSpace>
void DirectOperator<ExecutionSpace>::diagonal(const ExecutionSpace& space, const ConstVector& weights,
                                              const Vector& diagonal) {
  const double g = m_parts->plan.gravitational_constant;
  on_all_ranks(m_parts->all_ranks, [&] {
    m_parts->sum_over_points(space, "weights", weights, "diagonal", diagonal, [&](std::size_t at, const Vector& out) {
      m_parts->engine->add_squares(space, at, g * g, out);
    });
  });
  sum_over_ranks(space, m_parts->same_prisms, diagonal);
}

template <class ExecutionSpace>
void DirectOperator<ExecutionSpace>::entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) {
  check_entries(points, this->points().size(), entries, fields().size(), this->columns());
  m_parts->entries(space, points, entries);
}

template <class ExecutionSpace>
double DirectOperator<ExecutionSpace>::dot_fields(const ExecutionSpace& space, const ConstVector& a,
                                                  const ConstVector& b) {
  return dot_over_ranks(space, m_parts->all_ranks, m_parts->same_prisms, a, b, this->rows());
}

template <class ExecutionSpace>
double DirectOperator<ExecutionSpace>::dot_densities(const ExecutionSpace& space, const ConstVector& a,
                                                     const ConstVector& b) {
  return dot_over_ranks(space, m_parts->all_ranks, m_parts->same_points, a, b, this->columns());
}

template <class ExecutionSpace>
double DirectOperator<ExecutionSpace>::error_bound() const noexcept {
  return error_bound_of(m_parts->plan.plan.precision);
}
template <class ExecutionSpace>
const Plan& DirectOperator<ExecutionSpace>::plan() const noexcept {
  return m_parts->plan.plan;
}

}  // namespace prismfield
