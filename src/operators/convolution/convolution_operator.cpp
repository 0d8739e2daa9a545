// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/make_operator.hpp>
#include <prismfield/operator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "base/interrupt.hpp"
#include "compute/rank_operator.hpp"
#include "compute/vector_functors.hpp"
#include "engine/staged_prisms.hpp"
#include "engine/with_space.hpp"
#include "operators/convolution/convolution_contacts.hpp"
#include "operators/convolution/convolution_functors.hpp"
#include "operators/convolution/convolution_layout.hpp"
#include "operators/convolution/convolution_plan.hpp"
#include "operators/convolution/evaluate_convolution.hpp"
#include "operators/convolution/fft.hpp"
#include "operators/convolution/lattice_kernels.hpp"
#include "operators/convolution/make_convolution_operator.hpp"

/// Convolutions as an operator, which forward runs evaluate.
namespace prismfield {
namespace {

/// G of prisms on a regular mesh at points commensurate with it: layer by layer a product with a matrix that is
/// block-Toeplitz, by fast Fourier transforms; see make_convolution_operator().
///
/// A product works on some planes of points and some vectors at a time. For these it goes over the layers, block by
/// block, once: a layer's density is transformed once for all planes and fields. Sums over layers, and in the transpose
/// over fields and planes, are sums of frequencies; fields and densities are transformed back at the end.
template <class ExecutionSpace>
class ConvolutionOperator final : public RankOperator<ExecutionSpace> {
public:
  using Base = RankOperator<ExecutionSpace>;
  using typename Base::ConstVectors;
  using typename Base::Entries;
  using typename Base::Indices;
  using typename Base::Memory;
  using typename Base::Vectors;

  ConvolutionOperator(const ExecutionSpace& space, const PrismSource& prisms, const PointColumns& points,
                      const Request& request, const Communicator& communicator)
      : ConvolutionOperator(
            space, prisms,
            plan_convolution(key_of(space, request.execution.space), prisms, points, request, communicator),
            std::nullopt, communicator) {}
  /// `points`: this rank's, which outlive the operator; without them the plan has them.
  ConvolutionOperator(const ExecutionSpace& space, const PrismSource& prisms, ConvolutionPlan plan,
                      const std::optional<PointColumns>& points, const Communicator& communicator)
      : Base(communicator, plan.fields, plan.plan, plan.error_bound),
        m_work(std::move(plan)),
        m_source(prisms),
        m_at(points ? *points : PointColumns(m_work.points)) {
    on_all_ranks(this->m_all_ranks, [&] {
      if (layout().n_layers() > 0) prepare(space);
    });
  }

  [[nodiscard]] std::int64_t bytes() const noexcept override { return m_kernels ? m_kernels->kept_bytes() : 0; }

private:
  using Batch = typename Fft<ExecutionSpace>::Batch;
  using Kernels = LatticeKernels<ExecutionSpace>;

  /// What a product works on at a time.
  struct Part {
    IndexRange vectors, planes;
  };

  [[nodiscard]] const ConvolutionLayout& layout() const noexcept { return *m_work.layout; }
  [[nodiscard]] std::int64_t n_fields() const noexcept { return m_work.fields.size(); }

  void prepare(const ExecutionSpace& space) {
    allocate_or_fail([&] {
      m_fft = std::make_unique<Fft<ExecutionSpace>>(space, layout().shape);
      m_prisms = entries_of(space, layout().prisms);
      m_points = entries_of(space, layout().points);
      m_weight = {copied(space, layout().levels), copied(space, layout().on_levels)};
      m_amounts.amounts = copied(space, layout().amounts);
    });
    m_kernels = std::make_unique<Kernels>(*m_fft, m_work);
    space.fence("prismfield: operator made");
  }
  /// What a layout has, in the space's memory; of many prisms gigabytes, which a host has there already.
  template <class T>
  static Kokkos::View<const T*, Memory> copied(const ExecutionSpace& space, const std::vector<T>& from) {
    if constexpr (std::is_same_v<Memory, Kokkos::HostSpace>) {
      return Kokkos::View<const T*, Memory>(from.data(), from.size());
    } else {
      const Kokkos::View<T*, Memory> to(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("lattice")),
                                        from.size());
      Kokkos::deep_copy(space, to, OnHost<const T>(from.data(), from.size()));
      return to;
    }
  }
  static DeviceEntries<Memory> entries_of(const ExecutionSpace& space, const LatticeEntries& entries) {
    return {copied(space, entries.number), copied(space, entries.place)};
  }

