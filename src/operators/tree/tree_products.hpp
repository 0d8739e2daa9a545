// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "compute/method.hpp"
#include "compute/vector_functors.hpp"
#include "kernel/contact.hpp"
#include "operators/tree/expansion_numbers.hpp"
#include "operators/tree/far_launch.hpp"
#include "operators/tree/interaction_lists.hpp"
#include "operators/tree/near_field.hpp"

namespace prismfield::fast {

/// Numbers of a tree's work on a rank.
struct TreeCounts {
  std::int64_t cells_of_points = 0, cells_of_prisms = 0, exchanges = 0, pairs_of_leaves = 0;
  int degree = 0;
};

/// What a tree's products need to know.
struct TreeSettings {
  FieldSet set = FieldSet::all;
  /// the rows of products
  kernel::FieldRows rows;
  /// of B, see EngineSettings
  std::array<double, 3> inside{1, 1, 1};
  /// errors allowed to each exchange: of the potential, of a component of the vector and of the tensor, or of B and of
  /// its gradient, G = 1, for prisms of the densities that they have
  AllowedErrors allowed{};
  /// the highest degree, at most max_degree
  int degree = max_degree;
  /// whether the allowed errors hold for all densities that are nowhere larger, not for those of the prisms alone
  bool any_density = false;
  /// whether there are transposed products
  bool transposes = true;
  /// of leaves, at most
  std::int64_t leaf_prisms = 32, leaf_points = 32;
  /// see EngineSettings
  std::array<double, 3> rounding{};
  /// of near pairs, see EngineSettings
  double truncation = default_truncation;
};

/// The part of the tolerance allowed to an exchange. A point has some hundreds of exchanges. Their errors cancel and
/// their bounds are 5 to 20 times too large, but far away, with only a few exchanges, errors add up.
inline constexpr double share_of_exchange = 0.5;

/// Settings of products of some of a set's fields, either gravity or magnetic, that keep a tolerance relative to their
/// sizes (FieldSizes). `along`: the direction of the inducing field.
[[nodiscard]] inline TreeSettings tree_settings(FieldSet set, FieldList fields, double tolerance,
                                                const FieldSizes& sizes, const std::array<double, 3>& along = {}) {
  TreeSettings settings;
  settings.set = set;
  settings.rows = kernel::field_rows(set, fields, along);
  settings.degree = degree_for(tolerance);
  settings.truncation = std::max(tolerance / 10, default_truncation);
  settings.allowed = {{infinite_size, infinite_size, infinite_size}, has_magnetic(set) ? 1 : 0};
  for (const FieldInfo& field : fields_of(set)) {
    const double size = sizes[static_cast<std::size_t>(order_of_size(field))];
    settings.allowed.of[field.order] = share_of_exchange * tolerance * size;
  }
  return settings;
}

/// Items of a tree by their columns: centre and size of a prism, or a point.
template <class Memory>
struct TreeItems {
  /// (n_prism_columns, n): prisms; or (3, n): points
  Kokkos::View<const double**, Kokkos::LayoutRight, Memory> columns;
  /// in whose middle places are 0: floats are enough to order items
  ItemBox box;
  /// (4, n)
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> items;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const bool is_point = columns.extent(0) == 3;
    double size = 0;
    for (int d = 0; d < 3; ++d) {
      const double low = columns(is_point ? d : 2 * d, i), high = columns(is_point ? d : 2 * d + 1, i);
      const double half = 0.5 * (high - low);
      items(d, i) = static_cast<float>(low + half - box.middle(d));
      size += half * half;
    }
    items(3, i) = static_cast<float>(Kokkos::sqrt(size));
  }
};

/// What columns of lower and of upper coordinates lie between.
template <class Memory>
struct ExtentOfColumns {
  Kokkos::View<const double**, Kokkos::LayoutRight, Memory> columns;
  int low, high;
  KOKKOS_FUNCTION void operator()(std::int64_t i, Kokkos::MinMaxScalar<double>& box) const {
    box.min_val = Kokkos::min(box.min_val, columns(low, i));
    box.max_val = Kokkos::max(box.max_val, columns(high, i));
  }
};

