// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "operators/compressed/compressed_operator.hpp"

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "base/interrupt.hpp"
#include "base/random.hpp"
#include "compute/direct_plan.hpp"
#include "engine/with_space.hpp"
#include "model/points.hpp"
#include "operators/compressed/block_entries.hpp"
#include "operators/compressed/compressed_matrix.hpp"
#include "operators/compressed/h_matrix.hpp"
#include "operators/compressed/low_rank.hpp"
#include "operators/stored/stored_operator.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// Moves values, (n), to floats that are `scale` times smaller, a power of two.
std::vector<float> scaled_floats(const double* values, std::size_t n, double scale) {
  std::vector<float> floats(n);
  for (std::size_t i = 0; i < n; ++i) floats[i] = static_cast<float>(values[i] / scale);
  return floats;
}

/// The power of two that makes the largest of these values about 1; 1 where all are zero.
double scale_of(const double* values, std::size_t n) {
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(values[i]));
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest)) : 1.0;
}

/// Fills the blocks of a matrix, on all threads of a host space.
template <class Space>
class MatrixBuilder {
public:
  /// All must outlive it; `kernel` may be null where there are no blocks.
  MatrixBuilder(const EntryKernel<Space>* kernel, const ClusterTree& points, const ClusterTree& cells)
      : m_kernel(kernel), m_points(points), m_cells(cells), m_places(cut_into_blocks(points, cells)) {}

