// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "compute/direct_operator.hpp"
#include "compute/direct_plan.hpp"
#include "compute/vector_functors.hpp"
#include "engine/with_arithmetic.hpp"

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
  double* fields;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    const int row = static_cast<int>(k / n_tile);
    const std::int64_t i = k % n_tile;
    if (rows.asked[row] < 0) return;
    const double value = rows.value(row, [&](int f) { return result(f, i); });
    fields[rows.asked[row] * n_points + order(first + i)] = gravitational_constant * value;
  }
};

/// The inverse, without G: zero in fields that are not asked for and in padding.
template <class Memory>
struct GatherFactors {
  const double* fields;
  Kokkos::View<const std::int64_t*, Memory> order;
  std::int64_t first, n_tile, n_points;
  kernel::FieldRows rows;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> factors;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    const auto padded = static_cast<std::int64_t>(factors.extent(1));
    const std::int64_t f = k / padded;
    const std::int64_t i = k % padded;
    const int asked = rows.asked[f];
    factors(f, i) = asked >= 0 && i < n_tile ? fields[asked * n_points + order(first + i)] : 0.0;
  }
};

template <class ExecutionSpace>
DirectOperator<ExecutionSpace>::DirectOperator(const ExecutionSpace& space, const PrismSource& prisms,
                                               const Points& points, OperatorPlan plan,
                                               const Communicator& communicator)
    : Base(communicator, plan.fields, plan.plan, error_bound_of(plan.plan.precision)),
      m_work(std::move(plan)),
      m_source(prisms),
      m_rows(kernel::field_rows(m_work.plan.set, m_work.fields)) {
  on_all_ranks(this->m_all_ranks, [&] { prepare(space, points); });
  this->m_plan = m_work.plan;
}

template <class ExecutionSpace>
void DirectOperator<ExecutionSpace>::prepare(const ExecutionSpace& space, const Points& points) {
  if (m_work.n_points() == 0 || m_work.n_prisms() == 0) return;
  make_fitting(m_work.plan, m_work.traits, false, [&](const Plan& fitting) {
    EngineSettings settings = engine_settings(fitting, m_source, points);
    settings.rows = m_rows;
    m_engine = with_arithmetic(fitting.precision, [&](auto arithmetic) {
      return make_operator_engine<ExecutionSpace, decltype(arithmetic)>(settings);
    });
  });
  m_work.choose_blocks();
  m_order = decltype(m_order)(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string("prismfield::order")),
                              m_work.order.size());
  Kokkos::deep_copy(space, m_order, OnHost<const std::int64_t>(m_work.order.data(), m_work.order.size()));
  m_factors =
      typename Engine::TileFields("prismfield::factors", m_rows.n_native + m_rows.n_sums, m_engine->result().extent(1));
  if (m_work.keeps_blocks) keep_blocks(space);
  space.fence("prismfield: operator made");
}

template <class ExecutionSpace>
void DirectOperator<ExecutionSpace>::keep_blocks(const ExecutionSpace& space) {
  try {
    for (std::size_t b = 0; b < m_work.blocks.size(); ++b) stage(space, b, b);
  } catch (const AllocationFailure&) {
    m_engine->drop_blocks();
    m_work.keeps_blocks = false;
  }
  m_block = PrismBlock();
}

template <class ExecutionSpace>
void DirectOperator<ExecutionSpace>::stage(const ExecutionSpace& space, std::size_t b, std::size_t at) {
  const IndexRange range = m_work.blocks[b].prisms;
  m_source.read({m_work.plan.prism_begin + range.begin, m_work.plan.prism_begin + range.end}, m_block);
  m_engine->stage(space, at, m_block, m_work.keeps_blocks);
}

template <class ExecutionSpace>
std::size_t DirectOperator<ExecutionSpace>::at(const ExecutionSpace& space, std::size_t b) {
  if (m_work.keeps_blocks) return b;
  stage(space, b, 0);
  return 0;
}

template <class ExecutionSpace>
template <class F>
void DirectOperator<ExecutionSpace>::for_each_tile(const ExecutionSpace& space, const F& f) {
  if (!m_engine) return;
  for (std::int64_t first = 0; first < m_work.n_points(); first += m_work.plan.direct.tile_points) {
    const std::int64_t n = std::min(m_work.plan.direct.tile_points, m_work.n_points() - first);
    if (m_tile != first) {
      const auto at = static_cast<std::size_t>(first);
      const Points& all = m_work.ordered;
      m_engine->start_tile(space, &all.easting[at], &all.northing[at], &all.upward[at], n);
      m_tile = first;
    }
    f(first, n);
  }
}

