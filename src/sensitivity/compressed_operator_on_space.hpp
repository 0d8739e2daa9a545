// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "base/random.hpp"
#include "compute/direct_plan.hpp"
#include "compute/operator_plan.hpp"
#include "compute/rank_sums.hpp"
#include "parallel/collectives.hpp"
#include "sensitivity/compressed_operator.hpp"
#include "sensitivity/matrix_builder.hpp"
#include "sensitivity/storage_choice.hpp"

/// The bodies of CompressedOperator; instantiated in one source file a space.
namespace prismfield {

/// Things of a cluster at most. 1,600 stations and 32,000 cells at 1e-4 took a 14.6th of the memory of doubles with 50
/// and 125, a 15.1th with 25 and 64, and a 15.2th with 16 and 32, whose products were slower.
inline constexpr std::int64_t points_per_leaf = 32;
inline constexpr std::int64_t cells_per_leaf = 64;

/// The cells as a block, in the order of a tree; those of a leaf by shape, which makes rows of entries cheaper.
inline PrismBlock cells_in_cluster_order(const PrismBlock& all, ClusterTree& tree) {
  const auto edges = [&](std::int64_t cell) {
    const auto i = static_cast<std::size_t>(cell);
    // equal edges differ by rounding
    return std::array<float, 3>{static_cast<float>(all.east[i] - all.west[i]),
                                static_cast<float>(all.north[i] - all.south[i]),
                                static_cast<float>(all.top[i] - all.bottom[i])};
  };
  for (const IndexRange range : tree.cut(1)) {
    std::stable_sort(tree.order.begin() + range.begin, tree.order.begin() + range.end,
                     [&](std::int64_t a, std::int64_t b) { return edges(a) < edges(b); });
  }
  PrismBlock ordered;
  ordered.resize(tree.size());
  using Column = std::vector<double> PrismBlock::*;
  for (const Column column : {&PrismBlock::west, &PrismBlock::east, &PrismBlock::south, &PrismBlock::north,
                              &PrismBlock::bottom, &PrismBlock::top, &PrismBlock::density}) {
    for (std::size_t i = 0; i < tree.order.size(); ++i) {
      (ordered.*column)[i] = (all.*column)[static_cast<std::size_t>(tree.order[i])];
    }
  }
  return ordered;
}

/// Trees and entries of a rank's points and all cells: what building needs and products do not.
template <class Space>
struct CompressionInput {
  ClusterTree points, cells;
  std::unique_ptr<EntryKernel<Space>> kernel;

  CompressionInput(const Space& space, const PrismSource& prisms, const Points& all_points, const Plan& plan,
                   const Request& request) {
    const std::array<const std::vector<double>*, 3> columns = {&all_points.easting, &all_points.northing,
                                                               &all_points.upward};
    std::vector<ClusterBox> boxes;
    for (std::int64_t i = plan.point_begin; i < plan.point_end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::array<double, 3> place = {(*columns[0])[at], (*columns[1])[at], (*columns[2])[at]};
      boxes.push_back({place, place});
    }
    points = make_clusters(boxes, points_per_leaf);
    OrderedPoints ordered;
    for (std::size_t d = 0; d < 3; ++d) {
      for (const std::int64_t i : points.order) {
        ordered[d].push_back((*columns[d])[static_cast<std::size_t>(plan.point_begin + i)]);
      }
    }
    PrismBlock all;
    prisms.read({0, prisms.size()}, all);
    boxes.clear();
    for (std::size_t i = 0; i < static_cast<std::size_t>(all.size()); ++i) {
      boxes.push_back({{all.west[i], all.south[i], all.bottom[i]}, {all.east[i], all.north[i], all.top[i]}});
    }
    cells = make_clusters(boxes, cells_per_leaf);
    if (points.size() == 0 || cells.size() == 0) return;
    const EngineSettings settings = engine_settings(plan, prisms, all_points);
    kernel = std::make_unique<EntryKernel<Space>>(space, cells_in_cluster_order(all, cells), ordered, settings.rounding,
                                                  request.fields, request.gravitational_constant);
  }
};

/// What single rows say of a compressed matrix, field by field: squared norms of rows and of their errors, in
/// themselves and multiplied with a random and with a smooth density.
class RowErrors {
public:
  static constexpr std::size_t n_kinds = 3;