  // ---- products

  void multiply_rows(const ExecutionSpace& space, const ConstVectors& density, const Vectors& fields) override {
    Kokkos::deep_copy(space, fields, 0.0);
    for_each_part(density.extent(1), [&](const Part& part) {
      const Batch sums = some_of(m_fields, part.vectors.size() * part.planes.size() * n_fields());
      for (std::int64_t block = 0; block < m_kernels->n_blocks(); ++block) {
        const Batch layers = transformed_layers(space, density, part.vectors, block);
        for (std::int64_t plane = part.planes.begin; plane < part.planes.end; ++plane) {
          this->pause(done_before(part, block, plane));
          const Batch kernels = m_kernels->of(space, plane, block);
          for (std::int64_t v = 0; v < part.vectors.size(); ++v) {
            multiply_block(space, block, block > 0, kernels, transforms_of(layers, block, v),
                           transforms_of(sums, part, v, plane));
          }
        }
      }
      m_fft->inverse(space, sums, layout().point_rows());
      for_each_pair(part, [&](std::int64_t v, std::int64_t plane) {
        gather(space, m_points, plane_of(plane).points, weight_of(plane), rows_of_fields(),
               transforms_of(sums, part, v, plane), vector_of(fields, part.vectors.begin + v));
      });
    });
  }
  void multiply_columns(const ExecutionSpace& space, const ConstVectors& fields, const Vectors& density) override {
    correlate(space, fields, m_amounts, density,
              [&](std::int64_t plane, std::int64_t block) { return m_kernels->of(space, plane, block); });
  }
  /// The squares of G are block-Toeplitz too, and the same levels serve them; not those of sums over magnetisations.
  void sum_squares(const ExecutionSpace& space, const ConstVectors& weights, const Vectors& diagonal) override {
    if (layout().magnetizations.size() > 1) return sum_squares_of_pairs(space, weights, diagonal);
    EntryWeight<Memory> squared = m_amounts;
    squared.are_squared = true;
    correlate(space, weights, squared, diagonal,
              [&](std::int64_t plane, std::int64_t block) { return m_kernels->squares(space, plane, block); });
  }
  void sum_squares_of_pairs(const ExecutionSpace& space, const ConstVectors& weights, const Vectors& diagonal) const {
    PrismBlock block;
    m_source.read(m_work.plan.prisms(), block);
    const PrismList prisms(block.columns());
    Request request;
    request.fields = m_work.fields;
    request.execution.space = m_work.plan.space;
    request.magnetic.inside = m_work.plan.inside;
    request.magnetic.inducing_field = m_work.plan.inducing_direction;
    request.magnetic.vacuum_permeability *= m_work.constant / request.constant(true);
    make_direct_operator(space, prisms, m_at, request)->diagonal(space, weights, diagonal);
  }

  /// density = G' fields with the kernels of kernels_of(plane, block), of each prism times its weight.
  template <class KernelsOf>
  void correlate(const ExecutionSpace& space, const ConstVectors& fields, const EntryWeight<Memory>& weight,
                 const Vectors& density, const KernelsOf& kernels_of) {
    Kokkos::deep_copy(space, density, 0.0);
    for_each_part(fields.extent(1), [&](const Part& part) {
      const Batch sums = transformed_planes(space, fields, part);
      for (std::int64_t block = 0; block < m_kernels->n_blocks(); ++block) {
        throw_between_launches();
        const Batch layers = some_of(m_layers, part.vectors.size() * m_kernels->layers_of(block).size());
        for (std::int64_t plane = part.planes.begin; plane < part.planes.end; ++plane) {
          const Batch kernels = kernels_of(plane, block);
          for (std::int64_t v = 0; v < part.vectors.size(); ++v) {
            multiply_conjugates(space, block, plane > part.planes.begin, kernels, transforms_of(sums, part, v, plane),
                                transforms_of(layers, block, v));
          }
        }
        m_fft->inverse(space, layers, layout().cell_rows());
        for (std::int64_t v = 0; v < part.vectors.size(); ++v) {
          gather_prisms(space, block, weight, transforms_of(layers, block, v),
                        vector_of(density, part.vectors.begin + v));
        }
      }
    });
  }

  /// Adds a block's layers to a vector: of one magnetisation after the other, as each has entries of all prisms.
  void gather_prisms(const ExecutionSpace& space, std::int64_t block, const EntryWeight<Memory>& weight,
                     const double* layers, double* density) const {
    const IndexRange entries = layout().prisms_in(m_kernels->layers_of(block));
    for (std::int64_t first = 0; first < entries.end; first += this->columns()) {
      const IndexRange some = common(entries, {first, first + this->columns()});
      if (some.size() > 0) gather(space, m_prisms, some, weight, rows_of_layers(block), layers, density);
    }
  }

  /// Calls f(part) for all planes and vectors.
  template <class F>
  void for_each_part(std::size_t vectors, const F& f) {
    if (!m_kernels) return;
    const auto n = static_cast<std::int64_t>(vectors);
    const ConvolutionBuffers& b = m_work.buffers;
    for (std::int64_t v = 0; v < n; v += b.vectors_at_once) {
      for (std::int64_t plane = 0; plane < layout().n_planes(); plane += b.planes_at_once) {
        f(Part{{v, std::min(v + b.vectors_at_once, n)},
               {plane, std::min(plane + b.planes_at_once, layout().n_planes())}});
      }
    }
  }
  /// Calls f(vector of the part, plane), for all vectors of a plane one after the other.
  template <class F>
  static void for_each_pair(const Part& part, const F& f) {
    for (std::int64_t plane = part.planes.begin; plane < part.planes.end; ++plane) {
      for (std::int64_t v = 0; v < part.vectors.size(); ++v) f(v, plane);
    }
  }

  /// The fraction of a product of one part of vectors that is done.
  [[nodiscard]] double done_before(const Part& part, std::int64_t block, std::int64_t plane) const noexcept {
    const std::int64_t of_part = block * part.planes.size() + plane - part.planes.begin;
    const std::int64_t before = part.planes.begin * m_kernels->n_blocks();
    return static_cast<double>(before + of_part) / static_cast<double>(layout().n_planes() * m_kernels->n_blocks());
  }

  /// (vector and layer of the block, frequency)
  Batch transformed_layers(const ExecutionSpace& space, const ConstVectors& density, IndexRange vectors,
                           std::int64_t block) {
    const Batch layers = zeros(space, m_layers, vectors.size() * m_kernels->layers_of(block).size());
    for (std::int64_t v = 0; v < vectors.size(); ++v) {
      scatter(space, m_prisms, layout().prisms_in(m_kernels->layers_of(block)), m_amounts, rows_of_layers(block),
              vector_of(density, vectors.begin + v), transforms_of(layers, block, v));
    }
    m_fft->forward(space, layers, layout().cell_rows());
    return layers;
  }
  /// (vector, plane of the part and field, frequency)
  Batch transformed_planes(const ExecutionSpace& space, const ConstVectors& fields, const Part& part) {
    const Batch planes = zeros(space, m_fields, part.vectors.size() * part.planes.size() * n_fields());
    for_each_pair(part, [&](std::int64_t v, std::int64_t plane) {
      scatter(space, m_points, plane_of(plane).points, weight_of(plane), rows_of_fields(),
              vector_of(fields, part.vectors.begin + v), transforms_of(planes, part, v, plane));
    });
    m_fft->forward(space, planes, layout().point_rows());
    return planes;
  }
  void scatter(const ExecutionSpace& space, const DeviceEntries<Memory>& entries, IndexRange range,
               const EntryWeight<Memory>& weight, const Rows& rows, const double* vector, double* lattice) const {
    Kokkos::parallel_for("prismfield::to_lattice", Indices(space, range.begin, range.end),
                         ScatterEntries<Memory>{entries, range.begin, range.end, weight, rows, vector, lattice});
  }
  void gather(const ExecutionSpace& space, const DeviceEntries<Memory>& entries, IndexRange range,
              const EntryWeight<Memory>& weight, const Rows& rows, const double* lattice, double* vector) const {
    Kokkos::parallel_for("prismfield::from_lattice", Indices(space, range.begin, range.end),
                         GatherEntries<Memory>{entries, weight, rows, lattice, vector});
  }

