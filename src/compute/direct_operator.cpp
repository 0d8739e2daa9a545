// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <prismfield/communicator.hpp>
#include <prismfield/make_operator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "base/interrupt.hpp"
#include "compute/direct_plan.hpp"
#include "compute/operator_plan.hpp"
#include "compute/rank_operator.hpp"
#include "compute/vector_functors.hpp"
#include "engine/operator_engine.hpp"
#include "engine/with_arithmetic.hpp"
#include "engine/with_space.hpp"

namespace prismfield {

template <class Space>
void add_vectors(const Space& space, double a, const Kokkos::View<const double*, typename Space::memory_space>& x,
                 double b, const Kokkos::View<double*, typename Space::memory_space>& y) {
  KokkosBlas::axpby(space, a, x, b, y);
}

template <class Space>
double inner_product(const Space& space, const Kokkos::View<const double*, typename Space::memory_space>& a,
                     const Kokkos::View<const double*, typename Space::memory_space>& b) {
  return KokkosBlas::dot(space, a, b);
}

namespace {

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

/// G computed anew in every product: see make_direct_operator(). Of several vectors one after the other, for kernels
/// hold the sums of one, tile by tile of the points.
template <class ExecutionSpace>
class DirectOperator final : public RankOperator<ExecutionSpace> {
public:
  using Base = RankOperator<ExecutionSpace>;
  using typename Base::ConstVectors;
  using typename Base::Entries;
  using typename Base::Indices;
  using typename Base::Memory;
  using typename Base::Vector;
  using typename Base::Vectors;

  DirectOperator(const ExecutionSpace& space, const PrismSource& prisms, const PointColumns& points,
                 const Request& request, const Communicator& communicator)
      : DirectOperator(space, prisms, points,
                       plan_operator(key_of(space, request.execution.space), prisms, points, request, communicator),
                       communicator) {}

private:
  using Engine = OperatorEngine<ExecutionSpace>;

  DirectOperator(const ExecutionSpace& space, const PrismSource& prisms, const PointColumns& points, OperatorPlan plan,
                 const Communicator& communicator)
      : Base(communicator, plan.fields, plan.plan, error_bound_of(plan.plan.precision)),
        m_work(std::move(plan)),
        m_source(prisms),
        m_rows(kernel::field_rows(smallest_set(m_work.plan.computed), m_work.fields, m_work.plan.inducing_direction)) {
    on_all_ranks(this->m_all_ranks, [&] { prepare(space, points); });
    this->m_plan = m_work.plan;
  }

