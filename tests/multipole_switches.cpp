// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "multipole_switches.hpp"

#include <cmath>

#include "kernel/prepared_prism.hpp"

namespace prismfield::testing {
namespace {

template <class A>
Switches switches_in(const std::array<double, 3>& edges) {
  kernel::PrismShape<A> shape;
  kernel::prepare_shape<A>(kernel::multipole_tables(), {edges[0], edges[1], edges[2]}, shape);
  const auto unit = static_cast<double>(shape.unit);
  Switches out;
  for (std::size_t q = 0; q < out.multipole.size(); ++q) {
    out.multipole[q] = unit * std::sqrt(static_cast<double>(shape.ranges.squared[q]));
  }
  out.compact = unit * std::sqrt(static_cast<double>(shape.compact_squared));
  return out;
}

}  // namespace

Switches switches_of(const std::array<double, 3>& edges, Precision precision) {
  return precision == Precision::single ? switches_in<kernel::SingleArithmetic>(edges)
                                        : switches_in<kernel::DoubleArithmetic>(edges);
}

}  // namespace prismfield::testing