  /// sums, (field, frequency) = kernels times a block's layers, or that more
  void multiply_block(const ExecutionSpace& space, std::int64_t block, bool adds, const Batch& kernels,
                      const double* layers, double* sums) const {
    const std::int64_t n_layers = m_kernels->layers_of(block).size();
    Kokkos::parallel_for(
        "prismfield::multiply_frequencies", Indices(space, 0, n_fields() * stretches()),
        MultiplyFrequencies<ExecutionSpace>{n_layers, n_fields(), layout().shape.frequencies(), adds,
                                            frequencies(kernels.data()), frequencies(layers), frequencies(sums)});
  }
  /// a block's layers, (layer, frequency) = conjugate kernels times sums, or that more
  void multiply_conjugates(const ExecutionSpace& space, std::int64_t block, bool adds, const Batch& kernels,
                           const double* sums, double* layers) const {
    const std::int64_t n_layers = m_kernels->layers_of(block).size();
    Kokkos::parallel_for(
        "prismfield::multiply_conjugates", Indices(space, 0, n_layers * stretches()),
        MultiplyConjugates<ExecutionSpace>{n_layers, n_fields(), layout().shape.frequencies(), adds,
                                           frequencies(kernels.data()), frequencies(sums), frequencies(layers)});
  }

  // ---- where things are

  [[nodiscard]] const ConvolutionPlane& plane_of(std::int64_t plane) const noexcept {
    return layout().planes[static_cast<std::size_t>(plane)];
  }
  [[nodiscard]] EntryWeight<Memory> weight_of(std::int64_t plane) const {
    EntryWeight<Memory> weight = m_weight;
    weight.level = plane_of(plane).level;
    for (int k = 0; weight.level >= 0 && k < static_cast<int>(layout().levels.size()); ++k) {
      const double own = layout().levels[static_cast<std::size_t>(weight.level)];
      if (k != weight.level) weight.scale /= own - layout().levels[static_cast<std::size_t>(k)];
    }
    return weight;
  }
  [[nodiscard]] Rows rows_of_fields() const noexcept {
    return {n_fields(), this->points().size(), layout().shape.reals(), 0};
  }
  /// One row: entries of prisms have places that count on from layer to layer.
  [[nodiscard]] Rows rows_of_layers(std::int64_t block) const noexcept {
    return {1, 0, 0, m_kernels->layers_of(block).begin * layout().shape.reals()};
  }
  [[nodiscard]] std::int64_t stretches() const noexcept {
    constexpr std::int64_t at_once = frequencies_at_once<ExecutionSpace>;
    return (layout().shape.frequencies() + at_once - 1) / at_once;
  }
  /// A vector's layers; a vector's fields of a plane.
  [[nodiscard]] double* transforms_of(const Batch& layers, std::int64_t block, std::int64_t vector) const {
    return transform(layers, vector * m_kernels->layers_of(block).size());
  }
  [[nodiscard]] double* transforms_of(const Batch& planes, const Part& part, std::int64_t vector,
                                      std::int64_t plane) const {
    return transform(planes, (vector * part.planes.size() + plane - part.planes.begin) * n_fields());
  }
  // By address: a host may not ask a View of a device's memory.
  [[nodiscard]] double* transform(const Batch& batch, std::int64_t number) const {
    return batch.data() + number * layout().shape.reals();
  }
  template <class View>
  static auto* vector_of(const View& vectors, std::int64_t number) {
    return vectors.data() + number * static_cast<std::int64_t>(vectors.extent(0));
  }
  static const Complex* frequencies(const double* reals) { return reinterpret_cast<const Complex*>(reals); }
  static Complex* frequencies(double* reals) { return reinterpret_cast<Complex*>(reals); }

  /// So many transforms out of `room`, which grows. Throws AllocationFailure.
  Batch some_of(Batch& room, std::int64_t transforms) const {
    const auto n = static_cast<std::size_t>(transforms);
    if (room.extent(0) < n) {
      allocate_or_fail([&] {
        room = Batch();
        room = Batch(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("lattice_sums")), n,
                     static_cast<std::size_t>(layout().shape.reals()));
      });
    }
    return Kokkos::subview(room, std::make_pair(std::size_t{0}, n), Kokkos::ALL);
  }
  Batch zeros(const ExecutionSpace& space, Batch& room, std::int64_t transforms) const {
    const Batch part = some_of(room, transforms);
    Kokkos::deep_copy(space, part, 0.0);
    return part;
  }