  /// Fills the blocks of some fields, (block, field): those whose tolerance, relative to a block's Frobenius norm, is
  /// above 0. Returns the pairs of a point and a cell that were computed.
  std::int64_t fill(const Space& space, const std::vector<double>& tolerance, std::vector<FactorBlock>& blocks) const {
    blocks.resize(m_places.size() * tolerance.size());
    std::atomic<std::int64_t> evaluated{0};
    std::atomic<bool> failed{false};
    std::exception_ptr failure;
    CompressedMatrix<Space>::for_each(space, m_places.size(), [&](std::size_t b) {
      // no exception may leave a thread
      try {
        throw_between_launches();
        if (!failed) evaluated += fill_block(m_places[b], tolerance, blocks.data() + b * tolerance.size());
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
    return evaluated;
  }

private:
  std::int64_t fill_block(const BlockPlace& place, const std::vector<double>& tolerance, FactorBlock* blocks) const {
    const IndexRange points = m_points.clusters[static_cast<std::size_t>(place.points)].range;
    const IndexRange cells = m_cells.clusters[static_cast<std::size_t>(place.cells)].range;
    BlockLines<Space> lines(*m_kernel, points, cells);
    for (std::size_t f = 0; f < tolerance.size(); ++f) {
      if (!(tolerance[f] > 0)) continue;
      FactorBlock block;
      block.field = static_cast<std::int64_t>(f);
      block.points = points;
      block.cells = cells;
      if (!place.admissible || !compress(lines, tolerance[f], block)) fill_dense(lines, block);
      blocks[f] = std::move(block);
    }
    return lines.evaluated();
  }

  /// False where low rank takes no less memory.
  static bool compress(BlockLines<Space>& lines, double tolerance, FactorBlock& block) {
    typename BlockLines<Space>::OfField of_field(lines, block.field);
    LowRank factors;
    // the crosses leave less than the singular values may
    if (!approximate_by_crosses(of_field, 0.3 * tolerance, factors)) return false;
    const std::int64_t rows = block.points.size();
    const std::int64_t columns = block.cells.size();
    recompress(rows, columns, 0.9 * tolerance, factors);
    if (factors.rank * (rows + columns) >= rows * columns) return false;
    block.rank = factors.rank;
    block.scale = scale_of(factors.u.data(), factors.u.size());
    block.u = scaled_floats(factors.u.data(), factors.u.size(), block.scale);
    block.v = scaled_floats(factors.v.data(), factors.v.size(), 1.0);
    return true;
  }

  static void fill_dense(BlockLines<Space>& lines, FactorBlock& block) {
    const auto n = static_cast<std::size_t>(block.points.size() * block.cells.size());
    const double* const values = lines.all() + static_cast<std::size_t>(block.field) * n;
    block.is_dense = true;
    block.scale = scale_of(values, n);
    block.u = scaled_floats(values, n, block.scale);
  }

  const EntryKernel<Space>* m_kernel;
  const ClusterTree& m_points;
  const ClusterTree& m_cells;
  std::vector<BlockPlace> m_places;
};

/// Things of a cluster at most. 1,600 stations and 32,000 cells at 1e-4 took a 14.6th of the memory of doubles with 50
/// and 125, a 15.1th with 25 and 64, and a 15.2th with 16 and 32, whose products were slower.
inline constexpr std::int64_t points_per_leaf = 32;
inline constexpr std::int64_t cells_per_leaf = 64;

/// The cells as a block, in the order of a tree; those of a leaf by shape and magnetisation, which makes rows of
/// entries cheaper.
inline PrismBlock cells_in_cluster_order(const PrismBlock& all, ClusterTree& tree) {
  const auto kind = [&](std::int64_t cell) {
    const auto i = static_cast<std::size_t>(cell);
    // equal edges differ by rounding
    std::array<float, 6> numbers = {static_cast<float>(all.east[i] - all.west[i]),
                                    static_cast<float>(all.north[i] - all.south[i]),
                                    static_cast<float>(all.top[i] - all.bottom[i])};
    for (std::size_t d = 0; d < 3 && !all.magnetization[d].empty(); ++d) {
      numbers[3 + d] = static_cast<float>(all.magnetization[d][i]);
    }
    return numbers;
  };
  for (const IndexRange range : tree.cut(1)) {
    std::stable_sort(tree.order.begin() + range.begin, tree.order.begin() + range.end,
                     [&](std::int64_t a, std::int64_t b) { return kind(a) < kind(b); });
  }
  PrismBlock ordered;
  ordered.resize(tree.size());
  for (std::size_t d = 0; d < 3; ++d) {
    if (all.magnetization[d].empty()) continue;
    for (const std::int64_t cell : tree.order) {
      ordered.magnetization[d].push_back(all.magnetization[d][static_cast<std::size_t>(cell)]);
    }
  }
  using Column = std::vector<double> PrismBlock::*;
  for (const Column column : {&PrismBlock::west, &PrismBlock::east, &PrismBlock::south, &PrismBlock::north,
                              &PrismBlock::bottom, &PrismBlock::top, &PrismBlock::density}) {
    for (std::size_t i = 0; i < tree.order.size(); ++i) {
      (ordered.*column)[i] = (all.*column)[static_cast<std::size_t>(tree.order[i])];
    }
  }
  return ordered;
}

/// The places of some points.
inline std::vector<ClusterBox> boxes_of(const PointColumns& points, IndexRange range) {
  std::vector<ClusterBox> boxes;
  for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i) {
    const std::array<double, 3> place = {points.easting[i], points.northing[i], points.upward[i]};
    boxes.push_back({place, place});
  }
  return boxes;
}

/// Trees and entries of a rank's points and all cells: what building needs and products do not.
template <class Space>
struct CompressionInput {
  ClusterTree points, cells;
  std::unique_ptr<EntryKernel<Space>> kernel;

  CompressionInput(const Space& space, const PrismSource& prisms, const PointColumns& all_points, const Plan& plan,
                   const Request& request) {
    points = make_clusters(boxes_of(all_points, plan.points()), points_per_leaf);
    std::vector<std::int64_t> numbers = points.order;
    for (std::int64_t& number : numbers) number += plan.point_begin;
    const Points ordered = chosen_points(all_points, numbers);
    PrismBlock all;
    prisms.read({0, prisms.size()}, all);
    std::vector<ClusterBox> boxes;
    for (std::size_t i = 0; i < static_cast<std::size_t>(all.size()); ++i) {
      boxes.push_back({{all.west[i], all.south[i], all.bottom[i]}, {all.east[i], all.north[i], all.top[i]}});
    }
    throw_between_launches();
    cells = make_clusters(boxes, cells_per_leaf);
    throw_between_launches();
    if (points.size() == 0 || cells.size() == 0) return;
    kernel = std::make_unique<EntryKernel<Space>>(space, cells_in_cluster_order(all, cells),
                                                  OrderedPoints{ordered.easting, ordered.northing, ordered.upward},
                                                  engine_settings(plan, prisms, all_points), request);
  }
};

/// What single rows say of a compressed matrix, field by field: squared norms of rows and of their errors, in
/// themselves and multiplied with a random and with a smooth density.
struct RowErrors {
  static constexpr std::size_t n_kinds = 3;
  /// (field, kind, error or norm)
  std::vector<double> sums;

  explicit RowErrors(std::int64_t n_fields) : sums(static_cast<std::size_t>(n_fields) * n_kinds * 2) {}

  /// Adds a row of a field, exact and compressed, (cells).
  void add(std::size_t field, const double* exact, const double* compressed,
           const std::array<std::vector<double>, 2>& densities) {
    double* const to = sums.data() + field * n_kinds * 2;
    std::array<double, 2> errors{}, products{}, parts{};
    for (std::size_t j = 0; j < densities[0].size(); ++j) {
      const double difference = compressed[j] - exact[j];
      to[0] += difference * difference;
      to[1] += exact[j] * exact[j];
      for (std::size_t k = 0; k < densities.size(); ++k) {
        const double part = exact[j] * densities[k][j];
        errors[k] += difference * densities[k][j];
        products[k] += part;
        parts[k] += std::abs(part);
      }
    }
    // where the cells' parts cancel, no error relative to what is left can be asked for
    constexpr double cancelled = 0.01;
    for (std::size_t k = 0; k < densities.size(); ++k) {
      const double norm = std::max(std::abs(products[k]), cancelled * parts[k]);
      to[2 * k + 2] += errors[k] * errors[k];
      to[2 * k + 3] += norm * norm;
    }
  }

  /// The largest relative error of a field.
  [[nodiscard]] double of(std::size_t field) const {
    double largest = 0;
    for (std::size_t k = 0; k < n_kinds; ++k) {
      const double* const sum = &sums[(field * n_kinds + k) * 2];
      if (sum[1] > 0) largest = std::max(largest, std::sqrt(sum[0] / sum[1]));
    }
    return largest;
  }
};

/// A random density, every cell 1 or -1, and a smooth one, a bell beside the middle of the cells.
inline std::array<std::vector<double>, 2> trial_densities(const PrismSource& prisms) {
  PrismBlock all;
  prisms.read({0, prisms.size()}, all);
  const Bounds b = prisms.bounds();
  std::array<std::vector<double>, 2> densities;
  for (std::size_t i = 0; i < static_cast<std::size_t>(all.size()); ++i) {
    const auto low = static_cast<std::uint32_t>(i);
    const auto high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) >> 32);
    constexpr std::array<std::uint32_t, 2> key = {0x68, 0x6d};
    densities[0].push_back(philox4x32({low, high, 0, 0}, key)[0] % 2 == 0 ? 1.0 : -1.0);
    const auto from_middle = [](double low_face, double high_face, double low_end, double high_end) {
      return (low_face + high_face - low_end - high_end) / std::max(high_end - low_end, min_longest_edge);
    };
    const double x = from_middle(all.west[i], all.east[i], b.west, b.east);
    const double y = from_middle(all.south[i], all.north[i], b.south, b.north);
    const double z = from_middle(all.bottom[i], all.top[i], b.bottom, b.top);
    densities[1].push_back(std::exp(-2 * ((x - 0.3) * (x - 0.3) + (y + 0.2) * (y + 0.2) + z * z)));
  }
  return densities;
}

