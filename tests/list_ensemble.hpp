// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/prisms.hpp>

namespace prismfield::testing {

/// One prism as a test writes it: metres, kg/m3 and A/m, z up.
struct Prism {
  double west = 0, east = 0, south = 0, north = 0, bottom = 0, top = 0;
  double density = 1;
  std::array<double, 3> magnetization{};

  [[nodiscard]] double longest_edge() const { return std::max({east - west, north - south, top - bottom}); }
  [[nodiscard]] double shortest_edge() const { return std::min({east - west, north - south, top - bottom}); }
  [[nodiscard]] double volume() const { return (east - west) * (north - south) * (top - bottom); }
};

/// Adds a prism behind those of a block.
inline void append(PrismBlock& to, double west, double east, double south, double north, double bottom, double top,
                   double density = 1) {
  to.west.push_back(west);
  to.east.push_back(east);
  to.south.push_back(south);
  to.north.push_back(north);
  to.bottom.push_back(bottom);
  to.top.push_back(top);
  to.density.push_back(density);
}

/// Prisms held as a list: an ensemble without a file behind it.
class ListEnsemble : public PrismSource {
public:
  /// `uniform`: the prisms are cells of one shape, as a regular ensemble's are.
  explicit ListEnsemble(const std::vector<Prism>& prisms, bool uniform = false)
      : m_prisms(prisms), m_uniform(uniform), m_magnetized(std::ranges::any_of(prisms, [](const Prism& p) {
          return p.magnetization != std::array<double, 3>{};
        })) {}

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
    out.resize(0);
    out.magnetize(0);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const Prism& p = m_prisms[static_cast<std::size_t>(i)];
      append(out, p.west, p.east, p.south, p.north, p.bottom, p.top, p.density);
      for (std::size_t d = 0; d < 3 && m_magnetized; ++d) out.magnetization[d].push_back(p.magnetization[d]);
    }
  }
  [[nodiscard]] bool uniform_shape() const noexcept override { return m_uniform; }
  [[nodiscard]] bool is_magnetized() const noexcept override { return m_magnetized; }

private:
  std::vector<Prism> m_prisms;
  bool m_uniform, m_magnetized;
};

}  // namespace prismfield::testing