  void multiply_rows(const ExecutionSpace& space, const ConstVectors& density, const Vectors& fields) override {
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
        Kokkos::parallel_for("prismfield::scatter_fields", Indices(space, 0, (m_rows.n_native + m_rows.n_sums) * n),
                             ScatterFields<Memory>{m_engine->result(), m_order, first, n, m_work.n_points(), m_rows,
                                                   m_work.constant, fields.data() + v * fields.extent(0)});
      }
    });
  }
  void multiply_columns(const ExecutionSpace& space, const ConstVectors& fields, const Vectors& density) override {
    sum_over_points(space, fields, density, [&](std::size_t at, const Vector& out) {
      m_engine->add_products(space, at, m_work.constant, out);
    });
  }
  void sum_squares(const ExecutionSpace& space, const ConstVectors& weights, const Vectors& diagonal) override {
    const double g = m_work.constant;
    sum_over_points(space, weights, diagonal,
                    [&](std::size_t at, const Vector& out) { m_engine->add_squares(space, at, g * g, out); });
  }
  void read_entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) override {
    for (std::int64_t first = points.begin; first < points.end; first += m_work.plan.direct.tile_points) {
      const std::int64_t n = std::min(m_work.plan.direct.tile_points, points.end - first);
      start_tile(space, m_work.unordered, first, n);
      m_tile = -1;
      for (std::size_t b = 0; b < m_work.blocks.size(); ++b) {
        const IndexRange range = m_work.blocks[b].prisms;
        const auto begin = first - points.begin;
        m_engine->store_entries(space, at(space, b), m_work.constant,
                                Kokkos::subview(entries, Kokkos::ALL, std::make_pair(begin, begin + n),
                                                std::make_pair(range.begin, range.end)));
      }
    }
  }

  /// Allocates, and stages the prisms.
  void prepare(const ExecutionSpace& space, const PointColumns& points) {
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
    m_factors = typename Engine::TileFields("prismfield::factors", m_rows.n_native + m_rows.n_sums,
                                            m_engine->result().extent(1));
    if (m_work.keeps_blocks) keep_blocks(space);
    space.fence("prismfield: operator made");
  }
  /// Stages every block, which can be left between them; where memory is too short for that, none is kept.
  void keep_blocks(const ExecutionSpace& space) {
    try {
      for (std::size_t b = 0; b < m_work.blocks.size(); ++b) {
        throw_between_launches();
        stage(space, b, b);
      }
    } catch (const AllocationFailure&) {
      m_engine->drop_blocks();
      m_work.keeps_blocks = false;
    }
    m_block = PrismBlock();
  }
  void stage(const ExecutionSpace& space, std::size_t b, std::size_t at) {
    const IndexRange range = m_work.blocks[b].prisms;
    m_source.read({m_work.plan.prism_begin + range.begin, m_work.plan.prism_begin + range.end}, m_block);
    m_engine->stage(space, at, m_block, m_work.keeps_blocks);
  }
  /// The place of block b in the engine, where it is now; what is computed can be left before it.
  std::size_t at(const ExecutionSpace& space, std::size_t b) {
    if constexpr (is_device_space<ExecutionSpace>) keep_queue_short(space, m_work.blocks[b].prisms.size());
    throw_between_launches();
    if (m_work.keeps_blocks) return b;
    stage(space, b, 0);
    return 0;
  }
  /// Limits the work queued on the device to a tenth of a second, for which a caller that leaves a product waits.
  void keep_queue_short(const ExecutionSpace& space, std::int64_t n_prisms) {
    constexpr std::int64_t most_pairs = std::int64_t{1} << 33;
    m_queued_pairs += n_prisms * m_work.plan.direct.tile_points;
    if (m_queued_pairs < most_pairs) return;
    space.fence("prismfield: queue worked off");
    m_queued_pairs = 0;
  }
  void start_tile(const ExecutionSpace& space, const PointColumns& all, std::int64_t first, std::int64_t n) {
    const auto at = static_cast<std::size_t>(first);
    m_engine->start_tile(space, &all.easting[at], &all.northing[at], &all.upward[at], n);
  }
  /// Calls f(first ordered point, points) for every tile that the rank has, with the engine at it.
  template <class F>
  void for_each_tile(const ExecutionSpace& space, const F& f) {
    if (!m_engine) return;
    for (std::int64_t first = 0; first < m_work.n_points(); first += m_work.plan.direct.tile_points) {
      const std::int64_t n = std::min(m_work.plan.direct.tile_points, m_work.n_points() - first);
      if (m_tile != first) start_tile(space, m_work.ordered, first, n);
      m_tile = first;
      f(first, n);
    }
  }
  /// add(place, part of out) for every tile, vector and block, with the vector's factors set.
  template <class Add>
  void sum_over_points(const ExecutionSpace& space, const ConstVectors& fields, const Vectors& out, const Add& add) {
    Kokkos::deep_copy(space, out, 0.0);
    for_each_tile(space, [&](std::int64_t first, std::int64_t n) {
      for (std::size_t v = 0; v < out.extent(1); ++v) {
        Kokkos::parallel_for("prismfield::gather_factors", Indices(space, 0, m_factors.size()),
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

  OperatorPlan m_work;
  const PrismSource& m_source;
  kernel::FieldRows m_rows;
  std::unique_ptr<Engine> m_engine;
  /// of the rank's points, which are numbered from 0, in the order of work
  Kokkos::View<std::int64_t*, Memory> m_order;
  typename Engine::TileFields m_factors;
  /// first point of the tile that the engine has; -1: none
  std::int64_t m_tile = -1;
  std::int64_t m_queued_pairs = 0;
  PrismBlock m_block;
};

}  // namespace

template <class ExecutionSpace>
std::unique_ptr<Operator<ExecutionSpace>> make_direct_operator(const ExecutionSpace& space, const PrismSource& prisms,
                                                               const PointColumns& points, const Request& request,
                                                               const Communicator& communicator) {
  return std::make_unique<DirectOperator<ExecutionSpace>>(space, prisms, points, request, communicator);
}

#define PRISMFIELD_DIRECT_OPERATORS(Space)                                                                         \
  template void add_vectors(const Space&, double, const Kokkos::View<const double*, Space::memory_space>&, double, \
                            const Kokkos::View<double*, Space::memory_space>&);                                    \
  template double inner_product(const Space&, const Kokkos::View<const double*, Space::memory_space>&,             \
                                const Kokkos::View<const double*, Space::memory_space>&);                          \
  template std::unique_ptr<Operator<Space>> make_direct_operator(                                                  \
      const Space&, const PrismSource&, const PointColumns&, const Request&, const Communicator&);
PRISMFIELD_FOR_EACH_SPACE(PRISMFIELD_DIRECT_OPERATORS)

}  // namespace prismfield