/// How a compressed matrix is built.
template <class ExecutionSpace>
struct CompressionBuild {
  using Input = CompressionInput<ExecutionSpace>;
  using Direct = Operator<ExecutionSpace>;
  using Matrix = CompressedMatrix<ExecutionSpace>;
  using Entries = typename Operator<ExecutionSpace>::Entries;

  /// rows that are computed anew, of all ranks together, and of one at least
  static constexpr std::int64_t rows_to_check = 24, rows_of_a_rank = 3;
  static constexpr int most_rounds = 4;

  double tolerance;
  const Plan& plan;
  FieldList fields;
  const Communicator& all_ranks;
  Matrix& matrix;
  /// points of this rank whose rows were computed, and these, (field, 1, cell)
  std::vector<std::pair<std::int64_t, Entries>> rows;
  std::array<std::vector<double>, 2> densities;

  /// Fills the matrix, and fields anew until rows agree; then leaves out what the error asked for allows.
  void run(const ExecutionSpace& space, const PrismSource& prisms, const PointColumns& points, const Request& request,
           Direct& direct, CompressionReport& report) {
    std::unique_ptr<Input> input;
    std::unique_ptr<MatrixBuilder<ExecutionSpace>> builder;
    on_all_ranks(all_ranks, [&] {
      input = std::make_unique<Input>(space, prisms, points, plan, request);
      builder = std::make_unique<MatrixBuilder<ExecutionSpace>>(input->kernel.get(), input->points, input->cells);
      densities = trial_densities(prisms);
      compute_rows(space, direct);
    });
    std::vector<double> of_blocks(static_cast<std::size_t>(fields.size()), tolerance);
    std::vector<double> wanted = of_blocks;
    double last_error = std::numeric_limits<double>::infinity();
    for (int round = 0;; ++round) {
      on_all_ranks(all_ranks, [&] {
        std::vector<FactorBlock> blocks = std::move(matrix.blocks());
        report.evaluated_pairs += builder->fill(space, wanted, blocks);
        matrix = Matrix(input->points, input->cells, fields.size(), std::move(blocks));
      });
      const std::vector<double> found = errors(space);
      report.error = *std::max_element(found.begin(), found.end());
      if (report.error <= accepted()) break;
      // what floats leave does not shrink
      if (round == most_rounds || report.error > 0.9 * last_error) return;
      last_error = report.error;
      for (std::size_t f = 0; f < wanted.size(); ++f) {
        wanted[f] = 0;
        if (found[f] <= accepted()) continue;
        of_blocks[f] *= std::max(0.5 * tolerance / found[f], 0.1);
        wanted[f] = of_blocks[f];
      }
    }
    use_up(space, of_blocks, report);
    on_all_ranks(all_ranks, [&] {
      std::vector<FactorBlock> blocks = std::move(matrix.blocks());
      Matrix::for_each(space, blocks.size(), [&](std::size_t b) { blocks[b].drop_lines(); });
      matrix = Matrix(input->points, input->cells, fields.size(), std::move(blocks));
    });
  }

  /// What rows may show: few of them are looked at.
  [[nodiscard]] double accepted() const noexcept { return 0.8 * tolerance; }

  /// Errors of products are 2 to 60 times smaller than those of blocks: cuts the blocks of each field, made to
  /// `of_blocks`, so that rows show nearly what was asked for. Collective.
  void use_up(const ExecutionSpace& space, const std::vector<double>& of_blocks, CompressionReport& report) {
    constexpr int trials = 3;
    // other densities and rows than those looked at had up to twice their error
    const double wanted = tolerance / 3, most = 0.4 * tolerance;
    std::vector<double> tried = of_blocks, good = of_blocks;
    std::vector<double> found = errors(space);
    std::vector<double> of_good = found;
    for (int trial = 0; trial < trials; ++trial) {
      for (std::size_t f = 0; f < tried.size(); ++f) {
        tried[f] = std::min(tried[f] * wanted / std::max(found[f], least_compression * tolerance), most_of_block());
      }
      cut(space, tried);
      found = errors(space);
      for (std::size_t f = 0; f < tried.size(); ++f) {
        if (found[f] > most) continue;
        good[f] = tried[f];
        of_good[f] = found[f];
      }
    }
    cut(space, good);
    report.error = *std::max_element(of_good.begin(), of_good.end());
  }