  explicit RowErrors(std::int64_t n_fields) : m_sums(static_cast<std::size_t>(n_fields) * n_kinds * 2) {}

  void add(const RowErrors& others) {
    for (std::size_t i = 0; i < m_sums.size(); ++i) m_sums[i] += others.m_sums[i];
  }

  /// Adds a row of a field, exact and compressed, (cells).
  void add(std::size_t field, const double* exact, const double* compressed,
           const std::array<std::vector<double>, 2>& densities) {
    const std::size_t n = densities[0].size();
    std::array<double, n_kinds> error{}, norm{};
    std::array<double, 2> parts{};
    for (std::size_t j = 0; j < n; ++j) {
      const double difference = compressed[j] - exact[j];
      error[0] += difference * difference;
      norm[0] += exact[j] * exact[j];
      for (std::size_t k = 0; k < densities.size(); ++k) {
        const double part = exact[j] * densities[k][j];
        error[1 + k] += difference * densities[k][j];
        norm[1 + k] += part;
        parts[k] += std::abs(part);
      }
    }
    // where the cells' parts cancel, no error relative to what is left can be asked for
    constexpr double cancelled = 0.01;
    for (std::size_t k = 0; k < densities.size(); ++k)
      norm[1 + k] = std::max(std::abs(norm[1 + k]), cancelled * parts[k]);
    double* const sums = m_sums.data() + field * n_kinds * 2;
    for (std::size_t k = 0; k < n_kinds; ++k) {
      sums[2 * k] += k == 0 ? error[k] : error[k] * error[k];
      sums[2 * k + 1] += k == 0 ? norm[k] : norm[k] * norm[k];
    }
  }

  /// Collective.
  void sum_over(const Communicator& ranks) {
    sum_everywhere(ranks, m_sums.data(), static_cast<std::int64_t>(m_sums.size()));
  }

  /// The largest relative error of a field.
  [[nodiscard]] double of(std::size_t field) const {
    double largest = 0;
    for (std::size_t k = 0; k < n_kinds; ++k) {
      const double error = m_sums[(field * n_kinds + k) * 2];
      const double norm = m_sums[(field * n_kinds + k) * 2 + 1];
      if (norm > 0) largest = std::max(largest, std::sqrt(error / norm));
    }
    return largest;
  }

private:
  /// (field, kind, error or norm)
  std::vector<double> m_sums;
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

template <class ExecutionSpace>
struct CompressedOperator<ExecutionSpace>::Parts {
  using Input = CompressionInput<ExecutionSpace>;
  using Direct = DirectOperator<ExecutionSpace>;

  /// rows that are computed anew, of all ranks together, and of one at least
  static constexpr std::int64_t rows_to_check = 24, rows_of_a_rank = 3;
  static constexpr int most_rounds = 4;

  double tolerance;
  Plan plan;
  FieldList fields;
  /// all ranks, and this one alone: ranks have all cells and points of their own
  Communicator all_ranks, this_rank;
  CompressedMatrix<ExecutionSpace> matrix;
  /// points of this rank whose rows were computed, and these, (field, 1, cell); while it is built
  std::vector<std::pair<std::int64_t, Entries>> rows;
  std::array<std::vector<double>, 2> densities;

  Parts(const ExecutionSpace& space, const PrismSource& prisms, const Points& points, Request request,
        double asked_tolerance, const Communicator& communicator, CompressionReport& report)
      : tolerance(checked_compression(asked_tolerance)),
        fields(request.fields),
        all_ranks(split(communicator, 0)),
        this_rank(split(communicator, communicator.rank())) {
    const Kokkos::Timer timer;
    request.execution.partition = Partition::points;
    Direct direct(space, prisms, points, request, communicator);
    plan = direct.plan();
    report = CompressionReport();
    report.tolerance = tolerance;
    build(space, prisms, points, request, direct, report);
    rows.clear();
    densities = {};
    count(report);
    report.seconds = timer.seconds();
  }

  /// Fills the matrix, and fields anew until rows agree; then leaves out what the error asked for allows.
  void build(const ExecutionSpace& space, const PrismSource& prisms, const Points& points, const Request& request,
             Direct& direct, CompressionReport& report) {
    std::unique_ptr<Input> input;
    std::unique_ptr<MatrixBuilder<ExecutionSpace>> builder;
    on_all_ranks(all_ranks, [&] {
      input = std::make_unique<Input>(space, prisms, points, plan, request);
      builder = std::make_unique<MatrixBuilder<ExecutionSpace>>(input->kernel.get(), input->points, input->cells);
      densities = trial_densities(prisms);
      compute_rows(space, direct);
      report.checked_rows = static_cast<std::int64_t>(rows.size());
    });
    std::vector<double> of_blocks(static_cast<std::size_t>(fields.size()), tolerance);
    std::vector<double> wanted = of_blocks;
    double last_error = std::numeric_limits<double>::infinity();
    for (;; ++report.rounds) {
      on_all_ranks(all_ranks, [&] {
        std::vector<FactorBlock> blocks = std::move(matrix.blocks());
        report.evaluated_pairs += builder->fill(space, wanted, blocks);
        matrix = CompressedMatrix<ExecutionSpace>(input->points, input->cells, fields.size(), std::move(blocks));
      });
      const std::vector<double> found = errors(space);
      report.error = *std::max_element(found.begin(), found.end());
      if (report.error <= accepted()) break;
      // what floats leave does not shrink
      if (report.rounds == most_rounds || report.error > 0.9 * last_error) return;
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
      CompressedMatrix<ExecutionSpace>::for_each(space, blocks.size(), [&](std::size_t b) { blocks[b].drop_lines(); });
      matrix = CompressedMatrix<ExecutionSpace>(input->points, input->cells, fields.size(), std::move(blocks));
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
      CompressedMatrix<ExecutionSpace>::for_each(space, blocks.size(), [&](std::size_t b) {
        blocks[b].cut(of_blocks[static_cast<std::size_t>(blocks[b].field)]);
      });
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
    RowErrors sums(fields.size());
    on_all_ranks(all_ranks, [&] {
      std::vector<RowErrors> of_rows(rows.size(), RowErrors(fields.size()));
      CompressedMatrix<ExecutionSpace>::for_each(space, rows.size(), [&](std::size_t k) {
        std::vector<double> row(static_cast<std::size_t>(matrix.n_cells()));
        for (std::int64_t f = 0; f < fields.size(); ++f) {
          matrix.row(f, rows[k].first, row.data());
          of_rows[k].add(static_cast<std::size_t>(f), &rows[k].second(f, 0, 0), row.data(), densities);
        }
      });
      for (const RowErrors& of_row : of_rows) sums.add(of_row);
    });
    sums.sum_over(all_ranks);
    std::vector<double> found;
    for (std::int64_t f = 0; f < fields.size(); ++f) found.push_back(sums.of(static_cast<std::size_t>(f)));
    return found;
  }

  /// Sums over ranks what a rank counted. Collective.
  void count(CompressionReport& report) const {
    report.bytes = matrix.bytes();
    report.pairs = matrix.n_points() * matrix.n_cells();
    for (const FactorBlock& block : matrix.blocks()) {
      ++(block.is_dense ? report.dense_blocks : report.low_rank_blocks);
    }
    for (std::int64_t* const value : {&report.bytes, &report.pairs, &report.evaluated_pairs, &report.checked_rows,
                                      &report.dense_blocks, &report.low_rank_blocks}) {
      std::int64_t sum = 0;
      for (const std::int64_t of_rank : gather_everywhere(all_ranks, *value)) sum += of_rank;
      *value = sum;
    }
    const double dense = 8.0 * static_cast<double>(report.pairs * fields.size());
    report.ratio = report.bytes > 0 ? dense / static_cast<double>(report.bytes) : 1.0;
  }
};

template <class ExecutionSpace>
CompressedOperator<ExecutionSpace>::CompressedOperator(const ExecutionSpace& space, const PrismSource& prisms,
                                                       const Points& points, const Request& request, double tolerance,
                                                       const Communicator& communicator, CompressionReport& report)
    : m_parts(std::make_unique<Parts>(space, prisms, points, request, tolerance, communicator, report)) {}

template <class ExecutionSpace>
CompressedOperator<ExecutionSpace>::~CompressedOperator() = default;

/// A sixteenth of the points that lie together, halfway from the middle to a corner; all where they are few.
inline Points points_together(const Points& points) {
  std::vector<ClusterBox> boxes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(points.size()); ++i) {
    const std::array<double, 3> place = {points.easting[i], points.northing[i], points.upward[i]};
    boxes.push_back({place, place});
  }
  const ClusterTree tree = make_clusters(boxes, points_per_leaf);
  Points together;
  together.rounding = points.rounding;
  if (tree.clusters.empty()) return together;
  std::int64_t at = 0;
  constexpr int levels = 4;
  for (int level = 0; level < levels && !tree.clusters[static_cast<std::size_t>(at)].is_leaf(); ++level) {
    at = tree.clusters[static_cast<std::size_t>(at)].child + (level < levels / 2 ? 1 : 0);
  }
  const IndexRange range = tree.clusters[static_cast<std::size_t>(at)].range;
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const auto number = static_cast<std::size_t>(tree.order[static_cast<std::size_t>(i)]);
    together.easting.push_back(points.easting[number]);
    together.northing.push_back(points.northing[number]);
    together.upward.push_back(points.upward[number]);
  }
  return together;
}

template <class ExecutionSpace>
CompressionSample CompressedOperator<ExecutionSpace>::sample(const ExecutionSpace& space, const PrismSource& prisms,
                                                             const Points& points, Request request, double tolerance) {
  request.execution.partition = Partition::points;
  const Points some = points_together(points);
  if (some.size() == 0 || prisms.size() == 0) return {};
  const double share = static_cast<double>(some.size()) / static_cast<double>(points.size());
  DirectOperator<ExecutionSpace> direct(space, prisms, some, request);
  CompressionSample sample;
  Kokkos::Timer timer;
  const CompressionInput<ExecutionSpace> input(space, prisms, some, direct.plan(), request);
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
      of.apply(space, density.data(), fields.data());
      of.apply_transpose(space, fields.data(), density.data());
      least = std::min(least, of_pair.seconds() / 2);
    }
    return least;
  };
  // what the cells' order takes is there once, however many the points are
  CompressedMatrix<ExecutionSpace> without_blocks(input.points, input.cells, n_fields, {});
  const double fixed = seconds_of(without_blocks);
  sample.product_seconds = fixed + std::max(seconds_of(matrix) - fixed, 0.0) / share;
  constexpr std::int64_t most_rows = 16;
  const std::int64_t n_rows = std::min(most_rows, points_at_once(n_fields, prisms.size(), some.size()));
  const Entries entries("prismfield::sample", static_cast<std::size_t>(n_fields), static_cast<std::size_t>(n_rows),
                        static_cast<std::size_t>(prisms.size()));
  const Kokkos::Timer of_entries;
  direct.entries(space, {0, n_rows}, entries);
  space.fence("prismfield: entries of a sample");
  sample.seconds_per_entry = of_entries.seconds() / static_cast<double>(n_rows * prisms.size());
  // rows that are checked are computed, and put together from blocks in several trials, which takes as long again
  sample.seconds_to_make += 2 * sample.seconds_per_entry * static_cast<double>(Parts::rows_to_check * prisms.size());
  return sample;
}

template <class ExecutionSpace>
FieldList CompressedOperator<ExecutionSpace>::fields() const noexcept {
  return m_parts->fields;
}
template <class ExecutionSpace>
IndexRange CompressedOperator<ExecutionSpace>::points() const noexcept {
  return m_parts->plan.points();
}
template <class ExecutionSpace>
IndexRange CompressedOperator<ExecutionSpace>::prisms() const noexcept {
  return m_parts->plan.prisms();
}

template <class ExecutionSpace>
void CompressedOperator<ExecutionSpace>::apply(const ExecutionSpace& space, const ConstVector& density,
                                               const Vector& fields) {
  on_all_ranks(m_parts->all_ranks, [&] {
    check_product("density", density, this->columns(), "fields", fields, this->rows());
    space.fence("prismfield: densities are there");
    m_parts->matrix.apply(space, density.data(), fields.data());
  });
}

template <class ExecutionSpace>
void CompressedOperator<ExecutionSpace>::apply_transpose(const ExecutionSpace& space, const ConstVector& fields,
                                                         const Vector& density) {
  on_all_ranks(m_parts->all_ranks, [&] {
    check_product("fields", fields, this->rows(), "density", density, this->columns());
    space.fence("prismfield: fields are there");
    m_parts->matrix.apply_transpose(space, fields.data(), density.data());
  });
  sum_over_ranks(space, m_parts->all_ranks, density);
}

template <class ExecutionSpace>
void CompressedOperator<ExecutionSpace>::diagonal(const ExecutionSpace& space, const ConstVector& weights,
                                                  const Vector& diagonal) {
  on_all_ranks(m_parts->all_ranks, [&] {
    check_product("weights", weights, this->rows(), "diagonal", diagonal, this->columns());
    space.fence("prismfield: weights are there");
    m_parts->matrix.diagonal(space, weights.data(), diagonal.data());
  });
  sum_over_ranks(space, m_parts->all_ranks, diagonal);
}

template <class ExecutionSpace>
void CompressedOperator<ExecutionSpace>::entries(const ExecutionSpace& space, IndexRange points,
                                                 const Entries& entries) {
  check_entries(points, this->points().size(), entries, fields().size(), this->columns());
  if (this->columns() == 0) return;
  const std::int64_t n_fields = fields().size();
  CompressedMatrix<ExecutionSpace>::for_each(space, static_cast<std::size_t>(points.size() * n_fields),
                                             [&](std::size_t k) {
                                               const std::int64_t f = static_cast<std::int64_t>(k) % n_fields;
                                               const std::int64_t i = static_cast<std::int64_t>(k) / n_fields;
                                               m_parts->matrix.row(f, points.begin + i, &entries(f, i, 0));
                                             });
}

template <class ExecutionSpace>
double CompressedOperator<ExecutionSpace>::dot_fields(const ExecutionSpace& space, const ConstVector& a,
                                                      const ConstVector& b) {
  return dot_over_ranks(space, m_parts->all_ranks, m_parts->all_ranks, a, b, this->rows());
}

template <class ExecutionSpace>
double CompressedOperator<ExecutionSpace>::dot_densities(const ExecutionSpace& space, const ConstVector& a,
                                                         const ConstVector& b) {
  return dot_over_ranks(space, m_parts->all_ranks, m_parts->this_rank, a, b, this->columns());
}

template <class ExecutionSpace>
double CompressedOperator<ExecutionSpace>::error_bound() const noexcept {
  return m_parts->tolerance;
}
template <class ExecutionSpace>
const Plan& CompressedOperator<ExecutionSpace>::plan() const noexcept {
  return m_parts->plan;
}
template <class ExecutionSpace>
std::int64_t CompressedOperator<ExecutionSpace>::bytes() const noexcept {
  return m_parts->matrix.bytes();
}

}  // namespace prismfield