template <class ExecutionSpace>
void DirectOperator<ExecutionSpace>::multiply_rows(const ExecutionSpace& space, const ConstVectors& density,
                                                   const Vectors& fields) {
  if (!m_engine) Kokkos::deep_copy(space, fields, 0.0);
  for_each_tile(space, [&](std::int64_t first, std::int64_t n) {
    for (std::size_t v = 0; v < density.extent(1); ++v) {
      m_engine->empty_tile(space);
      for (std::size_t b = 0; b < m_work.blocks.size(); ++b) {
        const OperatorBlock& of = m_work.blocks[b];
        const auto part = Kokkos::subview(density, std::make_pair(of.prisms.begin, of.prisms.end), v);
        m_engine->add(space, at(space, b), part, of.prisms.begin / m_work.plan.direct.batch);
        if (of.ends_chunk) m_engine->end_chunk(space);
      }
      Kokkos::parallel_for("prismfield::scatter_fields",
                           Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
                               space, 0, (m_rows.n_native + m_rows.n_sums) * n),
                           ScatterFields<Memory>{m_engine->result(), m_order, first, n, m_work.n_points(), m_rows,
                                                 m_work.gravitational_constant, fields.data() + v * fields.extent(0)});
    }
  });
}

template <class ExecutionSpace>
template <class Add>
void DirectOperator<ExecutionSpace>::sum_over_points(const ExecutionSpace& space, const ConstVectors& fields,
                                                     const Vectors& out, const Add& add) {
  Kokkos::deep_copy(space, out, 0.0);
  for_each_tile(space, [&](std::int64_t first, std::int64_t n) {
    for (std::size_t v = 0; v < out.extent(1); ++v) {
      Kokkos::parallel_for("prismfield::gather_factors",
                           Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
                               space, 0, static_cast<std::int64_t>(m_factors.size())),
                           GatherFactors<Memory>{fields.data() + v * fields.extent(0), m_order, first, n,
                                                 m_work.n_points(), m_rows, m_factors});
      m_engine->set_factors(space, m_factors);
      for (std::size_t b = 0; b < m_work.blocks.size(); ++b) {
        const IndexRange range = m_work.blocks[b].prisms;
        add(at(space, b), Vector(Kokkos::subview(out, std::make_pair(range.begin, range.end), v)));
      }
    }
  });
}

template <class ExecutionSpace>
void DirectOperator<ExecutionSpace>::multiply_columns(const ExecutionSpace& space, const ConstVectors& fields,
                                                      const Vectors& density) {
  sum_over_points(space, fields, density, [&](std::size_t at, const Vector& out) {
    m_engine->add_products(space, at, m_work.gravitational_constant, out);
  });
}

template <class ExecutionSpace>
void DirectOperator<ExecutionSpace>::sum_squares(const ExecutionSpace& space, const ConstVectors& weights,
                                                 const Vectors& diagonal) {
  const double g = m_work.gravitational_constant;
  sum_over_points(space, weights, diagonal,
                  [&](std::size_t at, const Vector& out) { m_engine->add_squares(space, at, g * g, out); });
}

template <class ExecutionSpace>
void DirectOperator<ExecutionSpace>::read_entries(const ExecutionSpace& space, IndexRange points,
                                                  const Entries& entries) {
  for (std::int64_t first = points.begin; first < points.end; first += m_work.plan.direct.tile_points) {
    const std::int64_t n = std::min(m_work.plan.direct.tile_points, points.end - first);
    const auto from = static_cast<std::size_t>(first);
    const Points& all = m_work.unordered;
    m_engine->start_tile(space, &all.easting[from], &all.northing[from], &all.upward[from], n);
    m_tile = -1;
    for (std::size_t b = 0; b < m_work.blocks.size(); ++b) {
      const IndexRange range = m_work.blocks[b].prisms;
      const auto begin = first - points.begin;
      m_engine->store_entries(space, at(space, b), m_work.gravitational_constant,
                              Kokkos::subview(entries, Kokkos::ALL, std::make_pair(begin, begin + n),
                                              std::make_pair(range.begin, range.end)));
    }
  }
}

}  // namespace prismfield