  /// Lets no station or cell far from the others lose more than thirty times what all may.
  [[nodiscard]] double most_of_block() const noexcept { return 30 * tolerance; }

  void cut(const ExecutionSpace& space, const std::vector<double>& of_blocks) {
    on_all_ranks(all_ranks, [&] {
      std::vector<FactorBlock>& blocks = matrix.blocks();
      Matrix::for_each(space, blocks.size(),
                       [&](std::size_t b) { blocks[b].cut(of_blocks[static_cast<std::size_t>(blocks[b].field)]); });
    });
  }

  /// Computes rows of this rank somewhere in each of as many parts of its points.
  void compute_rows(const ExecutionSpace& space, Direct& direct) {
    const std::int64_t n = plan.points().size();
    const std::int64_t n_checked = std::min(n, std::max(rows_to_check / all_ranks.size(), rows_of_a_rank));
    if (plan.prisms().size() == 0) return;
    for (std::int64_t k = 0; k < n_checked; ++k) {
      const IndexRange part = balanced_part(n, k, n_checked);
      const std::uint32_t random = philox4x32({static_cast<std::uint32_t>(k), 1, 0, 0}, {0x68, 0x6d})[0];
      const std::int64_t point = part.begin + static_cast<std::int64_t>(random) % part.size();
      const Entries exact("prismfield::exact_rows", static_cast<std::size_t>(fields.size()), std::size_t{1},
                          static_cast<std::size_t>(plan.prisms().size()));
      direct.entries(space, {point, point + 1}, exact);
      rows.push_back({point, exact});
    }
    space.fence("prismfield: exact rows");
  }

  /// What rows say of each field. Collective.
  [[nodiscard]] std::vector<double> errors(const ExecutionSpace& space) const {
    RowErrors all(fields.size());
    on_all_ranks(all_ranks, [&] {
      std::vector<RowErrors> of_rows(rows.size(), RowErrors(fields.size()));
      Matrix::for_each(space, rows.size(), [&](std::size_t k) {
        std::vector<double> row(static_cast<std::size_t>(matrix.n_cells()));
        for (std::int64_t f = 0; f < fields.size(); ++f) {
          matrix.row(f, rows[k].first, row.data());
          of_rows[k].add(static_cast<std::size_t>(f), &rows[k].second(f, 0, 0), row.data(), densities);
        }
      });
      for (const RowErrors& of_row : of_rows) {
        std::transform(all.sums.begin(), all.sums.end(), of_row.sums.begin(), all.sums.begin(), std::plus<>());
      }
    });
    sum_everywhere(all_ranks, all.sums.data(), static_cast<std::int64_t>(all.sums.size()));
    std::vector<double> found;
    for (std::int64_t f = 0; f < fields.size(); ++f) found.push_back(all.of(static_cast<std::size_t>(f)));
    return found;
  }

  /// Sums over ranks what a rank counted. Collective.
  void count(CompressionReport& report) const {
    report.bytes = matrix.bytes();
    report.pairs = matrix.n_points() * matrix.n_cells();
    for (std::int64_t* const value : {&report.bytes, &report.pairs, &report.evaluated_pairs}) {
      std::int64_t sum = 0;
      for (const std::int64_t of_rank : gather_everywhere(all_ranks, *value)) sum += of_rank;
      *value = sum;
    }
    const double dense = 8.0 * static_cast<double>(report.pairs * fields.size());
    report.ratio = report.bytes > 0 ? dense / static_cast<double>(report.bytes) : 1.0;
  }
};

template <class ExecutionSpace>
class CompressedOperator final : public RankOperator<ExecutionSpace> {
public:
  using Base = RankOperator<ExecutionSpace>;
  using typename Base::ConstVectors;
  using typename Base::Entries;
  using typename Base::Vectors;

  /// `direct`: of the same prisms, points and request, by points.
  CompressedOperator(const ExecutionSpace& space, const PrismSource& prisms, const PointColumns& points,
                     const Request& request, double tolerance, const Communicator& communicator,
                     CompressionReport& report, Operator<ExecutionSpace>& direct)
      : Base(communicator, request.fields, direct.plan(), tolerance) {
    const Kokkos::Timer timer;
    report = CompressionReport();
    report.tolerance = tolerance;
    CompressionBuild<ExecutionSpace> build{tolerance, this->m_plan, this->m_fields, this->m_all_ranks, m_matrix, {},
                                           {}};
    build.run(space, prisms, points, request, direct, report);
    build.count(report);
    memory_of_space(this->m_plan) += bytes();
    report.seconds = timer.seconds();
  }

  [[nodiscard]] std::int64_t bytes() const noexcept override { return m_matrix.bytes(); }

private:
  [[nodiscard]] std::int64_t scratch_bytes() const noexcept override { return m_matrix.scratch_bytes(); }
  void multiply_rows(const ExecutionSpace& space, const ConstVectors& density, const Vectors& fields) override {
    space.fence("prismfield: densities are there");
    m_matrix.apply(space, density.extent_int(1), density.data(), fields.data());
  }
  void multiply_columns(const ExecutionSpace& space, const ConstVectors& fields, const Vectors& density) override {
    space.fence("prismfield: fields are there");
    m_matrix.apply_transpose(space, fields.extent_int(1), fields.data(), density.data());
  }
  void sum_squares(const ExecutionSpace& space, const ConstVectors& weights, const Vectors& diagonal) override {
    space.fence("prismfield: weights are there");
    for (std::size_t v = 0; v < weights.extent(1); ++v) {
      m_matrix.diagonal(space, weights.data() + v * weights.extent(0), diagonal.data() + v * diagonal.extent(0));
    }
  }
  void read_entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) override {
    const std::int64_t n_fields = this->fields().size();
    m_matrix.for_each(space, static_cast<std::size_t>(points.size() * n_fields), [&](std::size_t k) {
      const std::int64_t f = static_cast<std::int64_t>(k) % n_fields;
      const std::int64_t i = static_cast<std::int64_t>(k) / n_fields;
      m_matrix.row(f, points.begin + i, &entries(f, i, 0));
    });
  }

  CompressedMatrix<ExecutionSpace> m_matrix;
};

/// A sixteenth of the first n points that lie together, halfway from the middle to a corner; all where they are few.
Points points_together(const PointColumns& points, std::int64_t n) {
  const ClusterTree tree = make_clusters(boxes_of(points, {0, n}), points_per_leaf);
  if (tree.clusters.empty()) return {};
  std::int64_t at = 0;
  constexpr int levels = 4;
  for (int level = 0; level < levels && !tree.clusters[static_cast<std::size_t>(at)].is_leaf(); ++level) {
    at = tree.clusters[static_cast<std::size_t>(at)].child + (level < levels / 2 ? 1 : 0);
  }
  const IndexRange range = tree.clusters[static_cast<std::size_t>(at)].range;
  return chosen_points(points, std::span(tree.order.data() + range.begin, static_cast<std::size_t>(range.size())));
}

}  // namespace

template <class Space>
std::unique_ptr<Operator<Space>> make_compressed_operator(const Space& space, const PrismSource& prisms,
                                                          const PointColumns& points, const Request& request,
                                                          double tolerance, const Communicator& communicator,
                                                          CompressionReport& report) {
  const Request of_points = by_points(request);
  return std::make_unique<CompressedOperator<Space>>(
      space, prisms, points, of_points, checked_compression(tolerance), communicator, report,
      *make_direct_operator(space, prisms, points, of_points, communicator));
}

