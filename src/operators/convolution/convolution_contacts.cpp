// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "operators/convolution/convolution_contacts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/few_pairs.hpp"
#include "kernel/contact.hpp"

namespace prismfield {
namespace {

/// Prism and point may each be as far from the mesh's lines as the layout allows, and apart by as much again.
constexpr double slacks = 4;

class ContactSearch {
public:
  ContactSearch(const ConvolutionLayout& layout, const PrismSource& prisms, const PointColumns& points, FieldSet set,
                std::vector<double>& contact)
      : m_layout(layout), m_prisms(prisms), m_points(points), m_set(set), m_contact(contact) {
    for (std::size_t d = 0; d < 3; ++d) m_rounding[d] = prisms.rounding()[d] + points.rounding[d];
  }

  void look(const ConvolutionPlane& plane) {
    for (std::int64_t entry = plane.points.begin; entry < plane.points.end; ++entry) {
      const std::int64_t point = m_layout.points.number[static_cast<std::size_t>(entry)];
      find_layers(m_points.upward[static_cast<std::size_t>(point)]);
      if (!m_at_height.empty()) look_around(plane, entry, point);
    }
  }

private:
  /// The layers that have this height, faces included.
  void find_layers(double upward) {
    if (upward == m_upward) return;
    m_upward = upward;
    m_at_height.clear();
    constexpr double ulps = 16;
    for (std::int64_t layer = 0; layer < m_layout.n_layers_of_prisms(); ++layer) {
      const auto [bottom, top] = m_layout.layers[static_cast<std::size_t>(layer)];
      const double largest = std::max({std::abs(bottom), std::abs(top), std::abs(upward)});
      const double slack = ulps * std::numeric_limits<double>::epsilon() * largest + m_rounding[2];
      if (bottom - slack <= upward && upward <= top + slack) m_at_height.push_back(layer);
    }
  }

  void look_around(const ConvolutionPlane& plane, std::int64_t entry, std::int64_t point) {
    const std::int64_t place = m_layout.points.place[static_cast<std::size_t>(entry)];
    const std::int64_t pitch = m_layout.shape.pitch();
    const IndexRange columns = cells_at(0, place % pitch, plane.easting),
                     rows = cells_at(1, place / pitch, plane.northing);
    for (const std::int64_t layer : m_at_height) {
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        for (std::int64_t column = columns.begin; column < columns.end; ++column) {
          look_at(layer, layer * m_layout.shape.reals() + row * pitch + column, point);
        }
      }
    }
  }
  /// Columns, d = 0, or rows of cells that a point may be in or on, which is number `at` of a transform.
  [[nodiscard]] IndexRange cells_at(std::size_t d, std::int64_t at, double within) const {
    const std::int64_t cell = at - (m_layout.cells[d] - 1) + m_layout.first[d];
    const double slack = slacks * m_layout.slack[d];
    const IndexRange around = {within <= slack ? cell - 1 : cell, within >= 1 - slack ? cell + 2 : cell + 1};
    return common(around, {0, m_layout.cells[d]});
  }
  /// Prisms at a place of a layer, and their contact with a point.
  void look_at(std::int64_t layer, std::int64_t place, std::int64_t point) {
    const auto& places = m_layout.prisms.place;
    const IndexRange of_layer = m_layout.prisms_in({layer, layer + 1});
    for (auto at = std::lower_bound(places.begin() + of_layer.begin, places.begin() + of_layer.end, place);
         at != places.end() && *at == place; ++at) {
      const std::int64_t prism =
          m_layout.range.begin + m_layout.prisms.number[static_cast<std::size_t>(at - places.begin())];
      m_prisms.read({prism, prism + 1}, m_block);
      const double face[3][2] = {{m_block.west[0], m_block.east[0]},
                                 {m_block.south[0], m_block.north[0]},
                                 {m_block.bottom[0], m_block.top[0]}};
      const auto i = static_cast<std::size_t>(point);
      if (m_contact.empty()) m_contact.resize(n_contact_columns * m_points.easting.size());
      add_contact(face, edge_strengths(m_set, m_block, 0),
                  {m_points.easting[i], m_points.northing[i], m_points.upward[i]}, m_rounding,
                  m_contact.data() + n_contact_columns * point);
    }
  }

  const ConvolutionLayout& m_layout;
  const PrismSource& m_prisms;
  const PointColumns& m_points;
  FieldSet m_set;
  std::vector<double>& m_contact;
  std::array<double, 3> m_rounding{};
  double m_upward = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::int64_t> m_at_height;
  PrismBlock m_block;
};

}  // namespace

void add_contacts(const ConvolutionLayout& layout, const PrismSource& prisms, const PointColumns& points, FieldSet set,
                  std::vector<double>& contact) {
  // above the mass, where heights are many, no point touches it
  if (!layout.levels.empty()) return;
  ContactSearch search(layout, prisms, points, set, contact);
  for (const ConvolutionPlane& plane : layout.planes) search.look(plane);
}

}  // namespace prismfield
