// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <prismfield/forms.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/prisms.hpp>

#include "fast/make_tree_share.hpp"
#include "fast/tree_products.hpp"

/// The body of make_tree_product_on; instantiated in one source file a space.
namespace prismfield::fast {

[[nodiscard]] inline TreeSettings settings_of(const ProductShare& share) {
  const Plan& plan = share.plan;
  TreeSettings settings = tree_settings(smallest_set(plan.computed), plan.computed, plan.tolerance, share.sizes);
  settings.leaf_prisms = plan.tree.leaf_prisms;
  settings.leaf_points = plan.tree.leaf_points;
  settings.inside = share_inside(plan.inside);
  settings.transposes = false;
  for (std::size_t d = 0; d < 3; ++d) settings.rounding[d] = share.prisms.rounding()[d] + share.points.rounding[d];
  return settings;
}

/// Around the prisms and the points of all ranks.
[[nodiscard]] inline ItemBoxes boxes_of_all(const ProductShare& share) {
  const Bounds b = share.prisms.bounds();
  ItemBoxes boxes{{{b.west, b.south, b.bottom}, {b.east, b.north, b.top}}, {}};
  const PointColumns& points = share.all_points;
  int d = 0;
  for (const auto& column : {points.easting, points.northing, points.upward}) {
    const auto [low, high] = std::minmax_element(column.begin(), column.end());
    boxes.points.low[d] = *low;
    boxes.points.high[d++] = *high;
  }
  return boxes;
}

/// The trees of a rank's share, and their product.
template <class Space>
class TreeShare final : public TreeProduct {
public:
  TreeShare(const Space& space, const ProductShare& share, PrismBlock prisms, bool is_alone)
      : m_space(space),
        m_n_fields(share.plan.computed.size()),
        m_n_points(share.points.size()),
        m_products(space, std::move(prisms), share.points, settings_of(share),
                   is_alone ? std::nullopt : std::optional(boxes_of_all(share))) {}

  [[nodiscard]] std::vector<double> boxes() const override { return m_products.boxes(); }
  [[nodiscard]] std::vector<std::vector<double>> essential(const std::vector<double>& boxes, int rank) const override {
    return m_products.essential(m_space, boxes, rank);
  }
  void finish(const std::vector<std::vector<double>>& received) override { m_products.finish(m_space, received); }
  [[nodiscard]] TreeCounts counts() const override { return m_products.counts(); }

  void compute(const Pause& pause, double* values, double* contact) override {
    write(values, m_n_fields, [&](double* to) { m_products.multiply_own(m_space, pause, 1, to); });
    write(contact, n_contact_columns, [&](double* to) { m_products.read_contacts(m_space, to); });
  }
  [[nodiscard]] std::array<std::int64_t, n_forms> pairs_by_form() const override { return m_products.pairs_by_form(); }

private:
  /// Lets `fill` write so many numbers a point in the space's memory, and copies them where they are wanted.
  template <class Fill>
  void write(double* numbers, std::int64_t columns, const Fill& fill) const {
    const Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(
        numbers, static_cast<std::size_t>(columns * m_n_points));
    using Memory = typename Space::memory_space;
    if constexpr (is_device_space<Space>) {
      const auto copy = new_view<Kokkos::View<double*, Memory>>("numbers_of_points", host.extent(0));
      fill(copy.data());
      Kokkos::deep_copy(m_space, host, copy);
    } else {
      fill(host.data());
    }
    m_space.fence("prismfield: numbers of points written");
  }

  Space m_space;
  std::int64_t m_n_fields, m_n_points;
  TreeProducts<Space> m_products;
};

template <class Space>
std::unique_ptr<TreeProduct> make_tree_product_on(const Space& space, const ProductShare& share, PrismBlock prisms,
                                                  bool is_alone) {
  return std::make_unique<TreeShare<Space>>(space, share, std::move(prisms), is_alone);
}

}  // namespace prismfield::fast