template <class ExecutionSpace>
CompressionSample sample_compression(const ExecutionSpace& space, const PrismSource& prisms, const PointColumns& points,
                                     std::int64_t n_points, Request request, double tolerance) {
  request = by_points(request);
  const Points some = points_together(points, n_points);
  if (some.size() == 0 || prisms.size() == 0) return {};
  const double share = static_cast<double>(some.size()) / static_cast<double>(n_points);
  const auto direct = make_direct_operator(space, prisms, some, request);
  CompressionSample sample;
  Kokkos::Timer timer;
  const CompressionInput<ExecutionSpace> input(space, prisms, some, direct->plan(), request);
  const MatrixBuilder<ExecutionSpace> builder(input.kernel.get(), input.points, input.cells);
  // trees of cells take as long for all points
  sample.seconds_to_make = timer.seconds();
  timer.reset();
  const std::int64_t n_fields = request.fields.size();
  std::vector<FactorBlock> blocks;
  builder.fill(space, std::vector<double>(static_cast<std::size_t>(n_fields), tolerance), blocks);
  sample.seconds_to_make += timer.seconds() / share;
  // products have smaller errors than blocks
  for (FactorBlock& block : blocks) {
    block.cut(2 * tolerance);
    block.drop_lines();
  }
  CompressedMatrix<ExecutionSpace> matrix(input.points, input.cells, n_fields, std::move(blocks));
  sample.bytes = static_cast<std::int64_t>(static_cast<double>(matrix.bytes()) / share);
  std::vector<double> density(static_cast<std::size_t>(prisms.size()), 1.0);
  std::vector<double> fields(static_cast<std::size_t>(n_fields * some.size()));
  // of one product; the least of some, because other programs on the machine disturb short ones
  const auto seconds_of = [&](CompressedMatrix<ExecutionSpace>& of) {
    constexpr int pairs_of_products = 10;
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < pairs_of_products; ++k) {
      const Kokkos::Timer of_pair;
      of.apply(space, 1, density.data(), fields.data());
      of.apply_transpose(space, 1, fields.data(), density.data());
      least = std::min(least, of_pair.seconds() / 2);
    }
    return least;
  };
  // what the cells' order takes is there once, however many the points are
  CompressedMatrix<ExecutionSpace> without_blocks(input.points, input.cells, n_fields, {});
  const double fixed = seconds_of(without_blocks);
  sample.product_seconds = fixed + std::max(seconds_of(matrix) - fixed, 0.0) / share;
  const auto of_blocks = static_cast<double>(matrix.scratch_bytes() - without_blocks.scratch_bytes());
  sample.bytes_of_vector = without_blocks.scratch_bytes() + static_cast<std::int64_t>(of_blocks / share);
  constexpr std::int64_t most_rows = 16;
  const std::int64_t n_rows = std::min(most_rows, points_at_once(n_fields, prisms.size(), some.size()));
  const typename Operator<ExecutionSpace>::Entries entries("prismfield::sample", static_cast<std::size_t>(n_fields),
                                                           static_cast<std::size_t>(n_rows),
                                                           static_cast<std::size_t>(prisms.size()));
  const Kokkos::Timer of_entries;
  direct->entries(space, {0, n_rows}, entries);
  space.fence("prismfield: entries of a sample");
  sample.seconds_per_entry = of_entries.seconds() / static_cast<double>(n_rows * prisms.size());
  // rows that are checked are computed, and put together from blocks in several trials, which takes as long again
  sample.seconds_to_make += 2 * sample.seconds_per_entry *
                            static_cast<double>(CompressionBuild<ExecutionSpace>::rows_to_check * prisms.size());
  return sample;
}

#define PRISMFIELD_COMPRESSED_OPERATORS(Space)                                                                       \
  template std::unique_ptr<Operator<Space>> make_compressed_operator(const Space&, const PrismSource&,               \
                                                                     const PointColumns&, const Request&, double,    \
                                                                     const Communicator&, CompressionReport&);       \
  template CompressionSample sample_compression(const Space&, const PrismSource&, const PointColumns&, std::int64_t, \
                                                Request, double);
PRISMFIELD_FOR_EACH_HOST_SPACE(PRISMFIELD_COMPRESSED_OPERATORS)

}  // namespace prismfield
