// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <limits>

#include <prismfield/forms.hpp>

#include "kernel/prepared_prism.hpp"

namespace prismfield {

/// Makes the kernel take one form at every distance, whatever that does to the accuracy. For tests and benchmarks.
template <class A>
void force(Form form, kernel::PrismShape<A>& shape) {
  using Real = typename A::Real;
  constexpr Real everywhere = std::numeric_limits<Real>::infinity();
  for (int order = 0; order <= kernel::max_half_order; ++order) {
    const bool used =
        form >= Form::multipole_12 && order <= static_cast<int>(form) - static_cast<int>(Form::multipole_12);
    shape.ranges.squared[order] = used ? Real(0) : everywhere;
  }
  shape.compact_squared = form == Form::compact ? everywhere : Real(0);
}

}  // namespace prismfield
