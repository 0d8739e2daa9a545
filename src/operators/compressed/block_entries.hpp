// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/ranges.hpp>

#include "engine/staged_prisms.hpp"
#include "engine/with_arithmetic.hpp"
#include "kernel/host_tile.hpp"
#include "operators/compressed/low_rank.hpp"

/// Entries of G between points and cells in the order of their clusters, for host threads that take what they need.
namespace prismfield {

/// Points, metres, in the order of their clusters.
using OrderedPoints = std::array<std::vector<double>, 3>;

/// All prisms of an ensemble, staged in the order of their clusters, and what computes their entries, in double.
template <class Space>
class EntryKernel {
public:
  using Arithmetic = kernel::DoubleArithmetic;
  using Memory = Kokkos::HostSpace;
  using Launch = kernel::LaunchData<Arithmetic, Memory>;
  using Pairs = kernel::PairData<Arithmetic, Memory>;
  using Function = void (*)(const Launch&, const Pairs&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                            std::int64_t);
  static constexpr std::int64_t width = kernel::host_width<Arithmetic>;

  /// `cells`: the ensemble in the order of its clusters, of any density; `settings`: those of the request's plan.
  /// Throws AllocationFailure.
  EntryKernel(const Space& space, PrismBlock cells, const OrderedPoints& points, const EngineSettings& settings,
              const Request& request)
      : m_fields(request.fields),
        m_function(with_set(
            settings.set,
            [](auto set) -> Function { return &kernel::pairs_of_item_on_host<Arithmetic, decltype(set)::value>; })),
        m_staged(settings),
        m_points(points) {
    std::fill(cells.density.begin(), cells.density.end(), 1.0);
    m_staged.stage(space, cells);
    m_staged.upload(space);
    space.fence("prismfield: cells staged");
    for (std::vector<double>& column : m_points) column.resize(column.size() + static_cast<std::size_t>(width));
    for (std::size_t d = 0; d < 3; ++d) {
      // lanes beyond the last point see a copy of it
      std::fill(m_points[d].end() - width, m_points[d].end(), points[d].empty() ? 0.0 : points[d].back());
      m_launch.rounding[d] = settings.rounding[d];
    }
    Launch staged;
    m_staged.give_to(staged);
    // kernels copy these by the million: not counted
    m_launch.shapes = uncounted(staged.shapes, 0, static_cast<std::int64_t>(staged.shapes.extent(0)));
    m_launch.far = uncounted(staged.far, 0, m_staged.size());
    m_launch.near = uncounted(staged.near, 0, m_staged.size());
    m_launch.weights = uncounted(staged.weights, 0, m_staged.size());
    m_launch.magnetizations =
        uncounted(staged.magnetizations, 0, static_cast<std::int64_t>(staged.magnetizations.extent(0)));
    m_launch.inside = staged.inside;
    m_pairs.sink = kernel::PairSink::entries;
    m_pairs.scale = request.constant(has_magnetic(settings.set));
    m_pairs.rows = kernel::field_rows(settings.set, m_fields, direction_of(request.magnetic.inducing_field));
    find_middles(cells);
  }

  [[nodiscard]] int n_fields() const noexcept { return m_fields.size(); }

  /// Entries (field, point, cell) of a block, in double.
  void block(IndexRange points, IndexRange cells, double* out) const {
    Launch launch = m_launch;
    take_cells(cells.begin, cells.size(), launch);
    take_points(m_points, points.begin, points.size(), launch);
    compute(launch, out, points.size() * cells.size(), cells.size(), 1);
  }

  /// Entries (field, point) of one cell.
  void column(IndexRange points, std::int64_t cell, double* out) const {
    Launch launch = m_launch;
    take_cells(cell, 1, launch);
    take_points(m_points, points.begin, points.size(), launch);
    compute(launch, out, points.size(), 1, 1);
  }

  /// Entries (field, cell) of one point that is off all of these cells. Cells of one shape and magnetisation are one
  /// prism that the point sees from several places, so that lanes are full here too: differences from column() are
  /// rounding.
  void row(std::int64_t point, IndexRange cells, double* out, OrderedPoints& places) const {
    Launch launch = m_launch;
    for (std::int64_t first = cells.begin; first < cells.end;) {
      std::int64_t last = first + 1;
      while (last < cells.end && are_alike(first, last)) ++last;
      const auto padded = static_cast<std::size_t>((last - first + width - 1) / width * width);
      for (std::size_t d = 0; d < 3; ++d) {
        const double at = m_points[d][static_cast<std::size_t>(point)];
        const double* const middle = m_middles[d].data();
        places[d].resize(std::max(places[d].size(), padded));
        for (std::size_t i = 0; i < padded; ++i) {
          const std::int64_t cell = std::min(first + static_cast<std::int64_t>(i), last - 1);
          places[d][i] = at + (middle[first] - middle[cell]);
        }
      }
      take_cells(first, 1, launch);
      take_points(places, 0, last - first, launch);
      compute(launch, out + (first - cells.begin), cells.size(), 1, 1);
      first = last;
    }
  }

private:
  [[nodiscard]] bool are_alike(std::int64_t a, std::int64_t b) const {
    if (m_launch.far(a).shape != m_launch.far(b).shape) return false;
    if (m_launch.magnetizations.extent(0) == 0) return true;
    const auto& of_a = m_launch.magnetizations(a).magnetization;
    const auto& of_b = m_launch.magnetizations(b).magnetization;
    return of_a[0] == of_b[0] && of_a[1] == of_b[1] && of_a[2] == of_b[2];
  }
  template <class View>
  static View uncounted(const View& view, std::int64_t first, std::int64_t n) {
    return View(view.data() + first, static_cast<std::size_t>(n));
  }

  void take_cells(std::int64_t first, std::int64_t n, Launch& launch) const {
    launch.far = uncounted(m_launch.far, first, n);
    launch.near = uncounted(m_launch.near, first, n);
    launch.weights = uncounted(m_launch.weights, first, n);
    if (m_launch.magnetizations.extent(0) > 0) launch.magnetizations = uncounted(m_launch.magnetizations, first, n);
    launch.prism_end = n;
  }

  static void take_points(const OrderedPoints& points, std::int64_t first, std::int64_t n, Launch& launch) {
    const auto padded = static_cast<std::size_t>((n + width - 1) / width * width);
    using Column = decltype(launch.easting);
    // kernels only read them
    const auto column = [&](std::size_t d) { return Column(const_cast<double*>(points[d].data()) + first, padded); };
    launch.easting = column(0);
    launch.northing = column(1);
    launch.upward = column(2);
    launch.n_points = n;
  }

  void compute(const Launch& launch, double* out, std::int64_t field_stride, std::int64_t point_stride,
               std::int64_t cell_stride) const {
    Pairs pairs = m_pairs;
    pairs.entries.set(out, m_pairs.rows, field_stride, point_stride, cell_stride);
    const std::int64_t groups = (launch.n_points + width - 1) / width;
    // a few at a time, as kernels want it
    for (std::int64_t begin = 0; begin < launch.prism_end; begin += kernel::prisms_per_pair_item) {
      const std::int64_t end = std::min<std::int64_t>(begin + kernel::prisms_per_pair_item, launch.prism_end);
      m_function(launch, pairs, begin, end, 0, 0, groups);
    }
  }

  void find_middles(const PrismBlock& cells) {
    const std::array<std::pair<const std::vector<double>*, const std::vector<double>*>, 3> faces = {
        {{&cells.west, &cells.east}, {&cells.south, &cells.north}, {&cells.bottom, &cells.top}}};
    for (std::size_t d = 0; d < 3; ++d) {
      const auto& [low, high] = faces[d];
      m_middles[d].resize(low->size());
      for (std::size_t i = 0; i < low->size(); ++i) m_middles[d][i] = 0.5 * ((*low)[i] + (*high)[i]);
    }
  }

  FieldList m_fields;
  Function m_function;
  StagedPrisms<Space, Arithmetic> m_staged;
  /// padded to whole lanes
  OrderedPoints m_points;
  std::array<std::vector<double>, 3> m_middles;
  Launch m_launch;
  Pairs m_pairs;
};

/// The lines of one block that have been computed, of all fields at once, since a kernel computes them so: what one
/// field asked for is there for the next.
template <class Space>
class BlockLines {
public:
  BlockLines(const EntryKernel<Space>& kernel, IndexRange points, IndexRange cells)
      : m_kernel(kernel),
        m_points(points),
        m_cells(cells),
        m_rows(static_cast<std::size_t>(points.size())),
        m_columns(static_cast<std::size_t>(cells.size())) {}

  /// The lines of one field, number f of those that were asked for.
  class OfField final : public MatrixLines {
  public:
    OfField(BlockLines& lines, std::int64_t f) : m_lines(lines), m_field(f) {}
    [[nodiscard]] std::int64_t rows() const noexcept override { return m_lines.m_points.size(); }
    [[nodiscard]] std::int64_t columns() const noexcept override { return m_lines.m_cells.size(); }
    [[nodiscard]] const double* row(std::int64_t i) override { return m_lines.row(i) + m_field * columns(); }
    [[nodiscard]] const double* column(std::int64_t j) override { return m_lines.column(j) + m_field * rows(); }
    [[nodiscard]] bool has_row(std::int64_t i) const noexcept override {
      return !m_lines.m_rows[static_cast<std::size_t>(i)].empty();
    }
    [[nodiscard]] bool has_column(std::int64_t j) const noexcept override {
      return !m_lines.m_columns[static_cast<std::size_t>(j)].empty();
    }

  private:
    BlockLines& m_lines;
    std::int64_t m_field;
  };

  /// The whole block, (field, point, cell).
  [[nodiscard]] const double* all() {
    return computed(m_all, m_points.size() * m_cells.size(),
                    [&](double* out) { m_kernel.block(m_points, m_cells, out); });
  }

  /// Pairs of a point and a cell that were computed.
  [[nodiscard]] std::int64_t evaluated() const noexcept { return m_evaluated; }

private:
  const double* row(std::int64_t i) {
    return computed(m_rows[static_cast<std::size_t>(i)], m_cells.size(),
                    [&](double* out) { m_kernel.row(m_points.begin + i, m_cells, out, m_places); });
  }
  const double* column(std::int64_t j) {
    return computed(m_columns[static_cast<std::size_t>(j)], m_points.size(),
                    [&](double* out) { m_kernel.column(m_points, m_cells.begin + j, out); });
  }
  /// Values of n pairs, of every field, which compute(values) makes where they are not there yet.
  template <class Compute>
  const double* computed(std::vector<double>& values, std::int64_t n, const Compute& compute) {
    if (values.empty()) {
      values.resize(static_cast<std::size_t>(m_kernel.n_fields() * n));
      compute(values.data());
      m_evaluated += n;
    }
    return values.data();
  }

  const EntryKernel<Space>& m_kernel;
  IndexRange m_points, m_cells;
  /// empty: not computed
  std::vector<std::vector<double>> m_rows, m_columns;
  std::vector<double> m_all;
  OrderedPoints m_places;
  std::int64_t m_evaluated = 0;
};

}  // namespace prismfield
