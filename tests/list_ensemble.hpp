// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/prisms.hpp>

namespace prismfield::testing {

/// One prism as a test writes it: metres and kg/m3, z up.
struct Prism {
  double west = 0, east = 0, south = 0, north = 0, bottom = 0, top = 0;
  double density = 1;

  [[nodiscard]] double longest_edge() const { return std::max({east - west, north - south, top - bottom}); }
  [[nodiscard]] double shortest_edge() const { return std::min({east - west, north - south, top - bottom}); }
  [[nodiscard]] double volume() const { return (east - west) * (north - south) * (top - bottom); }
};

/// Prisms held as a list: an ensemble without a file behind it.
class ListEnsemble : public PrismSource {
public:
  /// `uniform`: the prisms are cells of one shape, as a regular ensemble's are.
  explicit ListEnsemble(const std::vector<Prism>& prisms, bool uniform = false)
      : m_prisms(prisms), m_uniform(uniform) {}

  [[nodiscard]] std::int64_t size() const noexcept override { return static_cast<std::int64_t>(m_prisms.size()); }
  [[nodiscard]] Bounds bounds() const noexcept override {
    if (m_prisms.empty()) return {};
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Bounds box{infinity, -infinity, infinity, -infinity, infinity, -infinity};
    for (const Prism& p : m_prisms) {
      box.west = std::min(box.west, p.west);
      box.east = std::max(box.east, p.east);
      box.south = std::min(box.south, p.south);
      box.north = std::max(box.north, p.north);
      box.bottom = std::min(box.bottom, p.bottom);
      box.top = std::max(box.top, p.top);
    }
    return box;
  }
  void read(IndexRange range, PrismBlock& out) const override {
    const auto [begin, end] = range;
    const auto n = static_cast<std::size_t>(end - begin);
    out.resize(end - begin);
    for (std::size_t i = 0; i < n; ++i) {
      const Prism& p = m_prisms[static_cast<std::size_t>(begin) + i];
      out.west[i] = p.west;
      out.east[i] = p.east;
      out.south[i] = p.south;
      out.north[i] = p.north;
      out.bottom[i] = p.bottom;
      out.top[i] = p.top;
      out.density[i] = p.density;
    }
  }
  [[nodiscard]] bool uniform_shape() const noexcept override { return m_uniform; }

private:
  std::vector<Prism> m_prisms;
  bool m_uniform;
};

}  // namespace prismfield::testing