/// Prisms in the tree's order: centres, half edges and the mass of density 1, a volume; of magnetised ones of amount 1
/// of their magnetisation, and its direction.
template <class Memory>
struct OrderPrisms {
  Kokkos::View<const double**, Kokkos::LayoutRight, Memory> columns;
  Kokkos::View<const std::int64_t*, Memory> order;
  TreePrisms<Memory> prisms;
  Kokkos::View<double*, Memory> unit_mass;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t from = order(i);
    double product = prisms.are_magnetised() ? direct(i, from) : 1;
    for (int d = 0; d < 3; ++d) {
      const double edge = columns(2 * d + 1, from) - columns(2 * d, from);
      prisms.half(d, i) = 0.5 * edge;
      prisms.centre(d, i) = columns(2 * d, from) + 0.5 * edge;
      product *= edge;
    }
    unit_mass(i) = product;
  }

private:
  /// The magnitude of the magnetisation, whose direction is put in its place.
  [[nodiscard]] KOKKOS_FUNCTION double direct(std::int64_t i, std::int64_t from) const {
    constexpr int first = density_column + 1;
    const double size = Kokkos::hypot(columns(first, from), columns(first + 1, from), columns(first + 2, from));
    for (int d = 0; d < 3; ++d) prisms.direction(d, i) = size > 0 ? columns(first + d, from) / size : 0;
    return size;
  }
};

/// Densities in the tree's order, and masses.
template <class Memory>
struct OrderDensities {
  Kokkos::View<const double*, Kokkos::LayoutStride, Memory> from;
  Kokkos::View<const std::int64_t*, Memory> order;
  Kokkos::View<const double*, Memory> unit_mass;
  Kokkos::View<double*, Memory> density, mass;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    density(i) = from(order(i));
    mass(i) = density(i) * unit_mass(i);
  }
};

/// (cell) sums of |mass| of a level, by prisms or by children.
template <class Memory>
struct SumMasses {
  Cells<Memory> cells;
  Kokkos::View<const double*, Memory> mass;
  Kokkos::View<double*, Memory> sum;
  std::int32_t level_begin;
  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    const std::int64_t cell = level_begin + number;
    const std::int32_t child = cells.child(cell);
    if (child >= 0) {
      sum(cell) = sum(child) + sum(child + 1);
      return;
    }
    double all = 0;
    for (std::int64_t i = cells.begin(cell); i < cells.end(cell); ++i) all += Kokkos::abs(mass(i));
    sum(cell) = all;
  }
};

/// The first padded point of each leaf: leaves begin at whole lanes.
template <class Memory>
struct PadLeaves {
  Cells<Memory> cells;
  Kokkos::View<const std::int32_t*, Memory> leaves;
  int lanes;
  Kokkos::View<std::int64_t*, Memory> first;
  KOKKOS_FUNCTION void operator()(std::int64_t leaf, std::int64_t& padded, bool is_last) const {
    const std::int32_t cell = leaves(leaf);
    if (is_last) first(cell) = padded;
    padded += (cells.end(cell) - cells.begin(cell) + lanes - 1) / lanes * lanes;
  }
};

/// Points in the tree's order, padded; (padded point) the point, -1 in padding.
template <class Memory>
struct PlacePoints {
  Cells<Memory> cells;
  Kokkos::View<const std::int32_t*, Memory> leaves;
  Kokkos::View<const std::int64_t*, Memory> first, order;
  Kokkos::View<const double**, Kokkos::LayoutRight, Memory> columns;
  int lanes;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> place;
  Kokkos::View<std::int64_t*, Memory> point;
  KOKKOS_FUNCTION void operator()(std::int64_t leaf) const {
    const std::int32_t cell = leaves(leaf);
    const std::int64_t n = cells.end(cell) - cells.begin(cell);
    for (std::int64_t i = 0; i < (n + lanes - 1) / lanes * lanes; ++i) {
      const std::int64_t from = order(cells.begin(cell) + Kokkos::min(i, n - 1));
      for (int d = 0; d < 3; ++d) place(d, first(cell) + i) = columns(d, from);
      point(first(cell) + i) = i < n ? from : -1;
    }
  }
};

/// (row asked for, point) = `scale` times the row of the fields at a padded point.
template <class Memory>
struct FieldsOfPoints {
  Kokkos::View<const double**, Kokkos::LayoutRight, Memory> values;
  Kokkos::View<const std::int64_t*, Memory> point;
  kernel::FieldRows rows;
  std::int64_t n_points;
  double scale;
  double* fields;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (point(i) < 0) return;
    for (int row = 0; row < rows.n_native + rows.n_sums; ++row) {
      if (rows.asked[row] < 0) continue;
      fields[rows.asked[row] * n_points + point(i)] = scale * rows.value(row, [&](int f) { return values(f, i); });
    }
  }
};

/// Counts the padded points that touch prisms.
template <class Memory>
struct CountTouching {
  Kokkos::View<const double* [n_contact_columns], Kokkos::LayoutRight, Memory> padded;
  Kokkos::View<const std::int64_t*, Memory> point;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& touching) const {
    touching += point(i) >= 0 && padded(i, Contact::prisms) > 0 ? 1 : 0;
  }
};

/// (point, contact column) of a padded point's.
template <class Memory>
struct ContactsOfPoints {
  Kokkos::View<const double* [n_contact_columns], Kokkos::LayoutRight, Memory> padded;
  Kokkos::View<const std::int64_t*, Memory> point;
  double* contact;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (point(i) < 0) return;
    for (int c = 0; c < n_contact_columns; ++c) contact[n_contact_columns * point(i) + c] = padded(i, c);
  }
};

/// Factors of rows at padded points, and those of the native fields that these are sums of.
template <class Memory>
struct FactorsOfPoints {
  const double* fields;
  Kokkos::View<const std::int64_t*, Memory> point;
  kernel::FieldRows rows;
  std::int64_t n_points;
  Kokkos::View<double**, Kokkos::LayoutRight, Memory> factors, native;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int row = 0; row < rows.n_native + rows.n_sums; ++row) {
      const bool counts = point(i) >= 0 && rows.asked[row] >= 0;
      factors(row, i) = counts ? fields[rows.asked[row] * n_points + point(i)] : 0.0;
    }
    for (int f = 0; f < rows.n_native; ++f) {
      double sum = factors(f, i);
      for (int s = 0; s < rows.n_sums; ++s) sum += rows.weight[s][f] * factors(rows.n_native + s, i);
      native(f, i) = sum;
    }
  }
};

/// density(prism) = scale times the sum of a prism.
template <class Memory>
struct SumsToPrisms {
  Kokkos::View<const double*, Memory> sums;
  Kokkos::View<const std::int64_t*, Memory> order;
  double scale;
  double* density;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { density[order(i)] = scale * sums(i); }
};

/// Reads prisms into columns, see columns_of(), by the threads of the host. A device takes them from a buffer there.
template <class Space>
class PrismReader {
public:
  using Columns = Kokkos::View<double**, Kokkos::LayoutRight, typename Space::memory_space>;

  PrismReader(const PrismSource& source, FieldSet set) : m_source(source), m_set(set) {}

  /// Waits. Throws AllocationFailure, and what the source throws.
  [[nodiscard]] Columns read(const Space& space, IndexRange range) {
    const std::size_t n_columns = n_prism_columns(m_set);
    const auto columns = new_view<Columns>("columns", n_columns, range.size());
    if constexpr (is_device_space<Space>) {
      const auto buffer = new_view<Buffer>("columns_mirror", n_columns, std::min(range.size(), most_buffered));
      for (std::int64_t first = 0; first < range.size(); first += most_buffered) {
        const std::int64_t n = std::min(most_buffered, range.size() - first);
        read_into(Host(), {range.begin + first, range.begin + first + n}, buffer);
        for (std::size_t c = 0; c < n_columns; ++c) {
          Kokkos::deep_copy(space, Kokkos::subview(columns, c, std::make_pair(first, first + n)),
                            Kokkos::subview(buffer, c, std::make_pair(std::int64_t{0}, n)));
        }
        space.fence("prismfield: columns copied");
      }
    } else {
      read_into(space, range, columns);
    }
    return columns;
  }

private:
  using Host = std::conditional_t<is_device_space<Space>, Kokkos::DefaultHostExecutionSpace, Space>;
  using Buffer = Kokkos::View<double**, Kokkos::LayoutRight, PinnedHost<Space>>;
  static constexpr std::int64_t most_buffered = std::int64_t{1} << 19;
  /// What a thread reads at once stays in its cache.
  static constexpr std::int64_t at_once = std::int64_t{1} << 13;

  void read_into(const Host& host, IndexRange range, const Buffer& columns) {
    const std::int64_t n_threads = host.concurrency();
    std::exception_ptr failure;
    std::mutex failing;
    Kokkos::parallel_for(
        "prismfield::read_prisms", Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(host, 0, n_threads),
        [&](std::int64_t thread) {
          try {
            PrismBlock block;
            for (std::int64_t first = thread * at_once; first < range.size(); first += n_threads * at_once) {
              const std::int64_t n = std::min(at_once, range.size() - first);
              m_source.read({range.begin + first, range.begin + first + n}, block);
              std::size_t c = 0;
              for (const std::vector<double>* column : columns_of(block, m_set)) {
                std::ranges::copy(*column, &columns(c++, first));
              }
            }
          } catch (...) {
            const std::lock_guard lock(failing);
            failure = std::current_exception();
          }
        });
    host.fence("prismfield: prisms read");
    if (failure) std::rethrow_exception(failure);
  }

  const PrismSource& m_source;
  FieldSet m_set;
};

/// Products of the fields of prisms at points, each within the allowed errors: moments go up the tree of prisms, from
/// its cells to those of the points, down their tree and to the points; near pairs are computed. Transposed products go
/// the same way back, so that they are the transpose to rounding.
template <class Space>
class TreeProducts {
public:
  using Memory = typename Space::memory_space;
  using Vector = Kokkos::View<double*, Memory>;
  using Densities = Kokkos::View<const double*, Kokkos::LayoutStride, Memory>;

  /// Of at least one prism, of `prisms`, and point. Waits. Throws AllocationFailure, and what the source throws.
  TreeProducts(const Space& space, const PrismSource& source, IndexRange prisms, const PointColumns& points,
               const TreeSettings& settings)
      : m_settings(settings), m_staged(staging_settings(settings)) {
    m_data.tables = expansion_tables(space);
    m_data.degree = settings.degree;
    const FieldList fields = fields_of(settings.set);
    // B and its gradient are to the magnetic potential what vector and tensor are to that of gravity
    const int first = has_magnetic(settings.set) ? static_cast<int>(Field::bx) - static_cast<int>(Field::gx) : 0;
    for (const FieldInfo& field : fields) m_data.field[m_data.n_fields++] = static_cast<int>(field.field) - first;
    const Columns places =
        copied(space, {points.easting.data(), points.northing.data(), points.upward.data()}, points.size());
    const ItemBox points_box = box_of(space, places);
    m_columns = PrismReader<Space>(source, settings.set).read(space, prisms);
    const ItemBox prisms_box = make_sources(space, points_box);
    stage(space);
    make_targets(space, places, points_box, prisms_box);
    make_bounds(space);
    make_lists(space);
    space.fence("prismfield: trees made");
  }

  /// fields(row, point) = scale times the rows' fields of prisms of these densities.
  void multiply(const Space& space, const Densities& density, double scale, double* fields) {
    weigh(space, density);
    up(space, FarStep::moments_of_prisms, m_sources, m_source_values);
    multiply_own(
        space, [](double) {}, scale, fields);
  }

  /// The same for the prisms' own densities, or magnetisation, for which the lists were made, before any other product.
  /// Calls pause(fraction done) where a device has done its part.
  template <class Pause>
  void multiply_own(const Space& space, const Pause& pause, double scale, double* fields) {
    down(space, m_targets, m_target_values, m_sources, m_source_values, m_lists.exchanges);
    space.fence("prismfield: far field done");
    pause(0.4);
    Kokkos::deep_copy(space, m_data.points.values, 0.0);
    NearData<Memory> near = near_data(m_targets, m_lists.leaves);
    m_staged.give_to(near.launch);
    add_near_fields(space, m_settings.set, near);
    space.fence("prismfield: near field done");
    pause(0.95);
    leaf_step(space, FarStep::fields_at_points, m_targets, m_target_values);
    Kokkos::parallel_for(
        "prismfield::fields_of_points", indices(space, m_point.extent(0)),
        FieldsOfPoints<Memory>{m_data.points.values, m_point, m_settings.rows, m_targets.n_items(), scale, fields});
  }

  /// (point, n_contact_columns): the prisms that points touch, after a product; see kernel/contact.hpp. Empty where
  /// none does.
  [[nodiscard]] std::vector<double> contacts(const Space& space) const {
    std::int64_t touching = 0;
    Kokkos::parallel_reduce("prismfield::count_touching", indices(space, m_point.extent(0)),
                            CountTouching<Memory>{m_near.launch.contact, m_point}, touching);
    if (touching == 0) return {};
    std::vector<double> contact(static_cast<std::size_t>(n_contact_columns * m_targets.n_items()));
    fill_on_host(space, contact.data(), std::ssize(contact), [&](double* to) {
      Kokkos::parallel_for("prismfield::contacts_of_points", indices(space, m_point.extent(0)),
                           ContactsOfPoints<Memory>{m_near.launch.contact, m_point, to});
    });
    return contact;
  }
  /// Pairs of the near field by form, in all products. Waits.
  [[nodiscard]] std::array<std::int64_t, n_forms> pairs_by_form() const {
    const auto pairs = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_near.launch.pairs);
    std::array<std::int64_t, n_forms> by_form{};
    for (std::size_t f = 0; f < n_forms; ++f) by_form[f] = pairs(f);
    return by_form;
  }

  /// density(prism) = scale times the sum over rows and points of their fields for unit density times factors(row,
  /// point).
  void multiply_transposed(const Space& space, const double* factors, double scale, double* density) {
    set_factors(space, factors);
    weigh(space, m_ones);
    up(space, FarStep::moments_of_points, m_targets, m_target_values);
    down(space, m_sources, m_source_values, m_targets, m_target_values, m_lists.exchanges_of_sources);
    Kokkos::deep_copy(space, m_data.prisms.sums, 0.0);
    add_sums(space, kernel::PairSink::products, m_lists.leaves_of_sources);
    leaf_step(space, FarStep::sums_of_prisms, m_sources, m_source_values);
    give_sums(space, scale, density);
  }

  /// density(prism) = scale times the sum of squares of its fields for unit density times factors(row, point). Every
  /// pair is computed: squares of fields are no harmonic functions, and an inversion asks for them once.
  void sum_squares(const Space& space, const double* factors, double scale, double* density) {
    set_factors(space, factors);
    weigh(space, m_ones);
    Kokkos::deep_copy(space, m_data.prisms.sums, 0.0);
    add_sums(space, kernel::PairSink::squares, {});
    give_sums(space, scale, density);
  }

  [[nodiscard]] TreeCounts counts() const {
    return {m_targets.n_cells(), m_sources.n_cells(), static_cast<std::int64_t>(m_lists.exchanges.partner.extent(0)),
            static_cast<std::int64_t>(m_lists.leaves.partner.extent(0)), m_data.degree};
  }
  [[nodiscard]] const InteractionLists<Memory>& lists() const noexcept { return m_lists; }
  [[nodiscard]] const Tree<Memory>& sources() const noexcept { return m_sources; }
  [[nodiscard]] const Tree<Memory>& targets() const noexcept { return m_targets; }

private:
  using Columns = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;
  using Order = Kokkos::View<std::int64_t*, Memory>;
  using Indices = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

  [[nodiscard]] static EngineSettings staging_settings(const TreeSettings& settings) {
    EngineSettings staging;
    staging.set = settings.set;
    staging.inside = settings.inside;
    staging.batch = settings.leaf_prisms;
    staging.truncation = settings.truncation;
    return staging;
  }
  [[nodiscard]] static Indices indices(const Space& space, std::int64_t n) { return Indices(space, 0, n); }
  [[nodiscard]] static Indices indices(const Space& space, std::size_t n) {
    return Indices(space, 0, static_cast<std::int64_t>(n));
  }

  /// Columns of the host in the space's memory.
  [[nodiscard]] static Columns copied(const Space& space, const std::array<const double*, 3>& columns,
                                      std::int64_t length) {
    const auto copy = new_view<Columns>("columns", columns.size(), length);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      Kokkos::deep_copy(space, Kokkos::subview(copy, c, Kokkos::ALL),
                        Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                            columns[c], static_cast<std::size_t>(length)));
    }
    space.fence("prismfield: columns copied");
    return copy;
  }

  /// Around points, or prisms, by their columns.
  [[nodiscard]] static ItemBox box_of(const Space& space, const Columns& columns) {
    ItemBox box;
    for (int d = 0; d < 3; ++d) {
      const bool are_points = columns.extent(0) == 3;
      Kokkos::MinMaxScalar<double> side;
      Kokkos::parallel_reduce("prismfield::extent_of_columns", indices(space, columns.extent(1)),
                              ExtentOfColumns<Memory>{columns, are_points ? d : 2 * d, are_points ? d : 2 * d + 1},
                              Kokkos::MinMax<double>(side));
      box.low[d] = side.min_val;
      box.high[d] = side.max_val;
    }
    return box;
  }
  /// The tree of items in `box`, with `leaf_items` per leaf, or more in leaves far from the items in `others`.
  [[nodiscard]] static Tree<Memory> make_tree(const Space& space, const Columns& columns, const ItemBox& box,
                                              std::int64_t leaf_items, const ItemBox& others) {
    const auto items =
        new_view<Kokkos::View<float**, Kokkos::LayoutRight, Memory>>("tree_items", n_sides, columns.extent(1));
    Kokkos::parallel_for("prismfield::tree_items", indices(space, columns.extent(1)),
                         TreeItems<Memory>{columns, box, items});
    const LeafRule rule(leaf_items, far_leaf_items(is_device_space<Space>), box, others);
    return TreeMaker<Space>(space, items, rule, lanes_of_space<Space>()).tree();
  }

  /// The prisms' box.
  [[nodiscard]] ItemBox make_sources(const Space& space, const ItemBox& points) {
    const auto n = static_cast<std::int64_t>(m_columns.extent(1));
    const std::int64_t padded = n + lanes_of_space<Space>();
    const ItemBox box = box_of(space, m_columns);
    m_sources = make_tree(space, m_columns, box, m_settings.leaf_prisms, points);
    m_data.prisms.centre = new_view<Columns>("prism_centre", 3, padded);
    m_data.prisms.half = new_view<Columns>("prism_half", 3, padded);
    m_data.prisms.mass = new_view<Vector>("prism_mass", padded);
    m_data.prisms.sums = new_view<Vector>("prism_sums", padded);
    const bool are_magnetised = has_magnetic(m_settings.set);
    if (are_magnetised) m_data.prisms.direction = new_view<Columns>("prism_direction", 3, padded);
    m_unit_mass = new_view<Vector>("unit_mass", n);
    m_density = new_view<Vector>("prism_density", n);
    if (m_settings.transposes || are_magnetised) {
      m_ones = new_view<Vector>("ones", n);
      Kokkos::deep_copy(space, m_ones, 1.0);
    }
    // read behind the last prism, where nothing counts
    const auto behind = std::make_pair(static_cast<std::size_t>(n), static_cast<std::size_t>(padded));
    const auto clear_behind = [&](const Columns& of_axes) {
      if (of_axes.size() > 0) Kokkos::deep_copy(space, Kokkos::subview(of_axes, Kokkos::ALL, behind), 0.0);
    };
    clear_behind(m_data.prisms.centre);
    clear_behind(m_data.prisms.half);
    clear_behind(m_data.prisms.direction);
    Kokkos::deep_copy(space, Kokkos::subview(m_data.prisms.mass, behind), 0.0);
    Kokkos::parallel_for("prismfield::order_prisms", indices(space, n),
                         OrderPrisms<Memory>{m_columns, m_sources.order, m_data.prisms, m_unit_mass});
    fit_tree(space, m_sources, m_data.prisms.centre, m_data.prisms.half);
    if (are_magnetised) {
      order_densities(space, m_ones);
    } else {
      order_densities(space, Kokkos::subview(m_columns, density_column, Kokkos::ALL));
    }
    return box;
  }

  /// Prepares the prisms in their tree's order for the near field.
  void stage(const Space& space) {
    m_staged.take(space, m_columns, m_sources.order);
    m_staged.upload(space);
    m_columns = {};
  }

  void make_targets(const Space& space, const Columns& columns, const ItemBox& box, const ItemBox& prisms) {
    const auto n = static_cast<std::int64_t>(columns.extent(1));
    m_targets = make_tree(space, columns, box, m_settings.leaf_points, prisms);
    m_first_point = new_view<Order>("first_point", m_targets.n_cells());
    std::int64_t n_padded = 0;
    const auto n_leaves = m_targets.leaves.extent(0);
    Kokkos::parallel_scan("prismfield::pad_leaves", indices(space, n_leaves),
                          PadLeaves<Memory>{m_targets.cells, m_targets.leaves, lanes_of_space<Space>(), m_first_point},
                          n_padded);
    m_data.points.first = m_first_point;
    m_data.points.place = new_view<Columns>("point_place", 3, n_padded);
    m_data.points.values = new_view<Columns>("point_values", m_data.n_fields, n_padded);
    if (m_settings.transposes) {
      m_factors = new_view<Columns>("point_factors", m_settings.rows.n_native + m_settings.rows.n_sums, n_padded);
    }
    m_point = new_view<Order>("point_of_place", n_padded);
    Kokkos::parallel_for("prismfield::place_points", indices(space, n_leaves),
                         PlacePoints<Memory>{m_targets.cells, m_targets.leaves, m_first_point, m_targets.order, columns,
                                             lanes_of_space<Space>(), m_data.points.place, m_point});
    const auto ordered = new_view<Columns>("ordered_points", 3, n);
    Kokkos::parallel_for("prismfield::order_points", indices(space, n),
                         OrderColumns<Memory>{columns, m_targets.order, ordered});
    fit_tree(space, m_targets, ordered, Columns());
  }

  /// Bounds of exchanges, by the moments of the prisms' own densities, or by their masses alone.
  void make_bounds(const Space& space) {
    m_source_values = new_values(m_sources, m_settings.degree);
    if (!m_settings.any_density) up(space, FarStep::moments_of_prisms, m_sources, m_source_values);
    m_cell_mass = masses(space);
    m_bounds = bound_table(space, m_cell_mass);
  }
  /// The lists, and what needs them.
  void make_lists(const Space& space) {
    m_lists = ListMaker<Space>(space, m_targets, m_sources, m_cell_mass, m_bounds,
                               LeastDegree{m_settings.allowed, m_settings.degree})
                  .lists(m_settings.transposes);
    m_cell_mass = {};
    m_bounds = {};
    if (m_settings.any_density) {
      m_data.degree = m_lists.degree;
      m_source_values = new_values(m_sources, m_data.degree);
    }
    m_target_values = new_values(m_targets, m_data.degree);
    prepare_near(space);
  }
  [[nodiscard]] Vector masses(const Space& space) const {
    const auto sum = new_view<Vector>("cell_mass", m_sources.n_cells());
    for (std::size_t level = m_sources.level_begin.size() - 1; level-- > 0;) {
      const std::int32_t first = m_sources.level_begin[level];
      Kokkos::parallel_for("prismfield::sum_masses",
                           indices(space, std::int64_t{m_sources.level_begin[level + 1] - first}),
                           SumMasses<Memory>{m_sources.cells, m_data.prisms.mass, sum, first});
    }
    return sum;
  }
  [[nodiscard]] BoundTable<Memory> bound_table(const Space& space, const Vector& mass) const {
    const int degree = m_settings.degree;
    constexpr int n_columns = n_target_sizes * n_powers;
    const std::vector<float> weights = bound_weights(degree);
    const auto copy =
        new_view<Kokkos::View<float**, Kokkos::LayoutRight, Memory>>("bound_weights", degree + 2, n_columns);
    Kokkos::deep_copy(space, copy,
                      Kokkos::View<const float**, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          weights.data(), static_cast<std::size_t>(degree + 2), n_columns));
    const auto table = new_view<BoundTable<Memory>>("bound_table", m_sources.n_cells(), n_columns);
    Kokkos::parallel_for(
        "prismfield::bound_cells", indices(space, std::int64_t{m_sources.n_cells()}),
        BoundCells<Memory>{
            degree, !m_settings.any_density, copy, {m_sources.cells, m_source_values}, m_data.prisms, mass, table});
    space.fence("prismfield: bounds made");
    return table;
  }
  [[nodiscard]] static Columns new_values(const Tree<Memory>& tree, int degree) {
    return new_view<Columns>("expansions", tree.n_cells(), 2 * n_terms(degree));
  }

  void prepare_near(const Space& space) {
    kernel::LaunchData<Arithmetic, Memory>& launch = m_near.launch;
    const auto n_padded = static_cast<std::int64_t>(m_point.extent(0));
    launch.easting = Vector(Kokkos::subview(m_data.points.place, 0, Kokkos::ALL));
    launch.northing = Vector(Kokkos::subview(m_data.points.place, 1, Kokkos::ALL));
    launch.upward = Vector(Kokkos::subview(m_data.points.place, 2, Kokkos::ALL));
    launch.n_points = n_padded;
    for (std::size_t d = 0; d < 3; ++d) launch.rounding[d] = m_settings.rounding[d];
    launch.scratch = decltype(launch.scratch)(m_data.points.values.data(), 1, m_data.points.values.extent(0),
                                              m_data.points.values.extent(1));
    launch.contact = new_view<decltype(launch.contact)>("contact", n_padded);
    Kokkos::deep_copy(space, launch.contact, 0.0);
    launch.pairs = new_view<decltype(launch.pairs)>("pairs", n_forms);
    Kokkos::deep_copy(space, launch.pairs, std::int64_t{0});
    m_near.points = m_targets.cells;
    m_near.prisms = m_sources.cells;
    m_near.first_point = m_first_point;
    m_near.sums = m_data.prisms.sums;
    if (!m_settings.transposes) return;
    m_near.pairs.rows = m_settings.rows;
    m_near.pairs.factors = m_factors;
    m_part_sums = new_view<Vector>("part_sums", m_sources.n_items());
    m_near.pairs.sums = decltype(m_near.pairs.sums)(m_part_sums.data(), 1, m_part_sums.extent(0));
  }
  /// The near field of the leaves that take it.
  [[nodiscard]] NearData<Memory> near_data(const Tree<Memory>& takes, const PairRows<Memory>& rows) const {
    NearData<Memory> near = m_near;
    near.leaves = takes.leaves;
    near.begin = rows.begin;
    near.partner = rows.partner;
    return near;
  }

  void order_densities(const Space& space, const Densities& density) {
    Kokkos::parallel_for("prismfield::order_densities", indices(space, m_sources.n_items()),
                         OrderDensities<Memory>{density, m_sources.order, m_unit_mass, m_density, m_data.prisms.mass});
  }
  void weigh(const Space& space, const Densities& density) {
    order_densities(space, density);
    m_staged.weigh(space, m_density);
  }
  void set_factors(const Space& space, const double* factors) {
    Kokkos::parallel_for("prismfield::factors_of_points", indices(space, m_point.extent(0)),
                         FactorsOfPoints<Memory>{factors, m_point, m_settings.rows, m_targets.n_items(), m_factors,
                                                 m_data.points.values});
  }
  void add_sums(const Space& space, kernel::PairSink sink, const PairRows<Memory>& rows) {
    NearData<Memory> near = near_data(m_sources, rows);
    near.pairs.sink = sink;
    m_staged.give_to(near.launch);
    add_near_sums(space, m_settings.set, near);
  }
  void give_sums(const Space& space, double scale, double* density) {
    Kokkos::parallel_for("prismfield::sums_to_prisms", indices(space, m_sources.n_items()),
                         SumsToPrisms<Memory>{m_data.prisms.sums, m_sources.order, scale, density});
  }

  void leaf_step(const Space& space, FarStep step, const Tree<Memory>& tree, const Columns& values) {
    FarData<Memory> data = m_data;
    data.to = {tree.cells, values};
    data.leaves = tree.leaves;
    const int at_once = leaves_of_item<Space>(step);
    launch_step(space, step, data, (static_cast<std::int64_t>(tree.leaves.extent(0)) + at_once - 1) / at_once);
  }
  void shift(const Space& space, FarStep step, const Tree<Memory>& tree, const Columns& values, std::size_t level) {
    FarData<Memory> data = m_data;
    data.to = {tree.cells, values};
    data.first = tree.level_begin[level];
    data.last = tree.level_begin[level + 1];
    const int at_once = children_of_item<Space>();
    launch_step(space, step, data, (data.last - data.first + at_once - 1) / at_once);
  }
  /// Moments of a tree's cells, of its leaves by `step`.
  void up(const Space& space, FarStep step, const Tree<Memory>& tree, const Columns& values) {
    leaf_step(space, step, tree, values);
    for (std::size_t level = tree.level_begin.size() - 1; level-- > 1;) {
      shift(space, FarStep::moments_to_parents, tree, values, level);
    }
  }
  /// Locals of a tree's leaves by the moments of another's cells.
  void down(const Space& space, const Tree<Memory>& to, const Columns& locals, const Tree<Memory>& from,
            const Columns& moments, const PairRows<Memory>& rows) {
    FarData<Memory> data = m_data;
    data.from = {from.cells, moments};
    data.to = {to.cells, locals};
    data.rows = rows;
    launch_step(space, FarStep::exchange, data, to.n_cells());
    for (std::size_t level = 1; level + 1 < to.level_begin.size(); ++level) {
      shift(space, FarStep::locals_to_children, to, locals, level);
    }
  }

  TreeSettings m_settings;
  FarData<Memory> m_data;
  Tree<Memory> m_sources;
  Tree<Memory> m_targets;
  /// (n_prism_columns, prism), as they were given, until they are staged
  Columns m_columns;
  Columns m_source_values, m_target_values;
  /// until the lists are made
  Vector m_cell_mass;
  BoundTable<Memory> m_bounds;
  InteractionLists<Memory> m_lists;
  StagedPrisms<Space, Arithmetic> m_staged;
  Vector m_unit_mass, m_density, m_ones, m_part_sums;
  Columns m_factors;
  Order m_first_point, m_point;
  NearData<Memory> m_near;
};

}  // namespace prismfield::fast
