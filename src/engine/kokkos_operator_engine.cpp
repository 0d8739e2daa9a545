// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <memory>
#include <vector>

#include "engine/operator_engine.hpp"
#include "engine/pair_launch.hpp"
#include "engine/tile_sums.hpp"
#include "engine/with_arithmetic.hpp"

namespace prismfield {

namespace {

/// Factors in the arithmetic of a kernel's sums.
template <class Real, class Memory>
struct ConvertFactors {
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> from;
  Kokkos::View<Real**, Kokkos::LayoutRight, Memory> to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto n = static_cast<std::int64_t>(to.extent(1));
    to(i / n, i % n) = static_cast<Real>(from(i / n, i % n));
  }
};

template <class Space, class A>
class KokkosOperatorEngine final : public OperatorEngine<Space> {
public:
  using Base = OperatorEngine<Space>;
  using Memory = typename Base::Memory;
  using Real = typename A::Real;

  explicit KokkosOperatorEngine(const EngineSettings& settings)
      : m_settings(settings), m_sums(settings), m_pair_launcher(settings) {
    allocate_or_fail([&] {
      m_pairs.rows = settings.rows;
      m_pairs.factors = decltype(m_pairs.factors)(view_label("factors"), m_sums.n_fields() + settings.rows.n_sums,
                                                  m_sums.result().extent(1));
    });
  }

  void start_tile(const Space& space, const double* easting, const double* northing, const double* upward,
                  std::int64_t n_points) override {
    m_sums.set_points(space, easting, northing, upward, n_points);
  }

  void empty_tile(const Space& space) override {
    m_sums.empty_slots(space);
    Kokkos::deep_copy(space, m_sums.result(), 0.0);
  }

  void stage(const Space& space, std::size_t at, const PrismBlock& block, bool keeps) override {
    // kernels may still read what lies at this place
    space.fence("prismfield: place free");
    while (m_blocks.size() <= at) {
      m_blocks.push_back(std::make_unique<StagedPrisms<Space, A>>(m_settings));
      m_has_unit_weights.push_back(false);
    }
    m_has_unit_weights[at] = false;
    m_blocks[at]->stage(space, block);
    m_blocks[at]->upload(space);
    if (m_ones.extent(0) < static_cast<std::size_t>(block.size())) {
      allocate_or_fail([&] { m_ones = decltype(m_ones)(view_label("ones"), static_cast<std::size_t>(block.size())); });
      Kokkos::deep_copy(space, m_ones, 1.0);
    }
    space.fence("prismfield: block staged");
    if (keeps) m_blocks[at]->free_staging();
  }

  void drop_blocks() override {
    m_blocks.clear();
    m_has_unit_weights.clear();
  }

  void add(const Space& space, std::size_t at, const typename Base::ConstDensities& density,
           std::int64_t first_batch) override {
    m_has_unit_weights[at] = false;
    m_blocks[at]->weigh(space, density);
    m_sums.add(space, *m_blocks[at], first_batch, [](std::int64_t, std::int64_t, std::int64_t) {});
  }

  void end_chunk(const Space& space) override { m_sums.reduce(space); }

  [[nodiscard]] typename Base::TileFields result() const override { return m_sums.result(); }

  void set_factors(const Space& space, const typename Base::TileFields& factors) override {
    const auto n = static_cast<std::int64_t>(m_pairs.factors.size());
    Kokkos::parallel_for("prismfield::factors",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, n),
                         ConvertFactors<Real, Memory>{factors, m_pairs.factors});
  }
  void add_products(const Space& space, std::size_t at, double scale, const typename Base::Densities& out) override {
    add_sums(space, at, kernel::PairSink::products, scale, out);
  }
  void add_squares(const Space& space, std::size_t at, double scale, const typename Base::Densities& out) override {
    add_sums(space, at, kernel::PairSink::squares, scale, out);
  }

  void store_entries(const Space& space, std::size_t at, double scale, const typename Base::Entries& entries) override {
    const auto stride = [&](int dimension) { return static_cast<std::int64_t>(entries.stride(dimension)); };
    m_pairs.scale = scale;
    m_pairs.entries.set(entries.data(), m_pairs.rows, stride(0), stride(1), stride(2));
    m_pair_launcher.store_entries(space, with_unit_weights(space, at), m_blocks[at]->one_shape(), m_pairs);
  }

private:
  void add_sums(const Space& space, std::size_t at, kernel::PairSink sink, double scale,
                const typename Base::Densities& out) {
    m_pairs.sink = sink;
    m_pair_launcher.add_sums(space, with_unit_weights(space, at), m_blocks[at]->one_shape(), m_pairs, scale, out);
  }

  kernel::LaunchData<A, Memory> with_unit_weights(const Space& space, std::size_t at) {
    StagedPrisms<Space, A>& block = *m_blocks[at];
    if (!m_has_unit_weights[at]) {
      block.weigh(space, Kokkos::subview(m_ones, std::make_pair(std::int64_t{0}, block.size())));
      m_has_unit_weights[at] = true;
    }
    kernel::LaunchData<A, Memory> data = m_sums.data();
    block.give_to(data);
    return data;
  }

  EngineSettings m_settings;
  TileSums<Space, A> m_sums;
  PairLauncher<Space, A> m_pair_launcher;
  kernel::PairData<A, Memory> m_pairs;
  std::vector<std::unique_ptr<StagedPrisms<Space, A>>> m_blocks;
  /// kg/m3, as many as the largest block has prisms
  Kokkos::View<double*, Memory> m_ones;
  /// Blocks that have weights of these, until densities come. To weigh 1e6 prisms takes an H200 some 0.02 ms, their
  /// entries of gz at 30 points 0.2.
  std::vector<bool> m_has_unit_weights;
};

}  // namespace

template <class Space, class A>
std::unique_ptr<OperatorEngine<Space>> make_operator_engine(const EngineSettings& settings) {
  return std::make_unique<KokkosOperatorEngine<Space, A>>(settings);
}

#define PRISMFIELD_KOKKOS_OPERATOR_ENGINE_IN(Space, Arithmetic) \
  template std::unique_ptr<OperatorEngine<Space>> make_operator_engine<Space, Arithmetic>(const EngineSettings&);
#define PRISMFIELD_KOKKOS_OPERATOR_ENGINES(Space) \
  PRISMFIELD_IN_EACH_ARITHMETIC(Space, PRISMFIELD_KOKKOS_OPERATOR_ENGINE_IN)
PRISMFIELD_FOR_EACH_SPACE(PRISMFIELD_KOKKOS_OPERATOR_ENGINES)

}  // namespace prismfield
