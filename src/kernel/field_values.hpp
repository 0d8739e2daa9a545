// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/fields.hpp>

#include "kernel/simd.hpp"

namespace prismfield::kernel {
inline namespace PRISMFIELD_LANES {

/// Which parts of the field a set of gravity needs.
template <FieldSet set>
struct Wants {
  static_assert(!has_magnetic(set));
  static constexpr bool potential = set == FieldSet::all;
  static constexpr bool vector = set == FieldSet::vector || set == FieldSet::vector_tensor || set == FieldSet::all;
  static constexpr bool gz = vector || set == FieldSet::gz;
  static constexpr bool tensor = set == FieldSet::tensor || set == FieldSet::vector_tensor || set == FieldSet::all;
};

/// The gravity set behind a set: magnetic fields are the tensor of unit density times the magnetisation.
[[nodiscard]] constexpr FieldSet gravity_of(FieldSet set) { return has_magnetic(set) ? FieldSet::tensor : set; }

/// Third derivatives of the integral of 1/distance over a prism, z up.
template <class L>
struct ThirdDerivatives {
  L xxx, yyy, zzz, xxy, xxz, xyy, yyz, xzz, yzz, xyz;
};
struct NoThirdDerivatives {};

/// Those that a set needs beside its set of gravity.
template <FieldSet set, class L>
using ThirdOf = std::conditional_t<has_magnetic_gradient(set), ThirdDerivatives<L>, NoThirdDerivatives>;

/// The fields of one set at one lane of points, z up, G = 1.
template <FieldSet set, class L>
struct FieldValues {
  static constexpr int size = fields_of(set).size();
  L value[size];

  /// Position of a field; a constant wherever it is used, or nvcc makes device code of std::popcount that is wrong
  /// without a word.
  static constexpr int index(Field f) { return fields_of(set).index_of(f); }

  PRISMFIELD_INLINE_FUNCTION void clear() {
    for (int f = 0; f < size; ++f) value[f] = L(value_t<L>(0));
  }
};

/// Names a field's value at compile time: at<Field::gz>(values).
template <Field f, FieldSet set, class L>
PRISMFIELD_INLINE_FUNCTION L& at(FieldValues<set, L>& values) {
  constexpr int i = FieldValues<set, L>::index(f);
  return values.value[i];
}

template <Field f, FieldSet set, class L>
PRISMFIELD_INLINE_FUNCTION const L& at(const FieldValues<set, L>& values) {
  constexpr int i = FieldValues<set, L>::index(f);
  return values.value[i];
}

/// Calls f(std::integral_constant<Field, ...>) for each field of a set.
template <FieldSet set, int next = 0, class F>
PRISMFIELD_INLINE_FUNCTION void for_each_field(const F& f) {
  if constexpr (next < n_native_fields) {
    constexpr Field field = static_cast<Field>(next);
    constexpr bool wanted = fields_of(set).contains(field);
    if constexpr (wanted) f(std::integral_constant<Field, field>());
    for_each_field<set, next + 1>(f);
  }
}

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel
