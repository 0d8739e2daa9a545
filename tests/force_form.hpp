// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <limits>

#include <prismfield/forms.hpp>

#include "kernel/choose_form.hpp"
#include "kernel/prepared_prism.hpp"

namespace prismfield {

/// Makes the kernel take one form at every distance, whatever that does to the accuracy. For tests and benchmarks.
template <class A, int most>
void force(Form form, kernel::PrismShape<A, most>& shape) {
  using Real = typename A::Real;
  constexpr Real everywhere = std::numeric_limits<Real>::infinity();
  for (int order = 0; order <= most; ++order) {
    const int highest = static_cast<int>(kernel::form_of_order(most));
    const bool used = static_cast<int>(form) >= highest && order <= static_cast<int>(form) - highest;
    shape.ranges.squared[order] = used ? Real(0) : everywhere;
  }
  shape.compact_squared = form == Form::compact ? everywhere : Real(0);
}

}  // namespace prismfield
