// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/forms.hpp>

#include "kernel/prepared_prism.hpp"

/// Which form a pair of a point and a prism takes, by their distance alone: docs/numerics.md, Choice of the form. The
/// kernels and the cost model ask here.
namespace prismfield::kernel {
inline namespace PRISMFIELD_LANES {

/// Half the lowest order of a multipole that is exact enough, of those up to `most`; -1: none. reached(q) says whether
/// all that is taken together lies beyond the range of order 2 q. The ranges increase: few questions are enough.
template <int most, class Reached>
PRISMFIELD_INLINE_FUNCTION int lowest_order(const Reached& reached) {
  if (reached(2)) return reached(0) ? 0 : reached(1) ? 1 : 2;
  if (reached(3)) return 3;
  if (reached(4)) return 4;
  if constexpr (most > 4) {
    if (reached(5)) return 5;
    if (reached(6)) return 6;
  }
  return -1;
}

/// The form of half an order that lowest_order() found.
PRISMFIELD_INLINE_FUNCTION constexpr Form form_of_order(int half_order) {
  switch (half_order) {
    case 6: return Form::multipole_12;
    case 5: return Form::multipole_10;
    case 4: return Form::multipole_8;
    case 3: return Form::multipole_6;
    case 2: return Form::multipole_4;
    case 1: return Form::multipole_2;
    default: return Form::multipole_0;
  }
}

/// Whether a multipole may be taken. s: squared distance from the prism's centre.
template <class L>
PRISMFIELD_INLINE_FUNCTION auto takes_multipole(value_t<L> first_range_squared, const L& s) {
  return L(first_range_squared) <= s;
}

/// Whether a pair that takes no multipole takes the compact form, and not the difference-free one. gap_squared: squared
/// distance from the prism's surface, 0 inside.
template <class L>
PRISMFIELD_INLINE_FUNCTION auto takes_compact(value_t<L> compact_squared, const L& gap_squared) {
  return gap_squared < L(compact_squared);
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel
