// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <type_traits>

#include <prismfield/fields.hpp>
#include <prismfield/request.hpp>

#include "engine/with_space.hpp"
#include "kernel/corners.hpp"
#include "kernel/prepared_prism.hpp"

namespace prismfield {

/// Calls f with the arithmetic of a precision.
template <class F>
auto with_arithmetic(Precision precision, const F& f) {
  return precision == Precision::single ? f(kernel::SingleArithmetic()) : f(kernel::DoubleArithmetic());
}

/// PRISMFIELD_IN_EACH_ARITHMETIC(Space, X): X(Space, arithmetic) for the compiled arithmetics. Single has all passes of
/// a device.
#if defined(PRISMFIELD_FEW_INSTANCES)
#define PRISMFIELD_IN_EACH_ARITHMETIC(Space, X) X(Space, kernel::SingleArithmetic)
#else
#define PRISMFIELD_IN_EACH_ARITHMETIC(Space, X) X(Space, kernel::DoubleArithmetic) X(Space, kernel::SingleArithmetic)
#endif

/// Calls f with a set as a std::integral_constant. A set costs some 14 kernels of CUDA. It pays where it saves more
/// than a tenth of the time of the next set that holds it, in a case that users have. The seven spheres on an H100 in
/// double take by the kernels of the next set, relative to their own: gz by vector 1.30, vector by vector_tensor 1.58,
/// tensor by vector_tensor 1.07 (near cells on a host, by the difference-free form, 1.19), vector_tensor by all 1.12.
template <class F>
auto with_set(FieldSet set, const F& f) {
#if defined(PRISMFIELD_FEW_INSTANCES)
  if (set == FieldSet::all) return f(std::integral_constant<FieldSet, FieldSet::all>());
#else
  switch (set) {
    case FieldSet::gz: return f(std::integral_constant<FieldSet, FieldSet::gz>());
    case FieldSet::vector: return f(std::integral_constant<FieldSet, FieldSet::vector>());
    case FieldSet::tensor: return f(std::integral_constant<FieldSet, FieldSet::tensor>());
    case FieldSet::vector_tensor: return f(std::integral_constant<FieldSet, FieldSet::vector_tensor>());
    case FieldSet::all: return f(std::integral_constant<FieldSet, FieldSet::all>());
    case FieldSet::magnetic: return f(std::integral_constant<FieldSet, FieldSet::magnetic>());
    case FieldSet::magnetic_gradient: break;
  }
#endif
  return f(std::integral_constant<FieldSet, FieldSet::magnetic_gradient>());
}

/// The same with the set that the kernel corners computes for `set`.
template <class F>
auto with_corners_set(FieldSet set, const F& f) {
  using kernel::corners_set;
  if (has_magnetic(set)) return f(std::integral_constant<FieldSet, corners_set(FieldSet::magnetic)>());
  return f(std::integral_constant<FieldSet, corners_set(FieldSet::gz)>());
}

}  // namespace prismfield