  void find_touching(std::vector<double>& contact) const override {
    add_contacts(layout(), m_source, m_at, smallest_set(m_work.plan.computed), contact);
  }

  // ---- entries

  void read_entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) override {
    const std::int64_t n_prisms = this->columns();
    PrismBlock block;
    for (std::int64_t begin = 0; begin < n_prisms; begin += prisms_of_entries) {
      const std::int64_t end = std::min(begin + prisms_of_entries, n_prisms);
      m_source.read({m_work.plan.prism_begin + begin, m_work.plan.prism_begin + end}, block);
      m_kernels->engine().stage(space, 0, block, false);
      for (std::int64_t first = points.begin; first < points.end; first += m_work.engine.tile_points) {
        const std::int64_t last = std::min(first + m_work.engine.tile_points, points.end);
        const auto at = static_cast<std::size_t>(first);
        m_kernels->engine().start_tile(space, &m_at.easting[at], &m_at.northing[at], &m_at.upward[at], last - first);
        m_kernels->engine().store_entries(
            space, 0, m_work.constant,
            Kokkos::subview(entries, Kokkos::ALL, std::make_pair(first - points.begin, last - points.begin),
                            std::make_pair(begin, end)));
      }
    }
  }

  /// Spectra that are kept count as bytes(), not as scratch of products.
  [[nodiscard]] std::int64_t scratch_bytes() const noexcept override {
    const std::size_t sums = m_fields.size() + m_layers.size();
    return static_cast<std::int64_t>(sums * sizeof(double)) + (m_kernels ? m_kernels->scratch_bytes() : 0);
  }

  ConvolutionPlan m_work;
  const PrismSource& m_source;
  PointColumns m_at;
  std::unique_ptr<Fft<ExecutionSpace>> m_fft;
  DeviceEntries<Memory> m_prisms, m_points;
  /// of points, and of prisms
  EntryWeight<Memory> m_weight, m_amounts;
  /// none without prisms or points
  std::unique_ptr<Kernels> m_kernels;
  Batch m_fields, m_layers;
};

}  // namespace

template <class ExecutionSpace>
std::unique_ptr<Operator<ExecutionSpace>> make_convolution_operator(const ExecutionSpace& space,
                                                                    const PrismSource& prisms,
                                                                    const PointColumns& points, const Request& request,
                                                                    const Communicator& communicator) {
  return std::make_unique<ConvolutionOperator<ExecutionSpace>>(space, prisms, points, request, communicator);
}

void check_transforms(Space space) {
  with_space(space, [](auto of) {
    if constexpr (space_key<decltype(of)> == Space::hip) {
      refuse_fft("it computes on hosts and NVIDIA's devices; give execution.space openmp or serial");
    } else if (!Fft<decltype(of)>::is_built()) {
      refuse_fft("this library was built without transforms for a device; give execution.space openmp or serial");
    }
  });
}

Evaluate evaluate_convolution(const RankProblem& problem, ConvolutionPlan plan) {
  return with_space(problem.plan.space, [&](const auto& space) -> Evaluate {
    using ExecutionSpace = std::decay_t<decltype(space)>;
    // see check_transforms()
    if constexpr (space_key<ExecutionSpace> == Space::hip) {
      return {};
    } else {
      const auto made = std::make_shared<ConvolutionOperator<ExecutionSpace>>(space, problem.prisms, std::move(plan),
                                                                              problem.points, Communicator());
      return [space, made, &prisms = problem.prisms](RankFields& fields, const ApplyContext& context) {
        made->evaluate(space, prisms, fields, context);
      };
    }
  });
}

#define PRISMFIELD_CONVOLUTION_OPERATORS(Space)                        \
  template std::unique_ptr<Operator<Space>> make_convolution_operator( \
      const Space&, const PrismSource&, const PointColumns&, const Request&, const Communicator&);
PRISMFIELD_FOR_EACH_HOST_SPACE(PRISMFIELD_CONVOLUTION_OPERATORS)
PRISMFIELD_FOR_EACH_CUDA_SPACE(PRISMFIELD_CONVOLUTION_OPERATORS)

}  // namespace prismfield
